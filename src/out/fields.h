// SPDX-License-Identifier: MIT
// Records as fields: members of a JSON object, or cells of a TSV line. With out->heading, the names above the cells.
#ifndef SAMPL_OUT_FIELDS_H
#define SAMPL_OUT_FIELDS_H

#include "out/output.h"

void field_int(struct output *out, const char *name, int64_t x);
void field_float(struct output *out, const char *name, float x); // in JSON null for -inf, which readers take for masked
void field_double(struct output *out, const char *name, double x); // in JSON null for infinities and NaN

// Writes a number; null for infinities and NaN.
void output_double(const struct output *out, double x);

// Writes a text. NULL: no member, or an empty cell. column: TSV has this column.
void field_text(struct output *out, const char *name, const char *text, bool column);

// Writes the text of a token; nothing without a vocabulary.
void field_token(struct output *out, const char *name, uint32_t id);

// Ends the line or the object, and writes `tail`.
void fields_end(struct output *out, const char *tail);

// Ends a record. Its sequence and its file come last, unless it is a distribution.
void fields_end_row(struct output *out, const struct record *r);

// Write the fields with which dumps begin; and for JSON an id with the token's text and bytes.
void fields_of_id(struct output *out, const struct record *r);
void fields_of_token(struct output *out, uint32_t id);

void fields_statistics(struct output *out, const struct record *r);

// Writers of records, for struct output_format.
void fields_id(struct output *out, const struct record *r);
void fields_stats(struct output *out, const struct record *r);
void fields_choice(struct output *out, const struct compared_chain *c);
void fields_choices(struct output *out, const struct chains *all);
void fields_table(struct output *out, const struct chains *all);

// out_report.c: write the figures of --report.
void report_text(struct output *out, const struct chains *all);
void report_json(struct output *out, const struct chains *all);

// Writes one value of a row.
void fields_value(struct output *out, const struct record *r, const char *name, int64_t id, float x);

#endif
