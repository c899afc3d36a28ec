// SPDX-License-Identifier: MIT
// The table of a run with variants: means over the rows, their errors, and the paired differences to the base.
#ifndef SAMPL_RUN_TABLE_H
#define SAMPL_RUN_TABLE_H

#include "out/record.h"
#include "run/job.h"

// Sums over the rows of one chain. A zeroed struct is empty.
struct table_sums {
    uint64_t rows; // good rows
    struct column_sums {
        // Mean and sum of squared deviations, updated row by row.
        struct moments {
            uint64_t n;
            double sum, mean, m2;
        } all;                       // of the rows where the chain has a value
        struct moments own, of_base; // of the rows where the base has a value, too
        struct moments difference;   // the chain's value less the base's, on these rows
    } column[TABLE_COLUMNS];
};

// Adds a good row of a chain. base: the base's result of the row; NULL if the row is bad there.
void table_add(struct table_sums *t, const struct result *res, const struct result *base);

// Sets the columns of a job's table. sums: of each chain; they tell if some rows are partial.
void table_columns(const struct job *j, const struct table_sums *sums, struct chains *all);

// Fills in a chain's cells, one for each of the columns.
void table_cells(const struct table_sums *t, const struct chains *all, struct compared_chain *c);

#endif
