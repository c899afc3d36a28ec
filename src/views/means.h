// SPDX-License-Identifier: MIT
// The table of a run with variants: means over the rows, their errors, and the paired differences to the base. Shared
// by the table and the page of several chains.
#ifndef SAMPL_VIEWS_MEANS_H
#define SAMPL_VIEWS_MEANS_H

#include "cli/help.h"
#include "cli/option_rules.h"
#include "out/dest.h"
#include "views/job.h"

enum { MEANS_COLUMNS = 26, MEANS_FIELDS = 4 * MEANS_COLUMNS };

// A field of the table: the mean of a column, or a number that belongs to it. The base has no differences.
struct means_field {
    size_t column;
    enum means_part { MEANS_VALUE, MEANS_ERROR, MEANS_DIFFERENCE, MEANS_DIFFERENCE_ERROR } part;
};

struct means {
    const struct job *job;
    struct table_sums *sums;            // [variants]
    bool has[MEANS_COLUMNS];            // the column may have values; means_end leaves those that have
    const char *measure[MEASURES_MOST]; // names of the columns of samplers' measures; NULL: none
    struct means_list {
        struct means_field field[MEANS_FIELDS];
        size_t n;
    } all, shown; // set by means_end: all fields, and those to show: of --columns, or the columns in people's order
    bool names;   // --columns names some columns
    bool brief;   // those to show are the few that choose a chain, unless --columns asks for others
};

// A rule of views that have the table: that of a part of the rows cannot be joined with those of the others.
#define MEANS_OF_PARTS                                     \
    EXCLUDES("shard", .as = "--vs, --sweep and --against", \
             .why = ": tables of parts cannot be joined, but the rows of --emit stats can")

struct means_cell {
    double value, error; // with its standard error; NAN: no such number
};

// Returns true if all columns of --columns are about the accepted tokens. NULL: no.
bool means_of_accepted(const char *columns);

bool means_open(struct means *m, const struct job *j, struct err *e);
void means_free(struct means *m);

// Explains the columns of the table for --help; those of samplers' measures have no name here.
column_help_at means_help;

// Adds the results res[variants] of a row.
void means_add(struct means *m, const struct result *res);

// Names what makes the numbers of a variant depend on the seed (job_by_chance), or returns NULL. Known after the last
// row.
const char *means_by_chance(const struct means *m, size_t variant);

// Called after the last row: leaves out columns without values, lists the fields, and notes which chains depend on
// draws.
void means_end(struct means *m);

// Returns a field of a variant.
struct means_cell means_cell(const struct means *m, size_t variant, struct means_field f);

enum { CELL_TEXT = 64 };

// Returns the name of a field.
const char *means_name(const struct means *m, struct means_field f, char text[CELL_TEXT]);

// Returns a field of a variant, rounded to its error, which follows a share and, with `errors`, a mean: 15.9 ±0.6.
// utf8: else +- stands for the sign.
const char *means_cell_text(const struct means *m, size_t variant, struct means_field f, bool errors, bool utf8,
                            char text[CELL_TEXT]);

// Writes a number as it is shown beside its error: with as many digits as the error has, two of those up to 35, else
// one. Without an error (NaN or 0) four digits. Returns text.
const char *rounded_to(double x, double error, char text[CELL_TEXT]);

// Writes the table as fields. between: what stands between two objects; behind the last, and behind a line, `behind`.
void means_fields(const struct means *m, struct dest *d, const char *between, const char *behind);

#endif
