// SPDX-License-Identifier: MIT
#include "trace/pair.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 8 * KERN_LANES }; // candidates that a kernel gets at once

void pair_free(struct pair_base *b)
{
    idmap_free(&b->ids);
    free(b->entry);
}

// The log-probability of a logit.
static double log_prob(const struct softmax *s, float logit) { return (double)logit - s->max - s->log_sum; }

bool pair_set_base(struct pair_base *b, const struct after *after)
{
    const struct cand *const c = after->c;
    const struct softmax *const s = &after->softmax;
    double p[BLOCK];
    if (!mem_grow(&b->entry, &b->cap, c->n, sizeof *b->entry))
        return false;
    b->n = c->n;
    b->dense = c->dense;
    b->chosen = c->chosen;
    b->best = after_best(after);
    idmap_clear(&b->ids);
    b->best_at = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (cand_id(c, i) == b->best)
            b->best_at = i;
        if (i % BLOCK == 0)
            c->kern->shares(p, after->logit + i, s->max, s->sum, b->n - i < BLOCK ? b->n - i : BLOCK);
        b->entry[i] = (struct pair_entry){p[i % BLOCK], log_prob(s, after->logit[i]), false};
        if (!b->dense && idmap_add(&b->ids, c->id[i]) == IDMAP_NONE)
            return false;
    }
    return true;
}

// The index of a token's entry, or IDMAP_NONE. guess: where the entry is likely to be.
static size_t entry_of(const struct pair_base *b, uint32_t id, size_t guess)
{
    if (b->dense)
        return id < b->n ? id : IDMAP_NONE;
    return guess < b->n && b->ids.id[guess] == id ? guess : idmap_find(&b->ids, id);
}

void pair_measure(struct pair_base *b, const struct after *after, double stat[PAIR_COUNT])
{
    const struct cand *const c = after->c;
    const struct softmax *const s = &after->softmax;
    double equal[KERN_LANES] = {0}, apart[KERN_LANES] = {0}, js[KERN_LANES] = {0}, kl[KERN_LANES] = {0}, p[BLOCK],
           q[BLOCK];
    size_t len = 0;
    for (size_t k = 0; k < b->n; k++)
        b->entry[k].met = false;
    for (size_t at = 0; at < c->n; at += len) {
        len = c->n - at < BLOCK ? c->n - at : BLOCK;
        c->kern->shares(q, after->logit + at, s->max, s->sum, len);
        for (size_t i = 0; i < len; i++) {
            const size_t k = entry_of(b, cand_id(c, at + i), at + i);
            struct pair_entry *const e = k == IDMAP_NONE ? NULL : &b->entry[k];
            p[i] = e ? e->p : 0.0;
            apart[i % KERN_LANES] += fabs(p[i] - q[i]);
            equal[i % KERN_LANES] += p[i] * q[i];
            if (!e)
                continue;
            const double log_q = log_prob(s, after->logit[at + i]);
            e->met = true;
            if (e->log_p > -INFINITY)
                kl[i % KERN_LANES] += log_q > -INFINITY ? e->p * (e->log_p - log_q) : INFINITY;
        }
        c->kern->divergences(js, p, q, len);
    }
    len = 0;
    for (size_t k = 0; k < b->n; k++) { // the kept tokens that the variant lacks, even those of a rounded p of 0
        if (b->entry[k].met || b->entry[k].log_p == -INFINITY)
            continue;
        apart[k % KERN_LANES] += b->entry[k].p;
        p[len] = b->entry[k].p;
        q[len++] = 0.0;
        kl[0] = INFINITY;
        if (len < BLOCK)
            continue;
        c->kern->divergences(js, p, q, len);
        len = 0;
    }
    c->kern->divergences(js, p, q, len);
    stat[PAIR_SAME] = c->chosen == b->chosen;
    const double half = kern_lanes_total(apart) / 2.0; // equal distributions: 2^17 terms that differ by 2^-53
    stat[PAIR_OVERLAP] = half < 0x1p-36 ? 1.0 : fmax(0.0, 1.0 - half);
    stat[PAIR_JS] = fmax(0.0, kern_lanes_total(js));
    stat[PAIR_KL] = fmax(0.0, kern_lanes_total(kl));
    const uint32_t best = after_best(after);
    stat[PAIR_TOP1] = best == b->best;
    stat[PAIR_EQUAL] = fmin(1.0, kern_lanes_total(equal));
    const size_t at = entry_of(b, best, b->best_at);
    stat[PAIR_BEST] = at == IDMAP_NONE || !b->entry ? 0.0 : b->entry[at].p;
}

void pair_residual(struct pair_base *b, const struct after *after, float *to, size_t n)
{
    const struct cand *const c = after->c;
    const struct softmax *const s = &after->softmax;
    double q[BLOCK], sum = 0.0;
    for (size_t k = 0; k < b->n; k++)
        b->entry[k].q = 0.0;
    for (size_t at = 0, len; at < c->n; at += len) {
        len = c->n - at < BLOCK ? c->n - at : BLOCK;
        c->kern->shares(q, after->logit + at, s->max, s->sum, len);
        for (size_t i = 0; i < len; i++) {
            const size_t k = entry_of(b, cand_id(c, at + i), at + i);
            if (k != IDMAP_NONE)
                b->entry[k].q = q[i];
        }
    }
    for (size_t k = 0; k < b->n; k++)
        sum += fmax(b->entry[k].p - b->entry[k].q, 0.0);
    for (size_t i = 0; i < n; i++)
        to[i] = 0.0f;
    for (size_t k = 0; k < b->n; k++) {
        const size_t id = b->dense ? k : b->ids.id[k];
        const double left = sum > 0.0 ? fmax(b->entry[k].p - b->entry[k].q, 0.0) / sum : b->entry[k].p;
        if (id < n)
            to[id] = (float)left;
    }
}
