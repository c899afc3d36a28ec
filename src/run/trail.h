// SPDX-License-Identifier: MIT
// What became of one token on its way through the chain: which stage removed it, and which rank it had before that stage. And which
// token was the last that each stage kept, as that is where ports part.
#ifndef SAMPL_RUN_TRAIL_H
#define SAMPL_RUN_TRAIL_H

#include "run/measure.h"
#include "sample/sampler.h"

// A zeroed struct is empty.
struct trail {
    size_t place;              // of the token in the row
    bool there;                // not removed yet, nor masked
    const char *by;            // else the name of what removed it; NULL: the row masks it
    const struct stage *stage; // a stage of that name, or NULL
    size_t rank;               // before that, from 1
    size_t n;                  // how many are there
    struct edge {
        const struct stage *stage;
        size_t place; // of the last that it kept
    } * edge;         // [n_edges] of the stages that keep by a limit and removed something
    size_t n_edges, edge_cap;
    float *logit; // [n + 1] as they stand, in the row's order
    size_t cap;
};

void trail_free(struct trail *t);

// Follows the token through the row that has just been loaded, and so many stages. False when memory is short.
bool trail_begin(struct trail *t, const struct cand *c, size_t n_stages, uint32_t token);

// The stage of that name has run, or a mask is on (NULL).
void trail_step(struct trail *t, const struct cand *c, const struct stage *stage, const char *name);

// The stage that set the end of what is left: the last that it kept is the last of all still. *place is that one's. NULL: there is none.
const struct stage *trail_edge(const struct trail *t, const struct cand *c, size_t *place);

#endif
