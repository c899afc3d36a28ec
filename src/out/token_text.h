// SPDX-License-Identifier: MIT
// Token texts for people and programs: any bytes as one line of UTF-8.
#ifndef SAMPL_OUT_TOKEN_TEXT_H
#define SAMPL_OUT_TOKEN_TEXT_H

#include "vocab/vocab.h"

#include <stdio.h>

// What stands for the first character of a text, or for its first byte if that is part of none.
struct shown {
    char text[17]; // [len]
    size_t len;
    size_t columns; // of a terminal: two for East Asian wide characters, none for combining ones (Unicode 14)
    size_t taken;   // bytes of the text
};

// The escapes are those that text_unescape resolves: \n \r \t \\, and \xHH for each byte of other control and formatting characters
// and of what is not UTF-8; the quote, '"', is escaped, too, unless it is 0. The text is not empty.
struct shown text_show(struct piece text, char quote);

// Writes the text so, between quotes if there is one.
void text_put(FILE *f, struct piece text, char quote);

// How many columns of a terminal text_put takes.
size_t text_width(struct piece text, char quote);

// A JSON string, where U+FFFD stands for each byte that is not UTF-8; and the bytes themselves as an array of numbers.
void text_put_json(FILE *f, struct piece text);
void text_put_bytes(FILE *f, struct piece text);

#endif
