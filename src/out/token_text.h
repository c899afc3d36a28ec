// SPDX-License-Identifier: MIT
// Token texts for people and programs: any bytes as one line of UTF-8.
#ifndef SAMPL_OUT_TOKEN_TEXT_H
#define SAMPL_OUT_TOKEN_TEXT_H

#include "vocab/vocab.h"

#include <stdio.h>

// Writes the text, between quotes unless quote is 0. The escapes are those that text_unescape resolves: \n \r \t \\, and \xHH for each byte
// of other control and formatting characters and of what is not UTF-8; the quote, '"', is escaped, too, unless it is 0. Returns how many
// columns of a terminal that takes. f may be NULL: nothing is written.
size_t text_put(FILE *f, struct piece text, char quote);

// A JSON string, where U+FFFD stands for each byte that is not UTF-8.
void text_put_json(FILE *f, struct piece text);

#endif
