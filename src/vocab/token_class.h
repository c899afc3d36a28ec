// SPDX-License-Identifier: MIT
// Classes of tokens by their texts. A blank is white space. A letter is A-Z, a-z, or a code point from U+0080 on that
// is neither punctuation nor a symbol, by ranges of code points; other scripts' digits and marks count as letters.
#ifndef SAMPL_VOCAB_TOKEN_CLASS_H
#define SAMPL_VOCAB_TOKEN_CLASS_H

#include "vocab/vocab.h"

enum token_class {
    CLASS_OTHER,       // everything else: control tokens, no or broken UTF-8, no text, mixtures such as 1st or 's
    CLASS_SPACE_WORD,  // blanks, then a letter
    CLASS_WORD,        // a letter first
    CLASS_NUMBER,      // after optional blanks only digits 0-9, and '.' or ',' between two digits
    CLASS_PUNCTUATION, // after optional blanks no letter, no digit 0-9, and something visible
    CLASS_SPACE,       // blanks only
    TOKEN_CLASSES
};

// Returns the class of a text.
enum token_class token_class_of(struct piece text);

// Returns the class of a token. A special token, and one that v does not have, is CLASS_OTHER.
static inline enum token_class token_class(const struct vocab *v, uint32_t id)
{
    return token_class_of(vocab_output(v, id));
}

#endif
