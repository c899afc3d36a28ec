// SPDX-License-Identifier: MIT
// A grammar in GBNF, llama.cpp's notation (sampl-formats(5), GRAMMARS, says what it means).
#ifndef SAMPL_GRAMMAR_GRAMMAR_H
#define SAMPL_GRAMMAR_GRAMMAR_H

#include "base/builder.h"
#include "vocab/vocab.h"

#include <stddef.h>

enum grammar_code {
    GRAMMAR_OK = 0,
    GRAMMAR_MEMORY,         // out of memory; without a place
    GRAMMAR_NUL,            // a NUL byte
    GRAMMAR_UTF8,           // not UTF-8
    GRAMMAR_NAME,           // the name of a rule is expected here
    GRAMMAR_DEFINES,        // '::=' is expected here
    GRAMMAR_UNEXPECTED,     // name: the unexpected character
    GRAMMAR_LITERAL,        // a literal that does not end
    GRAMMAR_CLASS,          // a character class that does not end
    GRAMMAR_EMPTY_CLASS,    // []
    GRAMMAR_RANGE,          // name: a range whose ends are in the wrong order
    GRAMMAR_GROUP,          // a group that does not end
    GRAMMAR_ESCAPE,         // name: an unknown escape, or one without its hexadecimal digits
    GRAMMAR_NOTHING,        // name: an operator without anything to repeat
    GRAMMAR_REPEAT,         // bounds that are not {m}, {m,} or {m,n}
    GRAMMAR_REPEAT_ORDER,   // name: bounds in the wrong order
    GRAMMAR_REPEAT_LARGE,   // name: a lower bound above GRAMMAR_MOST_REPEATS
    GRAMMAR_TOKEN,          // a token that is not <[id]> or <text>
    GRAMMAR_TOKEN_UNKNOWN,  // name: <text> that is the text of no token
    GRAMMAR_TOKEN_ID,       // name: <[id]> beyond the vocabulary
    GRAMMAR_TWICE,          // name: a rule defined a second time; a warning
    GRAMMAR_UNDEFINED,      // name: a rule that is used and not defined
    GRAMMAR_NO_ROOT,        // no rule named root; without a place
    GRAMMAR_LEFT_RECURSION, // name: a rule that begins with itself
    GRAMMAR_DEEP,           // groups nested more than GRAMMAR_MOST_DEPTH deep
    GRAMMAR_LARGE,          // more than GRAMMAR_MOST_ELEMENTS once repetitions are written out
};

#define GRAMMAR_MOST_REPEATS  2000
#define GRAMMAR_MOST_DEPTH    200
#define GRAMMAR_MOST_ELEMENTS (1 << 22)

struct grammar_fault {
    enum grammar_code code;
    size_t line, column; // from 1, in characters; 0: the fault has no place
    const char *name;    // [len] in the text
    size_t len;
};

struct grammar;

// Reads text[0..len). The vocabulary v resolves <text> and bounds <[id]>. If v is NULL, every token is accepted, and
// the grammar serves only as a check of the text. Returns the grammar, which the caller frees; *fault is GRAMMAR_OK or,
// as a warning, GRAMMAR_TWICE at the first rule that is defined again: the last definition counts. NULL with *fault if
// the text is no grammar or memory is short.
struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct grammar_fault *fault);

// Appends text[0..len), which has been read without a fault, in a form that a terminal can show. It is an equal
// grammar: hidden characters (utf8_hidden) of literals and classes become escapes, lines end in a newline, and with a
// vocabulary, a token whose text has hidden characters becomes <[id]>. All other hidden characters become '?'.
void grammar_show(struct builder *to, const char *text, size_t len, const struct vocab *v);

void grammar_free(struct grammar *g);

#endif
