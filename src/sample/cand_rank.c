// SPDX-License-Identifier: MIT
// The candidate store's order: selection, ranking, sorting; the softmax, which may be by rank; sums of weights.
#include "base/bits.h"
#include "base/mem.h"
#include "kern/expf.h"
#include "sample/cand.h"

#include <assert.h>
#include <float.h>
#include <math.h>

// ---- selection

enum { WIDE = 6 }; // more than one of so many are not looked for first: ranking as far as they go costs less

// A value that at least k of x[0..n) reach, and not many more if that is found soon; at worst the cut, if fewer than k reach that.
static float reached_by(const struct cand *c, const float *x, size_t n, size_t k)
{
    enum { STEPS = 12 };
    float high = c->kern->max(x, n),
          low = high - 1.0f; // fewer than k reach high, at least k reach low: once the first loop is done
    for (float step = 1.0f; low > c->cut && c->kern->count(x, n, low) < k; step *= 2) {
        high = low;
        low -= step;
    }
    if (!(low > c->cut))
        return c->cut;
    for (int i = 0; i < STEPS; i++) {
        const float middle = low + (high - low) / 2;
        const size_t count = c->kern->count(x, n, middle);
        if (count < k)
            high = middle;
        else
            low = middle;
        if (count >= k && count <= k + k / 8)
            break;
    }
    return low;
}

enum { STRIDE = 16 };

// Copies every 16th block to c->spare; returns how many logits that are.
static size_t take_sample(struct cand *c)
{
    size_t m = 0;
    for (size_t b = 0; b < cand_blocks(c); b += STRIDE) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        memcpy(c->spare + m, x, len * sizeof *x);
        m += len;
    }
    return m;
}

// A guess, from a sample, at a logit that somewhat more than k elements reach.
static float reached_in_sample(struct cand *c, size_t k)
{
    const size_t m = take_sample(c), want = k / STRIDE + k / (4 * STRIDE) + 8;
    return want < m ? reached_by(c, c->spare, m, want) : c->cut;
}

// Where collecting the k best of a dense row may begin. Too high a floor is noticed by fewer than k turning up.
static float first_floor(struct cand *c, size_t k)
{
    if (k <= cand_blocks(c) / 2)
        return reached_by(c, c->block_max, cand_blocks(c), k);
    return reached_in_sample(c, k);
}

// The part of a dense row that is block b; how many bytes.
static const char *row_block(const struct cand *c, size_t b, size_t *bytes)
{
    const size_t first = b * KERN_BLOCK, left = c->n - first, size = dtype_size(c->type);
    *bytes = (left < KERN_BLOCK ? left : KERN_BLOCK) * size;
    return (const char *)c->row + first * size;
}

// Has the processor fetch a block of a dense row, which is looked at soon.
static void fetch_block(const struct cand *c, size_t b)
{
    enum { LINE = 64 };
    size_t bytes;
    const char *const x = row_block(c, b, &bytes);
    for (size_t i = 0; !c->own[b] && i < bytes; i += LINE)
        __builtin_prefetch(x + i);
}

// cand_collect of one block.
static size_t collect_block(const struct cand *c, size_t b, float floor, uint64_t *keys)
{
    const uint32_t first = (uint32_t)(b * KERN_BLOCK);
    const bool in_row = c->dense && !c->own[b];
    const float from = in_row ? fmaxf(floor, c->cut) : floor;
    float tmp[KERN_BLOCK];
    size_t len;
    if (in_row && !c->round) {
        const char *const x = row_block(c, b, &len);
        return c->kern->collect[c->type](keys, x, len / dtype_size(c->type), first, from);
    }
    const float *const x = cand_block(c, b, tmp, &len);
    return c->kern->collect[DTYPE_F32](keys, x, len, first, from);
}

// The blocks that hold a logit of at least floor: c->spare_id[0..returned), rising.
static size_t blocks_reaching(struct cand *c, float floor)
{
    const size_t found =
        c->dense ? c->kern->collect[DTYPE_F32](c->key_tmp, c->block_max, cand_blocks(c), 0, floor) : cand_blocks(c);
    for (size_t i = 0; i < found; i++)
        c->spare_id[i] = c->dense ? rank_id(c->key_tmp[i]) : (uint32_t)i;
    return found;
}

size_t cand_collect(struct cand *c, float floor, size_t k)
{
    enum { SOON = 4 };
    const size_t most = 2 * k + KERN_BLOCK, blocks = blocks_reaching(c, floor);
    size_t m = 0;
    for (size_t i = 0; i < blocks; i++) {
        const size_t b = c->spare_id[i];
        if (c->dense && i + SOON < blocks)
            fetch_block(c, c->spare_id[i + SOON]);
        if (c->dense && !(c->block_max[b] >= floor))
            continue;
        m += collect_block(c, b, floor, c->key + m);
        if (m > most) {
            c->kern->sort(c->key, m, k, c->key_tmp);
            floor = order_value((uint32_t)(c->key[k - 1] >> 32) + 1); // with less a later id does not beat the k-th
            m = k;
        }
    }
    return m;
}

// Collects the k best unmasked candidates of a dense row, and others; fewer than k when fewer are unmasked.
static size_t collect_best(struct cand *c, size_t k)
{
    size_t m = cand_collect(c, first_floor(c, k), k);
    if (m < k && k <= cand_blocks(c))
        m = cand_collect(c, reached_by(c, c->block_max, cand_blocks(c), k), k);
    if (m < k)
        m = cand_collect(c, -FLT_MAX, k);
    return m;
}

// ---- ranking

void cand_rank_collected(struct cand *c, size_t n, size_t k)
{
    c->kern->sort(c->key, n, k, c->key_tmp);
    for (size_t i = 0; i < k; i++)
        c->key[i] = rank_id(c->key[i]);
}

// The positions of a list in any order by rank, by way of id order: then the earlier one has the lower id.
static void rank_unordered(struct cand *c, size_t k)
{
    for (size_t i = 0; i < c->n; i++)
        c->key[i] = (uint64_t)~c->id[i] << 32 | i;
    c->kern->sort(c->key, c->n, c->n, c->key_tmp);
    for (size_t i = 0; i < c->n; i++) {
        c->spare_id[i] = (uint32_t)c->key[i];
        c->key[i] = rank_key(c->logit[c->spare_id[i]], (uint32_t)i);
    }
    cand_rank_collected(c, c->n, k);
    for (size_t i = 0; i < k; i++)
        c->key[i] = c->spare_id[c->key[i]];
}

static void rank_list(struct cand *c, size_t k)
{
    if (c->order == CAND_SORTED) {
        for (size_t i = 0; i < k; i++)
            c->key[i] = i;
    } else if (c->order == CAND_BY_ID) {
        c->kern->rank(c->spare_id, c->spare, c->logit, c->n, k, c->key, c->key_tmp);
        for (size_t i = 0; i < k; i++)
            c->key[i] = c->spare_id[i];
    } else {
        rank_unordered(c, k);
    }
}

// Is this the row as it was loaded, which others see as well?
static bool is_kept(const struct cand *c)
{
    return c->dense && c->kept.on && !c->changed;
}

// cand_rank of a kept row; more than k are ranked if that spares others the search. False: that is for all.
static bool rank_kept(struct cand *c, size_t k)
{
    enum { FEW = 128, MANY = 4096 };
    if (k > c->kept.n_ranked) {
        const size_t most = k < FEW ? FEW : k, n = most < c->n ? most : c->n;
        if (n > MANY || !mem_grow(&c->kept.key, &c->kept.cap, n, sizeof *c->kept.key))
            return false;
        const size_t found = collect_best(c, n);
        if (found < n)
            return false;
        cand_rank_collected(c, found, n);
        memcpy(c->kept.key, c->key, n * sizeof *c->key);
        c->kept.n_ranked = n;
    }
    memcpy(c->key, c->kept.key, k * sizeof *c->key);
    return true;
}

void cand_rank(struct cand *c, size_t k)
{
    assert(k && k <= c->n);
    if (is_kept(c) && rank_kept(c, k))
        return;
    const size_t found = c->dense && k <= c->n / WIDE ? collect_best(c, k) : 0;
    if (found >= k) {
        cand_rank_collected(c, found, k);
        return;
    }
    cand_list(c); // many, or masked ones among them
    rank_list(c, k);
}

size_t cand_kept_rank(const struct cand *c, size_t place)
{
    for (size_t i = 0; c->kept.on && i < c->kept.n_ranked; i++)
        if (c->kept.key[i] == place)
            return i + 1;
    return 0;
}

// ---- what samplers ask for

// cand_top_k of many that have no p and are in id order: what ranking tells of them need not be looked up again.
static void keep_ranked(struct cand *c, size_t k)
{
    const bool named = !c->dense; // else a candidate's id is its position
    cand_list(c);
    uint32_t *const id = c->spare_id;
    float *const logit = c->spare;
    c->kern->rank(id, logit, c->logit, c->n, k, c->key, c->key_tmp);
    for (size_t i = 0; i < k && named; i++)
        id[i] = c->id[id[i]];
    c->spare_id = c->id;
    c->spare = c->logit;
    c->id = id;
    c->logit = logit;
    c->n = k;
    c->order = CAND_SORTED;
}

void cand_top_k(struct cand *c, size_t k)
{
    assert(k);
    k = k < c->n ? k : c->n;
    if (!c->dense && c->order == CAND_SORTED) {
        cand_truncate(c, k);
    } else if (k > c->n / WIDE && (c->dense || c->order == CAND_BY_ID) && !c->has_p) {
        keep_ranked(c, k);
    } else {
        cand_rank(c, k);
        cand_gather(c, k, CAND_SORTED);
    }
}

void cand_sort(struct cand *c)
{
    if (c->dense || c->order != CAND_SORTED)
        cand_top_k(c, c->n);
}

static void swap_logit_and_p(struct cand *c)
{
    float *const t = c->logit;
    c->logit = c->p;
    c->p = t;
}

void cand_top_k_by_p(struct cand *c, size_t k)
{
    assert(!c->dense && c->has_p && c->order == CAND_BY_ID && k && k <= c->n);
    swap_logit_and_p(c);
    rank_list(c, k);
    swap_logit_and_p(c);
    cand_gather(c, k, CAND_SORTED);
}

void cand_keep_from(struct cand *c, float floor, size_t least)
{
    assert(least);
    if (!c->dense && c->order == CAND_SORTED) {
        size_t keep = least < c->n ? least : c->n;
        while (keep < c->n && c->logit[keep] >= floor)
            keep++;
        cand_truncate(c, keep);
        return;
    }
    const size_t found = cand_collect(c, floor, c->n);
    if (found < least) {
        cand_top_k(c, least);
        return;
    }
    for (size_t i = 0; i < found; i++)
        c->key[i] = rank_id(c->key[i]);
    cand_gather(c, found, c->order);
}

// Keeps what is collected at c->key, or the `least` best.
static void keep_collected(struct cand *c, size_t found, size_t least)
{
    least = least < 1 ? 1 : least < c->n ? least : c->n;
    if (found < least) {
        cand_top_k(c, least);
        return;
    }
    for (size_t i = 0; i < found; i++)
        c->key[i] = rank_id(c->key[i]);
    if (found < c->n)
        cand_gather(c, found, c->order);
}

void cand_keep_likely(struct cand *c, float floor, size_t least)
{
    keep_collected(c, c->kern->collect[DTYPE_F32](c->key, c->p, c->n, 0, floor), least);
}

// ---- weights

struct mass cand_mass(struct cand *c, double *before, bool rough)
{
    const float floor = rough ? -20.0f : EXPF_UNDERFLOW;
    struct mass m = {.max = cand_exp_max(c), .error = 0x1p-50 * (double)c->n};
    for (size_t b = 0; !c->fault.code && b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        double lanes[16] = {0};
        if (before)
            before[b] = m.sum;
        const float *const x = cand_exponents(c, b, m.max, tmp, &len);
        if (!x)
            continue;
        const size_t weighed = c->kern->weigh(lanes, x, len, m.max, floor);
        const double sum = kern_lanes_total(lanes);
        m.sum += sum;
        m.squares += kern_lanes_total(lanes + 8);
        m.error += rough ? 0x1p-28 * (double)(len - weighed) : 0.0; // e^floor, or more
        m.error_f32 +=
            2 * fmin(sum, 0x1p-24 * (double)len); // an addition is off by half an ulp, or by what is added, at most
    }
    m.error_f32 += m.error;
    return m;
}

float cand_exp_sum(struct cand *c)
{
    enum { BLOCKS = 4 };
    if (is_kept(c) && c->kept.summed)
        return c->kept.exp_sum;
    const float max = cand_exp_max(c);
    float sum = 0.0f;
    for (size_t b = 0; !c->fault.code && b < cand_blocks(c);
         b += BLOCKS) { // those that stand side by side in memory at once
        float tmp[BLOCKS][KERN_BLOCK];
        const float *at = NULL;
        size_t n = 0;
        for (size_t i = 0; i < BLOCKS && b + i < cand_blocks(c); i++) {
            size_t len;
            const float *const x = cand_exponents(c, b + i, max, tmp[i], &len);
            if (!n || x != at + n) {
                sum = c->kern->exp_sum(at, n, max, sum);
                at = x;
                n = 0;
            }
            n += x ? len : 0;
        }
        sum = c->kern->exp_sum(at, n, max, sum);
    }
    if (is_kept(c) && !c->fault.code) {
        c->kept.summed = true;
        c->kept.exp_sum = sum;
    }
    return sum;
}

// From which logit on a weight is at least t. (expf never falls: make prove-expf.)
static float weighing_from(float max, double t)
{
    uint32_t low = order_bits(-INFINITY), high = order_bits(max) + 1; // it lies in [low, high]
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((double)kern_expf(order_value(middle) - max) < t)
            low = middle + 1;
        else
            high = middle;
    }
    return order_value(low);
}

size_t cand_weighing(struct cand *c, double low, double high)
{
    const float max = cand_max(c);
    if (c->fault.code || !(low > 0x1p-100)) // rounded quotients and weights have their full precision
        return SIZE_MAX;
    const size_t found = cand_collect(c, weighing_from(max, low), c->n);
    const uint32_t sure = order_bits(weighing_from(max, high));
    for (size_t i = 0; i < found; i++)
        if (c->key[i] >> 32 < sure)
            return SIZE_MAX;
    return found;
}

bool cand_keep_weighing(struct cand *c, double low, double high, size_t least)
{
    const size_t found = cand_weighing(c, low, high);
    if (found == SIZE_MAX)
        return false;
    keep_collected(c, found, least);
    return true;
}

size_t cand_likely_needed(struct cand *c, float from, float share)
{
    enum { FEW = 16 * KERN_BLOCK, STEPS = 10 };
    if (c->n < FEW)
        return c->n;
    const float max = cand_max(c);
    const size_t m = take_sample(c);
    float high = from - max, low = fminf(high, -20.0f); // what is searched for lies between
    double head[16] = {0}, all[16] = {0};
    c->kern->weigh(head, c->spare, m, max, high);
    size_t count = c->kern->weigh(all, c->spare, m, max, low);
    const double want = kern_lanes_total(head) + (double)share * (kern_lanes_total(all) - kern_lanes_total(head));
    for (int i = 0; i < STEPS; i++) {
        const float middle = low + (high - low) / 2;
        double sum[16] = {0};
        const size_t here = c->kern->weigh(sum, c->spare, m, max, middle);
        if (kern_lanes_total(sum) < want) {
            high = middle;
        } else {
            low = middle;
            count = here;
        }
    }
    const size_t needed = count * STRIDE + count * (STRIDE / 8) + FEW / 16;
    return needed < c->n ? needed : c->n;
}

size_t cand_within(struct cand *c, float range)
{
    if (c->n <= KERN_BLOCK)
        return 0;
    const size_t m = take_sample(c);
    assert(m);
    return c->kern->count(c->spare, m, cand_max(c) - range * c->later_temp) * c->n / m;
}

// ---- the softmax

void cand_softmax(struct cand *c, bool sort)
{
    cand_list(c);
    if (sort)
        cand_sort(c);
    cand_softmax_as_is(c);
}

float cand_softmax_as_is(struct cand *c)
{
    cand_exp(c);
    if (c->fault.code)
        return 1.0f;
    const float sum = c->kern->sum(c->p, c->n, 0.0f);
    c->kern->divide(c->p, c->n, sum);
    return sum;
}
