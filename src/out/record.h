// SPDX-License-Identifier: MIT
// The kinds of records that a run hands to its output: a row, a row in several chains, and the table of the chains.
#ifndef SAMPL_OUT_RECORD_H
#define SAMPL_OUT_RECORD_H

#include "base/number.h"
#include "kern/kern.h"
#include "vocab/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

    // Of a distribution. If removed_by is given, id is the first token that is removed but has a number in `values`.
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

// What a row came to. Dumps have its candidates, by falling probability, then rising id, without those that are masked.
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

    // For a picture: the chain removed n_cut tokens, whose raw probabilities add up to cut_p. cut has the likeliest of
    // them, and cut_by what removed each.
    struct ranked cut[TRACE_REMOVED];
    char cut_by[TRACE_REMOVED][NUMBER_TEXT];
    size_t n_cut;
    double cut_p;

    // For EMIT_SCORE the log-probability of token `scored`; for a distribution a number for each of the n_vocab tokens.
    const float *values;
    uint32_t scored;
    enum dtype type; // of the row in the input

    int64_t accepted;    // the token that follows the row, if that was known beforehand, or -1
    const double *stat;  // [STAT_COUNT], if they are wanted
    const char *variant; // whose it is, where there are several; else NULL
    double overlap;      // with the base's distribution, where chains are compared row by row
    const char *file;    // with several files: that of the row, else NULL
    uint64_t file_row;   // and the row's number there

    const struct expected *expected; // with --expect

    // What was wrong with a bad row, without control characters; of a bad row only row, n_vocab and the members that
    // tell whose it is count. NULL: the row is good.
    const char *error;
};

// The chosen token, or -1.
static inline int64_t record_id(const struct record *r)
{
    return r->error ? -1 : (int64_t)r->chosen;
}

// ---- several chains on the same rows: the base comes first

// What is written of several chains.
enum compared {
    COMPARED_NOT,        // nothing: there is one chain, or records say whose they are
    COMPARED_IDS,        // the ids that they chose from a row
    COMPARED_CHOICES,    // of a row, the chains that chose otherwise than the base
    COMPARED_CANDIDATES, // what each chain has left of a row
    COMPARED_TEXTS,      // at the end, the texts that the chosen tokens make
    COMPARED_TABLE,      // at the end, what the chains come to
    COMPARED_COUNT
};

enum { TABLE_COLUMNS = 13 };

struct compared_chain {
    const char *name;
    const char *options; // that follow the base's, as typed; "" for the base
    const struct swept_value {
        const char *text;       // as typed
        const char *number;     // as JSON has it; NULL: JSON has the text
        char room[NUMBER_TEXT]; // for the number
    } * swept;                  // [n_swept]; NULL: the base

    const struct record *record; // of the row at hand; with an error where the chain gave nothing

    // COMPARED_CHOICES: the token that the chain chose, held against the base's.
    bool shown;
    float base_p;                      // the base's probability of the token
    size_t base_rank;                  // its rank in the base, from 1; 0: the base removed it
    char removed_in_base[NUMBER_TEXT]; // by what; "-": the base kept it
    char base_removed[NUMBER_TEXT];    // what removed the base's token in this chain; "-": nothing did

    struct piece text; // COMPARED_TEXTS
    struct table_cell {
        double value; // NAN: there is none
        uint64_t rows;
    } cell[TABLE_COLUMNS]; // COMPARED_TABLE
};

// A candidate that is among the best of some chain.
struct united {
    uint32_t id;
    float most;     // its largest probability
    const float *p; // [n_chains] its probabilities; below 0: the chain removed it, or gave nothing
};

// What is written of the chains, beside what each of them has.
struct chains_record {
    size_t n_shown; // of COMPARED_CHOICES: chains

    const struct united *token; // [n_tokens] candidates by falling `most`, then rising id
    size_t n_tokens;
    const char *(*removed_by)(const void *results, size_t chain, uint32_t id, char text[NUMBER_TEXT]);
    const void *results; // for removed_by, which names what removed a token in a chain

    struct table_column {
        const char *name;
        enum column_kind { COLUMN_MEAN, COLUMN_SHARE, COLUMN_COUNT } kind;
    } column[TABLE_COLUMNS];
    size_t n_columns;
};

enum {
    PAGE_ROWS = 2000,    // that a page shows
    PAGE_CANDIDATES = 8, // of each row, unless asked for another number
    PAGE_CHAINS = 12,    // so many stand side by side row by row; of more there is the table
};

#endif
