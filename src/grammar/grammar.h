// SPDX-License-Identifier: MIT
// A grammar in GBNF, llama.cpp's notation (sampl-input(5), GRAMMARS, says what it means).
#ifndef SAMPL_GRAMMAR_GRAMMAR_H
#define SAMPL_GRAMMAR_GRAMMAR_H

#include "base/builder.h"
#include "base/err.h"
#include "vocab/vocab.h"

#include <stddef.h>

#define GRAMMAR_MOST_REPEATS  2000
#define GRAMMAR_MOST_ELEMENTS (1 << 22)

struct grammar;

// Why llama.cpp refuses a text.
struct grammar_refusal {
    struct err err;  // STATUS_OK: it does not; STATUS_USAGE: a reason, without its place; STATUS_IO: memory was short
    size_t at;       // where the reason stands in the text
    char place[128]; // the same in words: "line 2, column 3, rule root"
};

// Reads text[0..len). The vocabulary v resolves <text>. If v is NULL, every token is accepted, and the grammar serves
// only as a check of the text. Returns the grammar, which the caller frees; e->status is then STATUS_OK or, if *e is a
// warning of something that is read as llama.cpp reads it but is hardly meant, STATUS_USAGE: a rule that is defined
// again, a class or range without a character, an <[id]> that the vocabulary does not have. NULL
// with *e if the text is no grammar (STATUS_USAGE), or if memory is short. An error begins with the line and the
// column, from 1, in characters.
//
// *refusal says whether llama.cpp, release v0.5.0, refuses the grammar (src/llama-grammar.cpp: llama_grammar_parser,
// llama_grammar_detect_left_recursion). It has its reasons where sampl does not read the text, and two of its own: the
// product of nested repetitions, and a repetition of what can be empty, which it takes for a left recursion.
struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct grammar_refusal *refusal,
                              struct err *e);

// Appends text[0..len), which has been read without a fault, in a form that a terminal can show. It is an equal
// grammar: hidden characters (utf8_hidden) of literals and classes become escapes, lines end in a newline, and with a
// vocabulary, a token whose text has hidden characters becomes <[id]>. All other hidden characters become '?'.
void grammar_show(struct builder *to, const char *text, size_t len, const struct vocab *v);

void grammar_free(struct grammar *g);

#endif
