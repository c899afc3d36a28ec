// SPDX-License-Identifier: MIT
// Stages that cut by the probabilities of a softmax stage before them, which they leave as they are, not summing to 1 any more.
#include "sample/sampler.h"

// Each has one parameter.
struct cut_params {
    float p;
    int32_t k;
};

static const struct param of_top_k[] = {
    {"top-k", INT_AT(cut_params, k)},
    {NULL},
};

static const struct param of_top_p[] = {
    {"top-p", FLOAT_AT(cut_params, p)},
    {NULL},
};

static const struct param of_min_p[] = {
    {"min-p", FLOAT_AT(cut_params, p)},
    {NULL},
};

enum { DEFAULT_K = 256 };

// top_k_prob (akunu): the k most probable. Equal probabilities of unequal logits go by id. 0, or all there are, is 256.
static struct fault top_k_prob(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct cut_params *const p = stage->params;
    const size_t most = c->n < DEFAULT_K ? c->n : DEFAULT_K;
    return cand_top_k_by_p(c, p->k <= 0 || (size_t)p->k >= c->n ? most : (size_t)p->k);
}

static bool min_p_enabled(const struct stage *stage)
{
    const struct cut_params *const p = stage->params;
    return p->p > 0.0f;
}

// min_p_cut (ollama, akunu): those before the first below min_p times the best one's.
static struct fault min_p_cut(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct cut_params *const p = stage->params;
    const float floor = c->p[0] * p->p;
    size_t keep = 1;
    while (keep < c->n && !(c->p[keep] < floor))
        keep++;
    cand_truncate(c, keep);
    return fault_none();
}

static bool top_p_enabled(const struct stage *stage)
{
    const struct cut_params *const p = stage->params;
    return p->p < 1.0f;
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
static struct fault top_p_above(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct cut_params *const p = stage->params;
    cut_at(c, p->p, true);
    return fault_none();
}

// top_p_reach (akunu): enough is top_p.
static struct fault top_p_reach(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct cut_params *const p = stage->params;
    cut_at(c, p->p, false);
    return fault_none();
}

const struct sampler sampler_top_k_prob = {
    .name = "top_k_prob", .internal = true, PARAMS(of_top_k, cut_params), .apply = top_k_prob};
const struct sampler sampler_min_p_cut = {
    .name = "min_p_cut", .internal = true, PARAMS(of_min_p, cut_params), .enabled = min_p_enabled, .apply = min_p_cut};
const struct sampler sampler_top_p_above = {
    .name = "top_p_above", .internal = true, PARAMS(of_top_p, cut_params), .enabled = top_p_enabled, .apply = top_p_above};
const struct sampler sampler_top_p_reach = {
    .name = "top_p_reach", .internal = true, PARAMS(of_top_p, cut_params), .enabled = top_p_enabled, .apply = top_p_reach};
