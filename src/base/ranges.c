// SPDX-License-Identifier: MIT
#include "base/ranges.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void ranges_free(struct ranges *s)
{
    free(s->range);
    *s = (struct ranges){0};
}

bool ranges_add(struct ranges *s, uint32_t first, uint32_t last)
{
    assert(first <= last);
    return mem_push(&s->range, &s->n, &s->cap, &(struct range){first, last}, sizeof *s->range);
}

static int by_first(const void *a, const void *b)
{
    const struct range *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void ranges_tidy(struct ranges *s, uint32_t first, uint32_t last)
{
    size_t kept = 0;
    if (s->n)
        qsort(s->range, s->n, sizeof *s->range, by_first);
    for (size_t i = 0; i < s->n; i++) {
        struct range r = s->range[i];
        struct range *const before = kept ? &s->range[kept - 1] : NULL;
        r.first = r.first > first ? r.first : first;
        r.last = r.last < last ? r.last : last;
        if (r.first > r.last)
            continue;
        if (!before || r.first > (uint64_t)before->last + 1)
            s->range[kept++] = r;
        else if (r.last > before->last)
            before->last = r.last;
    }
    s->n = kept;
}

bool ranges_invert(struct ranges *s, uint32_t first, uint32_t last)
{
    assert(first <= last && (!s->n || (first <= s->range[0].first && s->range[s->n - 1].last <= last)));
    if (!mem_grow(&s->range, &s->cap, s->n + 1, sizeof *s->range))
        return false;
    size_t kept = 0;
    uint64_t next = first; // not looked at yet
    for (size_t i = 0; i < s->n; i++) {
        const struct range r = s->range[i];
        if (next < r.first)
            s->range[kept++] = (struct range){(uint32_t)next, r.first - 1};
        next = (uint64_t)r.last + 1;
    }
    if (next <= last)
        s->range[kept++] = (struct range){(uint32_t)next, last};
    s->n = kept;
    return true;
}

// The index of the first range that ends at x or beyond it; n: there is none.
static size_t ranges_from(const struct range *range, size_t n, uint32_t x)
{
    size_t low = 0;
    while (low < n) {
        const size_t middle = low + (n - low) / 2;
        if (range[middle].last < x)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

bool ranges_meet(const struct range *range, size_t n, uint32_t first, uint32_t last)
{
    const size_t i = ranges_from(range, n, first);
    return i < n && range[i].first <= last;
}

bool ranges_cover(const struct range *range, size_t n, uint32_t first, uint32_t last)
{
    const size_t i = ranges_from(range, n, first);
    return i < n && range[i].first <= first && last <= range[i].last;
}
