// SPDX-License-Identifier: MIT
#include "run/beside.h"

#include "base/mem.h"
#include "kern/libm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void beside_free(struct beside *b)
{
    idmap_free(&b->ids);
    free(b->entry);
    free(b->q);
}

bool beside_take(struct beside *b, const struct after *after, const struct cand *c)
{
    if (!mem_grow(&b->entry, &b->cap, after->n, sizeof *b->entry) || !mem_grow(&b->q, &b->q_cap, after->n, sizeof *b->q))
        return false;
    b->n = after->n;
    b->dense = c->dense;
    b->chosen = c->chosen;
    idmap_clear(&b->ids);
    for (size_t i = 0; i < b->n; i++) {
        const float x = after->logit[i];
        b->entry[i] =
            (struct beside_entry){softmax_prob(&after->softmax, x), (double)x - after->softmax.max - after->softmax.log_sum};
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

// A token's share of the Jensen-Shannon divergence.
static double js_of(double p, double q)
{
    const double m = 0.5 * (p + q);
    if (p == q)
        return 0.0;
    return 0.5 * ((p > 0.0 ? p * libm_log_quick(p / m) : 0.0) + (q > 0.0 ? q * libm_log_quick(q / m) : 0.0));
}

void beside_compare(struct beside *b, const struct after *after, const struct cand *c, double stat[BESIDE_COUNT])
{
    double overlap[KERN_LANES] = {0}, js[KERN_LANES] = {0}, kl[KERN_LANES] = {0};
    for (size_t k = 0; k < b->n; k++)
        b->q[k] = -1.0; // not met
    for (size_t i = 0; i < after->n; i++) {
        const size_t k = number_of(b, cand_id(c, i), i);
        const double q = softmax_prob(&after->softmax, after->logit[i]);
        if (k == IDMAP_NONE) {
            js[i % KERN_LANES] += js_of(0.0, q);
            continue;
        }
        const struct beside_entry *const e = &b->entry[k];
        b->q[k] = q;
        overlap[i % KERN_LANES] += e->p < q ? e->p : q;
        js[i % KERN_LANES] += js_of(e->p, q);
        if (e->p > 0.0)
            kl[i % KERN_LANES] += e->p * (e->log_p - ((double)after->logit[i] - after->softmax.max - after->softmax.log_sum));
    }
    for (size_t k = 0; k < b->n; k++) {
        const double p = b->entry[k].p;
        if (b->q[k] >= 0.0 || !(p > 0.0))
            continue;
        js[k % KERN_LANES] += js_of(p, 0.0); // the variant lacks it
        kl[k % KERN_LANES] += INFINITY;
    }
    stat[BESIDE_SAME] = c->chosen == b->chosen;
    stat[BESIDE_OVERLAP] = fmin(1.0, kern_lanes_total(overlap));
    stat[BESIDE_JS] = fmax(0.0, kern_lanes_total(js));
    stat[BESIDE_KL] = fmax(0.0, kern_lanes_total(kl));
}
