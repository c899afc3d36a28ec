// SPDX-License-Identifier: MIT
// greedy (selector): the first largest logit, without a draw.
#include "sample/sampler.h"

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    struct fault fault = cand_mask_all_but_max(c); // the first in the present order, where ranks would say the lowest id
    if (!fault.code)
        fault = cand_top_k(c, 1);
    if (!fault.code)
        fault = cand_softmax(c, false);
    if (fault.code)
        return fault;
    c->chosen = c->id[0];
    c->chosen_p = c->p[0];
    return fault;
}

const struct sampler sampler_greedy = {.name = "greedy", .selector = true, .apply = apply};
