// SPDX-License-Identifier: MIT
// What a table of whole chains on a text allows to say of them, and no more: sentences below the table.
#ifndef SAMPL_VIEWS_VERDICT_H
#define SAMPL_VIEWS_VERDICT_H

#include "out/dest.h"
#include "views/job.h"
#include "views/moments.h"

enum { VERDICT_CHAINS = 16 }; // of more chains, pairs are not compared

// Sums over the rows that all chains have. A zeroed struct is empty.
struct chains_verdict {
    const struct job *job;
    // [chains][chains] of chain i less chain k; of a chain itself where i is k
    struct moments *removed, *lost;
    uint64_t lost_tokens; // of all chains
    uint64_t unlisted;    // rows whose lists do not tell whether a chain keeps the token
};

bool verdict_open(struct chains_verdict *v, const struct job *j, struct err *e);
void verdict_free(struct chains_verdict *v);

// Adds the results res[variants] of a row.
void verdict_add(struct chains_verdict *v, const struct result *res);

// Returns whether chain i is better than chain k: it removes more of the model's probability and loses no more of the
// text, both beyond 2 x 1.6 standard errors of the paired differences. (1.6: rows of one text are correlated,
// sampl-compare(7).) An error of lost counts four lost tokens more: that none was lost in so many rows does not prove
// that none is.
bool verdict_better(const struct chains_verdict *v, size_t i, size_t k);

// The most that a chain loses, as far as the rows tell: lost, and 2 x 1.6 of its standard errors.
double verdict_most_lost(const struct chains_verdict *v, size_t i);

// Writes the sentences on the chains; nothing if the rows do not allow any.
void verdict_text(const struct chains_verdict *v, struct dest *d);

// Writes the answer to --most-lost.
void verdict_answer(const struct chains_verdict *v, struct builder *b, bool utf8);

#endif
