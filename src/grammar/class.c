// SPDX-License-Identifier: MIT
#include "base/mem.h"
#include "grammar/rules.h"

#include <stdlib.h>
#include <string.h>

static int by_low(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Sorts the ranges, joins those that touch, and cuts them to 1..CHAR_MAX_VALUE: a NUL ends a text, so no character is one.
static size_t tidy(uint32_t *range, size_t n)
{
    size_t kept = 0;
    qsort(range, n, 2 * sizeof *range, by_low);
    for (size_t i = 0; i < n; i++) {
        const uint32_t low = range[2 * i] ? range[2 * i] : 1;
        const uint32_t high = range[2 * i + 1] < CHAR_MAX_VALUE ? range[2 * i + 1] : CHAR_MAX_VALUE;
        if (low > high)
            continue;
        if (kept && low <= range[2 * kept - 1] + 1) {
            if (high > range[2 * kept - 1])
                range[2 * kept - 1] = high;
            continue;
        }
        range[2 * kept] = low;
        range[2 * kept++ + 1] = high;
    }
    return kept;
}

// What n tidy ranges leave out. range has room for one more.
static size_t complement(uint32_t *range, size_t n)
{
    uint32_t low = 1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t first = range[2 * i], last = range[2 * i + 1];
        if (low < first) {
            range[2 * kept] = low;
            range[2 * kept++ + 1] = first - 1;
        }
        low = last + 1;
    }
    if (low <= CHAR_MAX_VALUE) {
        range[2 * kept] = low;
        range[2 * kept++ + 1] = CHAR_MAX_VALUE;
    }
    return kept;
}

uint32_t class_add(struct grammar *g, uint32_t *range, size_t n, bool negated)
{
    const size_t known = g->class.n;
    n = tidy(range, n);
    if (negated)
        n = complement(range, n);
    if (!mem_grow(&g->ascii, &g->ascii_cap, known + 1, sizeof *g->ascii))
        return INTERN_NONE;
    const uint32_t class = intern_add(&g->class, range, 2 * n);
    if (class != known)
        return class;
    memset(g->ascii[class], 0, sizeof g->ascii[class]);
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = range[2 * i]; c <= range[2 * i + 1] && c < 128; c++)
            g->ascii[class][c / 64] |= UINT64_C(1) << c % 64;
    return class;
}

// The first range of a class that ends at c or after it; *n ranges from there.
static const uint32_t *range_from(const struct grammar *g, uint32_t class, uint32_t c, size_t *n)
{
    size_t words;
    const uint32_t *const range = intern_get(&g->class, class, &words);
    size_t low = 0, high = words / 2;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (range[2 * mid + 1] < c)
            low = mid + 1;
        else
            high = mid;
    }
    *n = words / 2 - low;
    return range + 2 * low;
}

bool class_has(const struct grammar *g, uint32_t class, uint32_t c)
{
    if (c < 128)
        return g->ascii[class][c / 64] >> c % 64 & 1;
    return class_meets(g, class, c, c);
}

bool class_meets(const struct grammar *g, uint32_t class, uint32_t low, uint32_t high)
{
    size_t n;
    const uint32_t *const range = range_from(g, class, low, &n);
    return n && range[0] <= high;
}

bool class_covers(const struct grammar *g, uint32_t class, uint32_t low, uint32_t high)
{
    size_t n;
    const uint32_t *const range = range_from(g, class, low, &n);
    return n && range[0] <= low && high <= range[1];
}
