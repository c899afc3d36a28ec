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
    x->summed = false;
    x->n_ranked = x->n_prefixes = x->taken = 0;
}

void row_cache_free(struct row_cache *x)
{
    free(x->block_max);
    free(x->rank);
    free(x->prefix);
    free(x->id);
    free(x->logit);
    free(x->p);
}

bool row_cache_keep_maxima(struct row_cache *x, const struct row *row, const float *block_max, size_t n)
{
    if (!x || !mem_grow(&x->block_max, &x->block_cap, n, sizeof *block_max))
        return false;
    memcpy(x->block_max, block_max, n * sizeof *block_max);
    x->row = row;
    x->summed = false;
    x->n_ranked = 0;
    return true;
}

size_t row_cache_rank(const struct row_cache *x, size_t position)
{
    for (size_t i = 0; x && i < x->n_ranked; i++)
        if (x->rank[i] == position)
            return i + 1;
    return 0;
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
    const size_t all = x->taken + c->n;
    if (c->dense || all > MOST || !mem_grow(&x->id, &x->id_cap, all, sizeof *x->id) ||
        !mem_grow(&x->logit, &x->logit_cap, all, sizeof *x->logit) || !mem_grow(&x->p, &x->p_cap, all, sizeof *x->p))
        return 0;
    memcpy(x->id + x->taken, c->id, c->n * sizeof *c->id);
    memcpy(x->logit + x->taken, c->logit, c->n * sizeof *c->logit);
    if (c->state != CAND_LOGITS)
        memcpy(x->p + x->taken, c->p, c->n * sizeof *c->p);
    x->taken = all;
    return c->n;
}

size_t row_cache_add_prefix(struct row_cache *x, size_t before, const struct stage *stage, const struct cand *c)
{
    const struct sampler *const s = stage->sampler;
    assert(before != PREFIX_NONE && !c->fault.code);
    if (s->size || s->window || s->reads_prompt || s->selector ||
        !mem_grow(&x->prefix, &x->prefix_cap, x->n_prefixes + 1, sizeof *x->prefix))
        return PREFIX_NONE;
    const size_t at = x->taken;
    x->prefix[x->n_prefixes] = (struct prefix){stage, before, at, copy_candidates(x, c), c->order, c->state};
    return x->n_prefixes++;
}
