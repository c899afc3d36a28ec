// SPDX-License-Identifier: MIT
// A view: one mode of a run. It has the sums and the words of the mode; what is written goes to dest->text, in the
// syntax of dest->format. A view is a file that defines `const struct view view_NAME`, and a line of the list in
// views.c.
#ifndef SAMPL_VIEWS_VIEW_H
#define SAMPL_VIEWS_VIEW_H

#include "base/hash.h"
#include "in/input.h"
#include "out/dest.h"
#include "trace/trace.h"
#include "views/job.h"

// A row of the run.
struct seen {
    const struct input_row *row, *other; // other: that of the variants, with --against; else row
    struct result *result;               // [job->variants->n] a bad result has record.error
};

// Returns a number that the rows of one sequence have in common, and no others.
static inline uint64_t seen_sequence(const struct input_row *row)
{
    return row->seq ? (uint64_t)1 << 32 | hash_bytes(row->seq, strlen(row->seq)) : row->place.first;
}

// Checks that the texts of the row's tokens are known. If not, *e says so.
bool seen_texts(const struct seen *s, const struct job *j, struct err *e);

// When a view writes.
enum pace {
    PACE_AT_ONCE, // each row, before the next row is read if the records are flushed
    PACE_ROWS,    // each row
    PACE_END      // nothing before the last row
};

// How the rows ended.
enum ending {
    ENDING_RAN,
    ENDING_BROKE,  // an error ended them
    ENDING_NO_ROWS // an error came before the first row
};

// The beginning of the state of each view.
struct view_state {
    const struct job *job;
    struct dest *dest;
};

// A function that is NULL has nothing to do.
struct view {
    const char *name; // the option, for messages
    size_t size;      // bytes of state, which begins as struct view_state; the rest is zeroed before the first call
    unsigned formats; // enum format_kind: those that it can be written in; the default is the first one of out/format.c
    unsigned needs;   // enum recorded: what is recorded of each row
    const struct option_rule *rules; // options that it excludes (cli/option_rules.h); NULL: none
    enum pace pace;
    bool folds; // its text is lines, which a window folds
    bool late;  // end is called after the destination is closed, also if that fails

    // Called when the inputs are open, and the destination is not: reads what the view needs. May choose another
    // format, and set the members of the job and the destination that depend on the view.
    bool (*prepare)(void *self, struct job *j, struct dest *d, struct err *e);

    // Returns what else is recorded of each row. Called when the destination is open.
    unsigned (*more)(const struct job *j, const struct dest *d);

    // Called by workers before the chain runs. An error with *bad is the row's own; others end the run. own: the
    // recipe that the row's parameters made, or NULL.
    bool (*ready)(const void *self, const struct recipe *own, const struct input_row *row, bool *bad, struct err *e);

    // Called by workers after the chain has run.
    struct fault (*watch)(const void *self, const struct input_row *row, struct log *l, struct cand *c,
                          struct result *res);

    // Writes a row, or adds it to the sums. Rows come in order.
    bool (*row)(void *self, const struct seen *s, struct err *e);

    // Called after the last row: writes what was kept for the end. Without rows, not called if the pace is PACE_END.
    // STATUS_DIFFERS in *e is no failure: something differs from what was expected.
    bool (*end)(void *self, enum ending how, struct err *e);

    void (*free)(void *self);
};

enum { VIEWS_MOST = 2 }; // at the same time

// Sets the views of a run, of which the first one writes to the destination. Returns their number. several: there are
// variants.
size_t views_choose(const struct args *a, bool several, const struct view *view[VIEWS_MOST]);

// Checks that the chosen view can be written in the format that is asked for, beside the options that are in use.
bool views_check(const struct args *a, struct err *e);

#endif
