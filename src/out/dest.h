// SPDX-License-Identifier: MIT
// The destination of a run: opened as a temporary file that gets its name at the end, a pipe or a window.
#ifndef SAMPL_OUT_DEST_H
#define SAMPL_OUT_DEST_H

#include "base/builder.h"
#include "base/err.h"
#include "out/format.h"
#include "out/screen.h"
#include "vocab/vocab.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct dest {
    // set by the caller
    const char *name; // NULL: standard output
    const struct output_format *format;
    bool flush;                // each record is flushed
    bool folds;                // records are lines of text, which are folded in a window
    int64_t rows;              // number of rows that will come, or -1: not known
    const struct vocab *vocab; // texts of the tokens, or NULL; may change from row to row

    // set by dest_open
    struct screen screen; // the window that shows the output
    struct builder text;  // the record that is being written
    FILE *stream;
    int64_t begin; // offset in a regular file at which the output begins; -1: it cannot be written again

    // out/fields.c
    bool heading;  // fields write their names, not their values
    bool inside;   // the next field is the first in brackets that are written
    size_t fields; // number of fields in the line, object or list so far

    char *path, *temporary; // at the end, temporary is renamed to path; NULL: stream is the destination itself
    bool shown;             // a window has shown a record
};

// Opens the destination. Members that the caller has not set are zero. The caller closes d even if this fails.
bool dest_open(struct dest *d, struct err *e);

// Called before each record: a window may have changed its size.
void dest_begin(struct dest *d);

// Where there is no window, which folds all lines, folds those of the record that begin at an offset of d->text.
void dest_fold(struct dest *d, size_t begin);

// Ends a record: writes d->text. If nobody reads the output any more, this and the functions below fail with a quiet
// end (err_silent).
bool dest_write(struct dest *d, struct err *e);

// Hands on a part of a long record, so that the record does not take memory. Called between its numbers.
static inline void dest_spill(struct dest *d)
{
    enum { LONG = 1 << 15 };
    if (d->text.len < LONG || d->folds || !builder_whole(&d->text))
        return;
    fwrite(d->text.text, 1, d->text.len, d->stream);
    builder_clear(&d->text);
}

// Lets the reader of the output have what was written so far.
bool dest_flush(struct dest *d, struct err *e);

// Ends the output. With commit, a file gets its name; without, the file is removed. Errors of the disk are found here
// at the latest. A second call does nothing.
bool dest_close(struct dest *d, bool commit, struct err *e);

// Sets the error "DESTINATION: cannot WHAT: ...", or a quiet end, from errno. Returns false.
bool dest_fail(const struct dest *d, const char *what, struct err *e);

// For signal handlers: removes a file that is being written, and the line of message_progress.
void dest_abandon(void);

// Makes signals that end the program call dest_abandon first.
void dest_catch_signals(void);

#endif
