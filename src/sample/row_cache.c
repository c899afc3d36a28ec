// SPDX-License-Identifier: MIT
#include "sample/row_cache.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 }; // candidates of all prefixes: selections are kept, whole rows are not

void row_cache_clear(struct row_cache *x)
{
    x->row = NULL;
    x->exp_sum = 0.0f;
    x->n_ranked = x->n_prefixes = x->n_cands = 0;
}

void row_cache_free(struct row_cache *x)
{
    free(x->block_max);
    free(x->rank);
    free(x->prefix);
    free(x->cand);
}

bool row_cache_keep_maxima(struct row_cache *x, const struct row *row, const float *block_max, size_t n)
{
    if (!x || !mem_grow(&x->block_max, &x->block_cap, n, sizeof *block_max))
        return false;
    memcpy(x->block_max, block_max, n * sizeof *block_max);
    x->row = row;
    x->exp_sum = 0.0f;
    x->n_ranked = 0;
    return true;
}

static bool equal_stages(const struct stage *a, const struct stage *b)
{
    return a->sampler == b->sampler &&
           (!a->sampler->params_size || !memcmp(a->params, b->params, a->sampler->params_size)) &&
           !memcmp(a->context, b->context, sizeof *a->context);
}

size_t row_cache_find_prefix(const struct row_cache *x, size_t before, const struct stage *stage)
{
    for (size_t i = 0; i < x->n_prefixes; i++)
        if (x->prefix[i].before == before && equal_stages(x->prefix[i].stage, stage))
            return i;
    return PREFIX_NONE;
}

// Copies the candidates behind those of the other prefixes. Returns how many; 0 if they are too many or memory is
// short.
static size_t copy_candidates(struct row_cache *x, const struct cand *c)
{
    const size_t all = x->n_cands + c->n;
    if (c->dense || all > MOST || !mem_grow(&x->cand, &x->cand_cap, all, sizeof *x->cand))
        return 0;
    for (size_t i = 0; i < c->n; i++)
        x->cand[x->n_cands++] = (struct prefix_cand){c->id[i], c->logit[i], c->state == CAND_LOGITS ? 0.0f : c->p[i]};
    return c->n;
}

size_t row_cache_add_prefix(struct row_cache *x, size_t before, const struct stage *stage, const struct cand *c)
{
    const struct sampler *const s = stage->sampler;
    assert(before != PREFIX_NONE && !c->fault.code);
    if (s->size || s->window || s->reads_prompt || s->selector ||
        !mem_grow(&x->prefix, &x->prefix_cap, x->n_prefixes + 1, sizeof *x->prefix))
        return PREFIX_NONE;
    const size_t at = x->n_cands;
    x->prefix[x->n_prefixes] = (struct prefix){stage, before, at, copy_candidates(x, c), c->order, c->state};
    return x->n_prefixes++;
}

void row_cache_load_prefix(const struct row_cache *x, size_t prefix, struct cand *c)
{
    const struct prefix *const from = &x->prefix[prefix];
    assert(from->n && from->n <= c->n_row);
    for (size_t i = 0; i < from->n; i++) {
        c->id[i] = x->cand[from->at + i].id;
        c->logit[i] = x->cand[from->at + i].logit;
        c->p[i] = x->cand[from->at + i].p;
    }
    c->dense = false;
    c->n = from->n;
    c->order = from->order;
    c->state = from->state;
}
