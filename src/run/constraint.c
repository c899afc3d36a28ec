// SPDX-License-Identifier: MIT
#include "run/constraint.h"

#include "run/expectation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

bool constraint_init(struct constraint *c, const struct options *o, struct err *e)
{
    struct fault fault = fault_none();
    *c = (struct constraint){.vocab = o->vocab};
    if (o->grammar)
        c->matcher = matcher_new(o->grammar, o->trie, &fault);
    return err_from_fault(e, fault);
}

void constraint_free(struct constraint *c)
{
    matcher_free(c->matcher);
}

void constraint_reset(struct constraint *c)
{
    if (c->matcher)
        matcher_reset(c->matcher);
}

bool constraint_fits(struct constraint *c, uint32_t id, bool *fits, struct err *e)
{
    *fits = true;
    return !c->matcher || err_from_fault(e, matcher_fits(c->matcher, id, fits));
}

// Where a bit of mask[0..n_bits) is 0, or there is none, x becomes -inf.
static void mask_dense(float *x, size_t n, const uint64_t *mask, size_t n_bits)
{
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t allowed = i < n_bits ? mask[i / 64] : 0;
        for (size_t k = 0; ~allowed && k < 64 && i + k < n; k++)
            x[i + k] = allowed >> k & 1 ? x[i + k] : -INFINITY;
    }
}

static void mask_sparse(float *x, const struct row *row, const uint64_t *mask, size_t n_bits)
{
    for (size_t i = 0; i < row->n; i++) {
        const uint32_t id = row->ids[i];
        if (id >= n_bits || !(mask[id / 64] >> id % 64 & 1))
            x[i] = -INFINITY;
    }
}

bool constraint_mask(struct constraint *c, const struct kern *kern, const struct row *row, float *x, struct row *masked,
                     struct err *e)
{
    const uint64_t *mask;
    const struct fault fault = matcher_mask(c->matcher, &mask);
    if (fault.code)
        return err_from_fault(e, fault);
    kern->widen[row->type](x, row->data, row->n);
    if (row->ids)
        mask_sparse(x, row, mask, c->vocab->n);
    else
        mask_dense(x, row->n, mask, c->vocab->n);
    *masked = *row;
    masked->type = DTYPE_F32;
    masked->data = x;
    return true;
}

bool constraint_accept(struct constraint *c, uint32_t id, struct err *e)
{
    bool fits = true;
    char next[EXPECTATION_TEXT], text[TOKEN_TEXT];
    if (!c->matcher)
        return true;
    const struct fault fault = matcher_accept(c->matcher, id, &fits);
    if (fault.code)
        return err_from_fault(e, fault);
    return fits || err_set(e, STATUS_DATA, "token %" PRIu32 ", '%s', does not fit the grammar, which allows %s", id,
                           token_text(vocab_text(c->vocab, id), text), expectation_text(c->matcher, next));
}

bool constraint_exhausted(const struct constraint *c, struct err *e)
{
    char next[EXPECTATION_TEXT];
    return err_set(e, STATUS_DATA, "no token is left that fits the grammar, which allows %s", expectation_text(c->matcher, next));
}
