// SPDX-License-Identifier: MIT
// How far two raw rows of one context agree: the numbers of a row that --report sums up. In f64. The definitions are
// those of llama-perplexity --kl-divergence; verify.md's further ones have their formulas below.
#ifndef SAMPL_TRACE_AGREEMENT_H
#define SAMPL_TRACE_AGREEMENT_H

#include "sample/row.h"

// p and q: the probabilities of the base row and of the other one. A number that a partial row does not determine is
// NaN.
struct agreement {
    bool lists;               // a row is partial
    bool stored;              // the base is of a kld file: kld, nll and dp are computed as by llama-perplexity
    double kld;               // sum p ln(p / q); with lists, a lower bound
    double nll_base, nll_q;   // -ln of the token's probability
    double dp;                // q - p of the token
    double error, power;      // sums of (x - y)^2 and x^2 over centred logits that neither row masks
    double dlogp, dlogp_most; // sum and largest of |ln p - ln q| where either is above AGREEMENT_LIKELY
    double dlogp_n;           // number of these tokens
    double top5, top10;       // share of the base's likeliest tokens that are among the other row's
    double same;              // 1: the likeliest tokens are equal, of equal logits the lower id; 0: they are not
};

#define AGREEMENT_LIKELY 1e-4

// Memory for a row. A zeroed struct is empty.
struct agreement_scratch {
    float *x, *y; // [n] each, one behind the other: logits of the base row and of the other one; -inf: masked or absent
    uint32_t *id; // [n]
    size_t cap, id_cap;
};

void agreement_free(struct agreement_scratch *s);

// Compares two rows that each have a finite logit. token: the token whose probabilities are compared; -1: the base's
// likeliest. The numbers of a kld file are log-probabilities as they stand, and those of -16 and below count nothing in
// kld. False if memory is short.
bool agreement_measure(struct agreement_scratch *s, const struct kern *kern, const struct row *base,
                       const struct row *other, int64_t token, struct agreement *a);

#endif
