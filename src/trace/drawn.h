// SPDX-License-Identifier: MIT
// Draws that another program made from a row, beside what the distribution after the chain expects of them (--draws).
#ifndef SAMPL_TRACE_DRAWN_H
#define SAMPL_TRACE_DRAWN_H

#include "trace/log.h"

enum {
    RANK_CLASSES = 64, // ranks 1, 2, 3, 4, 5-6, 7-8, 9-12, 13-16, 17-24, ...
    BETAS = 9,         // 1/4, .354, 1/2, .707, 1, 1.41, 2, 2.83, 4
    BETA_ONE = 4,      // index of 1
    OUTSIDE_MOST = 10, // draws outside of the kept set that a report names
};

extern const double betas[BETAS];

// A token that was drawn and is not in the kept set.
struct outside {
    uint64_t row;
    uint32_t id;
    uint64_t n;              // how often it was drawn from the row
    char stage[NUMBER_TEXT]; // the stage or mask that removed it; "": the row masks the token, or lacks it
    bool listed;             // the row has the token
    size_t rank;             // last rank of the token before its removal, from 1; 0: unlisted tokens may rank before it
    bool next;               // the stage removed no better candidate
};

// A row. The members from n_ranks on are about the draws inside of the kept set, and are set if there is one.
struct row_draws {
    uint64_t inside;
    uint64_t outside, near; // near: others outside, whose margin is within the tolerance
    struct outside first[OUTSIDE_MOST];
    size_t n_first;

    size_t n_ranks;                 // classes of ranks that the kept set reaches
    uint64_t by_rank[RANK_CLASSES]; // draws
    double share[RANK_CLASSES];     // probability of each class
    double chi2, df, ratio;         // by token: Pearson's, and the largest ratio of draws to expected ones; df 0: none
    size_t kept;                    // number of kept candidates
    uint64_t last;                  // draws of the one of the last rank
    double last_p;                  // its probability
    double score[BETAS];            // derivative by beta of the log-likelihood of p^beta / Z
    double information[BETAS];      // -1 times the second derivative
};

// Fills in the draws id[0..n) of a row, whose log has steps, as the record's `drawn`. tolerance: of the margin of
// outside draws; below 0: none. False when memory is short.
bool trace_drawn(const struct log *l, const struct cand *c, const uint32_t *id, size_t n, double tolerance,
                 struct result *res);

#endif
