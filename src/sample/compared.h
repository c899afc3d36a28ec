// SPDX-License-Identifier: MIT
// How near a stage was to the other decision on a candidate, for reports. A distance is that of the candidate's number
// from the limit, as a share of the limit, in f64; of a rank, in logits. INFINITY: it is not known.
#ifndef SAMPL_SAMPLE_COMPARED_H
#define SAMPL_SAMPLE_COMPARED_H

#include "sample/distribution.h"

struct stage;

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

// Compares the sum of the probabilities of larger logits.
double distance_of_sum(const struct compared *of, double limit);

// Returns the distance of the logit from the k-th largest; if it is among the k largest, from the next one.
double distance_of_rank(const struct compared *of, size_t k);

// For samplers whose limit is their first parameter: what is compared with it.
double compares_rank(const struct stage *stage, const struct compared *of);
double compares_prob(const struct stage *stage, const struct compared *of);
double compares_ratio(const struct stage *stage, const struct compared *of); // the probability, divided by the largest
double compares_sum(const struct stage *stage, const struct compared *of);

// For samplers that may leave only the best: its distance in logits from the candidate, or of it from the next one.
double compares_best(const struct stage *stage, const struct compared *of);

// The probability; the limit is the smaller of eta and sqrt(eta) * exp(-entropy), eta being the parameter.
double compares_eta(const struct stage *stage, const struct compared *of);

// The sum of the probabilities whose surprise is nearer to the entropy.
double compares_typical(const struct stage *stage, const struct compared *of);

// The sum of the entropy's terms down to the candidate, among the 100 best; the parameter is a fraction of all terms.
double compares_terms(const struct stage *stage, const struct compared *of);

#endif
