// SPDX-License-Identifier: MIT
// top_k: the k best candidates, sorted.
#include "sample/sampler.h"

struct top_k_params {
    int32_t k;
};

static const struct param params[] = {
    {"top-k", "keep the K likeliest; 0 or less: all", INT_AT(top_k_params, k), ANY_INT, .def = 40, .metavar = "K",
     CLAMPED(0, INFINITY)},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct top_k_params *const p = stage->params;
    cand_top_k(c, (size_t)p->k);
}

const struct sampler sampler_top_k = {
    .limits = true, .name = "top_k", .letter = 'k', PARAMS(params, top_k_params), .runs = {ABOVE, 0}, .apply = apply};
