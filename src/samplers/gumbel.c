// SPDX-License-Identifier: MIT
// gumbel (selector of the engine akunu-gpu): adds Gumbel noise times the temperature to every logit and chooses the
// largest. That is a draw from the softmax of logit / temp (Maddison et al. 2014, arXiv 1411.0030). A token's noise
// depends on the seed, the row and the id alone.
//
// Plain algorithm: compute the noise of every token: a hash and two logarithms each. Too slow for 128,000 tokens.
//
// Idea: a token whose logit is far below the best sum so far can only win with noise so large that few hash words make
// it. Noise grows with the word. So for each block, the block's maximum tells the least word that could still win
// (least_word), a kernel finds the tokens with such a word by hashing alone (gumbel_hot), and only they get noise. The
// block with the largest logit comes first, because it sets a high mark. Every token that is left out is proven to
// lose, so that the winner is the same.
#include "kern/gumbel.h"
#include "kern/expf.h"
#include "sample/cand_private.h"
#include "sample/sampler.h"

static const struct param params[] = {
    {"temp", FLOAT_AT(value_params, value)},
    {NULL},
};

struct gumbel_job {
    const struct kern *kern;
    uint32_t s; // of the row: seed and position
    float temp;
    float x; // the largest so far, and whose it is
    uint32_t id;
};

// Adds noise to n candidates and records the largest sum; of equal sums that of the lowest id.
static void try_candidates(struct gumbel_job *job, float *x, const float *logit, const uint32_t *id, size_t n)
{
    job->kern->gumbel(x, logit, id, n, job->s, job->temp);
    for (size_t i = 0; i < n; i++)
        if (x[i] > job->x || (x[i] == job->x && logit[i] > -INFINITY && id[i] < job->id)) {
            job->x = x[i];
            job->id = id[i];
        }
}

// Returns a lower bound of the words with which a logit of at most `top` reaches the largest sum so far. Noise of at
// least g takes u >= exp(-exp(-g)), which is at least 1 - exp(-g). The slack is more than rounding to f16 and in f32
// can add.
static uint32_t least_word(const struct gumbel_job *job, float top)
{
    const double slack = 0x1p-9 * fabs(job->x) + 0x1p-15 * job->temp + 0x1p-23;
    const double g = (job->x - slack - top) / job->temp;
    if (!(g > 0.1)) // NaN among it: the largest is infinite
        return 0;
    return (uint32_t)((1.0 - (double)kern_expf(g < 50.0 ? (float)-g : -50.0f) - 0x1p-20) * 0x1p32);
}

static void try_block(struct gumbel_job *job, const struct cand *c, size_t b)
{
    uint32_t id[KERN_BLOCK];
    float logit[KERN_BLOCK], x[KERN_BLOCK];
    const uint32_t least = least_word(job, c->store->block_max[b]);
    const size_t n = c->kern->gumbel_hot(id, (uint32_t)(b * KERN_BLOCK), cand_block_len(c, b), job->s, least);
    for (size_t i = 0; i < n; i++)
        logit[i] = cand_logit(c, id[i]);
    try_candidates(job, x, logit, id, n);
}

static struct noised noised(const struct noise *x, size_t i)
{
    const uint32_t id = noise_id(x, i);
    float sum;
    x->kern->gumbel(&sum, &x->number[i], &id, 1, x->key, x->temp);
    return (struct noised){(double)gumbel_noise(gumbel_word(x->key + id)), (double)sum};
}

// Fills the distribution that the draw was from.
static void fill_distribution(struct cand *c, float temp)
{
    cand_list(c);
    c->kern->divide(c->logit, c->n, fmaxf(temp, 1e-30f)); // an f16 over that is finite
    cand_softmax(c);
    for (size_t i = 0; i < c->n; i++)
        if (c->id[i] == c->chosen)
            c->chosen_p = c->p[i];
}

// self: the seed.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const uint32_t *const seed = self;
    unlisted_needs_logits(c); // sums are rounded to f16
    struct gumbel_job job = {c->kern, (c->position + *seed) * 2654435761u, p->value, -INFINITY, UINT32_MAX};
    if (c->dense) {
        const size_t first = cand_argmax(c) / KERN_BLOCK; // the block with the largest logit first: it sets a high mark
        try_block(&job, c, first);
        for (size_t b = 0; b < cand_blocks(c); b++)
            if (b != first)
                try_block(&job, c, b);
    } else {
        try_candidates(&job, c->store->spare, c->logit, c->id, c->n);
    }
    c->chosen = job.id;
    c->chosen_p = 0.0f;
    struct noise *const keeps = cand_keep_noise(c, noised, NULL);
    if (keeps) {
        keeps->key = job.s;
        keeps->temp = job.temp;
    }
    if (c->want_p || c->want == WANT_TOKEN_AND_P || c->want_logits)
        fill_distribution(c, p->value);
}

static void reset(void *self, const struct stage *stage, uint64_t seed) { *(uint32_t *)self = (uint32_t)seed; }

const struct sampler sampler_gumbel = {.name = "gumbel",
                                       PARAMS(params, value_params),
                                       .size = sizeof(uint32_t),
                                       .selector = true,
                                       .selects = SELECTS_LOGIT,
                                       .scale = READS_LOGITS,
                                       .apply = apply,
                                       .reset = reset};
