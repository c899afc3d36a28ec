// SPDX-License-Identifier: MIT
#include "in/rows.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

bool rows_add(struct rows *s, int64_t first, int64_t last)
{
    return mem_push(&s->range, &s->n, &s->cap, &(struct row_range){first, last}, sizeof *s->range);
}

bool rows_copy(struct rows *s, const struct rows *from)
{
    if (!mem_grow(&s->range, &s->cap, from->n, sizeof *s->range))
        return false;
    if (from->n)
        memcpy(s->range, from->range, from->n * sizeof *s->range);
    s->n = from->n;
    return true;
}

bool rows_from_end(const struct rows *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->range[i].first < 0 || s->range[i].last < 0)
            return true;
    return false;
}

static int64_t from_start(int64_t bound, int64_t rows)
{
    const int64_t at = bound < 0 ? bound + rows : bound;
    return at > 0 ? at : 0;
}

static int by_first_row(const void *a, const void *b)
{
    const struct row_range *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void rows_tidy(struct rows *s, int64_t rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        s->range[i] = (struct row_range){from_start(s->range[i].first, rows), from_start(s->range[i].last, rows)};
    if (s->n)
        qsort(s->range, s->n, sizeof *s->range, by_first_row);
    for (size_t i = 0; i < s->n; i++) {
        const struct row_range r = s->range[i];
        struct row_range *const before = kept ? &s->range[kept - 1] : NULL;
        if (r.first >= r.last)
            continue;
        if (!before || r.first > before->last)
            s->range[kept++] = r;
        else if (r.last > before->last)
            before->last = r.last;
    }
    s->n = kept;
}

uint64_t rows_below(const struct rows *s, int64_t number)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n && s->range[i].first < number; i++) {
        const int64_t last = s->range[i].last;
        n += (uint64_t)((last < number ? last : number) - s->range[i].first);
    }
    return n;
}

void rows_cut(struct rows *s, uint64_t first, uint64_t most)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n && most; i++) {
        struct row_range r = s->range[i];
        const uint64_t n = (uint64_t)(r.last - r.first), skip = first < n ? first : n,
                       take = n - skip < most ? n - skip : most;
        first -= skip;
        most -= take;
        r.first += (int64_t)skip;
        r.last = r.first + (int64_t)take;
        if (take)
            s->range[kept++] = r;
    }
    s->n = kept;
}
