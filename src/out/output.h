// SPDX-License-Identifier: MIT
// Records to a stream: the destination, the formats, and numbers as text.
#ifndef SAMPL_OUT_OUTPUT_H
#define SAMPL_OUT_OUTPUT_H

#include "base/err.h"
#include "base/number.h"
#include "kern/kern.h"
#include "out/screen.h"
#include "vocab/vocab.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// What is written for each row.
enum emit { EMIT_IDS, EMIT_SCORE, EMIT_TEXT, EMIT_STATS, EMIT_PROBS, EMIT_LOGPROBS, EMIT_LOGITS, EMIT_COUNT };

static inline const char *emit_name(enum emit e)
{
    static const char *const names[EMIT_COUNT] = {"ids", "score", "text", "stats", "probs", "logprobs", "logits"};
    return names[e];
}

// One number for every token of the vocabulary?
static inline bool emit_distribution(enum emit e)
{
    return e >= EMIT_PROBS;
}

// The statistics of a row, in the order of their columns; run/measure.c computes them.
enum statistic {
    STAT_PROB,              // of the chosen token, after the chain
    STAT_RAW_PROB,          // of the chosen token, raw
    STAT_RAW_RANK,          // of the chosen token, raw, from 1; the lower id first where logits are equal
    STAT_N,                 // candidates that are not masked after the chain
    STAT_ENTROPY_RAW,       // in nats, as the next two
    STAT_ENTROPY,           // after the chain
    STAT_KL_RAW,            // KL(after || raw), infinite where a stage lifted a masked token
    STAT_MEANS,             // those so far are worth a mean
    STAT_DRAW = STAT_MEANS, // the uniform number with which the selector drew, or NaN
    STAT_ACCEPTED,          // the token that follows the row, if that was known beforehand, or NaN
    STAT_ACCEPTED_PROB,     // its probability after the chain
    STAT_COUNT
};

static inline const char *statistic_name(enum statistic s)
{
    static const char *const names[STAT_COUNT] = {"prob",    "raw_prob", "raw_rank", "n",        "entropy_raw",
                                                  "entropy", "kl_raw",   "draw",     "accepted", "accepted_prob"};
    return names[s];
}

// One candidate that is left at the end of the chain.
struct ranked {
    uint32_t id;
    float logit, p;
    float raw_p; // for json and pictures
};

enum { NAMED_MOST = 16 };

enum named_type { NAMED_FLOAT, NAMED_INT, NAMED_FLAG, NAMED_WIDE };

// A number with a name.
struct named {
    const char *name;
    double value;
    enum named_type type;
    bool usual; // its default
};

#define TRACE_REMOVED 3 // of the tokens that a stage removed, how many are named

// What one stage of the chain did to a row; masked candidates count as removed.
struct trace_line {
    const char *name;
    bool enabled; // the rest is for enabled stages
    struct named param[NAMED_MOST],
        note[NAMED_MOST]; // parameters, the main one first; and what the stage says of what it did
    size_t n_params, n_notes;
    const struct ranked *best; // [n_best] candidates after it, as in a record
    size_t n_best;
    size_t before, after;
    double mass;                    // probability, before the stage, of what it kept
    double entropy;                 // after, in nats
    uint32_t top_before, top_after; // likeliest token
    size_t n_removed;
    struct ranked removed[TRACE_REMOVED]; // the likeliest, with their probabilities before the stage
};

struct interval {
    double low, high; // of the unit interval
};

// What was expected of a row, and what became of it.
struct expected {
    uint32_t id;             // the token expected
    bool kept;               // it is among those that are left
    const char *removed_by;  // else what removed it; NULL: the row masks it
    size_t rank;             // that it had before, from 1
    const char *edge_of;     // it would have been chosen without the last that this stage kept, or NULL
    uint32_t edge;           // which that is
    char stage[NUMBER_TEXT]; // room for either name
    char limit[NUMBER_TEXT]; // of what removed it, else of that stage; or ""
    double draw;             // the selector's, or NaN
    struct interval wanted, chosen;

    // Of a distribution, in which id, if there is a removed_by, is the first that is gone though a number is expected.
    const float *values; // [n_vocab]
    double tolerance;    // relative to numbers above 1, else absolute
};

// A token on its way through the stages, of a page.
enum { FOLLOWED_MOST = 48 };
struct followed {
    uint32_t id;
    struct interval share; // of the selector's draw; empty if it is gone
    const float *
        p; // [n_trace + 1] its probability in the row as it was loaded, and after each line of the trace; below 0: gone
};

// What a row came to. Candidates only for a dump: by falling probability, then rising id, masked ones left out.
struct record {
    uint64_t row;
    const char *seq; // the name of its sequence, or NULL
    uint32_t chosen;
    float chosen_p;
    size_t kept, n_vocab; // candidates not masked; all that the row came with: the vocabulary, unless it is sparse
    const struct ranked *ranked; // [shown] the best of the kept, or NULL without a dump
    size_t shown;
    double entropy;                 // of all kept, in nats; of dumps only
    const struct trace_line *trace; // [n_trace] or NULL
    size_t n_trace;
    const struct followed *followed; // [n_followed] of a page: by falling probability before the chain
    size_t n_followed;

    // For a picture: n_cut tokens that the chain removed, with the probability cut_p together; the likeliest, raw, and what removed them.
    struct ranked cut[TRACE_REMOVED];
    char cut_by[TRACE_REMOVED][NUMBER_TEXT];
    size_t n_cut;
    double cut_p;

    // For EMIT_SCORE one number, the log-probability of token `scored`; for a distribution a number for each of the n_vocab tokens.
    const float *values;
    uint32_t scored;
    enum dtype type; // of the row in the input

    int64_t accepted;    // the token that follows the row, if that was known beforehand, or -1
    const double *stat;  // [STAT_COUNT], if they are wanted
    const char *variant; // whose it is, where there are several; else NULL
    const char *file;    // with several files: that of the row, else NULL
    uint64_t file_row;   // and the row's number there

    const struct expected *expected; // with --expect

    // Of a row that came to nothing: what was wrong with it, tamed, and of the rest only row and n_vocab count. Else NULL.
    const char *error;
};

struct output {
    // set by the caller
    const char *name;        // of the destination; NULL: standard output
    const char *format_name; // "text", "tsv", ...
    enum emit emit;
    bool variants;             // records say whose they are
    bool lists, traces;        // of dumps: candidates, stages
    bool dump;                 // records come with candidates
    bool flush;                // after every record
    bool lines;                // records are lines of text for people, which a window folds
    bool goes_on;              // where another run's text ended: without what comes before the first record
    bool narrow;               // npy takes half floats when the input's are
    bool files;                // records come with files
    bool named;                // any may come with a sequence, whether or not the first does
    const struct vocab *vocab; // what the tokens say, or NULL
    const char *title;         // of a page: where the rows are from
    bool accepts;              // statistics come with the accepted token
    int64_t rows;              // how many records will come, or -1; npy must know it when it cannot go back
    size_t width;              // of the rows, or 0; for when there are none

    // the rest is for out/
    const struct output_format *format;
    struct screen screen; // that it is shown on
    FILE *f, *stream; // f: records are written to; where they go in the end, the same but on a screen that folds them
    char *sheet;      // [sheet_len] what f holds then: a record
    size_t sheet_len;
    char *path, *temporary; // path is renamed to from temporary; NULL when the stream is written directly
    bool begun;
    bool parted;        // a sheet was shown
    bool tinted;        // the text that is being shown has a colour,
    size_t missing;     // and its last character so many bytes that are to come
    uint64_t differing; // records that were not as expected
    bool sequences;     // the first record was of a named one: all say of which they are
    uint64_t records;   // so far
    int64_t begin;      // where in a file that can be written again the output starts, or -1
    struct page *page;  // of HTML, else NULL
};

// When nobody reads the output any more, the functions below fail with a quiet end (err_quiet).

// A format: one file out_NAME.c, which the binary ones share, and one row in output.c. Write errors are found by output_record.
struct output_format {
    const char *name;
    bool binary;
    void (*begin)(struct output *out); // before the first record, or the end when there is none; NULL: nothing

    // Write one record. The binary formats only have values.
    void (*id)(struct output *out, const struct record *r);
    void (*dump)(struct output *out, const struct record *r);
    void (*token)(struct output *out, const struct record *r); // its text; NULL: id shows that, too
    void (*stats)(struct output *out, const struct record *r);
    bool (*values)(struct output *out, const struct record *r, struct err *e); // a score or a distribution
    void (*bad)(struct output *out, const struct record *r); // one with an error; NULL: values does that

    // After the last record, or the last before an error, which has come about if it is not `whole`. NULL: nothing.
    bool (*finish)(struct output *out, bool whole, struct err *e);
    bool counted; // states the number of records first
};

extern const struct output_format output_text, output_tsv, output_json, output_html, output_f32, output_f16, output_npy,
    output_expect;

// The output format that distributions get where none was named, by the name of the input's format. bf16 and formats that hold more
// than rows become the plainest format that says what is in a row.
const char *output_format_like(const char *input);

// The statistics that a record shows.
static inline size_t record_stats(const struct output *out)
{
    return out->accepts ? STAT_COUNT : STAT_ACCEPTED;
}

// Numbers in a record: n_vocab or, of a score, one.
static inline size_t record_width(const struct output *out, const struct record *r)
{
    return out->emit == EMIT_SCORE ? 1 : r->n_vocab;
}

// Writes a short text.
static inline void output_short(struct output *out, const char *text)
{
    for (; *text; text++)
        putc_unlocked(*text, out->f);
}

// "DESTINATION: cannot WHAT: ...", or the quiet end, from errno.
static inline bool output_fail(const struct output *out, const char *what, struct err *e)
{
    if (errno == EPIPE)
        return err_quiet(e);
    return err_set(e, STATUS_IO, "%s: cannot %s: %s", out->name, what, strerror(errno));
}

// A text of C's.
static inline struct piece text_piece(const char *text)
{
    return (struct piece){(const unsigned char *)text, strlen(text)};
}

// Writes a text of any bytes as part of a line of UTF-8, between quotes unless quote is 0. The escapes are those that text_unescape
// resolves: \n \r \t \\, and \xHH for each byte of other control and formatting characters and of what is not UTF-8; the quote, '"', is
// escaped, too, unless it is 0. A text that would take more than `most` columns of a terminal is cut, and TEXT_CUT stands behind it. Returns
// how many columns it takes. f may be NULL: nothing is written.
#define TEXT_CUT "..."
size_t text_clip(FILE *f, struct piece text, char quote, size_t most);

// The whole text.
static inline size_t text_put(FILE *f, struct piece text, char quote)
{
    return text_clip(f, text, quote, SIZE_MAX);
}

// The same as text_clip, with blanks up to `width` columns.
void text_cell(FILE *f, struct piece text, char quote, size_t width, size_t most);

// How many columns the first character of p[0..len) takes, len > 0; *taken: and how many bytes.
size_t text_columns(const unsigned char *p, size_t len, size_t *taken);

// A JSON string, where U+FFFD stands for each byte that is not UTF-8.
void text_put_json(FILE *f, struct piece text);

// A text of any bytes within HTML, with the escapes of text_put. reads: as part of a longer text, with its line breaks.
void text_put_html(FILE *f, struct piece text, bool reads);

enum { TEXT_MOST = 40 }; // columns up to which texts are aligned

// How many columns a token's text may take.
static inline size_t output_text_most(const struct output *out)
{
    const int quarter = out->screen.columns / 4;
    return !quarter ? SIZE_MAX : quarter < TEXT_MOST ? (size_t)quarter : TEXT_MOST;
}

// The value of a parameter or a note.
const char *named_text(const struct named *x, char text[NUMBER_TEXT]);

// A JSON string of the output's, to f. In a page what HTML might take for the end of a script, or for more than text, stands as an escape.
void output_string(const struct output *out, FILE *f, struct piece text);

// The id and, with a vocabulary, the text in quotes.
void output_name(const struct output *out, uint32_t token);

// Opens the destination; what the caller has not set is zeroed. out must be closed either way.
bool output_open(struct output *out, struct err *e);
bool output_record(struct output *out, const struct record *r, struct err *e);

// For who writes to out->f itself: a record, or all that there is, has been written.
bool output_wrote(struct output *out, struct err *e);

// Ends the output. With commit, a file takes its name; without, it is gone as if never begun. Errors of the disk show here at the
// latest. A second call does nothing.
bool output_close(struct output *out, bool commit, struct err *e);

// For signal handlers: removes a file that is being written, and the line that shows progress.
void output_abandon(void);

// From now on a signal that ends the program does so, too.
void output_catch_signals(void);

#endif
