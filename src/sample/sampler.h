// SPDX-License-Identifier: MIT
// What a sampler is: one file s_NAME.c that defines a struct sampler, and one row in registry.c.
#ifndef SAMPL_SAMPLE_SAMPLER_H
#define SAMPL_SAMPLE_SAMPLER_H

#include "base/fault.h"
#include "sample/cand.h"
#include "sample/history.h"
#include "sample/params.h"

// What a stage must know of earlier rows to work on a row.
enum carry {
    CARRY_NOTHING, // at most how many there were
    CARRY_TOKENS,  // the accepted tokens
    CARRY_ROWS,    // the rows themselves: they must have been sampled
};

struct sampler {
    size_t size;   // bytes of state, zeroed before init
    bool selector; // picks a token (sets chosen and chosen_p) and ends the chain

    // False when the sampler does nothing with these parameters; then it is not built. NULL: always enabled.
    bool (*enabled)(const struct params *p);

    // Prepares the state, once; reset follows. May widen the history. NULL: nothing to do.
    struct fault (*init)(void *self, const struct params *p, struct history *h);

    // Works on one row. c is never empty, before or after. One that has `skip` draws as much before a fault as skip does.
    struct fault (*apply)(void *self, struct cand *c, const struct params *p, const struct history *h);

    // A token was accepted and is already in the history. NULL: indifferent.
    struct fault (*accept)(void *self, uint32_t token, const struct params *p, const struct history *h);

    // Starts a new sequence: empty history, generators seeded with p->seed. NULL: nothing to do.
    void (*reset)(void *self, const struct params *p);

    // NULL: CARRY_NOTHING.
    enum carry (*carry)(const struct params *p);

    // Leaves the state as if so many rows had been sampled. NULL: nothing to do, or CARRY_ROWS.
    void (*skip)(void *self, uint64_t rows);

    // Goes on from where another instance's state stands: takes over its generator and whatever else the rows, not the tokens, have
    // made of it. NULL: nothing to take over.
    void (*adopt)(void *self, const void *other);

    // Frees what the state owns, not the state. NULL: nothing.
    void (*release)(void *self);
};

#define MIN_KEEP(p) ((size_t)(p)->min_keep)

// A window given as a count, -1 being everything.
static inline size_t window_of(int32_t last_n)
{
    return last_n < 0 ? HISTORY_ALL : (size_t)last_n;
}

#endif
