// SPDX-License-Identifier: MIT
#include "trace/record.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

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

bool ranked_sort(struct ranked *r, size_t n, const struct kern *kern, struct ranked_scratch *scratch)
{
    size_t sorted = 1;
    while (sorted < n && ranked_order(&r[sorted - 1], &r[sorted]) < 0)
        sorted++;
    if (sorted >= n)
        return true;
    if (!mem_grow(&scratch->memory, &scratch->cap, n, sizeof *r + 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t)))
        return false;
    uint64_t *const key = scratch->memory, *const tmp = key + n;
    struct ranked *const copy = (struct ranked *)(tmp + n);
    uint32_t *const at = (uint32_t *)(copy + n);
    float *const p = (void *)(at + n), *const best = p + n;
    for (size_t i = 0; i < n; i++)
        p[i] = r[i].p;
    memcpy(copy, r, n * sizeof *r);
    kern->rank(at, best, p, n, n, key, tmp);
    for (size_t i = 0; i < n; i++)
        r[i] = copy[at[i]];
    for (size_t i = 0, end; i < n; i = end) { // equal p stand by rising place in the list
        bool ids_rise = true;
        for (end = i + 1; end < n && r[end].p == r[i].p; end++)
            ids_rise = ids_rise && r[end - 1].id < r[end].id;
        if (!ids_rise)
            qsort(r + i, end - i, sizeof *r, ranked_order);
    }
    return true;
}

void ranked_put(struct ranked *best, size_t *n, size_t most, uint32_t id, double p)
{
    size_t at = *n < most ? *n : most;
    ++*n;
    for (; at && best[at - 1].p < p; at--)
        if (at < most)
            best[at] = best[at - 1];
    if (at < most)
        best[at] = (struct ranked){.id = id, .p = (float)p};
}
