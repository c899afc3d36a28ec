// SPDX-License-Identifier: MIT
#include "run/beside.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8 * KERN_LANES }; // candidates that are looked at in one go

void beside_free(struct beside *b)
{
    idmap_free(&b->ids);
    free(b->entry);
    free(b->met);
}

bool beside_take(struct beside *b, const struct after *after, const struct cand *c)
{
    double p[BLOCK];
    if (!mem_grow(&b->entry, &b->cap, after->n, sizeof *b->entry) ||
        !mem_grow(&b->met, &b->met_cap, after->n, sizeof *b->met))
        return false;
    b->n = after->n;
    b->dense = c->dense;
    b->chosen = c->chosen;
    idmap_clear(&b->ids);
    for (size_t i = 0; i < b->n; i++) {
        if (i % BLOCK == 0)
            softmax_probs(c->kern, &after->softmax, after->logit + i, b->n - i < BLOCK ? b->n - i : BLOCK, p);
        b->entry[i] =
            (struct beside_entry){p[i % BLOCK], (double)after->logit[i] - after->softmax.max - after->softmax.log_sum};
        if (!b->dense && idmap_add(&b->ids, c->id[i]) == IDMAP_NONE)
            return false;
    }
    return true;
}

// The number of a token's entry, or IDMAP_NONE. about: where it is likely to be.
static size_t number_of(const struct beside *b, uint32_t id, size_t about)
{
    if (b->dense)
        return id < b->n ? id : IDMAP_NONE;
    return about < b->n && b->ids.id[about] == id ? about : idmap_find(&b->ids, id);
}

// Probabilities side by side that are not yet in the Jensen-Shannon divergence.
struct beside_pairs {
    double p[BLOCK], q[BLOCK];
    size_t n;
};

static void add_pairs(const struct kern *kern, struct beside_pairs *x, double js[KERN_LANES])
{
    kern->divergences(js, x->p, x->q, x->n);
    x->n = 0;
}

void beside_compare(struct beside *b, const struct after *after, const struct cand *c, double stat[BESIDE_COUNT])
{
    double overlap[KERN_LANES] = {0}, js[KERN_LANES] = {0}, kl[KERN_LANES] = {0};
    struct beside_pairs x = {.n = 0};
    memset(b->met, 0, b->n * sizeof *b->met);
    for (size_t at = 0; at < after->n; at += BLOCK) {
        x.n = after->n - at < BLOCK ? after->n - at : BLOCK;
        softmax_probs(c->kern, &after->softmax, after->logit + at, x.n, x.q);
        for (size_t i = 0; i < x.n; i++) {
            const size_t k = number_of(b, cand_id(c, at + i), at + i);
            x.p[i] = 0.0;
            if (k == IDMAP_NONE)
                continue;
            const struct beside_entry *const e = &b->entry[k];
            b->met[k] = true;
            x.p[i] = e->p;
            overlap[i % KERN_LANES] += e->p < x.q[i] ? e->p : x.q[i];
            if (e->p > 0.0)
                kl[i % KERN_LANES] +=
                    e->p * (e->log_p - ((double)after->logit[at + i] - after->softmax.max - after->softmax.log_sum));
        }
        add_pairs(c->kern, &x, js);
    }
    for (size_t k = 0; k < b->n; k++) {
        if (b->met[k] || !(b->entry[k].p > 0.0))
            continue;
        x.p[x.n] = b->entry[k].p; // the variant lacks it
        x.q[x.n++] = 0.0;
        kl[0] = INFINITY;
        if (x.n == BLOCK)
            add_pairs(c->kern, &x, js);
    }
    add_pairs(c->kern, &x, js);
    stat[BESIDE_SAME] = c->chosen == b->chosen;
    stat[BESIDE_OVERLAP] = fmin(1.0, kern_lanes_total(overlap));
    stat[BESIDE_JS] = fmax(0.0, kern_lanes_total(js));
    stat[BESIDE_KL] = fmax(0.0, kern_lanes_total(kl));
}
