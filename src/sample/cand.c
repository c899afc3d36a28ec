// SPDX-License-Identifier: MIT
#include "sample/cand.h"

#include "base/bits.h"
#include "base/mem.h"
#include "sample/cand_dense.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void cand_init(struct cand *c, const struct kern *kern)
{
    memset(c, 0, sizeof *c);
    c->kern = kern;
    c->want_p = true;
    c->want_chosen_p = true;
    c->want_logits = true;
}

void cand_free(struct cand *c)
{
    idmap_free(&c->edited);
    free(c->block_max);
    free(c->edit);
    free(c->id);
    free(c->logit);
    free(c->p);
    free(c->spare);
    free(c->spare_id);
    free(c->key);
    free(c->key_tmp);
    free(c->value);
    free(c->value_tmp);
    free(c->sample);
    cand_init(c, c->kern);
}

struct fault cand_load(struct cand *c, const struct row *row)
{
    c->n_row = row->n;
    c->row_id = row->ids;
    c->n_vocab = row_vocab(row);
    c->dense = true;
    c->order = CAND_BY_ID;
    c->has_p = false;
    struct fault fault = dense_load(c, row);
    if (!row->ids)
        return fault;
    if (fault.code == FAULT_NAN || fault.code == FAULT_INFINITE)
        fault.at = row->ids[fault.at];
    if (!fault.code)
        fault = cand_list(c);
    if (!fault.code)
        memcpy(c->id, row->ids, row->n * sizeof *c->id);
    return fault;
}

// Room for n candidates in list form.
struct fault cand_need_list(struct cand *c, size_t n)
{
    uint32_t **const ids[] = {&c->id, &c->spare_id};
    float **const floats[] = {&c->logit, &c->p, &c->spare};
    size_t cap = c->list_cap;
    for (size_t i = 0; i < 2; i++, cap = c->list_cap)
        if (!mem_grow(ids[i], &cap, n, sizeof **ids))
            return fault_memory();
    for (size_t i = 0; i < 3; i++) {
        cap = c->list_cap;
        if (!mem_grow(floats[i], &cap, n, sizeof **floats))
            return fault_memory();
    }
    c->list_cap = cap;
    return fault_none();
}

struct fault cand_list(struct cand *c)
{
    if (!c->dense)
        return fault_none();
    const struct fault fault = cand_need_list(c, c->n);
    if (fault.code)
        return fault;
    dense_copy(c, c->logit);
    for (size_t i = 0; i < c->n; i++)
        c->id[i] = (uint32_t)i;
    c->dense = false;
    return fault_none();
}

static struct fault edit_list(struct cand *c, const uint32_t *ids, size_t m, cand_edit_fn *f, const void *arg)
{
    // The overlay's map is idle while the row is a list.
    idmap_clear(&c->edited);
    for (size_t j = 0; j < m; j++)
        if (idmap_add(&c->edited, ids[j]) == IDMAP_NONE)
            return fault_memory();
    for (size_t i = 0; i < c->n; i++) {
        const size_t j = idmap_find(&c->edited, c->id[i]);
        if (j == IDMAP_NONE)
            continue;
        c->logit[i] = f(c->logit[i], j, arg);
        if (!(c->logit[i] < INFINITY))
            return (struct fault){FAULT_OVERFLOW, c->id[i]};
    }
    return fault_none();
}

static struct fault edit_dense(struct cand *c, const uint32_t *ids, size_t m, cand_edit_fn *f, const void *arg)
{
    for (size_t j = 0; j < m; j++) {
        if (ids[j] >= c->n)
            continue;
        const float x = f(dense_logit(c, ids[j]), j, arg);
        if (!(x < INFINITY))
            return (struct fault){FAULT_OVERFLOW, ids[j]};
        const struct fault fault = dense_put(c, ids[j], x);
        if (fault.code)
            return fault;
    }
    return fault_none();
}

struct fault cand_edit(struct cand *c, const uint32_t *ids, size_t m, cand_edit_fn *f, const void *arg)
{
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED;
    return c->dense ? edit_dense(c, ids, m, f, arg) : edit_list(c, ids, m, f, arg);
}

// Floats move into the spare array, which then takes the place of the old one.
static void gather_floats(struct cand *c, float **array, size_t n)
{
    const float *const old = *array;
    for (size_t i = 0; i < n; i++)
        c->spare[i] = old[(uint32_t)c->key[i]];
    float *const t = *array;
    *array = c->spare;
    c->spare = t;
}

struct fault cand_gather(struct cand *c, size_t n, enum cand_order order)
{
    const struct fault fault = cand_need_list(c, n);
    if (fault.code)
        return fault;
    if (c->dense) {
        for (size_t i = 0; i < n; i++) {
            c->id[i] = (uint32_t)c->key[i];
            c->logit[i] = dense_logit(c, c->id[i]);
        }
    } else {
        for (size_t i = 0; i < n; i++)
            c->spare_id[i] = c->id[(uint32_t)c->key[i]];
        uint32_t *const t = c->id;
        c->id = c->spare_id;
        c->spare_id = t;
        gather_floats(c, &c->logit, n);
    }
    if (c->has_p)
        gather_floats(c, &c->p, n);
    c->dense = false;
    c->n = n;
    c->order = order;
    return fault;
}

void cand_truncate(struct cand *c, size_t n)
{
    c->n = n;
}

void cand_drop_first(struct cand *c, size_t n)
{
    c->n -= n;
    memmove(c->id, c->id + n, c->n * sizeof *c->id);
    memmove(c->logit, c->logit + n, c->n * sizeof *c->logit);
    if (c->has_p)
        memmove(c->p, c->p + n, c->n * sizeof *c->p);
}

struct fault cand_round_f16(struct cand *c)
{
    if (c->dense)
        return dense_round_f16(c);
    c->kern->round_f16(c->logit, c->n);
    c->kern->mask_below(c->logit, c->n, F16_LOWEST);
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED;
    const size_t best = c->kern->argmax(c->logit, c->n);
    if (c->logit[best] == INFINITY)
        return (struct fault){FAULT_F16, c->id[best]};
    return c->logit[best] > -INFINITY ? fault_none() : (struct fault){FAULT_NOTHING_LEFT, 0};
}

float cand_logit(const struct cand *c, uint32_t id)
{
    return dense_logit(c, id);
}

struct fault cand_max(struct cand *c, float *max)
{
    *max = -INFINITY;
    if (!c->dense) {
        *max = c->order == CAND_SORTED ? c->logit[0] : c->kern->max(c->logit, c->n);
        return fault_none();
    }
    return dense_max(c, max);
}

struct fault cand_keep_from(struct cand *c, float floor, size_t least, bool *kept)
{
    struct fault fault = fault_none();
    if (c->dense) {
        size_t found;
        fault = dense_collect(c, floor, &found);
        *kept = !fault.code && found && found >= least;
        for (size_t i = 0; *kept && i < found; i++)
            c->key[i] = rank_id(c->key[i]);
        return *kept ? cand_gather(c, found, CAND_BY_ID) : fault;
    }
    const size_t found = c->kern->count(c->logit, c->n, floor);
    *kept = found && found >= least;
    if (!*kept)
        return fault;
    fault = cand_need_keys(c, c->n);
    if (fault.code)
        return fault;
    for (size_t i = 0, m = 0; i < c->n; i++) {
        c->key[m] = i;
        m += c->logit[i] >= floor;
    }
    return cand_gather(c, found, c->order);
}

struct fault cand_mask_all_but_max(struct cand *c)
{
    if (!c->dense) {
        const size_t best = c->kern->argmax(c->logit, c->n);
        for (size_t i = 0; i < c->n; i++)
            if (i != best)
                c->logit[i] = -INFINITY;
        return fault_none();
    }
    size_t found;
    struct fault fault = dense_select(c, 1, &found);
    if (fault.code)
        return fault;
    const uint32_t id = rank_id(c->key[0]);
    const float logit = found ? dense_logit(c, id) : -INFINITY;
    idmap_clear(&c->edited);
    c->cut = INFINITY;
    return found ? dense_put(c, id, logit) : fault;
}

bool cand_single(const struct cand *c, uint32_t *id)
{
    if (!c->dense || c->cut < INFINITY || c->edited.n != 1)
        return false;
    *id = c->edited.id[0];
    return c->edit[0] > -INFINITY;
}

struct fault cand_range(struct cand *c, float *max)
{
    const struct fault fault = cand_max(c, max);
    if (fault.code)
        return fault;
    if (*max == -INFINITY)
        return (struct fault){FAULT_NOTHING_LEFT, 0};
    if (!(*max < INFINITY))
        return (struct fault){FAULT_OVERFLOW, c->dense ? 0 : c->id[c->kern->argmax(c->logit, c->n)]};
    return fault;
}

struct fault cand_exp(struct cand *c)
{
    float max;
    struct fault fault = cand_range(c, &max);
    if (!fault.code)
        fault = cand_need_list(c, c->n);
    if (fault.code)
        return fault;
    if (c->dense)
        dense_exp(c, max, c->p);
    else
        c->kern->exp_sub(c->p, c->logit, max, c->n);
    c->has_p = true;
    return fault;
}

struct fault cand_alive(struct cand *c, size_t most, size_t *alive)
{
    *alive = 0;
    most = most < c->n ? most : c->n;
    if (c->dense)
        return dense_select(c, most, alive);
    const size_t all = c->kern->count(c->logit, c->n, -FLT_MAX);
    *alive = all < most ? all : most;
    return fault_none();
}

size_t cand_row_place(const struct cand *c, uint32_t id)
{
    size_t low = 0, high = c->n_row; // where it belongs lies in [low, high]
    if (!c->row_id)
        return id < c->n_row ? id : c->n_row;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->row_id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_row && c->row_id[low] == id ? low : c->n_row;
}

void cand_snapshot(const struct cand *c, float *logit)
{
    if (c->dense) {
        dense_copy(c, logit);
        return;
    }
    for (size_t i = 0; i < c->n_row; i++)
        logit[i] = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const size_t place = cand_row_place(c, c->id[i]);
        if (place < c->n_row) // infill may bring in a token that a sparse row lacks
            logit[place] = c->logit[i];
    }
}

uint32_t cand_row_id(const struct cand *c, size_t place)
{
    return c->row_id ? c->row_id[place] : (uint32_t)place;
}
