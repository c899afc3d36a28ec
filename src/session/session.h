// SPDX-License-Identifier: MIT
// A sequence: a recipe, and the state of its chain, its grammar and its reasoning budget. The sequences of a run are
// found by name. Rows that name none belong to the unnamed sequence.
#ifndef SAMPL_SESSION_SESSION_H
#define SAMPL_SESSION_SESSION_H

#include "chain/chain.h"
#include "chain/recipe.h"
#include "grammar/matcher.h"
#include "trace/record.h"

#include <cjson/cJSON.h>

// Facts that the lists of earlier rows leave unknown. A later row that depends on one of them is not exact.
enum unknown {
    HAD_LIST = 1 << 0,        // not a fact: the sequence has had a list
    UNKNOWN_TOKENS = 1 << 1,  // which tokens the history has
    UNKNOWN_LENGTH = 1 << 2,  // how many tokens it has
    UNKNOWN_DRAWS = 1 << 3,   // how many numbers a stage has drawn that does not draw in every row
    UNKNOWN_NUMBERS = 1 << 4, // the numbers that a stage has learnt of the distributions
    UNKNOWN_WIDTH = 1 << 5,   // how wide the rows are that failed before the first good one
    UNKNOWN_PASSES = 1 << 6,  // how often the chain has run: once more in a row whose token did not fit the grammar
};

struct session {
    struct shared shared; // key: the name and a NUL, or nothing for the unnamed sequence. Only the set uses it
    const struct recipe *recipe;
    const struct recipe *own; // the recipe, if params made it; else NULL
    struct chain *chain;
    struct matcher *matcher; // of the recipe's grammar; NULL: no grammar
    struct budget budget;    // of reasoning; rules NULL: no budget
    bool appeared;           // session_appear has been called
    bool begun;              // the history of a first row has been set up
    unsigned unknown;        // bits of enum unknown, of the rows so far
    bool follows;            // other rows of the input may precede it: it is named, or an unnamed sequence has ended
    uint64_t seed_offset;    // added to the recipe's seed, unless params named the seed
    uint64_t first;          // if begun: number of the text's first row, or 0 (struct place)
    uint64_t rows;           // of the sequence so far
    bool chose;              // the history has tokens that the chain chose
    char name[];
};

struct sessions {
    struct recipes *recipes;
    const struct recipe *recipe; // of new sequences
    struct shared_set by_name;
    bool unnamed_ended; // an unnamed sequence has ended
    uint32_t appeared;  // number of sequences that have appeared, also those that have ended
};

// A zeroed struct with recipes and recipe set holds no sequence. Both outlive it. Once each struct has found a
// sequence, threads may use theirs at the same time, as long as none changes parameters.
void sessions_free(struct sessions *s);

// The sequence of that name (NULL: the unnamed one), made if there is none. NULL and *e on failure.
struct session *sessions_find(struct sessions *s, const char *name, struct err *e);

// Makes a sequence that is not in the set, at the start of a text. len: bytes of the name with its NUL, 0 for an
// unnamed sequence. NULL and *e on failure. The caller frees it, unless the set takes it.
struct session *session_new(const struct sessions *s, const char *name, size_t len, struct err *e);
void session_free(void *session);

// Counts a sequence at its first row. In engines that seed each sequence, the count is added to the seed.
void session_appear(struct sessions *s, struct session *q);

// Ends a sequence. Its name then stands for a new one.
void sessions_end(struct sessions *s, struct session *q);

// Changes parameters from here on. The history and the generators go on. Notes stay in s->recipes->notes. The chain
// must remember all tokens: that of a named sequence does, that of the unnamed one if chain_remember was called before
// its first row.
bool session_change(struct sessions *s, struct session *q, const cJSON *params, struct err *e);

// Returns the recipe's seed + offset, as wide as the engine's seeds.
uint64_t session_seed(const struct recipe *recipe, uint64_t offset);

// Returns the seed of the sequence under a recipe.
uint64_t session_seed_of(const struct session *q, const struct recipe *recipe);

// Begins a text: moves the grammar to its root, and past the generation prompt; the budget counts the prompt, too. The
// chain stays as it is. False with *e on failure.
bool session_restart(struct session *q, struct err *e);

// The token that the reasoning budget forces next, or BUDGET_FREE.
uint32_t session_forced(const struct session *q);

// Accept tokens of the prompt, or of the text, which grammar and budget follow. The error names a token that does not
// fit the grammar.
bool session_accept_prompt(struct session *q, const uint32_t *id, size_t n, struct err *e);
bool session_accept_text(struct session *q, const uint32_t *id, size_t n, struct err *e);

// Sets the error for masks of grammar and budget that leave no token. listed: the row is partial. Returns false.
bool session_exhausted(struct session *q, bool listed, struct err *e);

// err_from_fault. A fault of the recipe's grammar names the option or the row's parameter that gave the grammar.
bool session_fault(const struct recipe *recipe, struct fault fault, struct err *e);

// Returns whether the outcome of a row that c has sampled is that of the full row. In a sequence without lists it is:
// what a bad row leaves unknown is unknown of full rows, too.
bool session_exact(const struct session *q, const struct row *row, const struct cand *c);

// Records whether the outcome of a row is that of the full row, if the sequence has lists. Everything that is said of
// exact rows is read from the record. known: the token that follows the row, or -1.
void session_record_unlisted(struct session *q, const struct row *row, const struct cand *c, int64_t known,
                             struct result *res);

// Records that a row failed: the full row might not have.
void session_failed_unknown(struct session *q, int64_t known);

#endif
