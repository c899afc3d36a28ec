// SPDX-License-Identifier: MIT
// The reader of GBNF text, for gbnf.c and gbnf_read.c. After a fault the cursor is at the end of the text, so that
// nothing more is read. Functions need not check for a fault: the caller does so once, at the end.
#ifndef SAMPL_GRAMMAR_GBNF_H
#define SAMPL_GRAMMAR_GBNF_H

#include "grammar/rules.h"

// A line and a column, from 1, in characters.
struct gbnf_place {
    size_t line, column;
};

// A group that is open.
struct gbnf_group {
    const char *open;    // its parenthesis
    size_t from;         // where its elements begin in the work
    size_t names_before; // n_names when it was opened
    uint32_t rule;
};

// The last item, to which an operator applies.
struct gbnf_item {
    size_t from;    // where its elements begin in the work; at the end of the work: there is no item
    uint64_t rules; // what llama.cpp multiplies by the repetitions to bound a grammar: 1, for a group the names that it
                    // brought, and for a repetition the repetitions times the item
};

struct gbnf {
    struct grammar *g;
    const struct vocab *v; // may be NULL
    const char *text, *at, *end;
    struct err fault;               // the first; of STATUS_OK: none
    size_t fault_at;                // where, in text
    struct grammar_refusal refusal; // the first thing for which llama.cpp refuses the grammar, but sampl does not
    struct err warning;             // the first
    struct element *work;           // [n_work] elements of the rules being read, those of inner groups last
    size_t n_work, work_cap;
    struct gbnf_group *group; // [n_groups] those that are open, the innermost last
    size_t n_groups, group_cap;
    struct hash_table names; // rules that have a name of their own
    size_t n_names;          // names that llama.cpp has given so far: of rules, groups and repetitions
    struct ranges ranges;    // scratch: the ranges of a class
    uint32_t owner;          // the rule that is being defined
};

// Returns where text[at] stands.
struct gbnf_place gbnf_place(const struct gbnf *p, size_t at);

// Puts the place of text[at] before an error.
void gbnf_prefix(const struct gbnf *p, size_t at, struct err *e);

// Reports a fault at `from`, unless one was reported before, and moves the cursor to the end.
__attribute__((format(printf, 3, 4))) void gbnf_fail(struct gbnf *p, const char *from, const char *format, ...);

// Warns of what stands at `from`, unless there is a warning.
__attribute__((format(printf, 3, 4))) void gbnf_warn(struct gbnf *p, const char *from, const char *format, ...);

// Quotes the text from `from` to the cursor, for "%.*s".
#define GBNF_FROM(p, from) err_clip_part((from), (size_t)((p)->at - (from)), RULE_SHOWN), (from)

// Reports that memory is short, likewise.
void gbnf_memory(struct gbnf *p);

// Returns the byte at the cursor; 0 at the end, because the text holds no NUL.
unsigned char gbnf_byte(const struct gbnf *p);

// Moves the cursor behind the byte c, if that is the next byte. Returns whether it is.
bool gbnf_pass(struct gbnf *p, char c);

// Moves the cursor behind white space and comments; behind line ends only if `newlines`.
void gbnf_skip_space(struct gbnf *p, bool newlines);

// Reads a decimal number. Returns UINT32_MAX if it is larger. Without a digit the cursor stays, and 0 is returned.
uint32_t gbnf_read_count(struct gbnf *p);

// Appends an element to the rules being read.
void gbnf_push(struct gbnf *p, enum element_type type, uint32_t value);

// Appends the class of the characters first..last.
void gbnf_push_range(struct gbnf *p, uint32_t first, uint32_t last);

// Append the elements of a literal (the cursor is behind its quote), a class (behind its bracket) or a token (at its
// beginning).
void gbnf_read_literal(struct gbnf *p);
void gbnf_read_class(struct gbnf *p);
void gbnf_read_token(struct gbnf *p);

#endif
