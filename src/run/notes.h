// SPDX-License-Identifier: MIT
// Notes on the settings of a run, and on what is special in its rows.
#ifndef SAMPL_RUN_NOTES_H
#define SAMPL_RUN_NOTES_H

#include "in/input.h"
#include "run/totals.h"
#include "views/job.h"

// Notes that a run prints once, and what they wait for: HISTORY_CHOSEN says that the run chose a token of the history.
enum run_note {
    NOTE_BIASES,
    NOTE_WIDTHS,
    NOTE_HISTORY,
    NOTE_NUMBERS,
    NOTE_LOGITS,
    NOTE_FACTOR,
    NOTE_MASK,
    NOTE_ZERO,
    HISTORY_CHOSEN
};

// Adds the kind to the set *noted of bits. Returns whether it is new there.
bool note_new(unsigned *noted, enum run_note kind);

// Called before the rows.
void note_settings(const struct job *j);

// A row with what is known of it once it has been sampled.
struct noted_row {
    const struct input_row *row, *other; // other: that of the variants
    const struct result *result;         // of each variant, if the row is sampled
    size_t width;                        // of the row
    bool partial;                        // the row is a good list of log-probabilities
};
void note_seen(const struct job *j, unsigned *noted, const struct noted_row *r);

// Called after the last row: notes that rows of --rows lie behind it.
void note_rows_beyond(const struct job *j);

// Notes how many outcomes of lists are not exact, in the chain that needs the longest list, and how long it must be.
void note_partial(const struct job *j, const struct totals *t);

#endif
