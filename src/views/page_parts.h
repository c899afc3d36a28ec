// SPDX-License-Identifier: MIT
// The parts that the page of one chain and the page of several chains share.
#ifndef SAMPL_VIEWS_PAGE_PARTS_H
#define SAMPL_VIEWS_PAGE_PARTS_H

#include "base/hash.h"
#include "views/record_fields.h"
#include "views/view.h"

enum { PAGE_ROWS = 2000 }; // rows that a page shows

struct page {
    struct columns columns; // of the records that the page holds; with the job and the destination
    uint64_t rows;          // so far

    // The first row that needs a text of a token, a name of what removes tokens, or the stages has them in the page;
    // later rows refer to them.
    struct idmap texts;         // ids whose texts stand in the page
    struct builder new_texts;   // of this row
    struct builder reasons;     // names so far, each with a line feed behind it
    struct builder new_reasons; // of this row
    struct builder stages;      // JSON of the stages of the last row
};

void page_free(struct page *p);

// Writes the id of a token as an item of a list. The token's text then stands in the page.
void page_id(struct page *p, uint32_t id);

// Returns the number of a name, from 1.
size_t page_reason(struct page *p, const char *name);

// Writes a number with six digits; null for infinities and NaN.
void page_number(struct dest *d, const char *name, double x);

// Begins a member that is a list, in a line of its own.
void page_list(struct dest *d, const char *name);

// Writes a chain's numbers of a row as an item: [id, prob, kept, entropy, overlap, raw prob, raw rank]. The record has
// statistics.
void page_chain(struct page *p, const struct record *r, double overlap);

// Writes the member "accepted", if that token is known: [id, raw prob, raw rank, prob].
void page_accepted(struct page *p, const struct record *r);

// Writes the members "texts" and "reasons" of the row, with what earlier rows lack.
void page_names(struct page *p);

// Writes the member "stages", unless the stages of the row are those of the last row: a list of objects with the
// name, `enabled`, the parameters, and the names of the notes.
void page_stages(struct page *p, const struct record *r);

// Writes a text of any bytes as HTML, with the escapes of text_clip. reads: the text is a part of the text that the
// page shows, so its line breaks, tabs and backslashes stay.
void html_text(struct builder *b, struct piece text, bool reads);

// Sets the i-th of what a list of stages may have, 0 <= i <= n_stages: the grammar (NULL) stands before the stages.
// Returns whether the list has it: there is a grammar, or the stage is enabled.
bool page_lists(const struct recipe *r, size_t i, const struct stage **stage);

// Writes what the list of stages says of a stage: the main parameter, others that are not at their defaults, and the
// biases, breakers or bans that the stage uses. NULL: writes the grammar, which the recipe has.
void stage_html(struct builder *b, const struct dest *d, const struct recipe *r, const struct stage *stage);

// Begins the page and the text of its rows, in the first call; later ones do nothing. r: the first record, or NULL.
// how: after an error before the first row, the page ends with its heading.
void page_begin(struct page *p, const struct record *r, enum ending how);

// Ends the text of the rows.
void page_reading_end(const struct page *p);

// Writes a token in the tint of a probability; a likely token has no tint. The token is the accepted one if that is
// known, else the chosen one. The probability is raw. The caller may add a script with data.
void page_token(const struct page *p, const struct record *r);

void page_end(const struct page *p);

#endif
