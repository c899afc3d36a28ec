// SPDX-License-Identifier: MIT
// What a run does with its rows, whatever the chain. Constant once it is made.
#ifndef SAMPL_RUN_JOB_H
#define SAMPL_RUN_JOB_H

#include "chain/recipe.h"
#include "cli/variant.h"
#include "sample/chain.h"

struct job {
    // the maker's, whom they belong to
    const struct args *args;
    struct recipes *recipes;
    const struct recipe *const *variant; // [n_variants] that see each row; each runs as if it were alone
    const struct variant *named;         // [n_variants] what they are called, and swept
    size_t n_variants, n_swept;          // options that are swept
    const struct kern *kern;

    // by job_init
    struct rows rows;  // that are wanted
    struct ids prompt; // accepted before a sequence's first row, unless the row has a prompt of its own
    struct ids accept; // with --accept: the token that follows row i is the i-th
    struct ids expect; // with --expect: of the i-th row that is read
    bool expects;      // ids; unless --accept is given they follow the rows, too
    bool plain;        // nothing is written but the id
    bool page;         // of HTML, which holds more of a row than was asked for
    bool lists;        // records hold candidates,
    size_t list_most;  // so many of the best, 0: all,
    bool traces;       // and what the stages did
    bool dumps;        // either
    bool raws;         // rows as they were read are wanted
    bool measures;     // the statistics of rows are wanted
    bool compares;     // and what variants are beside the base
    bool side_by_side; // and all that their chains leave and remove: --diff and --dump-probs
    bool pictures;     // records go to a window, which shows what the chain removed, too
    bool removals;     // what removed each token is wanted
};

// Reads what the arguments name, and refuses those that do not go together when the run is a part of a longer one (--shard, --row-base):
// it prints what the longer one prints for its rows, so it must know as much of the rows before. j must be freed either way.
bool job_init(struct job *j, struct err *e);
void job_free(struct job *j);

// Once it is known that the output is a window.
void job_on_screen(struct job *j);

// Can each row be sampled without its predecessors having been?
bool job_splits(const struct job *j);

// Do rows of the longer run come before this part? Also true when it holds none at all.
bool job_is_later_part(const struct args *a);

#endif
