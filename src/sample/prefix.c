// SPDX-License-Identifier: MIT
#include "sample/prefix.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 }; // candidates of all prefixes together: what is left of a few selections, not whole rows

void prefixes_clear(struct prefixes *x)
{
    x->n = x->taken = 0;
}

void prefixes_free(struct prefixes *x)
{
    free(x->of);
    free(x->id);
    free(x->logit);
    free(x->p);
}

// Does a stage depend on nothing but the row, its parameters and the lists of its context?
static bool shareable(const struct sampler *s)
{
    return !s->size && !s->window && !s->reads_prompt && !s->selector;
}

static bool same(const struct stage *a, const struct stage *b)
{
    return a->sampler == b->sampler &&
           (!a->sampler->params_size || !memcmp(a->params, b->params, a->sampler->params_size)) &&
           !memcmp(a->context, b->context, sizeof *a->context);
}

size_t prefix_find(const struct prefixes *x, size_t before, const struct stage *stage)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->of[i].before == before && same(x->of[i].stage, stage))
            return i;
    return PREFIX_NONE;
}

// False when they are too many, or memory is short.
static bool put_by(struct prefixes *x, const struct cand *c)
{
    const size_t all = x->taken + c->n;
    if (c->dense || all > MOST || !mem_grow(&x->id, &x->id_cap, all, sizeof *x->id) ||
        !mem_grow(&x->logit, &x->logit_cap, all, sizeof *x->logit) || !mem_grow(&x->p, &x->p_cap, all, sizeof *x->p))
        return false;
    memcpy(x->id + x->taken, c->id, c->n * sizeof *c->id);
    memcpy(x->logit + x->taken, c->logit, c->n * sizeof *c->logit);
    if (c->has_p)
        memcpy(x->p + x->taken, c->p, c->n * sizeof *c->p);
    x->taken = all;
    return true;
}

size_t prefix_add(struct prefixes *x, size_t before, const struct stage *stage, const struct cand *c)
{
    assert(before != PREFIX_NONE && !c->fault.code);
    if (!shareable(stage->sampler) || !mem_grow(&x->of, &x->cap, x->n + 1, sizeof *x->of))
        return PREFIX_NONE;
    const size_t at = x->taken;
    x->of[x->n] = (struct prefix){stage, before, at, put_by(x, c) ? c->n : 0, c->order, c->has_p};
    return x->n++;
}

void prefix_take(const struct prefixes *x, size_t prefix, struct cand *c)
{
    const struct prefix *const from = &x->of[prefix];
    assert(prefix < x->n && from->n);
    cand_put_list(c, x->id + from->at, x->logit + from->at, from->has_p ? x->p + from->at : NULL, from->n, from->order);
}
