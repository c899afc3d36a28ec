// SPDX-License-Identifier: MIT
// The parts that the page of one chain and the page of several chains share.
#ifndef SAMPL_VIEWS_PAGE_PARTS_H
#define SAMPL_VIEWS_PAGE_PARTS_H

#include "views/record_fields.h"

enum { PAGE_ROWS = 2000 }; // rows that a page shows

struct page {
    struct columns columns; // of the records that the page holds; with the job and the destination
    uint64_t rows;          // so far
    bool begun;             // page_head has been called
};

// Writes a text of any bytes as HTML, with the escapes of text_clip. reads: the text is a part of the text that the
// page shows, so its line breaks, tabs and backslashes stay.
void html_text(struct builder *b, struct piece text, bool reads);

// Writes what the list of stages says of a stage: the main parameter, others that are not at their defaults, and the
// biases, breakers or bans that the stage uses. NULL: writes the grammar, which the recipe has.
void stage_html(struct builder *b, const struct dest *d, const struct recipe *r, const struct stage *stage);

// Begins the page. Returns whether this is the first call; later ones do nothing.
bool page_head(struct page *p);

// Writes what the page is, and what it was made of. r: the first record; NULL: there is none.
void page_about(const struct page *p, const struct record *r);

// Begin and end the text of the rows.
void page_reading_begin(const struct page *p, const char *class);
void page_reading_end(const struct page *p);

// Writes a token in the tint of a probability; a likely token has no tint. The token is the accepted one if that is
// known, else the chosen one. The probability is raw. If a page of several chains shows an accepted token, the
// probability is the base's after the chain. The caller may add a script with data.
void page_token(const struct page *p, const struct record *r);

void page_end(const struct page *p);

#endif
