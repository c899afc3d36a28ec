// SPDX-License-Identifier: MIT
// The report of --audit: its state, and what it says at the end.
#ifndef SAMPL_VIEWS_AUDIT_REPORT_H
#define SAMPL_VIEWS_AUDIT_REPORT_H

#include "trace/audit_run.h"
#include "views/record_fields.h"
#include "views/view.h"

struct audit {
    struct columns columns; // of the records, with the job and the destination
    struct audit_run *run;  // [variants]
    bool table;             // the variants are chains to be compared, not the trusted run
    struct builder text;    // of the page: the tokens
};

// The claimed run, and the trusted one or NULL.
static inline const struct audit_run *audit_trusted(const struct audit *v)
{
    return v->columns.job->args->trusted ? &v->run[1] : NULL;
}

// What the report says of one run. The trusted run is compared if it has known rows, and so has the claimed one.
struct audit_summary {
    uint64_t margins; // rows whose margins are known
    struct audit_mean margin;
    bool compared;
    struct audit_tests tests; // if compared
    bool few, many;           // matches are below --match-least; the tokens outside exceed --outside-most
};

// Returns false when memory is short.
bool audit_summarise(const struct audit *v, struct audit_summary *s);

// Writes the summary: lines of text, or a record.
void audit_summary_text(const struct audit *v, const struct audit_summary *s);
void audit_summary_fields(const struct audit *v, const struct audit_summary *s);

// Writes the table of chains as text or as fields. Returns false when memory is short.
bool audit_table(const struct audit *v);

// Adds a token to the text of the page, or writes the page around it: audit_page.c.
void audit_page_token(struct audit *v, const struct record *r, const struct audited *x);
void audit_page(const struct audit *v, const struct audit_summary *s);

#endif
