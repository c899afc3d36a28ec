// SPDX-License-Identifier: MIT
// Fills in the record of a row that a chain has sampled.
#ifndef SAMPL_RUN_RECORD_H
#define SAMPL_RUN_RECORD_H

#include "trace/trace.h"
#include "views/job.h"

// Fills in the record, the statistics and the removals of res, as the job wants them. Reads the log, and the candidates
// that the chain left in c. shown: the step whose candidates --after shows in place of those in c; NULL without
// --after. known: the token that follows the row, or -1.
struct fault record_fill(const struct job *j, struct log *l, struct cand *c, const struct certainty *of,
                         const struct log_step *shown, int64_t known, struct result *res);

#endif
