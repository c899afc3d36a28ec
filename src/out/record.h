// SPDX-License-Identifier: MIT
// The kinds of records that a run hands to its output: a row, a row in several chains, and the table of the chains.
#ifndef SAMPL_OUT_RECORD_H
#define SAMPL_OUT_RECORD_H

#include "trace/record.h"
#include "vocab/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The values that are written for each row.
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

// ---- several chains on the same rows: the base comes first

// The forms in which several chains are written.
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

// The part of the output that belongs to all chains together.
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
