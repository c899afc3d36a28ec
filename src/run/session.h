// SPDX-License-Identifier: MIT
// A sequence: a recipe, and where its chain, its grammar and its reasoning budget stand. The sequences of a run are found by name; rows that name none belong
// to the unnamed one.
#ifndef SAMPL_RUN_SESSION_H
#define SAMPL_RUN_SESSION_H

#include "chain/recipe.h"
#include "grammar/matcher.h"
#include "sample/chain.h"

struct session {
    struct shared
        shared; // key: its name and a NUL; nothing for the unnamed one. Its only user is the set that it is in
    const struct recipe *recipe;
    struct chain *chain;
    struct matcher *matcher; // of the recipe's grammar; NULL: there is none
    struct budget budget;    // of its reasoning; rules NULL: there is none
    bool appeared;           // its first row has, whatever came of it
    bool begun;              // a row has been seen
    uint64_t apart;          // what is added to the recipe's seed, unless params named it
    bool follows;  // the input has rows before its first that are not its own: it is named, or an unnamed one has ended
    uint64_t base; // the row at which its generators were last seeded, or 0
    char name[];
};

struct sessions {
    struct recipes *recipes;
    const struct recipe *recipe; // that a sequence starts with
    struct shared_set by_name;
    bool unnamed_ended; // one has
    uint32_t appeared;  // how many have, also those that have ended
};

// A zeroed struct with recipes and recipe set holds none yet; both outlive it.
void sessions_free(struct sessions *s);

// The sequence of that name (NULL: the unnamed one), made when new. NULL and *e on failure.
struct session *sessions_find(struct sessions *s, const char *name, struct err *e);

// A sequence's first row has appeared.
void session_appear(struct sessions *s, struct session *q);

// Ends a sequence: its name is new again.
void sessions_end(struct sessions *s, struct session *q);

// Changes parameters from here on; the history and the generators go on. The chain remembers: a named sequence's does, the unnamed one's
// if it was told to before its first row.
bool session_change(struct sessions *s, struct session *q, const cJSON *params, struct err *e);

// Starts again: no history, generators seeded with the recipe's seed + row.
void session_restart(struct session *q, uint64_t row);

// The text begins: the grammar is at its root, and of the budget's tags only what the generation prompt has may have come.
bool session_begin_text(struct session *q, struct err *e);

// The token that the reasoning budget wants next, or BUDGET_FREE.
uint32_t session_forced(const struct session *q);

// The same for a sequence that its format names, which began at that row and is the nth of the input.
void session_locate(struct session *q, uint64_t row, uint64_t nth);

// Accept tokens: of the prompt, or of the text, which grammar and budget follow. An error names a token that does not fit the grammar.
bool session_accept_prompt(struct session *q, const uint32_t *id, size_t n, struct err *e);
bool session_accept_text(struct session *q, const uint32_t *id, size_t n, struct err *e);

// The error when the masks of grammar and budget leave no token. Returns false.
bool session_exhausted(struct session *q, struct err *e);

// err_from_fault, where a limit of the recipe's grammar is blamed on the option or the row's parameter that gave it.
bool session_fault(const struct recipe *recipe, struct fault fault, struct err *e);

#endif
