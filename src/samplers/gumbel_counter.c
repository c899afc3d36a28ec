// SPDX-License-Identifier: MIT
// gumbel_philox (selector of the engine vllm-v2) and gumbel_murmur (of the engine sglang): Gumbel noise is added to
// each candidate's logit or log-probability, and the first largest sum wins. That is a draw from the softmax. The noise
// depends on the seed, the position in the sequence, and the token's id (its rank behind a cut of sglang) alone.
// Formulas: sampl-spec(7).
#include "kern/counter_noise.h"
#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/cand_private.h"
#include "sample/listed.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The position of the newest token: of the row less one, prompt included.
static uint64_t newest_position(const struct cand *c)
{
    return (c->position_known ? 0 : (uint64_t)c->history->n_prompt) + c->position - 1;
}

// Uniform numbers are multiples of this, and at least this.
static const float philox_step = 4.6566127342e-10f;

// -ln(-log1p(-u)) of the uniform number that a folded word gives; 1 - u is exact in f64.
static float philox_noise(uint32_t folded)
{
    const float product = (float)folded * philox_step, u = product > philox_step ? product : philox_step;
    return u < 1.0f ? -libm_logf((float)-libm_log(1.0 - (double)u)) : -INFINITY;
}

struct philox_job {
    uint32_t key;     // of the row: seed and position
    float sum, noise; // the largest sum of logit and noise so far, and its noise
    uint32_t id;      // of the token whose sum that is; of equal sums the lower id
    float next;       // the largest other sum that was tried
};

static void try_token(struct philox_job *job, uint32_t id, float logit)
{
    const float noise = philox_noise(philox_folded(id, job->key)), sum = logit + noise;
    const bool wins = sum > job->sum || (sum == job->sum && sum > -INFINITY && id < job->id);
    job->next = fmaxf(job->next, wins ? job->sum : sum);
    if (wins) {
        job->sum = sum;
        job->noise = noise;
        job->id = id;
    }
}

// Returns an upper bound of the folded words with which a logit of at most `top` reaches the largest sum so far. Noise
// of at least g takes -log1p(-u) <= exp(-g), hence u <= exp(-g). The slack is more than all roundings.
static uint32_t most_word(const struct philox_job *job, float top)
{
    const double g = (double)job->sum - (double)top - 0x1p-20 * (fabs((double)job->sum) + 32.0);
    return g > 0.0 ? (uint32_t)(kern_exp(-g) * (1.0 + 0x1p-18) / (double)philox_step) + 1 : INT32_MAX;
}

static struct noised philox_noised(const struct noise *x, size_t i)
{
    const float noise = philox_noise(philox_folded(noise_id(x, i), x->key));
    return (struct noised){(double)noise, (double)(x->number[i] + noise)};
}

static void try_philox_block(struct philox_job *job, const struct cand *c, size_t b)
{
    uint32_t hot[KERN_BLOCK];
    const uint32_t most = most_word(job, c->store->block_max[b]);
    const size_t n = c->kern->philox_hot(hot, (uint32_t)(b * KERN_BLOCK), cand_block_len(c, b), job->key, most);
    for (size_t i = 0; i < n; i++)
        try_token(job, hot[i], cand_logit(c, hot[i]));
}

// Sets the token's probability, and writes the others if they are read.
static void fill_shares(struct cand *c, bool none)
{
    cand_softmax_wide(c);
    if (none) // every sum is -inf: the first token
        c->chosen = c->id[0];
    for (size_t i = 0; i < c->n; i++)
        if (c->id[i] == c->chosen)
            c->chosen_p = c->p[i];
}

// self: the seed.
//
// Plain algorithm: compute the noise of every token: ten rounds of Philox and two logarithms each, and take the first
// largest sum. Too slow for 128,000 tokens. Idea: as in gumbel.c. A block's largest logit tells the words with which
// one of its tokens could still win. A kernel finds the tokens with such words, and only they get logarithms. All
// others are proven to lose, so that the winner is the same.
static void gumbel_philox(void *self, struct cand *c, const struct stage *stage)
{
    const uint64_t *const seed = self, at = newest_position(c);
    struct philox_job job = {
        philox((struct philox){{(uint32_t)at, (uint32_t)(at >> 32)}}, (uint32_t)*seed, (uint32_t)(*seed >> 32)).word[0],
        -INFINITY, NAN, UINT32_MAX, -INFINITY};
    cand_max_wide(c);
    if (c->fault.code)
        return;
    if (c->dense) {
        const size_t first = cand_argmax(c) / KERN_BLOCK; // sets a high mark
        try_philox_block(&job, c, first);
        for (size_t b = 0; b < cand_blocks(c); b++)
            if (b != first)
                try_philox_block(&job, c, b);
    }
    for (size_t i = 0; !c->dense && i < c->n; i++)
        try_token(&job, c->id[i], c->logit[i]);
    c->chosen = job.id;
    unlisted_choose(c, (double)job.sum - (double)job.next);
    c->chosen_p = 0.0f;
    struct noise *const keeps = cand_keep_noise(c, philox_noised, NULL);
    if (keeps)
        keeps->key = job.key;
    const bool none = job.sum == -INFINITY;
    if (none || c->want_p || c->want == WANT_TOKEN_AND_P || c->want_logits)
        fill_shares(c, none);
    cand_note(c, "noise", job.noise);
}

static double murmur_noise(uint32_t h)
{
    const double v = h ? libm_log((double)h / 4294967295.0) : -DBL_MAX;
    return -libm_log(-(v < -0x1p-32 ? v : -0x1p-32));
}

static double log_p(float p, bool by_rank)
{
    return !(p > 0.0f) ? -INFINITY : by_rank ? libm_log((double)p) : (double)libm_logf(p);
}

// Behind a cut the candidates lie by rank, and the ranks are the columns.
static struct noised murmur_noised(const struct noise *x, size_t i)
{
    const uint32_t column = x->by_id ? noise_id(x, i) : (uint32_t)i;
    const double noise = murmur_noise(murmur_last(x->key, column));
    return (struct noised){noise, log_p(x->number[i], !x->by_id) + noise};
}

// Returns a lower bound of the words with which a log-probability of at most `top` reaches the sum `best`. Noise of at
// least g takes a word of at least (2^32 - 1) * exp(-exp(-g)), which is at least (2^32 - 1) * (1 - exp(-g)). The slack
// is more than all roundings.
static uint32_t least_hash(double best, double top)
{
    const double g = best - top - 0x1p-20 * (fabs(best) + 32.0);
    return g > 0.1 ? (uint32_t)((1.0 - kern_exp(-g)) * (1.0 - 0x1p-20) * 4294967295.0) : 0;
}

// Plain algorithm: compute the hash and three logarithms of every candidate, and take the first largest sum. Too slow
// for a whole vocabulary. Idea: as above; a block's largest probability tells the least word that could still win.
static void gumbel_murmur(void *self, struct cand *c, const struct stage *stage)
{
    const uint64_t *const seed = self;
    const uint32_t position = (uint32_t)newest_position(c);
    const uint32_t state = murmur_add(murmur_add(murmur_add(0, (uint32_t)*seed), (uint32_t)(*seed >> 32)), position);
    const bool by_rank = c->order != CAND_BY_ID;
    double best = -INFINITY, best_noise = NAN, next = -INFINITY; // next: the largest other sum that was tried
    size_t chosen = 0;
    struct noise *const keeps = cand_keep_noise(c, murmur_noised, c->p);
    if (keeps)
        keeps->key = state;
    for (size_t b = 0; b < cand_blocks(c) && !c->fault.code; b++) {
        const size_t first = b * KERN_BLOCK, end = first + cand_block_len(c, b);
        const uint32_t least = least_hash(best, log_p(c->kern->max(c->p + first, end - first), by_rank));
        for (size_t i = first; i < end; i++) {
            const uint32_t column = by_rank ? (uint32_t)i : c->id[i];
            const uint32_t h = murmur_last(state, column);
            if (h < least && !row_is_list(&c->unlisted))
                continue;
            const double noise = murmur_noise(h), sum = log_p(c->p[i], by_rank) + noise;
            next = fmax(next, fmin(sum, best));
            if (sum > best) {
                best = sum;
                best_noise = noise;
                chosen = i;
            }
        }
    }
    c->chosen = c->id[chosen];
    unlisted_choose(c, best - next);
    if (by_rank && list_is_coarse(&c->unlisted) && !listed_order_known(c))
        unlisted_remove(c, false);
    if (by_rank)
        c->kern->divide(c->p, c->n, (float)c->kern->sum_wide(c->p, c->n, 0.0));
    c->chosen_p = c->p[chosen];
    cand_note(c, "noise", best_noise);
}

static void reset(void *self, const struct stage *stage, uint64_t seed) { memcpy(self, &seed, sizeof seed); }

#define GUMBEL(NAME, SELECTS, APPLY)                                                                        \
    {                                                                                                       \
        .name = (NAME), .selector = true, .selects = (SELECTS), .size = sizeof(uint64_t), .apply = (APPLY), \
        .partial = {apply_partial}, .reset = reset                                                          \
    }

const struct sampler sampler_gumbel_philox = GUMBEL("gumbel_philox", SELECTS_SCORE, gumbel_philox);
const struct sampler sampler_gumbel_murmur = GUMBEL("gumbel_murmur", SELECTS_PLACE, gumbel_murmur);
