// SPDX-License-Identifier: MIT
// typ_p (locally typical sampling; Meister et al. 2022, arXiv 2202.00666): the candidates whose surprise is nearest to the entropy, up to
// cumulative probability p.
#include "base/mem.h"
#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>

struct state {
    float *score; // [n] distance of a candidate's surprise from the entropy
    size_t cap;
};

static bool enabled(const struct params *p)
{
    return p->typical < 1.0f;
}

static void score(const struct cand *c, float *score)
{
    float entropy = 0.0f;
    for (size_t i = 0; i < c->n; i++) {
        score[i] = -logf(c->p[i]); // the surprise
        if (c->p[i] > 0.0f)
            entropy += c->p[i] * score[i];
    }
    for (size_t i = 0; i < c->n; i++)
        score[i] = fabsf(score[i] - entropy);
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    struct state *const s = self;
    (void)h;
    struct fault fault = cand_softmax(c, true);
    if (fault.code)
        return fault;
    if (!mem_grow(&s->score, &s->cap, c->n, sizeof *s->score))
        return fault_memory();
    score(c, s->score);
    fault = cand_rank_rising(c, s->score);
    if (fault.code)
        return fault;
    float sum = 0.0f;
    size_t keep = 0;
    while (keep < c->n) {
        sum += c->p[(uint32_t)c->key[keep++]];
        if (sum > p->typical && keep >= MIN_KEEP(p))
            break;
    }
    cand_gather(c, keep, CAND_UNSORTED);
    return fault;
}

static void release(void *self)
{
    free(((struct state *)self)->score);
}

const struct sampler sampler_typ_p = {.size = sizeof(struct state), .enabled = enabled, .apply = apply, .release = release};
