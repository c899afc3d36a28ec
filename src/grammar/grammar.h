// SPDX-License-Identifier: MIT
// A grammar in GBNF, llama.cpp's notation (sampl-formats(5), GRAMMARS, says what it means).
#ifndef SAMPL_GRAMMAR_GRAMMAR_H
#define SAMPL_GRAMMAR_GRAMMAR_H

#include "base/builder.h"
#include "vocab/vocab.h"

#include <stddef.h>

enum grammar_code {
    GRAMMAR_OK = 0,
    GRAMMAR_MEMORY,         // out of memory; no place
    GRAMMAR_NUL,            // a NUL byte
    GRAMMAR_UTF8,           // not UTF-8
    GRAMMAR_NAME,           // a rule's name should stand here
    GRAMMAR_DEFINES,        // '::=' should stand here
    GRAMMAR_UNEXPECTED,     // name: the character that cannot stand here
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
    GRAMMAR_TOKEN_UNKNOWN,  // name: <text> that is no token's text
    GRAMMAR_TOKEN_ID,       // name: <[id]> beyond the vocabulary
    GRAMMAR_TWICE,          // name: a rule defined a second time; a warning
    GRAMMAR_UNDEFINED,      // name: a rule that is used and not defined
    GRAMMAR_NO_ROOT,        // no rule named root; no place
    GRAMMAR_LEFT_RECURSION, // name: a rule that begins with itself
    GRAMMAR_DEEP,           // groups nested more than GRAMMAR_MOST_DEPTH deep
    GRAMMAR_LARGE,          // more than GRAMMAR_MOST_ELEMENTS once repetitions are written out
};

#define GRAMMAR_MOST_REPEATS  2000
#define GRAMMAR_MOST_DEPTH    200
#define GRAMMAR_MOST_ELEMENTS (1 << 22)

struct grammar_fault {
    enum grammar_code code;
    size_t line, column; // from 1, in characters; 0: no place
    const char *name;    // [len] in the text
    size_t len;
};

struct grammar;

// Reads text[0..len). v resolves <text> and bounds <[id]>; without one (NULL) any token passes, and the grammar is
// only good to have been checked. NULL and *fault when it is no grammar. When it is one, *fault is GRAMMAR_OK or, as
// a warning, GRAMMAR_TWICE at the first rule that is defined again: the last definition counts.
struct grammar *grammar_parse(const char *text, size_t len, const struct vocab *v, struct grammar_fault *fault);

// Adds text[0..len), which has been read, as a terminal can be shown it: the same grammar, where hidden characters of
// literals and classes are escapes, a token whose text has such is <[id]> if v is there, and lines end in a newline.
// Hidden characters elsewhere (in comments, in tokens without a vocabulary) become '?'.
void grammar_show(struct builder *to, const char *text, size_t len, const struct vocab *v);

void grammar_free(struct grammar *g);

#endif
