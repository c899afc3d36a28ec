// SPDX-License-Identifier: MIT
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool mem_grow(void *array, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return true;
    size_t want = *cap < SIZE_MAX / 2 ? *cap * 2 : need;
    if (want < need)
        want = need;
    if (want > SIZE_MAX / size)
        return false;
    void *old, *grown;
    memcpy(&old, array, sizeof old); // array is a T **, whatever T is
    grown = realloc(old, want * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *cap = want;
    return true; // cppcheck-suppress memleak ; *array holds it
}

bool mem_push(void *array, size_t *n, size_t *cap, const void *element, size_t size)
{
    char *begin;
    if (!mem_grow(array, cap, *n + 1, size))
        return false;
    memcpy(&begin, array, sizeof begin);
    memcpy(begin + (*n)++ * size, element, size);
    return true;
}

const void *mem_find(const void *in, size_t len, const void *bytes, size_t n)
{
    const unsigned char *at = in, *const first = bytes;
    for (size_t left = len; left >= n && (at = memchr(at, *first, left - n + 1));
         left = len - (size_t)(++at - (const unsigned char *)in))
        if (!memcmp(at, bytes, n))
            return at;
    return NULL;
}

int order_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int order_f64(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
