// SPDX-License-Identifier: MIT
// What is said of a row: its record with the candidates that are left, what each stage did to it, and its statistics. An observer looks
// at the candidate store before the chain, after each stage and at the end, and changes nothing.
#ifndef SAMPL_RUN_OBSERVE_H
#define SAMPL_RUN_OBSERVE_H

#include "out/output.h"
#include "run/beside.h"
#include "run/follow.h"
#include "run/job.h"
#include "run/trail.h"

// What a row came to. A zeroed struct is an empty result.
struct result {
    struct record record;
    double stat[STAT_COUNT]; // if they are wanted
    double beside[BESIDE_COUNT];
    struct expected expected; // its id comes from outside
    bool ok;
    struct err e;   // unless ok
    uint16_t *gone; // [n_gone], if the job wants removals: by token, what removed it
    size_t n_gone, gone_cap;
    bool bad; // the error is the row's own: the chain has passed over it and stands where it stands after a good one

    void *room, *page; // [room_cap] and [page_cap] bytes: what the record points to
    size_t room_cap, page_cap;
};

// What removed a token: nothing, it was masked in the row, a mask of grammar or reasoning budget, or a stage.
enum gone_code { GONE_NOT, GONE_ROW, GONE_MASK, GONE_STAGE };

void result_free(struct result *res);

// Puts into words what removed a token; "-": nothing did, or it is not known. Returns text.
const char *result_removed_by(const struct result *res, uint32_t id, char text[NUMBER_TEXT]);

// One thread's scratch. A zeroed struct with a job is empty.
struct observer {
    const struct job *job;
    const struct recipe *recipe; // of the row at hand
    struct trail trail;          // of the token expected

    void *room; // [room_cap] bytes: the arrays below
    size_t room_cap;

    // --trace
    struct trace_line *
        line; // [n_lines] of the result at hand: one a stage, after those for reasoning budget and grammar if there are such
    size_t n_lines, first; // first: of the stages' lines
    double *p;             // [n_row] probabilities after the newest stage, in the row's order
    struct ranked *ranked; // [n_row]

    // of pages
    struct follow follow;

    // --after
    bool views;
    size_t view_at; // the stage after which it looks; SIZE_MAX: before all
    float *view;    // [n_row] the logits there, in the row's order

    // of the statistics
    struct raw raw;
    bool raw_taken; // of the row at hand
    struct after after;

    struct result *result; // at hand, if it says what is gone

    float *scratch; // [n_row]
};

void observer_free(struct observer *o);

// A row is loaded, which stays, before the grammar and the chain; res is its result.
struct fault observe_before(struct observer *o, const struct recipe *recipe, const struct row *row, struct cand *c,
                            struct result *res);

// A mask is on the row, by one of these; and a stage has run (a chain_watch_fn; arg is the observer).
#define TRACE_REASONING "reasoning"
#define TRACE_GRAMMAR   "grammar"
void observe_masked(struct observer *o, const char *by, const struct cand *c);
struct fault observe_stage(void *arg, size_t stage, struct cand *c);

// The chain has run: fills in the record and the statistics. known: the token that follows the row, if that was known beforehand, or -1.
struct fault observe_after(struct observer *o, struct cand *c, int64_t known, struct result *res);

#endif
