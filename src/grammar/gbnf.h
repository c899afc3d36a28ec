// SPDX-License-Identifier: MIT
// The reading of GBNF text, shared by gbnf*.c: a cursor, and the characters of literals and classes.
#ifndef SAMPL_GRAMMAR_GBNF_H
#define SAMPL_GRAMMAR_GBNF_H

#include "grammar/rules.h"

struct gbnf {
    struct grammar *g;
    const struct vocab *v; // may be NULL
    struct grammar_fault *fault;
    const char *text, *at, *end;

    struct element *work; // [n_work] elements of the rules being read, those of inner groups last
    size_t n_work, work_cap;
    struct intern name; // rules' names, a byte a word
    uint32_t *named;    // [name.n] their rules
    size_t named_cap;
    uint32_t *word; // scratch: a name, or the ranges of a class
    size_t word_cap;
    uint32_t owner; // the rule that is being defined
    unsigned depth; // of groups
};

// The byte at the cursor; 0 at the end, as a NUL cannot stand in the text.
static inline unsigned char gbnf_peek(const struct gbnf *p)
{
    return p->at < p->end ? (unsigned char)*p->at : 0;
}

// Fills the fault with the place `at` and the len bytes there as the name. Returns false.
bool gbnf_fail(struct gbnf *p, enum grammar_code code, const char *at, size_t len);
bool gbnf_memory(struct gbnf *p);

// Passes blanks and comments, and line ends if they may stand here.
void gbnf_space(struct gbnf *p, bool newlines);

// Reads a decimal number; one that is too large reads as UINT32_MAX. There is a digit.
uint32_t gbnf_number(struct gbnf *p);

// Reads one character of a literal or class, perhaps escaped. The text does not end here.
bool gbnf_char(struct gbnf *p, uint32_t *c);

// Read an item and add its elements to the work: "..." and [...] (the cursor is behind the opening one), <...> or !<...>.
bool gbnf_literal(struct gbnf *p);
bool gbnf_class(struct gbnf *p);
bool gbnf_token(struct gbnf *p);

// Adds an element to the work.
bool gbnf_push(struct gbnf *p, enum element_type type, uint32_t value);

// A rule without alternatives, named after its owner or after [len] bytes at name. INTERN_NONE when memory is short.
uint32_t gbnf_rule(struct gbnf *p, const char *name, size_t len);

// Defines a rule by the work from `from` on, and takes that away.
bool gbnf_define(struct gbnf *p, uint32_t rule, size_t from);

// Reads an operator * + ? {...} and applies it to the work from `item` on.
bool gbnf_repeat(struct gbnf *p, size_t item);

#endif
