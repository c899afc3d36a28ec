// SPDX-License-Identifier: MIT
// Records to a stream: the destination, the formats, and numbers as text.
#ifndef SAMPL_IO_OUTPUT_H
#define SAMPL_IO_OUTPUT_H

#include "io/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// One candidate that is left at the end of the chain.
struct ranked {
    uint32_t id;
    float logit, p;
};

#define TRACE_REMOVED 3 // of the tokens that a stage removed, how many are named

// What one stage of the chain did to a row; masked candidates count as removed.
struct trace_line {
    const char *name;
    bool enabled; // the rest is for enabled stages
    size_t before, after;
    double mass;                    // probability, before the stage, of what it kept
    double entropy;                 // after, in nats
    uint32_t top_before, top_after; // likeliest token
    size_t n_removed;
    struct ranked removed[TRACE_REMOVED]; // the likeliest, with their probabilities before the stage
};

// What a row came to. Candidates only for a dump: by falling probability, then rising id, masked ones left out.
struct record {
    uint64_t row;
    uint32_t chosen;
    float chosen_p;
    size_t kept, n_row;          // candidates not masked; all that the row came with
    const struct ranked *ranked; // [shown] the best of the kept, or NULL without a dump
    size_t shown;
    double entropy;                 // of all kept, in nats; with ranked only
    const struct trace_line *trace; // [n_trace] or NULL
    size_t n_trace;
};

struct output_config {
    const char *path;   // NULL: standard output
    const char *format; // "text", "tsv", ...
    bool dump;          // records come with candidates
    bool flush;         // after every record
    bool color;         // may a terminal be sent colours?
};

struct output {
    const struct output_format *format;
    FILE *f;
    const char *name;       // of the destination, for messages
    char *path, *temporary; // path is renamed to from temporary; NULL when the stream is written directly
    bool dump, flush, terminal, color;
};

// When nobody reads the output any more, the functions below fail with status STATUS_OK and an empty text: a quiet end.

// A format: one file out_NAME.c and one row in output.c. Write errors are found by output_record.
struct output_format {
    const char *name;
    void (*begin)(struct output *out); // before the first record; NULL: nothing
    void (*id)(struct output *out, const struct record *r);
    void (*dump)(struct output *out, const struct record *r);
};

extern const struct output_format output_text, output_tsv, output_json;

bool output_open(struct output *out, const struct output_config *config, struct err *e);
bool output_record(struct output *out, const struct record *r, struct err *e);

// Ends the output. With commit, a file takes its name; without, it is gone as if never begun. Errors of the disk show here at the
// latest. A second call does nothing.
bool output_close(struct output *out, bool commit, struct err *e);

// For signal handlers: removes a file that is being written.
void output_abandon(void);

#define NUMBER_TEXT 24

// x with the fewest digits that read back to the same float; "inf" and "-inf". Returns text.
const char *number_text(float x, char text[NUMBER_TEXT]);

#endif
