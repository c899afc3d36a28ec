// SPDX-License-Identifier: MIT
// What a run does with its rows, whatever the chain: made of the arguments once, and constant from then on.
#ifndef SAMPL_RUN_JOB_H
#define SAMPL_RUN_JOB_H

#include "cli/args.h"
#include "recipe/recipe.h"
#include "sample/chain.h"

struct job {
    struct recipes *recipes;
    const struct recipe *const *variant; // [n_variants] that see each row; each runs as if it were alone
    size_t n_variants;
    const struct kern *kern;

    // sequences
    struct ids prompt; // accepted before a sequence's first row, unless the row has a prompt of its own
    struct ids accept; // accept_given: the token that follows row i is the i-th
    bool accept_given;
    bool accept_recorded; // it is the one that the input records
    bool independent;     // every row is a sequence of its own

    // what is noted of a row
    enum emit emit;
    bool dump, trace, stats;
    size_t dump_most; // candidates; 0: all
    bool plain;       // nothing but the id

    bool skip_bad; // rows, and go on
    bool verbose;
    size_t threads;
};

// Reads what the arguments name. j must be freed either way; the variants are the caller's.
bool job_init(struct job *j, const struct args *a, struct err *e);
void job_free(struct job *j);

// Can each row be sampled without its predecessors having been?
bool job_splits(const struct job *j);

// Refuses options that do not go together when the run is a part of a longer one (--shard, --row-base): it prints what the longer one
// prints for its rows, so it must know as much of the rows before.
bool job_check_part(const struct job *j, const struct args *a, struct err *e);

// Do rows of the longer run come before this part? Also true when it holds none at all.
bool job_is_later_part(const struct args *a);

#endif
