// SPDX-License-Identifier: MIT
// What a stage did with a row, in its sampler's words, for traces. The words come from the numbers by which the sampler
// decides: where it left the row as it was they say why, and a few samplers also say what they saw.
//
// Words are a phrase without a full stop. In it {ID ID ...} stands for tokens: writers show their text, or the ids.
#ifndef SAMPL_SAMPLE_ACCOUNT_H
#define SAMPL_SAMPLE_ACCOUNT_H

#include "base/builder.h"
#include "sample/compared.h"
#include "sample/history.h"

struct cand;
struct note;
struct stage;

enum { FINDINGS_MOST = 3 };

// A token that a sampler looked for in the history, and found.
struct finding {
    uint32_t token;
    float change;  // of its logit; -inf: the stage removed the token
    size_t count;  // of its occurrences in the window; 0: not counted
    size_t length; // of the repetition that the token would continue; 0: none
    size_t back;   // how many tokens ago that repetition ended the last time
};

// A row before and after a stage.
struct account {
    const struct stage *stage;
    const void *state;             // the sampler's, after the row
    const struct history *history; // the tokens before the row
    const struct note *note;       // [n_notes] of cand_note
    size_t n_notes;
    // The candidates that the stage was handed. If it left them unchanged, own is their least logit, and the softmax is
    // the one that the stage compares by. If it changed them, no words depend on own or on the softmax, which is that
    // of the step before.
    struct compared of;
    bool alone;     // the store had a single candidate, masked ones included, which samplers that need two leave alone
    bool unchanged; // the stage left the same candidates with the same logits
    bool whole;     // the row has no unlisted tokens
    struct {
        const uint32_t *id; // [n] rising, without masked ones
        const float *logit; // [n]
        size_t n;
    } before, after;

    struct builder *words;
    struct finding finding[FINDINGS_MOST]; // those of the largest changes, the largest first
    size_t n_findings;
};

// Adds to the words, as printf does. account_number adds a number of four digits at most, without the 0 before a point.
#define account_say(a, ...) builder_format((a)->words, __VA_ARGS__)
void account_number(struct account *a, double x);

// Adds "A DOES B", two unequal numbers with as many digits as tell them apart.
void account_compare(struct account *a, const char *first, double x, const char *does, double limit);

// Sets *change to that of a token's logit. Returns false if the token was no candidate before the stage, or kept its
// logit.
bool account_change(const struct account *a, uint32_t token, float *change);

// Adds a finding, unless others have larger changes. Returns whether the token's logit has changed.
bool account_find(struct account *a, struct finding found);

// Says why none of n tokens of this kind has changed: "biased".
void account_none(struct account *a, const uint32_t *id, size_t n, const char *kind);

// The value of a note, NaN if the stage has left none of that name.
double account_note(const struct account *a, const char *name);

// Why a filter kept all candidates: there are at most k; the least probability, or its ratio to the largest, reaches a
// limit; the sum without the last candidate is below a limit, or with `past` not above it. A row that is not whole gets
// no numbers, and no comparison that the sampler decides by how it rounds.
void account_kept(struct account *a, const char *first, double x, const char *does, double limit); // x >= limit
void account_rank(struct account *a, size_t k);
void account_prob(struct account *a, double limit);
void account_ratio(struct account *a, double limit);
void account_sum(struct account *a, double limit, bool past);

// Why a filter kept all candidates: there are fewer than `least`; --min-keep is as large as that. Returns whether it is
// so, of a row that is whole.
bool account_few(struct account *a, size_t least);
bool account_min_keep(struct account *a, double least);

// For samplers whose limit is their first parameter, as their `explain`. Typical: the sum without the candidate whose
// surprise is farthest from the entropy. Eta: the limit is that of compares_eta. Terms: those of the entropy, as in
// compares_terms.
void explain_rank(struct account *a);
void explain_prob(struct account *a);
void explain_ratio(struct account *a);
void explain_sum(struct account *a);
void explain_sum_past(struct account *a);
void explain_typical(struct account *a);
void explain_eta(struct account *a);
void explain_terms(struct account *a);

// Has the sampler explain, and completes what is missing of a reason why the row was left as it was.
void account_take(struct account *a);

#endif
