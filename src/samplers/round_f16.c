// SPDX-License-Identifier: MIT
// round_f16 (akunu's engines): logits as they arrive there, in half precision.
#include "sample/sampler.h"

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    return cand_round_f16(c);
}

const struct sampler sampler_round_f16 = {.name = "round_f16", .internal = true, .apply = apply};
