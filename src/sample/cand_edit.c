// SPDX-License-Identifier: MIT
// cand_edit: changes of some tokens' logits, and what they do to the unlisted tokens of a partial row.
#include "base/bits.h"
#include "kern/libm.h"
#include "sample/cand_private.h"

#include <math.h>

static void edit_logit(struct cand *c, size_t at, size_t j, cand_edit_fn *f, const void *arg)
{
    const float old = cand_logit(c, at), x = f(old, j, arg);
    if (!(x < INFINITY))
        cand_fail(c, FAULT_OVERFLOW, cand_id(c, at));
    else if (bits_of_f32(x) != bits_of_f32(old)) {
        unlisted_move(c, old, x);
        cand_set_logit(c, at, old, x);
    }
}

// ln(e^a + e^b), or with a negative sign ln(e^a - e^b), which is -inf if the difference is not positive.
static double log_add(double a, double b, double sign)
{
    const double top = fmax(a, b);
    if (!(top > -INFINITY) || top == INFINITY)
        return top;
    const double sum = libm_exp(a - top) + sign * libm_exp(b - top);
    return (sum > 0.0 ? top + libm_log(sum) : -INFINITY);
}

// Updates the bounds of the unlisted tokens for an edit. f(0, j, arg) is the shift of token ids->id[j].
static void shift_partial(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg)
{
    struct unlisted *const r = &c->unlisted;
    const double ceiling = r->ceiling; // of each shifted token before the stage
    const struct row_moments before = unlisted_moments(c);
    double shifted = 0.0, squares = 0.0;
    float raised = 0.0f;
    for (size_t j = 0; j < ids->n; j++) {
        const float by = f(0.0f, j, arg);
        if (by != 0.0f && !cand_listed(c, ids->id[j])) {
            shifted++;
            squares += (double)by * (double)by;
        }
        if (cand_listed(c, ids->id[j])) {
            if (by > 0.0f && r->low_unsure) // the token may be missing from the full row
                r->state = UNLISTED_INEXACT;
        } else if (by < 0.0f) {
            r->low = log_add(r->low, log_add(ceiling, ceiling + by, -1), -1);
        } else if (by > 0.0f) {
            r->high = log_add(r->high, log_add(ceiling + by, ceiling, -1), 1);
            raised = fmaxf(raised, by);
        }
    }
    if (shifted > 0.0)
        unlisted_stray(c, &before, shifted, 0.0, squares);
    if (raised > 0.0f) // and a few roundings: an unlisted token may tie with a listed one in the full row
        r->ceiling += raised + 0x1p-22f * (fabsf(r->ceiling) + raised);
}

void cand_edit(struct cand *c, const struct idmap *ids, cand_edit_fn *f, const void *arg)
{
    if (c->unlisted.state == UNLISTED_LIVE)
        shift_partial(c, ids, f, arg);
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED;
    for (size_t j = 0; c->dense && j < ids->n; j++)
        if (ids->id[j] < c->n)
            edit_logit(c, ids->id[j], j, f, arg);
    for (size_t i = 0; !c->dense && i < c->n; i++) {
        const size_t j = idmap_find(ids, c->id[i]);
        if (j != IDMAP_NONE)
            edit_logit(c, i, j, f, arg);
    }
}
