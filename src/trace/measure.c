// SPDX-License-Identifier: MIT
#include "trace/measure.h"

#include "base/mem.h"
#include "sample/cand_private.h"
#include "sample/row_cache.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void raw_free(struct raw *raw)
{
    free(raw->block_max);
}

float raw_logit(const struct raw *raw, size_t place)
{
    return place < raw->row->n ? row_logit(raw->row, place) : -INFINITY;
}

bool raw_measure(struct raw *raw, const struct row *row, const struct cand *c)
{
    const float max = cand_max(c);
    double sum[16] = {0};
    if (!mem_grow(&raw->block_max, &raw->block_cap, cand_blocks(c), sizeof *raw->block_max))
        return false;
    raw->row = row;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        raw->block_max[b] = c->dense ? c->store->block_max[b] : c->kern->max(x, len);
        c->kern->softmax_sums(sum, x, max, NULL, 0.0f, len);
    }
    raw->softmax = softmax_from(max, sum);
    return true;
}

size_t rank_of(const struct kern *kern, const float *logit, size_t n, size_t place)
{
    const float x = logit[place];
    return 1 + kern->count(logit, place, x) + kern->count(logit + place, n - place, nextafterf(x, INFINITY));
}

// The rank in the raw row of the logit at a place. Blocks whose maximum is smaller than the logit hold nothing that
// ranks before it and are skipped.
static size_t raw_rank(const struct raw *raw, const struct cand *c, size_t place)
{
    const float x = raw_logit(raw, place), above = nextafterf(x, INFINITY);
    const size_t n = raw->row->n, known = row_cache_rank(c->cache, place);
    size_t rank = 1;
    if (known)
        return known;
    for (size_t at = 0; at < n; at += KERN_BLOCK) {
        const size_t len = n - at < KERN_BLOCK ? n - at : KERN_BLOCK, passed = place > at ? place - at : 0;
        const size_t before = passed < len ? passed : len;
        float logit[KERN_BLOCK];
        if (raw->block_max[at / KERN_BLOCK] < x)
            continue;
        row_logits(c->kern, raw->row, at, len, logit);
        rank += before ? c->kern->count(logit, before, x) : 0;
        rank += before < len ? c->kern->count(logit + before, len - before, above) : 0;
    }
    return rank;
}

void after_free(struct after *after)
{
    free(after->dense);
}

bool after_measure(struct after *after, const struct cand *c)
{
    assert(c->n && c->n <= c->n_row + 1);
    if (c->dense && !mem_grow(&after->dense, &after->dense_cap, c->n, sizeof *after->dense))
        return false;
    if (c->dense)
        cand_snapshot(c, after->dense);
    after->c = c;
    after->logit = c->dense ? after->dense : c->logit;
    after->softmax = softmax_of(c->kern, after->logit, c->n);
    return true;
}

float after_logit(const struct after *after, uint32_t token)
{
    const struct cand *const c = after->c;
    size_t at = 0;
    if (c->dense)
        at = token < c->n ? token : c->n;
    while (!c->dense && at < c->n && c->id[at] != token)
        at++;
    return at < c->n ? after->logit[at] : -INFINITY;
}

double selector_draw(const struct cand *c)
{
    for (size_t i = 0; i < c->n_notes; i++)
        if (!strcmp(c->note[i].name, "draw"))
            return c->note[i].value;
    return NAN;
}

struct interval share_of(const struct cand *c, uint32_t token, uint32_t without)
{
    struct interval share = {0.0, 0.0};
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t id = cand_id(c, i);
        const double p = id == without ? 0.0 : c->p[i];
        if (id == token)
            share = (struct interval){sum, sum + p};
        sum += p;
    }
    return (struct interval){share.low / sum, share.high / sum};
}

// A row, and the candidates whose raw logits are fetched.
struct raw_source {
    const struct raw *raw;
    const struct cand *c;
};

static void fetch_raw(const void *arg, size_t at, size_t len, float *y)
{
    const struct raw_source *const s = arg;
    if (s->c->dense)
        row_logits(s->c->kern, s->raw->row, at, len, y);
    for (size_t i = 0; !s->c->dense && i < len; i++)
        y[i] = raw_logit(s->raw, cand_row_place(s->c, s->c->id[at + i]));
}

void measure(const struct raw *raw, const struct after *after, int64_t accepted, double stat[STAT_COUNT])
{
    const struct cand *const c = after->c;
    const struct softmax *const s = &after->softmax;
    const size_t place = cand_row_place(c, c->chosen);
    stat[STAT_PROB] = softmax_prob(s, after_logit(after, c->chosen));
    stat[STAT_RAW_PROB] = softmax_prob(&raw->softmax, raw_logit(raw, place));
    stat[STAT_RAW_RANK] = (double)raw_rank(raw, c, place);
    stat[STAT_N] = (double)c->kern->count(after->logit, c->n, -FLT_MAX);
    stat[STAT_ENTROPY_RAW] = softmax_entropy(&raw->softmax);
    stat[STAT_ENTROPY] = softmax_entropy(s);
    stat[STAT_KL_RAW] =
        softmax_divergence(c->kern, s, after->logit, c->n, &raw->softmax, fetch_raw, &(struct raw_source){raw, c});
    stat[STAT_DRAW] = selector_draw(c);
    stat[STAT_ACCEPTED] = accepted < 0 ? NAN : (double)accepted;
    stat[STAT_ACCEPTED_PROB] = accepted < 0 ? NAN : softmax_prob(s, after_logit(after, (uint32_t)accepted));
}
