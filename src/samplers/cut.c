// SPDX-License-Identifier: MIT
// Stages that cut by the probabilities of a softmax stage before them, which they leave as they are, not summing to 1 any more.
#include "sample/sampler.h"

enum { DEFAULT_K = 256 };

// top_k_prob (akunu): the k most probable. Equal probabilities of unequal logits go by id. 0, or all there are, is 256.
static struct fault top_k_prob(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    const size_t most = c->n < DEFAULT_K ? c->n : DEFAULT_K;
    return cand_top_k_by_p(c, p->top_k <= 0 || (size_t)p->top_k >= c->n ? most : (size_t)p->top_k);
}

static bool min_p_enabled(const struct params *p)
{
    return p->min_p > 0.0f;
}

// min_p_cut (ollama, akunu): those before the first below min_p times the best one's.
static struct fault min_p_cut(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    const float floor = c->p[0] * p->min_p;
    size_t keep = 1;
    while (keep < c->n && !(c->p[keep] < floor))
        keep++;
    cand_truncate(c, keep);
    return fault_none();
}

static bool top_p_enabled(const struct params *p)
{
    return p->top_p < 1.0f;
}

// Through the first at which the running sum is enough.
static void cut_at(struct cand *c, float top_p, bool exceed)
{
    float sum = 0.0f;
    for (size_t i = 0; i < c->n; i++) {
        sum += c->p[i];
        if (exceed ? sum > top_p : sum >= top_p) {
            cand_truncate(c, i + 1);
            return;
        }
    }
}

// top_p_above (ollama): enough is more than top_p.
static struct fault top_p_above(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    cut_at(c, p->top_p, true);
    return fault_none();
}

// top_p_reach (akunu): enough is top_p.
static struct fault top_p_reach(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    cut_at(c, p->top_p, false);
    return fault_none();
}

const struct sampler sampler_top_k_prob = {.apply = top_k_prob};
const struct sampler sampler_min_p_cut = {.enabled = min_p_enabled, .apply = min_p_cut};
const struct sampler sampler_top_p_above = {.enabled = top_p_enabled, .apply = top_p_above};
const struct sampler sampler_top_p_reach = {.enabled = top_p_enabled, .apply = top_p_reach};
