// SPDX-License-Identifier: MIT
// Expressions: the right sides of grammar rules as trees in one arena. An expression is its number in the arena.
// EXPR_NOTHING stands for the language without any text: a choice leaves EXPR_NOTHING out, and a sequence with
// EXPR_NOTHING in it is EXPR_NOTHING. An error is kept as in base/builder.h: after it, functions return EXPR_NOTHING,
// and the caller checks once, at the end.
#ifndef SAMPL_SCHEMA_EXPR_H
#define SAMPL_SCHEMA_EXPR_H

#include "base/builder.h"
#include "base/ranges.h"

#define EXPR_NOTHING   0u
#define EXPR_UNBOUNDED UINT32_MAX
#define EXPR_MOST      (1u << 21) // most expressions in an arena, and most parts
#define EXPR_DEEPEST   400        // most levels of an expression

// The kinds that bind less than others come first; the last three bind alike.
enum expr_kind { EXPR_CHOICE, EXPR_SEQUENCE, EXPR_REPEAT, EXPR_LITERAL, EXPR_CLASS, EXPR_RULE };

struct expr {
    enum expr_kind kind;
    uint32_t depth;    // levels: 1 for one without parts
    uint32_t first, n; // literal: bytes in text; class: ranges in range; rule: its number; else: parts in part
    uint32_t min, max; // repetition: counts; class: min 1 means all characters but these
};

struct exprs {
    struct expr *expr; // [n], the first is EXPR_NOTHING
    size_t n, cap;
    uint32_t *part; // [n_parts] the expressions in sequences, choices and repetitions
    size_t n_parts, parts_cap;
    struct ranges range;
    struct builder text;
    uint32_t *stack; // [n_stack] expressions that expr_pop makes parts of another
    size_t n_stack, stack_cap;
    bool failed, full, deep; // memory was short; EXPR_MOST, EXPR_DEEPEST was reached
};

// A zeroed struct is an empty arena.
void exprs_free(struct exprs *x);

// True if no error occurred.
static inline bool exprs_whole(const struct exprs *x) { return !x->failed && !x->full && !x->deep; }

uint32_t expr_literal(struct exprs *x, const char *utf8);
uint32_t expr_text(struct exprs *x, struct builder *text); // a literal; frees the text

// Makes a class: one of these characters, or one of all others. EXPR_NOTHING if n is 0.
uint32_t expr_class(struct exprs *x, const struct range *range, size_t n, bool others);

// Makes a class without a character: no text fits, but the grammar is one.
uint32_t expr_impossible(struct exprs *x);

// Makes the class of first..last, or a literal if that is one ASCII character. EXPR_NOTHING if first > last.
uint32_t expr_character(struct exprs *x, uint32_t first, uint32_t last);

uint32_t expr_rule(struct exprs *x, uint32_t rule);

// Repeats `item` min to max times, min <= max. EXPR_UNBOUNDED: no upper limit.
uint32_t expr_repeat(struct exprs *x, uint32_t item, uint32_t min, uint32_t max);

// Pushes an expression on the stack.
void expr_push(struct exprs *x, uint32_t item);

// Pops the expressions from index `from` of the stack on, and makes a sequence or a choice of them. A single expression
// is returned as it is.
uint32_t expr_pop(struct exprs *x, enum expr_kind kind, size_t from);

// Makes a sequence of the `n` items of an array.
uint32_t expr_list(struct exprs *x, enum expr_kind kind, const uint32_t *item, size_t n);
#define EXPR_LIST(x, kind, ...) \
    expr_list(x, kind, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define EXPR_SEQUENCE_OF(x, ...) EXPR_LIST(x, EXPR_SEQUENCE, __VA_ARGS__)
#define EXPR_CHOICE_OF(x, ...)   EXPR_LIST(x, EXPR_CHOICE, __VA_ARGS__)

#endif
