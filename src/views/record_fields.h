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
    bool unlisted;  // cells: records have the weight of the unlisted, because the first one is of a partial row
    bool begun;
};

// For a view whose state begins with struct columns: its prepare, or a part of it.
bool columns_open(void *self, struct job *j, struct dest *d, struct err *e);

// Called before each record, and with NULL at the end of a run: the first call writes the heading, unless the run
// continues another. write: writes the fields of an empty record, which has an error.
void columns_begin(struct columns *c, const struct record *r,
                   void (*write)(struct columns *c, const struct record *none));

// Writes all statistics of a record, of a variant if there are several.
void record_all_statistics(struct columns *c, const struct record *r, const char *variant);

// Ends a record with its sequence and its file.
void record_end(struct columns *c, const struct record *r);

// Writes a bad row as a JSON object, with null for the member `nothing`.
void record_json_bad(struct columns *c, const struct record *r, const char *nothing, const char *variant);

#endif
