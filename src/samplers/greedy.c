// SPDX-License-Identifier: MIT
// greedy (selector): the first largest logit, without a draw.
#include "sample/compared.h"
#include "sample/sampler.h"

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    cand_mask_all_but_max(c); // the first in the present order, where ranks would say the lowest id
    cand_top_k(c, 1);
    cand_softmax(c);
    c->chosen = c->id[0];
    c->chosen_p = c->p[0];
}

static double temperature(const struct stage *stage) { return 0.0; }

const struct sampler sampler_greedy = {.name = "greedy",
                                       .in_llama = LLAMA_INSIDE,
                                       .selector = true,
                                       .temperature = temperature,
                                       .apply = apply,
                                       .distance = compares_best,
                                       .partial = {keep_best_partial, stage_always, 1}};
