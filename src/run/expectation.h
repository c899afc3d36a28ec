// SPDX-License-Identifier: MIT
// What a grammar allows next, and the texts of tokens, as parts of a sentence.
#ifndef SAMPL_RUN_EXPECTATION_H
#define SAMPL_RUN_EXPECTATION_H

#include "grammar/matcher.h"

#define EXPECTATION_TEXT 320
#define TOKEN_TEXT       80

// Such as: 'true', [0-9] or the end of the text. Cut short where it gets long. Returns text.
const char *expectation_text(const struct matcher *m, char text[EXPECTATION_TEXT]);

// A token's text with GBNF's escapes, and \xHH for bytes that are not UTF-8; cut short where it is long. Returns text.
const char *token_text(struct piece p, char text[TOKEN_TEXT]);

#endif
