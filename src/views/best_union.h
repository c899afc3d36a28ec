// SPDX-License-Identifier: MIT
// The candidates of a row in several chains. Shared by the views that show chains beside each other.
#ifndef SAMPL_VIEWS_BEST_UNION_H
#define SAMPL_VIEWS_BEST_UNION_H

#include "base/hash.h"
#include "out/dest.h"
#include "views/job.h"

// Candidates that are among the best of some chain. A zeroed struct is empty.
struct best_union {
    size_t n;
    struct union_token {
        struct ranked best; // id, and p: the largest of its probabilities
        const float *p;     // [variants] its probability in each chain; below 0: the chain removed it, or gave nothing
    } * token;              // [n] in the order of ranked_order

    struct idmap ids;
    float *p; // [n][variants] memory of token[].p
    size_t token_cap, p_cap;
};

void best_union_free(struct best_union *u);

// Finds the candidates of the results res[variants]. False if memory is short.
bool best_union_find(struct best_union *u, const struct job *j, const struct result *res);

// Names what removed a token in a chain, as result_removed_by does; "-" if the chain gave nothing.
const char *chain_removed_by(const struct result *res, uint32_t id, char text[NUMBER_TEXT]);

// Returns the width of a text column with the names of the chains, each cut to `most` columns.
size_t names_width(const struct job *j, size_t most);

// Returns the end of the columns from `first` on that fit in the window, of which `used` columns are used; at least one
// of the n columns fits. The next columns stand below, in another block. width: returns that of a column.
size_t block_end(const struct dest *d, size_t (*width)(const void *arg, size_t column), const void *arg, size_t n,
                 size_t first, size_t used);

#endif
