// SPDX-License-Identifier: MIT
// Records as fields: members of a JSON object, or cells of a line. With d->heading, the names above the cells.
#ifndef SAMPL_OUT_FIELDS_H
#define SAMPL_OUT_FIELDS_H

#include "out/dest.h"
#include "trace/record.h"

// Returns whether a record is a line of cells. Else it is a JSON object, which may be a part of a page.
static inline bool has_cells(const struct dest *d) { return d->format->kind == FORMAT_CELLS; }

// Begins a field. Returns false if only the name is wanted, and no value. Here and below, name NULL makes the field an
// item of a list. Only in JSON.
bool field_begin(struct dest *d, const char *name);

void field_int(struct dest *d, const char *name, int64_t x);
void field_float(struct dest *d, const char *name, float x);   // in JSON null for -inf, which readers take for masked
void field_double(struct dest *d, const char *name, double x); // in JSON null for infinities and NaN
void field_bool(struct dest *d, const char *name, bool x);

// Writes a text. NULL: no member, or an empty cell. column: lines of cells have this column.
void field_text(struct dest *d, const char *name, const char *text, bool column);

// Writes a text, or null. Only in JSON.
void field_text_or_null(struct dest *d, const char *name, const char *text);

// Writes a parameter or a note; null if it has no name or is not finite. Only in JSON.
void field_named(struct dest *d, const char *name, const struct named *x);

// Writes the text of a token; nothing without a vocabulary.
void field_token(struct dest *d, const char *name, uint32_t id);

// Writes the id of a token and, with a vocabulary, its text and its bytes. Only in JSON.
void fields_of_token(struct dest *d, uint32_t id);

// Begin and end a member or an item that is an object or a list. Only in JSON.
void object_begin(struct dest *d, const char *name);
void object_end(struct dest *d);
void items_begin(struct dest *d, const char *name);
void items_end(struct dest *d);

// Ends the line or the object, and writes `tail` behind an object.
void fields_end(struct dest *d, const char *tail);

// Writes a JSON string. In a page, it has the escapes of builder_json_page.
void write_json_string(struct dest *d, struct piece string);

#endif
