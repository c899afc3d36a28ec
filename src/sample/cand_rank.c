// SPDX-License-Identifier: MIT
// The candidate store's order: ranking, sorting, selection.
#include "base/bits.h"
#include "base/mem.h"
#include "sample/cand.h"
#include "sample/cand_dense.h"
#include "sample/sort.h"

#include <math.h>

// All positions of a list in id order by rank: equal logits keep their order.
static void rank_by_id(struct cand *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->key[i] = (uint64_t)~order_bits(c->logit[i]) << 32 | i;
    sort_rising(c->key, c->n, c->key_tmp);
}

// The same for a list in any order, by way of id order.
static void rank_unordered(struct cand *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->key[i] = (uint64_t)c->id[i] << 32 | i;
    sort_rising(c->key, c->n, c->key_tmp);
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t pos = (uint32_t)c->key[i];
        c->spare_id[i] = pos;
        c->key[i] = (uint64_t)~order_bits(c->logit[pos]) << 32 | i;
    }
    sort_rising(c->key, c->n, c->key_tmp);
    for (size_t i = 0; i < c->n; i++)
        c->key[i] = c->spare_id[(uint32_t)c->key[i]];
}

// The k best of a list in id order, as rank keys with places for ids, in no order.
static void select_in_list(struct cand *c, size_t k)
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
}

// Sorts the rank keys key[0..n) and leaves the positions that they hold.
static void positions_by_rank(struct cand *c, size_t n)
{
    sort_keys(c->key, n, c->key_tmp);
    for (size_t i = 0; i < n; i++)
        c->key[i] = rank_id(c->key[i]);
}

static struct fault rank_list(struct cand *c, size_t k)
{
    const bool few = c->order == CAND_BY_ID && k < c->n / 8;
    const struct fault fault = cand_need_keys(c, few ? 2 * k + 2 * KERN_BLOCK : c->n);
    if (fault.code)
        return fault;
    if (c->order == CAND_SORTED) {
        for (size_t i = 0; i < k; i++)
            c->key[i] = i;
    } else if (few) {
        select_in_list(c, k);
        positions_by_rank(c, k);
    } else if (c->order == CAND_BY_ID) {
        rank_by_id(c);
    } else {
        rank_unordered(c);
    }
    return fault;
}

struct fault cand_rank(struct cand *c, size_t k)
{
    if (c->dense && k < c->n) {
        size_t found;
        struct fault fault = dense_select(c, k, &found);
        if (!fault.code && found == k)
            fault = cand_need_keys(c, k);
        if (fault.code)
            return fault;
        if (found == k) {
            positions_by_rank(c, k);
            return fault;
        }
    }
    const struct fault fault = cand_list(c); // as many as there are, or masked ones among them
    return fault.code ? fault : rank_list(c, k);
}

struct fault cand_top_k(struct cand *c, size_t k)
{
    k = k < c->n ? k : c->n;
    if (!c->dense && c->order == CAND_SORTED) {
        cand_truncate(c, k);
        return fault_none();
    }
    const struct fault fault = cand_rank(c, k);
    return fault.code ? fault : cand_gather(c, k, CAND_SORTED);
}

static void swap_logit_and_p(struct cand *c)
{
    float *const t = c->logit;
    c->logit = c->p;
    c->p = t;
}

struct fault cand_top_k_by_p(struct cand *c, size_t k)
{
    swap_logit_and_p(c);
    const struct fault fault = rank_list(c, k);
    swap_logit_and_p(c);
    return fault.code ? fault : cand_gather(c, k, CAND_SORTED);
}

struct fault cand_sort(struct cand *c)
{
    return !c->dense && c->order == CAND_SORTED ? fault_none() : cand_top_k(c, c->n);
}

// Collects the candidates with logit >= floor as rank keys.
static struct fault collect(struct cand *c, float floor, size_t *found)
{
    if (c->dense)
        return dense_collect(c, floor, found);
    const struct fault fault = cand_need_keys(c, c->n);
    if (!fault.code)
        *found = c->kern->collect(c->key, c->logit, c->n, 0, floor);
    return fault;
}

// Sorts value[0..n), complements of order bits, and writes the logits to spare[0..n) in rank order.
static void sort_logits(struct cand *c, size_t n)
{
    sort_values(c->value, c->value_tmp, n);
    for (size_t i = 0; i < n; i++)
        c->spare[i] = order_value(~c->value[i]);
}

static struct fault need_values(struct cand *c, size_t n)
{
    if (!mem_grow(&c->value, &c->value_cap, n, sizeof *c->value) ||
        !mem_grow(&c->value_tmp, &c->value_tmp_cap, n, sizeof *c->value_tmp))
        return fault_memory();
    return cand_need_list(c, n);
}

// Writes all logits to spare[0..n) in rank order.
static struct fault all_logits(struct cand *c)
{
    struct fault fault = cand_list(c);
    if (!fault.code)
        fault = need_values(c, c->n);
    if (fault.code)
        return fault;
    for (size_t i = 0; i < c->n; i++)
        c->value[i] = ~order_bits(c->logit[i]);
    sort_logits(c, c->n);
    return fault;
}

// The same for those that are at least *floor; when they are too few or most, for all, and *floor says so.
static struct fault best_logits(struct cand *c, float *floor, size_t least, size_t *n)
{
    struct fault fault = fault_none();
    *n = 0;
    if (*floor > -INFINITY)
        fault = collect(c, *floor, n);
    if (fault.code)
        return fault;
    if (*n < least || *n > c->n / 2) {
        *floor = -INFINITY;
        *n = c->n;
        return all_logits(c);
    }
    fault = need_values(c, *n);
    if (fault.code)
        return fault;
    for (size_t i = 0; i < *n; i++)
        c->value[i] = ~(uint32_t)(c->key[i] >> 32);
    sort_logits(c, *n);
    return fault;
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

struct fault cand_softmax_head(struct cand *c, float range, size_t least, struct head *head)
{
    float max, floor;
    size_t n = 0;
    if (!c->dense && c->order == CAND_SORTED) { // whose order need not be that of the logits any more
        const struct fault fault = cand_softmax(c, true);
        *head = (struct head){c->n, c->p, 0.0f};
        return fault;
    }
    struct fault fault = cand_range(c, &max);
    floor = max - range;
    if (!fault.code)
        fault = best_logits(c, &floor, least, &n);
    if (fault.code)
        return fault;
    float tail = floor - max;
    c->kern->exp_sub(&tail, &tail, 0.0f, 1);
    c->kern->exp_sub(c->spare, c->spare, max, n);
    const float sum = c->kern->sum(c->spare, n, 0.0f);
    c->kern->divide(c->spare, n, sum);
    *head = (struct head){n, c->spare, tail / sum};
    return fault;
}
