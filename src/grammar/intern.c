// SPDX-License-Identifier: MIT
#include "grammar/intern.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void intern_free(struct intern *t)
{
    free(t->word);
    free(t->end);
    hash_free(&t->ids);
    *t = (struct intern){0};
}

// Hashes word by word: for few words this is quicker than hash_bytes.
static uint32_t hash_words(const uint32_t *word, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (uint32_t)(h ^ h >> 32);
}

uint32_t intern_add(struct intern *t, const uint32_t *word, size_t n)
{
    const uint32_t hash = hash_words(word, n);
    size_t at = hash, id;
    assert(!t->words || !n || word + n <= t->word || word >= t->word + t->words);
    while ((id = hash_next(&t->ids, hash, &at)) != HASH_NONE) {
        size_t len;
        const uint32_t *const other = intern_get(t, (uint32_t)id, &len);
        if (len == n && (!n || !memcmp(other, word, n * sizeof *word)))
            return (uint32_t)id;
    }
    if (t->n >= INTERN_NONE - 1 || !mem_grow(&t->word, &t->word_cap, t->words + n, sizeof *t->word) ||
        !mem_grow(&t->end, &t->end_cap, t->n + 1, sizeof *t->end) || !hash_add(&t->ids, hash, (uint32_t)t->n))
        return INTERN_NONE;
    if (n)
        memcpy(t->word + t->words, word, n * sizeof *word);
    t->words += n;
    t->end[t->n] = t->words;
    return (uint32_t)t->n++;
}
