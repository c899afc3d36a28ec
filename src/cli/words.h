// SPDX-License-Identifier: MIT
// Lists of texts: the values of a repeatable option, or the words of a command line. Splitting and quoting of words.
#ifndef SAMPL_CLI_WORDS_H
#define SAMPL_CLI_WORDS_H

#include "base/builder.h"
#include "base/err.h"

struct words {
    const char **word; // [n]
    size_t n, cap;
};

// Appends a word. False with *e if memory is short.
bool words_add(struct words *w, const char *word, struct err *e);

// Appends a malloc'ed text, which the list then owns, and returns it. Returns NULL with *e if memory is short: the text
// is freed, or was NULL.
char *words_own(struct words *w, char *text, struct err *e);

// Frees a list that owns its words.
void words_free(struct words *w);

// Returns the value of the last option "--NAME" among n words of a command line, or `otherwise`.
const char *words_value(const char *const *word, size_t n, const char *option, const char *otherwise);

// Splits a text of options into words, as a shell does. White space separates words, except inside '...', "..." and
// $'...'. '#' at the start of a word begins a comment. A backslash at the end of a line is skipped. The words are
// written over the text and point into it. False with *e if a quote is not closed, or if memory is short.
bool words_split(char *text, struct words *words, struct err *e);

// Appends a word, quoted for a shell and for words_split. bare: a word that has no special character stays unquoted.
void word_quote(struct builder *b, const char *word, bool bare);

#endif
