// SPDX-License-Identifier: MIT
// A sequence: a recipe, and where its chain and its grammar stand. The sequences of a run are found by name; rows that name none belong
// to the unnamed one.
#ifndef SAMPL_RUN_SESSION_H
#define SAMPL_RUN_SESSION_H

#include "grammar/matcher.h"
#include "recipe/recipe.h"
#include "sample/chain.h"

struct session {
    char *name; // NULL: the unnamed one
    size_t place;
    const struct recipe *recipe;
    struct chain *chain;
    struct matcher *matcher; // of the recipe's grammar; NULL: there is none
    bool begun;              // a row has been seen
    bool anew;               // one of its name has ended: what precedes it in the input is not its own
    uint64_t base;           // the row at which its generators were last seeded, or 0
};

struct sessions {
    struct recipes *recipes;
    const struct recipe *recipe; // that a sequence starts with
    struct session *unnamed;
    bool unnamed_ended; // one has
    struct hash_table by_name;
    struct session **named; // [by_name.n]
    size_t named_cap;
};

// A zeroed struct with recipes and recipe set holds none yet; both outlive it.
void sessions_free(struct sessions *s);

// The sequence of that name (NULL: the unnamed one), made when new. NULL and *e on failure.
struct session *sessions_find(struct sessions *s, const char *name, struct err *e);

// Ends a sequence: its name is new again.
void sessions_end(struct sessions *s, struct session *q);

// Changes parameters from here on; the history and the generators go on. The chain remembers: a named sequence's does, the unnamed one's
// if it was told to before its first row.
bool session_change(struct sessions *s, struct session *q, const cJSON *params, struct err *e);

// Starts again: no history, generators seeded with the recipe's seed + row.
void session_restart(struct session *q, uint64_t row);

// Accept tokens: of the prompt, or of the text, which the grammar follows. An error names a token that does not fit.
bool session_accept_prompt(struct session *q, const uint32_t *id, size_t n, struct err *e);
bool session_accept_text(struct session *q, const uint32_t *id, size_t n, struct err *e);

// May this token come next? Without a grammar any may.
bool session_fits(struct session *q, uint32_t id, bool *fits, struct err *e);

// The row with -inf for every token that does not fit the grammar, of which there is one; x has room for its numbers, which *masked points
// to.
bool session_mask(struct session *q, const struct kern *kern, const struct row *row, float *x, struct row *masked, struct err *e);

// The error when the mask leaves no token. Returns false.
bool session_exhausted(const struct session *q, struct err *e);

#endif
