// SPDX-License-Identifier: MIT
// sort (the engine ollama): all candidates by rank, so that equal quotients of unequal logits keep the order of the logits.
#include "sample/sampler.h"

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    return cand_sort(c);
}

const struct sampler sampler_sort = {.name = "sort", .internal = true, .apply = apply};
