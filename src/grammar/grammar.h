// SPDX-License-Identifier: MIT
// A grammar in GBNF, llama.cpp's notation (sampl-input(5), GRAMMARS, says what it means).
#ifndef SAMPL_GRAMMAR_GRAMMAR_H
#define SAMPL_GRAMMAR_GRAMMAR_H

#include "base/builder.h"
#include "base/err.h"
#include "vocab/vocab.h"

#include <stddef.h>

#define GRAMMAR_MOST_REPEATS  2000
#define GRAMMAR_MOST_DEPTH    200
#define GRAMMAR_MOST_ELEMENTS (1 << 22)

struct grammar;

// Reads text[0..len). The vocabulary v resolves <text> and bounds <[id]>. If v is NULL, every token is accepted, and
// the grammar serves only as a check of the text. Returns the grammar, which the caller frees; e->status is then
// STATUS_OK or, if *e is a warning of a rule that is defined again, STATUS_USAGE: the last definition is used. NULL
// with *e if the text is no grammar (STATUS_USAGE), or if memory is short. An error begins with the line and the
// column, from 1, in characters.
struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct err *e);

// Appends text[0..len), which has been read without a fault, in a form that a terminal can show. It is an equal
// grammar: hidden characters (utf8_hidden) of literals and classes become escapes, lines end in a newline, and with a
// vocabulary, a token whose text has hidden characters becomes <[id]>. All other hidden characters become '?'.
void grammar_show(struct builder *to, const char *text, size_t len, const struct vocab *v);

void grammar_free(struct grammar *g);

#endif
