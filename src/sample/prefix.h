// SPDX-License-Identifier: MIT
// What chains that begin alike have in common on one row: the first of them leaves behind what its first stages have made of the row, and the
// others go on from there. Only of stages that depend on nothing but the row and their parameters, so that no one can tell.
#ifndef SAMPL_SAMPLE_PREFIX_H
#define SAMPL_SAMPLE_PREFIX_H

#include "sample/sampler.h"

#define PREFIX_NONE SIZE_MAX       // no prefix: one of its stages is not to be shared, or memory was short
#define PREFIX_ROW  (SIZE_MAX - 1) // of no stages: the row as it was loaded

// A zeroed struct is empty.
struct prefixes {
    struct prefix {
        const struct stage *stage; // its last
        size_t before;             // the prefix that is one stage shorter
        size_t at, n;              // what it has left, in the arrays below; n is 0 if that is not there, being too much
        enum cand_order order;
        bool has_p;
    } * of; // [n]
    size_t n, cap;
    uint32_t *id; // [taken] each
    float *logit, *p;
    size_t taken, id_cap, logit_cap, p_cap;
};

// Forgets all, for another row.
void prefixes_clear(struct prefixes *x);
void prefixes_free(struct prefixes *x);

// The prefix that this stage makes of another, which is not PREFIX_NONE; PREFIX_NONE if no chain had it.
size_t prefix_find(const struct prefixes *x, size_t before, const struct stage *stage);

// The stage has run on c, behind a prefix that is not PREFIX_NONE, without a fault. Returns the new prefix. The stage, and what it points to,
// must stay until prefixes_clear.
size_t prefix_add(struct prefixes *x, size_t before, const struct stage *stage, const struct cand *c);

// Makes of c, a row as it was loaded, what a prefix has left, if that is there (n).
void prefix_take(const struct prefixes *x, size_t prefix, struct cand *c);

#endif
