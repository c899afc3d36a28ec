// SPDX-License-Identifier: MIT
// A line on stderr, when that is a terminal, that says how far a long run is.
#ifndef SAMPL_RUN_PROGRESS_H
#define SAMPL_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on;
    double start, shown; // times, in seconds; shown: the last time the line was written
    uint64_t rows;
    double bytes;
    int64_t total; // rows there will be, or -1
};

// Seconds on a clock that only goes forward.
double progress_clock(void);

// Is there anybody to see it? Then input_rows is worth asking for the total.
bool progress_wanted(bool output_on_terminal);

void progress_start(struct progress *p, bool on, int64_t total);
void progress_step(struct progress *p, uint64_t bytes); // a row of so many bytes is done
void progress_end(struct progress *p);                  // takes the line away

#endif
