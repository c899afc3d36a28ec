// SPDX-License-Identifier: MIT
// The sequences of a run: each has its own parameters, chain, history and generators. Rows that name none belong to the unnamed one.
#ifndef SAMPL_RUN_SEQUENCE_H
#define SAMPL_RUN_SEQUENCE_H

#include "run/constraint.h"

#include <cjson/cJSON.h>

struct sequence {
    char *name; // NULL: the unnamed one
    uint32_t hash;
    const struct options *settings; // the run's, or own
    struct options *own;            // NULL: as the run's
    char *params;                   // that made them, as text; NULL: none, or such as are never the same
    struct chain *chain;
    struct constraint constraint; // by the grammar
    bool begun;                   // a row has been seen
    uint64_t base;                // the row at which its generators were last seeded, or 0
};

struct sequences {
    const struct options *o;
    struct sequence *unnamed;
    struct sequence **named; // [slots] open addressing, NULL when free; slots is a power of two, or 0
    size_t n, slots;
    struct trie *trie; // of the vocabulary, once a row has brought a grammar and the run has none
};

// A zeroed struct with o set holds none yet; o outlives it.
void sequences_free(struct sequences *s);

// The sequence of that name (NULL: the unnamed one), made when new. NULL and *e on failure.
struct sequence *sequences_find(struct sequences *s, const char *name, struct err *e);

// Changes parameters from here on; the history and the generators go on. The chain remembers: a named sequence's does, the unnamed one's
// if it was told to before its first row.
bool sequence_change(struct sequences *s, struct sequence *q, const cJSON *params, struct err *e);

#endif
