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
static double log_prob(const struct softmax *s, float logit)
{
    return (double)logit - s->max - s->log_sum;
}

bool pair_set_base(struct pair_base *b, const struct after *after)
{
    const struct cand *const c = after->c;
    double p[BLOCK];
    if (!mem_grow(&b->entry, &b->cap, c->n, sizeof *b->entry))
        return false;
    b->n = c->n;
    b->dense = c->dense;
    b->chosen = c->chosen;
    idmap_clear(&b->ids);
    for (size_t i = 0; i < b->n; i++) {
        if (i % BLOCK == 0)
            softmax_probs(c->kern, &after->softmax, after->logit + i, b->n - i < BLOCK ? b->n - i : BLOCK, p);
        b->entry[i] = (struct pair_entry){p[i % BLOCK], log_prob(&after->softmax, after->logit[i]), false};
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

void pair_measure(struct pair_base *b, const struct after *after, double stat[BESIDE_COUNT])
{
    const struct cand *const c = after->c;
    double overlap[KERN_LANES] = {0}, js[KERN_LANES] = {0}, kl[KERN_LANES] = {0}, p[BLOCK], q[BLOCK];
    size_t len = 0;
    for (size_t k = 0; k < b->n; k++)
        b->entry[k].met = false;
    for (size_t at = 0; at < c->n; at += len) {
        len = c->n - at < BLOCK ? c->n - at : BLOCK;
        softmax_probs(c->kern, &after->softmax, after->logit + at, len, q);
        for (size_t i = 0; i < len; i++) {
            const size_t k = entry_of(b, cand_id(c, at + i), at + i);
            p[i] = 0.0;
            if (k == IDMAP_NONE)
                continue;
            struct pair_entry *const e = &b->entry[k];
            e->met = true;
            p[i] = e->p;
            overlap[i % KERN_LANES] += e->p < q[i] ? e->p : q[i];
            if (e->p > 0.0)
                kl[i % KERN_LANES] += e->p * (e->log_p - log_prob(&after->softmax, after->logit[at + i]));
        }
        c->kern->divergences(js, p, q, len);
    }
    len = 0;
    for (size_t k = 0; k < b->n; k++) { // the tokens that the variant lacks
        if (b->entry[k].met || !(b->entry[k].p > 0.0))
            continue;
        p[len] = b->entry[k].p;
        q[len++] = 0.0;
        kl[0] = INFINITY;
        if (len < BLOCK)
            continue;
        c->kern->divergences(js, p, q, len);
        len = 0;
    }
    c->kern->divergences(js, p, q, len);
    stat[BESIDE_SAME] = c->chosen == b->chosen;
    stat[BESIDE_OVERLAP] = fmin(1.0, kern_lanes_total(overlap));
    stat[BESIDE_JS] = fmax(0.0, kern_lanes_total(js));
    stat[BESIDE_KL] = fmax(0.0, kern_lanes_total(kl));
}
