// SPDX-License-Identifier: MIT
// The record of a row, which output formats write, and the structs that it points to.
#ifndef SAMPL_TRACE_RECORD_H
#define SAMPL_TRACE_RECORD_H

#include "base/err.h"
#include "base/number.h"
#include "kern/kern.h"
#include "sample/sampler.h"
#include "trace/agreement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The statistics of a row. trace/measure.c computes them, and says in a table what each one is.
enum statistic {
    STAT_PROB,
    STAT_RAW_PROB,
    STAT_RAW_RANK,
    STAT_N,
    STAT_ENTROPY_RAW,
    STAT_ENTROPY,
    STAT_KL_RAW,
    STAT_DRAW,
    STAT_ACCEPTED,
    STAT_ACCEPTED_PROB,
    STAT_ACCEPTED_RAW_PROB,
    STAT_ACCEPTED_RAW_RANK, // by measure_accepted
    STAT_MASS,
    STAT_E_PROB,
    STAT_E_RAW_PROB,
    STAT_E_GREEDY,
    STAT_EPS_NLL,
    STAT_GAP,
    STAT_NLL,  // -ln of the accepted token's probability, also of one too small for f64; infinite: it was removed
    STAT_LOST, // 1: the chain removed the accepted token, or the row masks it; else 0; of a list, as far as it tells
    STAT_MEASURED, // MEASURES_MOST numbers of a sampler, named by its measures; NaN where there is none
    STAT_COUNT = STAT_MEASURED + MEASURES_MOST
};

#define EPS_SHARE 1e-4 // share of the uniform distribution in STAT_EPS_NLL

// Comparisons of the distributions of two variants. trace/pair.c computes these numbers.
enum pair_stat {
    PAIR_SAME,    // 1: both chose the same token; else 0
    PAIR_OVERLAP, // 1 - sum |p - q| / 2; exactly 1 for equal distributions
    PAIR_JS,      // Jensen-Shannon divergence in nats
    PAIR_KL,      // KL(base || variant) in nats; infinite where the variant lacks what the base has
    PAIR_TOP1,    // 1: the likeliest tokens agree, of equals the lowest ids; else 0
    PAIR_EQUAL,   // sum p q: the probability that both draw the same token
    PAIR_BEST,    // the base's probability of the variant's likeliest token
    PAIR_COUNT
};

// A column of statistics.
struct stat_column {
    const char *name;
    const char *help; // a line
    enum stat_group {
        STAT_MEANS,       // of the chosen token and its row; --stats has the means
        STAT_CHOICE,      // others that depend on a token
        STAT_EXPECTATION, // that do not depend on the chosen token
        STAT_PAIR,        // that compare the row with the base's
        STAT_ROW          // of the raw row alone
    } group;
    enum stat_when {
        STAT_ALWAYS,
        STAT_ACCEPTS,
        STAT_AGAINST
    } when;        // accepted tokens are known; the base has other rows
    size_t source; // enum statistic or, in the group STAT_PAIR, enum pair_stat
};

enum { STAT_COLUMNS = 18 };
extern const struct stat_column stat_columns[STAT_COLUMNS]; // in the order of the groups

// The size of the tail of a list: the tokens of the row that the list leaves out.
struct tail_size {
    size_t n, masked;  // of those that are not masked, and of those that are
    float max;         // the largest logit of the n; -inf: there are none
    double lse, xmean; // of the n: ln sum e^x, and sum x e^x / sum e^x
    float sum, sd;     // of the whole row: cand_exp_sum and cand_deviation, in the order of the ids
    double share;      // of the probability that the list holds
    // of the token that follows the row, if it is known; else rank 0
    float logit;
    size_t rank;
};

// One candidate that is left at the end of the chain.
struct ranked {
    uint32_t id;
    float logit, p;
    float raw_p;          // for json and pictures
    struct noised noised; // if the list has noise
};

enum { NAMED_MOST = 16 };

enum named_type { NAMED_FLOAT, NAMED_INT, NAMED_FLAG, NAMED_WIDE };

// A number with a name.
struct named {
    const char *name;
    double value;
    enum named_type type;
    bool usual; // value is the parameter's default
};

#define TRACE_REMOVED 3 // number of removed tokens that a trace line names

// The effect of one stage of the chain on a row. Masked candidates count as removed.
struct trace_line {
    const char *name;
    bool enabled;                                     // if false, only name, param and n_params are set
    struct named param[NAMED_MOST], note[NAMED_MOST]; // the stage's parameters, the main one first; its cand_note notes
    size_t n_params, n_notes;
    const struct ranked *best; // [n_best] candidates after the stage, by falling probability, then rising id
    size_t n_best;
    bool selects;         // the selector's line
    bool noisy;           // best[] has noise
    size_t before, after; // number of candidates
    double mass;          // probability, before the stage, of the candidates that the stage kept; NaN: unknown
    double entropy;       // after the stage, in nats
    uint32_t top_before, top_after; // likeliest token
    // The effect of the stage on a partial row: "gone" if it removed the unlisted tokens, "unknown" if its result
    // depends on them, "not exact" if it depends on more than log-probabilities; or NULL.
    const char *unlisted;
    size_t n_removed;
    struct ranked removed[TRACE_REMOVED]; // likeliest removed tokens, with their probabilities before the stage
    // What the sampler says of its step, as of sample/account.h; the words are empty if it says nothing.
    const char *words;
    struct finding finding[FINDINGS_MOST];
    size_t n_findings;
};

// Returns whether a stage has a main parameter: --min-keep, which filters share, is none.
static inline bool trace_line_main(const struct trace_line *t)
{
    return t->n_params && strcmp(t->param->name, "min-keep") != 0;
}

struct interval {
    double low, high; // of the unit interval
};

// The token that --expect names, and what the chain did to it.
struct expected {
    uint32_t id;
    bool kept;               // the token is among the candidates that are left
    bool listed;             // the row has the token
    const char *removed_by;  // if not kept: name of the stage or mask that removed it; NULL: the row masks it, or a
                             // partial row does not list it and it may be among the candidates that are left
    size_t rank;             // last rank of the token before its removal, from 1; 0: unlisted tokens may rank before it
    bool next;               // the stage or mask that removed it removed no better candidate
    const char *edge_of;     // stage whose last kept candidate, left out, would let the draw choose id; or NULL
    uint32_t edge;           // that candidate
    char stage[NUMBER_TEXT]; // memory of removed_by or edge_of
    struct named limit; // first parameter of the stage that removed id, or of edge_of; its name is NULL if it has none
    enum limit_kind limits; // what that stage compares with the limit
    double reached;         // LIMITS_SUM: sum of the kept probabilities; LIMITS_RATIO: ratio of id to the largest
    size_t last;            // LIMITS_SUM: rank of the last candidate that the stage keeps
    double gap;             // of its logit from the other side of the cut of that stage; infinite: not known
    double margin;          // how far the decision against id is from the limit or the draw; infinite: not known
    double draw;            // the selector's draw, or NaN
    struct interval wanted, chosen;    // shares of id and of the chosen token in the draw
    bool noisy;                        // the selector added noise to id and to the chosen token
    double wanted_value, chosen_value; // if noisy: their values; the largest value wins
};

// Whether a claimed token is kept (inside) or not (outside); of a greedy chain, whether the greedy stage gets it.
enum claim_place {
    PLACE_UNKNOWN, // a list does not tell
    PLACE_OUTSIDE,
    PLACE_INSIDE,
};

// How near the chain was to choosing a claimed token (trace/audit.h).
struct audited {
    uint32_t id;            // the claimed token; VOCAB_NONE: none, and the other members are not set
    bool match;             // the chain chooses it
    enum claim_place place; // of the token
    double prob;            // of the token after the chain; NaN: not known
    double margin;          // 0: match; NaN: outside, or not known
    double below;  // outside: by how much its logit is below the least one of the kept tokens, where it was removed;
                   // NaN: inside, masked or not known
    double chance; // the sum of p squared: the probability that another seed chooses what this one chooses
};

enum { FOLLOWED_MOST = 48 };

// A token whose probability a page shows after every stage.
struct followed {
    uint32_t id;
    struct interval share; // in the selector's draw; empty if the token was removed
    const float *p;        // [n_trace + 1] probability in the loaded row and after each trace line; below 0: removed
};

// The outcome of a row. Candidates come with dumps only: by falling probability, then rising id, without masked ones.
struct record {
    uint64_t row;
    const char *seq; // name of the row's sequence, or NULL
    uint32_t chosen;
    float chosen_p;
    bool met_zero;               // typ_p met a candidate of probability 0
    bool own_history;            // the tokens before the row have some that the chain chose
    size_t kept;                 // candidates that are not masked
    size_t n_vocab;              // size of the vocabulary; of a sparse row, the number of its tokens
    const struct ranked *ranked; // [shown] the best of the kept candidates, or NULL without a dump
    size_t shown;
    bool noisy;                     // ranked[] has noise
    struct tail_size tail;          // with EMIT_LIST, of ranked[]
    double entropy;                 // of the kept candidates, in nats; dumps only
    const struct trace_line *trace; // [n_trace] or NULL
    size_t n_trace;
    const char *budget;       // with trace: the state of the reasoning budget before the row, or NULL
    uint32_t budget_left;     // tokens, while it counts; else 0
    const char *rules;        // with trace: the rules that the grammar stands in, or NULL
    size_t fits;              // tokens that it allows
    const char *first_choice; // with trace: words of the grammar on the token that was chosen without it, or NULL
    const struct followed *followed; // [n_followed] for a page, by falling probability before the chain
    size_t n_followed;

    // For a window: the chain removed n_cut tokens, with the raw probability cut_p together. The likeliest, raw, and
    // what removed each.
    struct ranked cut[TRACE_REMOVED];
    char cut_by[TRACE_REMOVED][NUMBER_TEXT];
    size_t n_cut;
    double cut_p;

    // For EMIT_SCORE one number, the log-probability of token `scored`; for a distribution n_vocab numbers.
    const float *values;
    uint32_t scored;
    enum dtype type; // of the row in the input

    int64_t accepted;   // token that follows the row, if it was known beforehand, or -1
    const double *stat; // [STAT_COUNT], or NULL
    const double *pair; // [PAIR_COUNT], or NULL
    const char *file;   // name of the row's file if there are several, else NULL
    uint64_t file_row;  // number of the row in its file

    bool partial, exact;    // of a partial row: the outcome is that of the full row
    bool rounded;           // the row is a list of rounded numbers
    double within;          // if exact and rounded: how far a probability may be off; NaN: not known
    double unlisted_weight; // of a partial row: the weight of its unlisted tokens before the chain

    const struct row_draws *drawn; // with --draws, else NULL

    // The error of a bad row, safe to print; besides it, only row and n_vocab are set. NULL: the row is good.
    const char *error;
};

// The chosen token, or -1.
static inline int64_t record_id(const struct record *r) { return r->error ? -1 : (int64_t)r->chosen; }

// The outcome of a row in one variant, with the memory of its record. A zeroed struct is empty.
struct result {
    struct record record;
    double stat[STAT_COUNT];    // if statistics are recorded
    double pair[PAIR_COUNT];    // if variants are compared
    struct agreement agreement; // with --report: of the raw rows
    struct expected expected;   // id is set from outside
    struct audited audited;     // likewise
    const struct log *log;      // if the rows come alone, and until the next one: of the row, see job_compares_numbers
    const struct cand *cand;
    bool ok;
    struct err e;   // unless ok
    bool bad;       // the error is the row's own: the chain passed over the row and stands as after a good one
    size_t n_vocab; // of the row; 0: not known
    // [n_removals + 1] by token: what removed it, as result_removed_by reads it, if removals are recorded. The last one
    // is that of all higher ids.
    uint16_t *removal;
    size_t n_removals, removal_cap;

    void *memory,
        *followed; // [memory_cap] and [followed_cap] bytes: values, lists and lines of the record; its followed
    size_t memory_cap, followed_cap;
};

// Orders struct ranked by falling probability, then rising id.
int ranked_order(const void *a, const void *b);

// Memory of ranked_sort. A zeroed struct is empty; the owner frees memory.
struct ranked_scratch {
    void *memory;
    size_t cap; // bytes
};

// Sorts a list in that order, in less time than qsort takes for thousands of candidates. Returns false when memory is
// short.
bool ranked_sort(struct ranked *r, size_t n, const struct kern *kern, struct ranked_scratch *scratch);

// Puts a token among the `most` likeliest at best[], which stand by falling probability. *n counts all that were given.
// Most tokens of a row do not enter a full list: ranked_insert tells at once, ranked_put looks for the place.
void ranked_put(struct ranked *best, size_t *n, size_t most, uint32_t id, double p);
static inline void ranked_insert(struct ranked *best, size_t *n, size_t most, uint32_t id, double p)
{
    if (*n >= most && (!most || best[most - 1].p >= p))
        ++*n;
    else
        ranked_put(best, n, most, id, p);
}

void result_free(struct result *res);

// Names what removed a token: a stage, "mask" or "row"; "not listed" if a partial row does not tell; "-" if
// nothing did, or removals were not recorded. Returns text.
const char *result_removed_by(const struct result *res, uint32_t id, char text[NUMBER_TEXT]);

#endif
