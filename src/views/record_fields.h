// SPDX-License-Identifier: MIT
// The record of a row as fields: shared by the views that write records, and by the page, which holds them.
#ifndef SAMPL_VIEWS_RECORD_FIELDS_H
#define SAMPL_VIEWS_RECORD_FIELDS_H

#include "out/fields.h"
#include "views/job.h"

// The records of a run. Lines of cells have the columns that the first record decides.
struct columns {
    const struct job *job;
    struct dest *dest;
    bool sequences; // records name their sequence: the first one did, or any may
    bool rests;     // cells: records have the rest, because the first one is of a partial row
    bool begun;
};

// For a view whose state begins with struct columns: its prepare, or a part of it.
bool columns_open(void *self, struct job *j, struct dest *d, struct err *e);

// Called before each record, and with NULL at the end of a run: the first call writes the heading, unless the run
// continues another. write: writes the fields of an empty record, which has an error.
void columns_begin(struct columns *c, const struct record *r,
                   void (*write)(struct columns *c, const struct record *none));

// Write fields of a record: the row and the chosen token; the statistics of the row and the token, as an open object;
// and all statistics, of a variant if there are several. record_end ends the record with its sequence and its file.
void record_token(struct columns *c, const struct record *r);
void record_statistics(struct columns *c, const struct record *r);
void record_all_statistics(struct columns *c, const struct record *r, const char *variant);
void record_end(struct columns *c, const struct record *r);

// Writes one value of a token.
void record_value(struct columns *c, const struct record *r, const char *name, int64_t id, float x);

// Write a record as a JSON object: its candidates and stages; and a bad row, with null for the member `nothing`.
void record_json(struct columns *c, const struct record *r);
void record_json_bad(struct columns *c, const struct record *r, const char *nothing, const char *variant);

#endif
