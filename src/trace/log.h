// SPDX-License-Identifier: MIT
// The log of a row: which candidates were left when the row was loaded, after each mask and after each stage. Whatever
// is shown of a row is computed from its log once the chain has run (trace/trace.h). A log serves one row at a time.
#ifndef SAMPL_TRACE_LOG_H
#define SAMPL_TRACE_LOG_H

#include "chain/recipe.h"
#include "trace/measure.h"

#define MASK_REASONING "reasoning"
#define MASK_GRAMMAR   "grammar"

// The candidates that one step has left, masked ones left out, by rising id.
struct log_step {
    const char *mask;          // name of the mask that was put on the row; NULL: a stage ran, or the row was loaded
    const struct stage *stage; // that ran, else NULL
    size_t at, n;              // the candidates are id[at..at + n) and logit[at..at + n) of the log
    // If the log takes softmaxes. Probabilities are those of logit * factor by `given`.
    float factor;           // 1 / T if a stage has handed on the softmax of logit / T; else 1
    struct softmax softmax; // of logit * factor of all candidates in the store's order
    struct softmax given;   // that softmax, or the one of an earlier step that the stages since then have handed on
    // The unlisted tokens of a partial row after the step. Those that are left count in the softmaxes as one token,
    // if their weight is known.
    enum unlisted_state unlisted;
    bool as_read;  // no stage has removed an unlisted token, or changed a logit
    float ceiling; // no unlisted token's logit is above it; -inf: none is left; +inf: it is not known
    double weight; // logarithm of their weight; -inf: none is left; NaN: it is not known
    struct note note[NOTES_MOST];
    size_t n_notes;
    // With takes_softmaxes, what the sampler says of the step (sample/account.h): its words are those at words[words].
    size_t words;
    struct finding finding[FINDINGS_MOST];
    size_t n_findings;
};

// A zeroed struct with its first members set is empty.
// Where the reasoning budget and the grammar stand at a row, before its token.
struct log_standing {
    const char *budget; // its state in a word; NULL: no budget
    uint32_t left;      // tokens, while it counts; else 0
    size_t rules;       // where the names of the grammar's rules begin in `words`; 0: no grammar
    size_t fits;        // tokens that the grammar allows
};

struct log {
    bool takes_raw;       // log_begin takes the row as it was read
    bool takes_steps;     // log_begin, log_mask and log_stage add a step
    bool takes_softmaxes; // with takes_steps

    const struct recipe *recipe;  // of the chain
    struct raw raw;               // raw.row is NULL until the row is taken; the owner clears it between rows
    struct after after;           // filled by after_measure
    struct log_step *step;        // [n_steps] step 0 is the loaded row
    uint32_t *id;                 // [taken] candidates of all steps; steps that change nothing share theirs
    float *logit;                 // [taken], and behind them room for a row
    struct ranked_scratch sort;   // for the lists of the record
    double *p;                    // scratch of trace_lines: probabilities of two steps
    struct builder words;         // of all steps, each with a NUL behind it
    size_t first;                 // words of a grammar on the token that was chosen without it; 0: none
    struct log_standing standing; // of logs that take softmaxes
    size_t n_steps, taken, step_cap, id_cap, logit_cap, p_cap;
    size_t extra_token, extra_rank; // those of the row
};

void log_free(struct log *l);

// Starts the log of a row that c has just loaded. The row and c stay until the log is read.
struct fault log_begin(struct log *l, const struct recipe *recipe, const struct row *row, const struct cand *c);

// Adds a step for a mask: c holds the masked row.
struct fault log_mask(struct log *l, const char *mask, const struct cand *c);

// Adds a step for a stage of the recipe that has just run on c. A chain_watch_fn; arg is the log.
struct fault log_stage(void *arg, size_t stage, const void *state, struct cand *c);

// Notes whether a grammar that looks at the chosen token allowed it.
void log_first_choice(struct log *l, uint32_t token, bool fits);

// The step that removed all unlisted tokens of a partial row; NULL: some may be left, or the row lists all.
const struct log_step *log_unlisted_removal(const struct log *l);

// The probability of a logit in a step.
double step_prob(const struct log_step *step, float logit);

// Returns the softmax that the stage of a step compares the candidates of the step before by: their own, or one that
// an earlier stage has handed on. Then the logits of *of become those of that softmax, in the room behind the log's.
struct softmax log_compared(const struct log *l, const struct kern *kern, const struct log_step *step,
                            struct compared *of);

// The last step up to this stage of the recipe, by its index.
const struct log_step *log_step_at(const struct log *l, size_t stage);

// Adds the unlisted tokens of a step to a softmax of its candidates' logits, if their weight is known.
void step_add_unlisted(const struct log_step *step, struct softmax *s);

// The rank of the candidate at a place of a step, from 1. 0: unlisted tokens rank before it, and the list does not tell
// how many.
size_t step_rank(const struct log *l, const struct kern *kern, const struct log_step *step, size_t at);

// The place of a token among a step's candidates, counted from step->at; SIZE_MAX if the step has not left it.
size_t log_find(const struct log *l, const struct log_step *step, uint32_t id);

// A step's logits in the row's order, -inf for the others: c->n_row of them, which stay until the next call.
const float *log_spread(struct log *l, const struct log_step *step, const struct cand *c);

#endif
