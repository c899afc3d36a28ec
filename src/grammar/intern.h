// SPDX-License-Identifier: MIT
// A table of records of 32-bit words, in which each record is kept once: equal records have equal ids. Ids count from 0
// in the order of the first additions.
#ifndef SAMPL_GRAMMAR_INTERN_H
#define SAMPL_GRAMMAR_INTERN_H

#include "base/hash.h"

#define INTERN_NONE UINT32_MAX

// A zeroed struct is an empty table.
struct intern {
    uint32_t *word; // [words] the records, end to end
    size_t *end;    // [n] where each ends
    struct hash_table ids;
    size_t n, words;
    size_t word_cap, end_cap;
};

void intern_free(struct intern *t);

// Adds a record of n words unless it is there. The words must not lie in the table itself. Returns the record's id, or
// INTERN_NONE when memory is short.
uint32_t intern_add(struct intern *t, const uint32_t *word, size_t n);

// Returns a record, and its length in words as *n. The pointer is valid until the next intern_add.
static inline const uint32_t *intern_get(const struct intern *t, uint32_t id, size_t *n)
{
    const size_t start = id ? t->end[id - 1] : 0;
    *n = t->end[id] - start;
    return *n ? t->word + start : t->word; // NULL while every record is empty
}

#endif
