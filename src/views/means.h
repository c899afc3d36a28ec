// SPDX-License-Identifier: MIT
// The table of a run with variants: means over the rows, their errors, and the paired differences to the base. Shared
// by the table and the page of several chains.
#ifndef SAMPL_VIEWS_MEANS_H
#define SAMPL_VIEWS_MEANS_H

#include "out/dest.h"
#include "views/job.h"

enum { MEANS_COLUMNS = 25 };

struct means {
    const struct job *job;
    struct table_sums *sums; // [n_variants]
    struct table_column {
        const char *name;
        enum column_kind { COLUMN_MEAN, COLUMN_SHARE, COLUMN_COUNT } kind;
        bool paired;         // has differences to the base
        size_t source;       // for means.c
    } column[MEANS_COLUMNS]; // that may have values; means_end leaves those that have
    size_t n_columns;
};

struct table_cell {
    double value, error;                 // with its standard error
    double difference, difference_error; // paired with the base; the base has none
};                                       // NAN: no such number

bool means_open(struct means *m, const struct job *j, struct err *e);
void means_free(struct means *m);

// Adds the results res[n_variants] of a row.
void means_add(struct means *m, const struct result *res);

// Called after the last row: leaves out columns without values, and notes which chains depend on draws.
void means_end(struct means *m);

// Returns the cell of a variant in a column.
struct table_cell means_cell(const struct means *m, size_t variant, size_t column);

// Returns a cell in few digits. Behind a share stands its standard error; with `errors`, behind a mean, too.
enum { CELL_TEXT = 64 };
const char *means_cell_text(const struct means *m, size_t variant, size_t column, bool errors, char text[CELL_TEXT]);

// Writes the table as fields. between: what stands between two objects; behind the last, and behind a line, `behind`.
void means_fields(const struct means *m, struct dest *d, const char *between, const char *behind);

#endif
