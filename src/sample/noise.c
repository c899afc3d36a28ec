// SPDX-License-Identifier: MIT
// The noise of candidates, computed when it is asked for: a report shows that of a few, and each takes logarithms.
#include "base/mem.h"
#include "sample/cand_load.h"
#include "sample/cand_private.h"

#include <math.h>
#include <string.h>

struct noise *cand_keep_noise(struct cand *c, noise_fn *of, const float *number)
{
    struct noise *const x = &c->store->noise;
    if (!c->want_notes || c->fault.code)
        return NULL;
    if (!mem_grow(&c->store->noise_memory, &c->store->noise_cap, c->n, sizeof *x->bits + sizeof *x->number + 4)) {
        cand_fail(c, FAULT_MEMORY, 0);
        return NULL;
    }
    x->of = of;
    x->kern = c->kern;
    x->n = c->n;
    x->by_id = c->order == CAND_BY_ID;
    x->dense = c->dense;
    x->bits = c->store->noise_memory; // one block of memory, its arrays in falling order of their alignment
    void *const numbers = x->bits + c->n;
    x->number = numbers;
    void *const ids = x->number + c->n;
    x->id = ids;
    if (!c->dense)
        memcpy(x->id, c->id, c->n * sizeof *x->id);
    if (c->dense && !number)
        cand_snapshot(c, x->number);
    else
        memcpy(x->number, number ? number : c->logit, c->n * sizeof *x->number);
    return x;
}

const struct noise *cand_noise(const struct cand *c) { return c->store->noise.of ? &c->store->noise : NULL; }

bool cand_noise_of(const struct cand *c, uint32_t id, struct noised *to)
{
    const struct noise *const x = cand_noise(c);
    size_t at = 0, end = x ? x->n : 0;
    while (x && x->by_id && end - at > 1) {
        const size_t middle = at + (end - at) / 2;
        *(noise_id(x, middle) <= id ? &at : &end) = middle;
    }
    while (at < end && noise_id(x, at) != id)
        at++;
    if (at >= end || x->number[at] == -INFINITY) // the token was removed, or masked
        return false;
    *to = x->of(x, at);
    return true;
}
