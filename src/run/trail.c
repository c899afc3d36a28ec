// SPDX-License-Identifier: MIT
#include "run/trail.h"

#include "base/mem.h"

#include <stdlib.h>

void trail_free(struct trail *t)
{
    free(t->logit);
    free(t->edge);
}

// Is it there, and at what rank?
static void look(struct trail *t, const struct cand *c)
{
    cand_snapshot(c, t->logit);
    t->n = c->kern->count(t->logit, c->n_row, -FLT_MAX);
    t->there = t->logit[t->place] > -INFINITY;
    if (t->there)
        t->rank = rank_of(c->kern, t->logit, c->n_row, t->place);
}

bool trail_begin(struct trail *t, const struct cand *c, size_t n_stages, uint32_t token)
{
    if (!mem_grow(&t->logit, &t->cap, c->n_row + 1, sizeof *t->logit) ||
        !mem_grow(&t->edge, &t->edge_cap, n_stages, sizeof *t->edge))
        return false;
    t->n_edges = 0;
    t->logit[c->n_row] = -INFINITY; // of a token that the row lacks
    t->place = cand_row_place(c, token);
    t->by = NULL;
    t->stage = NULL;
    look(t, c);
    return true;
}

// The place of the one with the lowest rank.
static size_t last_kept(const float *logit, size_t n)
{
    size_t last = n;
    for (size_t i = 0; i < n; i++)
        if (logit[i] > -INFINITY && (last == n || logit[i] <= logit[last]))
            last = i;
    return last;
}

void trail_step(struct trail *t, const struct cand *c, const struct stage *stage, const char *name)
{
    const bool before = t->there;
    const size_t n = t->n;
    look(t, c);
    if (stage && stage->sampler->limits && t->n < n)
        t->edge[t->n_edges++] = (struct edge){stage, last_kept(t->logit, c->n_row)};
    if (!before || t->there)
        return;
    t->stage = stage;
    t->by = name;
}

const struct stage *trail_edge(const struct trail *t, const struct cand *c, size_t *place)
{
    *place = last_kept(t->logit, c->n_row);
    for (size_t i = t->n_edges; i--;)
        if (t->edge[i].place == *place)
            return t->edge[i].stage;
    return NULL;
}
