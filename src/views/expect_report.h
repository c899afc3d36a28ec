// SPDX-License-Identifier: MIT
// The report of --expect: its state, why rows differ, and what the comparisons of ids and of numbers write alike.
#ifndef SAMPL_VIEWS_EXPECT_REPORT_H
#define SAMPL_VIEWS_EXPECT_REPORT_H

#include "views/record_fields.h"
#include "views/view.h"

#include <math.h>

// A hint at the cause of a difference.
enum hint { HINT_NONE, ONE_MORE, ONE_LESS, BOUNDARY, TIE, DRAW, MASKED, UNLISTED };

enum { CHANGES_MOST = 8 }; // lost and added candidates that are listed

// Why rows differ: a stage, or "", with a hint.
struct cause {
    char stage[NUMBER_TEXT];
    enum hint hint;
    uint64_t rows;
};

struct expect {
    const struct job *job;
    struct dest *dest;
    struct columns columns;
    struct input_config config;
    struct input *in; // distributions; NULL: ids are expected
    float *values;    // [cap] the expected numbers of a row
    size_t cap;
    double margin;      // of an id or a candidate: --tolerance, or -1 if that is not given
    uint64_t most;      // differing rows that are listed
    uint64_t rows;      // so far
    uint64_t differing; // rows that were not as expected
    uint64_t within;    // other rows that were not, but whose margin is within the tolerance
    uint64_t bad, inexact;
    struct cause *cause; // [causes]
    size_t causes, cause_cap;

    // of the row of distributions at hand: candidates that are kept here or there only
    struct expected change[CHANGES_MOST + 1]; // the first ones, and room for another
    size_t lost, added;
    struct {
        size_t differing, first;
        double max; // the largest difference of numbers that are not masked; -1: all are
    } numbers;      // of that row
};

static inline bool expect_json(const struct expect *v) { return v->dest->format->kind == FORMAT_JSON; }

// Returns the hint at the cause of a difference at a token. partial: the row lists some tokens only.
enum hint expect_hint(const struct expected *x, bool partial);

// Returns the stage that removed a token or, if it was kept, the stage that set the end of what is left; or NULL.
const char *expect_stage(const struct expected *x);

// Counts a differing row by its cause. stage: NULL if none is the cause. False when memory is short.
bool expect_add_cause(struct expect *v, const char *stage, enum hint hint, struct err *e);

// Appends what the stage compared with its limit when it kept or removed the token, and ends the line.
void expect_limit_text(struct builder *b, const struct expected *x);

// Appends a line that says why the token is not kept. partial: the row lists some tokens only. gone: the words of the
// line for a token that a stage removed.
void expect_removal_text(struct builder *b, const struct expected *x, bool partial, const char *removed);

// Write members of an object: a stage with its limit; a hint, or null.
void expect_stage_members(struct dest *d, const struct expected *x);
void expect_hint_member(struct dest *d, enum hint hint);

// Write the counts and the causes.
void expect_summary_text(struct expect *v);
void expect_summary_json(struct expect *v, enum status status);

#endif
