// SPDX-License-Identifier: MIT
// The parts of a page: out_html.c writes that of one chain, run/compare.c that of several.
#ifndef SAMPL_OUT_HTML_H
#define SAMPL_OUT_HTML_H

#include "out/output.h"

enum {
    PAGE_ROWS = 2000,    // that a page shows
    PAGE_CANDIDATES = 8, // of each row, unless asked for another number
    PAGE_VARIANTS = 12,  // so many stand side by side row by row; of more there is the table
};

// What a page keeps of its rows until its end, of one size however many they are: for out->page. The caller frees it. NULL when memory is short.
struct page *html_page(void);

// From the doctype to where the content begins, and from its end.
void html_begin(struct output *out);
void html_end(const struct output *out);

// The text: its heading, its tokens, each tinted by raw_p and maybe followed by a script of data, and its end, behind so many rows of which
// the first PAGE_ROWS are shown.
void html_text_begin(const struct output *out);
void html_text_token(const struct output *out, const struct record *r, double raw_p);
void html_text_end(const struct output *out, uint64_t rows);

#endif
