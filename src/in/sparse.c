// SPDX-License-Identifier: MIT
#include "in/sparse.h"

#include "base/bits.h"
#include "base/mem.h"
#include "sample/sort.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

bool sparse_add(struct sparse *s, uint32_t id, float x, struct err *e)
{
    if (s->n >= INT32_MAX)
        return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
    if (!mem_grow(&s->ids, &s->ids_cap, s->n + 1, sizeof *s->ids) || !mem_grow(&s->x, &s->x_cap, s->n + 1, sizeof *s->x))
        return err_from_fault(e, fault_memory());
    s->ids[s->n] = id;
    s->x[s->n++] = x;
    return true;
}

bool sparse_scratch(struct sparse *s, size_t n, struct err *e)
{
    return (mem_grow(&s->key, &s->key_cap, n, sizeof *s->key) && mem_grow(&s->tmp, &s->tmp_cap, n, sizeof *s->tmp)) ||
           err_from_fault(e, fault_memory());
}

static bool rising(const uint32_t *ids, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (ids[i] <= ids[i - 1])
            return false;
    return true;
}

static bool sort(struct sparse *s, uint32_t *ids, float *x, size_t n, struct err *e)
{
    if (!sparse_scratch(s, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        s->key[i] = (uint64_t)ids[i] << 32 | i;
    sort_rising(s->key, n, s->tmp);
    for (size_t i = 0; i < n; i++)
        s->tmp[i] = bits_of_f32(x[(uint32_t)s->key[i]]);
    for (size_t i = 0; i < n; i++) {
        ids[i] = (uint32_t)(s->key[i] >> 32);
        x[i] = f32_of_bits((uint32_t)s->tmp[i]);
    }
    for (size_t i = 1; i < n; i++)
        if (ids[i] == ids[i - 1])
            return err_set(e, STATUS_DATA, "token %" PRIu32 " comes twice in the row", ids[i]);
    return true;
}

bool sparse_row(struct sparse *s, uint32_t *ids, float *x, size_t n, size_t n_vocab, struct row *row, struct err *e)
{
    assert(n);
    if (!rising(ids, n) && !sort(s, ids, x, n, e))
        return false;
    if (n_vocab && ids[n - 1] >= n_vocab)
        return err_set(e, STATUS_DATA, "the row holds token %" PRIu32 ", the vocabulary ends at %zu", ids[n - 1], n_vocab - 1);
    *row = (struct row){DTYPE_F32, x, n, ids, n_vocab};
    return true;
}

void sparse_free(struct sparse *s)
{
    free(s->ids);
    free(s->x);
    free(s->key);
    free(s->tmp);
}
