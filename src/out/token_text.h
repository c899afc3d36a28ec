// SPDX-License-Identifier: MIT
// Texts of tokens and other texts of any bytes, in lines of UTF-8.
#ifndef SAMPL_OUT_TOKEN_TEXT_H
#define SAMPL_OUT_TOKEN_TEXT_H

#include "out/dest.h"
#include "trace/record.h"

#include <string.h>

// Returns the bytes of a string.
static inline struct piece text_piece(const char *text)
{
    return (struct piece){(const unsigned char *)text, strlen(text)};
}

// Returns the text of a token; an empty one without a vocabulary.
static inline struct piece token_text(const struct dest *d, uint32_t id)
{
    return d->vocab ? vocab_text(d->vocab, id) : (struct piece){0};
}

// Writes a text of any bytes as part of a line of UTF-8, between quotes unless quote is 0. Escapes are those that
// text_unescape reads: \n \r \t \\, the quote, and \xHH for each byte that is not UTF-8 or belongs to another control
// or formatting character. If the text takes more than `most` columns of a terminal, cuts it and ends it with "...".
// Returns the number of columns that were taken. If b is NULL, writes nothing.
size_t text_clip(struct builder *b, struct piece text, char quote, size_t most);

// Writes the whole text in the same way.
static inline void text_write(struct builder *b, struct piece text, char quote) { text_clip(b, text, quote, SIZE_MAX); }

// Writes as text_clip does, and blanks up to `width` columns.
void text_cell(struct builder *b, struct piece text, char quote, size_t width, size_t most);

// Writes the whole text without quotes; a backslash precedes the character `escaped`, unless that is 0.
void text_escaped(struct builder *b, struct piece text, char escaped);

// Returns the number of columns that the first character of p[0..len) takes, len > 0. *bytes: its length.
size_t text_columns(const unsigned char *p, size_t len, size_t *bytes);

enum { TEXT_MOST = 40 }; // columns up to which texts are aligned

// Returns the larger of `width` and the number of columns of a token's text. Texts above TEXT_MOST do not count.
size_t text_width(const struct dest *d, size_t width, uint32_t id);

// Writes a blank and a token's text in quotes, with blanks up to `width` columns, as a cell of a table: a long text is
// cut. Writes nothing without a vocabulary.
void text_of_token(struct dest *d, uint32_t id, size_t width);

// Writes the id and, with a vocabulary, the text in quotes, which only a window cuts.
void token_name(struct dest *d, uint32_t token);

// Adds the words of an account (sample/account.h) to b, with the texts of its tokens in quotes, or their ids.
void account_text(struct builder *b, const struct dest *d, const char *words);

// Returns the value of a parameter or a note, as programs read it.
const char *named_text(const struct named *x, char text[NUMBER_TEXT]);

// The same, as people write it: 20 instead of 2e+01.
const char *named_plain(const struct named *x, char text[NUMBER_TEXT]);

// Returns the number of columns for the lines of tables: those of the window, if there is one.
static inline size_t window_columns(const struct dest *d)
{
    return d->screen.columns ? (size_t)d->screen.columns : SCREEN_USUAL;
}

#endif
