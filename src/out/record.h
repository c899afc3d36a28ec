// SPDX-License-Identifier: MIT
// The kinds of records that a run hands to its output: a row, a row in several chains, and the table of the chains.
#ifndef SAMPL_OUT_RECORD_H
#define SAMPL_OUT_RECORD_H

#include "trace/draw_sums.h"
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

// Does a record have one number for every token of the vocabulary?
static inline bool emit_distribution(enum emit e) { return e >= EMIT_PROBS; }

// The report of --draws.
struct draw_report {
    struct draw_sums sums;
    struct draw_tests tests;
    uint64_t next_row; // number of the last row, plus 1
};

// ---- several chains on the same rows

// The forms in which several chains are written. The last three are written at the end of the run.
enum compared {
    COMPARED_NOT,        // none: there is one chain, or each record names its variant
    COMPARED_IDS,        // for each row, the ids that the chains chose
    COMPARED_CHOICES,    // for each row, the chains that chose another token than the base
    COMPARED_CANDIDATES, // for each row, the candidates that each chain left
    COMPARED_TEXTS,      // the text of each chain's chosen tokens
    COMPARED_TABLE,      // the means of each chain
    COMPARED_REPORT,     // how far the raw rows of two inputs agree
    COMPARED_COUNT
};

enum { TABLE_COLUMNS = 25, PERCENTILES = 11 };

struct compared_chain {
    const char *name;
    const char *options; // options that are added to the base's, as typed; "" for the base
    struct swept_value {
        const char *name;         // of the option
        const char *text;         // as typed; NULL: the chain is in no sweep
        const char *number;       // as JSON has it; NULL: JSON has the text
        char memory[NUMBER_TEXT]; // of the number
    } * swept;                    // [n_swept]

    const struct trace_line *stage; // of a page: [n_stages] the enabled stages, with name and parameters only
    size_t n_stages;

    const struct result *result; // of the row at hand; its record has an error if the chain gave nothing

    // COMPARED_CHOICES: the token that the chain chose, compared with the base's choice
    bool shown;
    float base_p;                      // the base's probability of the token
    size_t base_rank;                  // the token's rank in the base, from 1; 0: the base removed the token
    char removed_in_base[NUMBER_TEXT]; // the stage or mask of the base that removed the token; "-": none did
    char base_removed[NUMBER_TEXT];    // the stage or mask of this chain that removed the base's token; "-": none did

    struct piece text; // COMPARED_TEXTS
    // COMPARED_TABLE
    struct table_cell {
        double value, error;                 // with its standard error
        double difference, difference_error; // paired with the base; the base has none
    } cell[TABLE_COLUMNS];                   // NAN: no such number
    const char *by_chance;                   // what draws before the selector, as recipe_by_chance says; or NULL
};

// A candidate that is among the best of some chain, or that some chain chose, or the accepted token.
struct united {
    struct ranked best; // id, and p: the largest of its probabilities
    const float *p;     // [n] its probability in each chain; below 0: the chain removed it, or gave nothing
};

// COMPARED_REPORT: the figures of --report. NAN: a figure is undefined.
struct figure {
    double value, error; // a mean, or what is computed from means, with its standard error
};

// The percentiles of a report, from the largest: below which share of the values each one lies.
static inline double percentile_share(size_t i)
{
    static const double shares[PERCENTILES] = {.999, .99, .95, .9, .75, .5, .25, .1, .05, .01, .001};
    return shares[i];
}

struct report {
    uint64_t rows, lists; // lists: number of rows with a list on a side, whose kld is a lower bound
    bool tokens; // the tokens that follow the rows are known; else the base's likeliest tokens are compared
    struct figure ppl_q, ppl_base, ln_ratio, ratio, difference;
    double cor;
    struct figure kld, dp, rms, same;
    struct spread {
        double max, min, percentile[PERCENTILES];
    } of_kld, of_dp;
    double nmse, dlogp, dlogp_most, top5, top10, acceptance;
};

// Several chains, as far as the output shows them.
struct chains {
    struct compared_chain *chain; // [n] the base comes first
    size_t n;
    size_t n_swept; // number of options that are swept

    size_t n_shown; // COMPARED_CHOICES: number of chains with `shown`

    const struct united *token; // COMPARED_CANDIDATES: [n_tokens] in the order of ranked_order
    size_t n_tokens;

    struct table_column {
        const char *name;
        enum column_kind { COLUMN_MEAN, COLUMN_SHARE, COLUMN_COUNT } kind;
        bool paired;         // has differences to the base
        size_t source;       // for run/table.c
    } column[TABLE_COLUMNS]; // COMPARED_TABLE
    size_t n_columns;

    struct report report; // COMPARED_REPORT
};

// Names what removed a token in a chain, as result_removed_by does; "-" if the chain gave nothing.
static inline const char *chain_removed_by(const struct compared_chain *c, uint32_t id, char text[NUMBER_TEXT])
{
    return c->result->record.error ? "-" : result_removed_by(c->result, id, text);
}

enum {
    PAGE_ROWS = 2000,    // rows that a page shows
    PAGE_CANDIDATES = 8, // candidates of each row, unless another number is asked for
    PAGE_CHAINS = 12,    // most chains that a page shows row by row, unless candidates are asked for
};

#endif
