// SPDX-License-Identifier: MIT
// The threads of a run. See pool.c.
#ifndef SAMPL_RUN_POOL_H
#define SAMPL_RUN_POOL_H

#include "run/batch.h"

struct pool {
    // set by the caller
    struct feed *feed;
    bool (*write)(void *to, const struct batch *b, struct err *e); // writes the records of a batch
    bool (*flush)(void *to, struct err *e);                        // flushes the output
    void *to;

    struct worker *worker; // [workers]
    size_t workers;
    size_t alone; // worker[alone..workers) take every row through every variant, when no thread helps

    bool failed;     // pool_alone: flush has failed while the input was read,
    struct err late; // for this reason
};

// Decides how many threads share the rows, or the variants (feed->threads), and makes the workers. at_once: each record
// is written before the next row is read. p must be freed either way.
bool pool_init(struct pool *p, bool at_once, struct err *e);
void pool_free(struct pool *p);

// Runs over the rows in several threads: up to their end, or to a row that tells more of itself than its numbers, which
// feed->held then marks. feed->threads is 0 then. The workers from `alone` on stand behind the last row.
bool pool_run(struct pool *p, struct err *e);

// Reads, works on and writes one row after the other, from the row that follows on.
bool pool_alone(struct pool *p, struct err *e);

#endif
