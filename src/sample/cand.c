// SPDX-License-Identifier: MIT
#include "sample/cand.h"

#include "base/bits.h"
#include "base/mem.h"
#include "sample/cand_dense.h"
#include "sample/sort.h"

#include <math.h>
#include <stdlib.h>

void cand_init(struct cand *c, const struct kern *kern)
{
    memset(c, 0, sizeof *c);
    c->kern = kern;
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
    cand_init(c, c->kern);
}

struct fault cand_load(struct cand *c, const struct row *row)
{
    c->n_vocab = row->n;
    c->dense = true;
    c->order = CAND_BY_ID;
    c->has_p = false;
    return dense_load(c, row);
}

// Room for n candidates in list form.
static struct fault need_list(struct cand *c, size_t n)
{
    uint32_t **const ids[] = {&c->id, &c->spare_id};
    float **const floats[] = {&c->logit, &c->p, &c->spare};
    size_t cap = c->list_cap;
    for (size_t i = 0; i < 2; i++, cap = c->list_cap)
        if (!mem_grow(ids[i], &cap, n, sizeof **ids))
            return fault_memory();
    for (size_t i = 0; i < 3; i++)
        if (cap = c->list_cap, !mem_grow(floats[i], &cap, n, sizeof **floats))
            return fault_memory();
    c->list_cap = cap;
    return fault_none();
}

// Makes the first n keys, ranks by id, the list.
static struct fault list_from_keys(struct cand *c, size_t n, enum cand_order order)
{
    const struct fault fault = need_list(c, n);
    if (fault.code)
        return fault;
    for (size_t i = 0; i < n; i++) {
        c->id[i] = rank_id(c->key[i]);
        c->logit[i] = dense_logit(c, c->id[i]);
    }
    c->n = n;
    c->dense = false;
    c->has_p = false;
    c->order = order;
    return fault_none();
}

struct fault cand_list(struct cand *c)
{
    if (!c->dense)
        return fault_none();
    const struct fault fault = need_list(c, c->n);
    if (fault.code)
        return fault;
    dense_copy(c, c->logit);
    for (size_t i = 0; i < c->n; i++)
        c->id[i] = (uint32_t)i;
    c->dense = false;
    c->has_p = false;
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

static struct fault need_keys(struct cand *c, size_t n)
{
    if (!mem_grow(&c->key, &c->key_cap, n, sizeof *c->key) || !mem_grow(&c->key_tmp, &c->key_tmp_cap, n, sizeof *c->key_tmp))
        return fault_memory();
    return fault_none();
}

struct fault cand_sort(struct cand *c)
{
    if (!c->dense && c->order == CAND_SORTED)
        return fault_none();
    return cand_top_k(c, c->n);
}

struct fault cand_top_k(struct cand *c, size_t k)
{
    struct fault fault = fault_none();
    if (c->dense && k < c->n) {
        size_t found;
        fault = dense_select(c, k, &found);
        if (!fault.code && found == k) {
            fault = need_keys(c, k);
            if (!fault.code) {
                sort_keys(c->key, k, c->key_tmp);
                fault = list_from_keys(c, k, CAND_SORTED);
            }
            return fault;
        }
    }
    if (!fault.code)
        fault = cand_list(c);
    if (fault.code)
        return fault;
    k = k < c->n ? k : c->n;
    if (c->order == CAND_SORTED) {
        cand_truncate(c, k);
        return fault;
    }
    fault = cand_rank(c, k);
    if (!fault.code)
        cand_gather(c, k, CAND_SORTED);
    return fault;
}

// Sorts key[0..n), key_tmp being scratch, ascending by the upper 32 bits; equal ones keep their order.
static void radix(struct cand *c)
{
    if (sort_radix(c->key, c->key_tmp, c->n, 32, 64) == c->key)
        return;
    uint64_t *const t = c->key;
    c->key = c->key_tmp;
    c->key_tmp = t;
    const size_t cap = c->key_cap;
    c->key_cap = c->key_tmp_cap;
    c->key_tmp_cap = cap;
}

// All positions by rank: a radix sort by logit, after one by id when the list is not already in id order.
static void rank_all(struct cand *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->key[i] = (uint64_t)c->id[i] << 32 | i;
    if (c->order != CAND_BY_ID)
        radix(c);
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t pos = (uint32_t)c->key[i];
        c->key[i] = (uint64_t)~order_bits(c->logit[pos]) << 32 | pos;
    }
    radix(c);
}

// The k best of a list in id order: equal logits rank by place.
static void rank_few(struct cand *c, size_t k)
{
    const size_t room = 2 * k + 2 * KERN_BLOCK;
    float floor = -INFINITY;
    size_t m = 0;
    for (size_t i = 0; i < c->n; i += KERN_BLOCK) {
        const size_t len = c->n - i < KERN_BLOCK ? c->n - i : KERN_BLOCK;
        m += c->kern->collect(c->key + m, c->logit + i, len, (uint32_t)i, floor);
        if (m + KERN_BLOCK > room) {
            floor = sort_prune(c->key, m, k);
            m = k;
        }
    }
    sort_select(c->key, m, k);
    sort_keys(c->key, k, c->key_tmp);
    for (size_t i = 0; i < k; i++)
        c->key[i] = rank_id(c->key[i]);
}

struct fault cand_rank_rising(struct cand *c, const float *score)
{
    const struct fault fault = need_keys(c, c->n);
    if (fault.code)
        return fault;
    for (size_t i = 0; i < c->n; i++)
        c->key[i] = (uint64_t)order_bits(score[i]) << 32 | i;
    radix(c);
    return fault;
}

struct fault cand_rank(struct cand *c, size_t k)
{
    const bool few = c->order == CAND_BY_ID && k < c->n / 8;
    const struct fault fault = need_keys(c, few ? 2 * k + 2 * KERN_BLOCK : c->n);
    if (fault.code)
        return fault;
    if (c->order == CAND_SORTED)
        for (size_t i = 0; i < k; i++)
            c->key[i] = i;
    else if (few)
        rank_few(c, k);
    else
        rank_all(c);
    return fault;
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

void cand_gather(struct cand *c, size_t n, enum cand_order order)
{
    for (size_t i = 0; i < n; i++)
        c->spare_id[i] = c->id[(uint32_t)c->key[i]];
    uint32_t *const t = c->id;
    c->id = c->spare_id;
    c->spare_id = t;
    gather_floats(c, &c->logit, n);
    if (c->has_p)
        gather_floats(c, &c->p, n);
    c->n = n;
    c->order = order;
}

void cand_truncate(struct cand *c, size_t n)
{
    c->n = n;
}

struct fault cand_drop_first(struct cand *c, size_t n)
{
    const struct fault fault = need_keys(c, c->n);
    if (fault.code)
        return fault;
    for (size_t i = n; i < c->n; i++)
        c->key[i - n] = i;
    cand_gather(c, c->n - n, c->order);
    return fault;
}

struct fault cand_max(struct cand *c, float *max)
{
    *max = -INFINITY;
    if (!c->dense) {
        *max = c->order == CAND_SORTED ? c->logit[0] : c->kern->max(c->logit, c->n);
        return fault_none();
    }
    size_t found;
    const struct fault fault = dense_select(c, 1, &found);
    if (!fault.code && found)
        *max = dense_logit(c, rank_id(c->key[0]));
    return fault;
}

struct fault cand_keep_from(struct cand *c, float floor, size_t least, bool *kept)
{
    struct fault fault = fault_none();
    if (c->dense) {
        size_t found;
        fault = dense_collect(c, floor, &found);
        *kept = !fault.code && found && found >= least;
        return *kept ? list_from_keys(c, found, CAND_BY_ID) : fault;
    }
    size_t found = 0;
    for (size_t i = 0; i < c->n; i++)
        found += c->logit[i] >= floor;
    *kept = found && found >= least;
    if (!*kept)
        return fault;
    fault = need_keys(c, c->n);
    if (fault.code)
        return fault;
    for (size_t i = 0, m = 0; i < c->n; i++) {
        c->key[m] = i;
        m += c->logit[i] >= floor;
    }
    cand_gather(c, found, c->order);
    return fault;
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

struct fault cand_exp(struct cand *c)
{
    float max;
    struct fault fault = cand_max(c, &max);
    if (fault.code)
        return fault;
    if (max == -INFINITY)
        return (struct fault){FAULT_NOTHING_LEFT, 0};
    if (!(max < INFINITY))
        return (struct fault){FAULT_OVERFLOW, c->dense ? 0 : c->id[c->kern->argmax(c->logit, c->n)]};
    fault = need_list(c, c->n);
    if (fault.code)
        return fault;
    if (c->dense)
        dense_exp(c, max, c->p);
    else
        c->kern->exp_sub(c->p, c->logit, max, c->n);
    c->has_p = true;
    return fault_none();
}

struct fault cand_softmax(struct cand *c, bool sort)
{
    struct fault fault = cand_list(c);
    if (!fault.code && sort)
        fault = cand_sort(c);
    if (!fault.code)
        fault = cand_exp(c);
    if (fault.code)
        return fault;
    c->kern->divide(c->p, c->n, c->kern->sum(c->p, c->n, 0.0f));
    return fault;
}

struct fault cand_alive(struct cand *c, size_t most, size_t *alive)
{
    *alive = 0;
    most = most < c->n ? most : c->n;
    if (c->dense)
        return dense_select(c, most, alive);
    for (size_t i = 0; i < c->n && *alive < most; i++)
        *alive += c->logit[i] > -INFINITY;
    return fault_none();
}

void cand_snapshot(const struct cand *c, float *logit)
{
    if (c->dense) {
        dense_copy(c, logit);
        return;
    }
    for (size_t i = 0; i < c->n_vocab; i++)
        logit[i] = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        logit[c->id[i]] = c->logit[i];
}
