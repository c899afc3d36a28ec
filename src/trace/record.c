// SPDX-License-Identifier: MIT
#include "trace/record.h"

#include <stdlib.h>

void result_free(struct result *res)
{
    free(res->memory);
    free(res->removal);
    free(res->followed);
}

int ranked_order(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void ranked_insert(struct ranked *best, size_t *n, size_t most, uint32_t id, double p)
{
    size_t at = *n < most ? *n : most;
    ++*n;
    for (; at && best[at - 1].p < p; at--)
        if (at < most)
            best[at] = best[at - 1];
    if (at < most)
        best[at] = (struct ranked){.id = id, .p = (float)p};
}
