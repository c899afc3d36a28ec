// SPDX-License-Identifier: MIT
// The work of a run on its rows, as the arguments describe it. Computed once, and constant while rows are read.
#ifndef SAMPL_RUN_JOB_H
#define SAMPL_RUN_JOB_H

#include "base/builder.h"
#include "chain/chain.h"
#include "chain/recipe.h"
#include "cli/variants.h"
#include "in/id_file.h"
#include "trace/trace.h"

// Data that must be recorded of each row, as bits.
enum recorded {
    // in the record
    RECORD_KEPT = 1 << 0,     // number of candidates left
    RECORD_LIST = 1 << 1,     // the candidates left
    RECORD_LINES = 1 << 2,    // a line for each stage
    RECORD_FOLLOWED = 1 << 3, // probabilities from stage to stage
    RECORD_STATS = 1 << 4,    // the statistics
    RECORD_PAIRS = 1 << 5,    // each variant's distribution compared with the base's
    RECORD_REMOVALS = 1 << 6, // the stage or mask that removed each token
    RECORD_CUTS = 1 << 7,     // the likeliest removed tokens
    RECORD_VALUES = 1 << 8,   // a score or a distribution
    RECORD_EXPECTED = 1 << 9, // the expected token or numbers
    RECORD_DRAWN = 1 << 16,   // the draws of --draws
    // in the log
    LOG_RAW = 1 << 10,
    LOG_STEPS = 1 << 11,
    LOG_SOFTMAXES = 1 << 12,
    // in the candidate store
    LEAVE_P = 1 << 13,
    LEAVE_CHOSEN_P = 1 << 14,
    LEAVE_LOGITS = 1 << 15,
};

// Where the token that follows a row comes from, unless the row itself names it.
enum follows { FOLLOWS_CHOSEN, FOLLOWS_ACCEPT, FOLLOWS_RECORDED, FOLLOWS_EXPECT };

struct job {
    // set by the caller, and not freed by job_free
    const struct args *args;
    struct recipes *recipes;
    const struct recipe *const *variant; // [n_variants] the base first; each samples every row, as if it were alone
    const struct variant *named;         // [n_variants] names and swept values of the variants
    size_t n_variants, n_swept;          // n_swept: number of options that are swept
    const struct kern *kern;

    // set by job_init
    struct rows rows;     // the wanted rows
    struct ids prompt;    // accepted before a sequence's first row, unless the row has a prompt of its own
    struct ids accept;    // with --accept: the i-th token follows row i
    struct ids expect;    // with --expect of ids: the i-th token is expected of the i-th row that is read
    struct id_file draws; // with --draws FILE: line i has the draws of row i
    bool recorded_draws;  // --draws recorded
    enum follows follows;
    enum emit emit;
    bool independent;
    bool expects;      // --expect is given ids
    double margin;     // of ids and draws: --tolerance, or -1 if that is not given
    bool plain;        // the output is text without distributions
    bool page;         // the output is HTML, which holds more of a row than was asked for
    bool lists;        // records hold candidates
    size_t list_most;  // with lists: number of candidates; 0: all
    bool traces;       // records hold trace lines
    bool dumps;        // lists or traces
    bool compares;     // each variant's distribution is compared with the base's
    bool centred;      // --report: both inputs have logits, no log-probabilities, so that logits can be compared
    double least;      // --report: tokens of the base with a smaller log-probability count nothing in the divergence
    bool side_by_side; // --diff, or --dump-probs with variants
    const char *after; // the stage whose distribution is shown, or NULL
    struct trace_wish wish;
    const char *const *measures; // names of the first variant's that has some (recipe_measures), or NULL

    unsigned recorded; // bits of enum recorded, set by job_record
};

// Reads the values of the arguments. A part of a longer run (--shard, --row-base) must know as much of the rows before
// it as the longer run knows; an error if it does not. The caller frees j either way.
bool job_init(struct job *j, struct err *e);
void job_free(struct job *j);

// Decides what must be recorded. Called when the output is open. window: the output goes to a window, which shows more.
void job_record(struct job *j, bool window);

static inline bool job_records(const struct job *j, unsigned bits) { return j->recorded & bits; }

// Can each row be sampled before its predecessors are?
bool job_splits(const struct job *j);

// Appends the names of the stages that look back on tokens that the run itself chooses. The rows need not have been
// computed for these tokens. Appends nothing if the run is given the tokens, or if each row stands alone.
void job_own_history(const struct job *j, struct builder *names);

// Returns the option of a penalty that multiplies logits in some chain, or NULL.
const char *job_factor(const struct job *j);

// Has an engine of a variant a generator that needs the width of every row that it passes over?
bool job_skips_by_width(const struct job *j);

// Does the distribution after a recipe's chain follow from the row and the known tokens before it? If not, *e says why
// --draws cannot test the row.
bool job_can_test_draws(const struct job *j, const struct recipe *recipe, struct err *e);

// Do rows of the longer run come before this part? Also true if the part holds no row.
bool job_is_later_part(const struct args *a);

#endif
