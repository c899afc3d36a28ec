// SPDX-License-Identifier: MIT
#include "grammar/intern.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void intern_free(struct intern *t)
{
    free(t->word);
    free(t->end);
    free(t->slot);
    memset(t, 0, sizeof *t);
}

static size_t hash_of(const uint32_t *word, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (size_t)(h ^ h >> 32);
}

// Where this record is, or the free slot where it belongs.
static size_t probe(const struct intern *t, const uint32_t *word, size_t n)
{
    size_t at = hash_of(word, n) & (t->slots - 1);
    for (; t->slot[at]; at = (at + 1) & (t->slots - 1)) {
        size_t len;
        const uint32_t *const other = intern_get(t, t->slot[at] - 1, &len);
        if (len == n && (!n || !memcmp(other, word, n * sizeof *word)))
            break;
    }
    return at;
}

static bool enlarge(struct intern *t)
{
    const size_t slots = t->slots ? t->slots * 2 : 64;
    uint32_t *const slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    for (uint32_t id = 0; id < t->n; id++) {
        size_t n;
        const uint32_t *const word = intern_get(t, id, &n);
        t->slot[probe(t, word, n)] = id + 1;
    }
    return true;
}

uint32_t intern_add(struct intern *t, const uint32_t *word, size_t n)
{
    if (t->n >= t->slots / 2 && !enlarge(t))
        return INTERN_NONE;
    const size_t at = probe(t, word, n);
    if (t->slot[at])
        return t->slot[at] - 1;
    if (t->n >= INTERN_NONE - 1 || !mem_grow(&t->word, &t->word_cap, t->words + n, sizeof *t->word) ||
        !mem_grow(&t->end, &t->end_cap, t->n + 1, sizeof *t->end))
        return INTERN_NONE;
    if (n)
        memcpy(t->word + t->words, word, n * sizeof *word);
    t->words += n;
    t->end[t->n] = t->words;
    t->slot[at] = (uint32_t)++t->n;
    return (uint32_t)t->n - 1;
}
