// SPDX-License-Identifier: MIT
// The plan of a run: what its arguments come to. Constant while rows are read.
#ifndef SAMPL_VIEWS_JOB_H
#define SAMPL_VIEWS_JOB_H

#include "base/builder.h"
#include "chain/chain.h"
#include "chain/recipe.h"
#include "cli/variants.h"
#include "in/id_file.h"
#include "in/input.h"
#include "out/emit.h"
#include "trace/record.h"

#include <string.h>

// Data that must be recorded of each row, as bits.
enum recorded {
    // in the record
    RECORD_KEPT = 1 << 0,       // number of candidates left
    RECORD_LIST = 1 << 1,       // the candidates left
    RECORD_SHOWN = 1 << 9,      // with RECORD_LIST: the best of them are shown
    RECORD_LINES = 1 << 2,      // a line for each stage
    RECORD_FOLLOWED = 1 << 3,   // probabilities from stage to stage
    RECORD_STATS = 1 << 4,      // the statistics
    RECORD_PAIRS = 1 << 5,      // each variant's distribution compared with the base's
    RECORD_REMOVALS = 1 << 6,   // the stage or mask that removed each token
    RECORD_CUTS = 1 << 7,       // the likeliest removed tokens
    RECORD_VALUES = 1 << 8,     // a score or a distribution
    RECORD_AGREEMENT = 1 << 17, // --report: of the raw rows
    RECORD_ACCEPTED = 1 << 19,  // with RECORD_STATS: the raw rank of the accepted token
    // in the log
    LOG_RAW = 1 << 10,
    LOG_STEPS = 1 << 11,
    LOG_SOFTMAXES = 1 << 12,
    // in the candidate store
    LEAVE_P = 1 << 13,
    LEAVE_CHOSEN_P = 1 << 14,
    LEAVE_LOGITS = 1 << 15,
    LEAVE_NOTES = 1 << 16,
    IGNORE_CHOICE = 1 << 18, // the view does not read which token the selector chooses
    // together
    NEED_STATS = RECORD_STATS | LOG_RAW | LEAVE_LOGITS,
    NEED_PAIRS = RECORD_PAIRS | NEED_STATS,
    NEED_LIST = RECORD_LIST | LEAVE_P | LEAVE_CHOSEN_P,
    NEED_LINES = RECORD_LINES | NEED_LIST | LOG_STEPS | LOG_SOFTMAXES,
    NEED_REMOVALS = RECORD_REMOVALS | LOG_STEPS,
};

// Where the token that follows a row comes from, unless the row itself names it.
enum follows { FOLLOWS_CHOSEN, FOLLOWS_ACCEPT, FOLLOWS_RECORDED, FOLLOWS_CLAIMED };

enum { PAGE_CANDIDATES = 8 }; // that a page shows of each row, unless another number is asked for

struct job {
    // set by the caller, and not freed by job_free
    const struct args *args;
    struct recipes *recipes;
    const struct variants *variants; // the base first; each samples every row, as if it were alone
    const struct kern *kern;
    const struct view *view; // that writes the rows, and watches the workers

    // set by job_init
    struct rows rows;  // the rows to show
    struct ids prompt; // accepted before a sequence's first row, unless the row has a prompt of its own
    struct ids accept; // with --accept: the i-th token follows row i
    // With --expect of ids or --audit, unless they are recorded: the i-th is claimed of the i-th row shown; VOCAB_NONE:
    // none, because the row is bad. claimed[1]: those of --trusted, which the second chain has
    struct ids claimed[2];
    struct id_file draws; // with --draws FILE: line i has the draws of row i
    enum follows follows;

    // set by the run, before its first row
    void *self;                        // state of the view
    const struct input_config *config; // of the rows
    struct input *const *in;           // the rows and, with --against, those of the variants
    unsigned recorded;                 // bits of enum recorded
};

// Reads the values of the arguments. A part of a longer run (--shard, --row-base) must know as much of the rows before
// it as the longer run knows; an error if it does not. The caller frees j either way.
bool job_init(struct job *j, struct err *e);
void job_free(struct job *j);

static inline bool job_records(const struct job *j, unsigned bits) { return j->recorded & bits; }

// Returns whether each row can be sampled before its predecessors are.
bool job_splits(const struct job *j);

// Appends the names of the stages that read earlier tokens that the run itself chooses. The rows need not have been
// computed for these tokens. Appends nothing if the run is given the tokens, or if each row stands alone.
void job_own_history(const struct job *j, struct builder *names);

// Names what makes the distributions of a variant's rows depend on the seed: a stage that draws before the selector, or
// one that reads tokens of the history, if the chain drew some of these. NULL: the seed decides the chosen tokens only.
// own_history: the chain chose tokens of some row's history.
const char *job_by_chance(const struct job *j, size_t variant, bool own_history);

// Returns the option of a penalty that multiplies the row's logits in some chain, or NULL.
const char *job_factor(const struct job *j);

// Returns whether an engine of a variant has a generator that needs the width of every row that it passes over.
bool job_skips_by_width(const struct job *j);

// Checks that the distribution after a recipe's chain follows from the row and the known tokens before it. If not, *e
// says why --draws cannot test the row.
bool job_can_test_draws(const struct job *j, const struct recipe *recipe, struct err *e);

// Returns whether --expect is given ids, not rows of numbers. Those are read beside the rows, which therefore come
// alone.
static inline bool job_expects(const struct job *j) { return j->args->expect && !emit_distribution(j->args->emit); }
static inline bool job_compares_numbers(const struct job *j) { return j->args->expect && !job_expects(j); }

// Returns whether a token is claimed of each row. job_claims returns where the claims of a variant's chain come from:
// the value of --expect, --audit or --trusted; NULL: none are made.
static inline bool job_has_claims(const struct job *j) { return job_expects(j) || j->args->audit; }
static inline const char *job_claims(const struct job *j, size_t variant)
{
    if (j->args->audit)
        return variant && j->args->trusted ? j->args->trusted : j->args->audit;
    return job_expects(j) ? j->args->expect : NULL;
}

// Returns the ids that are claimed, for the chain of a variant.
static inline const struct ids *job_claimed(const struct job *j, size_t variant)
{
    return &j->claimed[variant && j->args->trusted];
}

// The option that makes the claims, for messages.
static inline const char *job_claim_option(const struct job *j, size_t variant)
{
    return !j->args->audit ? "--expect" : variant && j->args->trusted ? "--trusted" : "--audit";
}

// Returns whether rows of the longer run come before this part. Also true if the part holds no row.
bool job_is_later_part(const struct args *a);

// Returns whether the tokens that follow the rows are known beforehand.
static inline bool job_accepts(const struct job *j) { return j->args->accept; }

// Returns whether the draws that --draws tests are those that the input records.
static inline bool job_draws_recorded(const struct job *j) { return args_recorded(j->args->draws); }

// Returns whether the ids that are claimed are those that the input records. Those of --audit and --trusted are, or are
// not, together.
static inline bool job_claims_recorded(const struct job *j) { return args_recorded(job_claims(j, 0)); }

// Returns how many candidates of a row are shown; 0: all.
static inline size_t job_list_most(const struct job *j)
{
    const int64_t given = j->args->dump;
    if (given == NO_NUMBER)
        return 0;
    return given ? (size_t)given : PAGE_CANDIDATES;
}

// Returns the margin up to which a difference does not count; below 0: each difference counts.
static inline double job_margin(const struct job *j)
{
    return args_given(j->args, "tolerance") ? j->args->tolerance : -1.0;
}

// Fails with STATUS_USAGE if --emit text lacks the texts of tokens: without --vocab, only servers' replies have them.
bool job_can_write_texts(const struct job *j, struct err *e);

// Returns the names of the measures of the first variant that has some, or NULL.
const struct row_measure *job_measures(const struct job *j);

#endif
