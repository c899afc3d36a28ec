// SPDX-License-Identifier: MIT
// How near a stage was to the other decision on a candidate, for reports. A distance is that of the candidate's number
// from the limit, as a share of the limit, in f64; of a rank, in logits. INFINITY: it is not known.
#ifndef SAMPL_SAMPLE_COMPARED_H
#define SAMPL_SAMPLE_COMPARED_H

#include "sample/distribution.h"

// A candidate, and the candidates that a stage has seen.
struct compared {
    const float *logit; // [n] of the candidates, masked ones left out
    size_t n;
    const struct softmax *softmax; // that the stage compares by
    float own;                     // logit of the candidate
};

// Returns the logits, the largest first, which the caller frees; NULL: memory is short.
float *compared_ranked(const struct compared *of);

// Returns |number - limit| / limit. Each function below compares one number of the candidate.
double distance_between(double number, double limit);

// Compares the probability.
double distance_of_prob(const struct compared *of, double limit);

// Compares the probability with the smaller of eta and sqrt(eta) * exp(-entropy).
double distance_of_eta(const struct compared *of, double eta);

// Compares the probability, divided by the largest.
double distance_of_ratio(const struct compared *of, double limit);

// Compares the sum of the probabilities of larger logits.
double distance_of_sum(const struct compared *of, double limit);

// Compares the sum of the probabilities whose surprise is nearer to the entropy.
double distance_of_typical(const struct compared *of, double limit);

// Compares the sum of the entropy's terms down to the candidate with this fraction of all, among the 100 best.
double distance_of_terms(const struct compared *of, double share);

// Returns the distance of the logit from the k-th largest; if it is among the k largest, from the next one.
double distance_of_rank(const struct compared *of, size_t k);

#endif
