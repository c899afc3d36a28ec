// SPDX-License-Identifier: MIT
#include "in/sparse.h"

#include "base/bits.h"
#include "base/mem.h"
#include "kern/kern.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

int64_t written_id(const char *p, const char *end)
{
    int64_t id = p < end ? 0 : -1;
    for (; p < end && id >= 0; p++)
        id = *p < '0' || *p > '9' || id > INT32_MAX ? -1 : id * 10 + (*p - '0');
    return id <= INT32_MAX ? id : -1;
}

bool sparse_reserve(struct sparse *s, size_t n, struct err *e)
{
    size_t cap = s->cap; // of x; both arrays have the same capacity
    if (n > INT32_MAX)
        return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
    return (mem_grow(&s->x, &cap, n, sizeof *s->x) && mem_grow(&s->ids, &s->cap, n, sizeof *s->ids)) ||
           err_from_fault(e, fault_memory());
}

bool sparse_add(struct sparse *s, uint32_t id, float x, struct err *e)
{
    if (!sparse_reserve(s, s->n + 1, e))
        return false;
    s->ids[s->n] = id;
    s->x[s->n++] = x;
    return true;
}

uint64_t *sparse_scratch(struct sparse *s, size_t n)
{
    return mem_grow(&s->scratch, &s->scratch_cap, 2 * n, sizeof *s->scratch) ? s->scratch : NULL;
}

// Sorts x by id. The keys are the complements of (id, index), because the kernel sorts in falling order.
static bool sort(struct sparse *s, struct err *e)
{
    uint64_t *const key = sparse_scratch(s, s->n);
    if (!key)
        return err_from_fault(e, fault_memory());
    uint64_t *const tmp = key + s->n;
    for (size_t i = 0; i < s->n; i++)
        key[i] = ~((uint64_t)s->ids[i] << 32 | i);
    kern_scalar.sort(key, s->n, s->n, tmp);
    for (size_t i = 0; i < s->n; i++)
        tmp[i] = bits_of_f32(s->x[(uint32_t)~key[i]]);
    for (size_t i = 0; i < s->n; i++) {
        s->ids[i] = (uint32_t)(~key[i] >> 32);
        s->x[i] = f32_of_bits((uint32_t)tmp[i]);
    }
    return true;
}

// Fails with STATUS_DATA if an id of the sorted row comes twice.
static bool check_unique(const struct sparse *s, struct err *e)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->ids[i] == s->ids[i - 1])
            return err_set(e, STATUS_DATA, "token %" PRIu32 " comes twice in the row", s->ids[i]);
    return true;
}

bool sparse_drop_padding(struct sparse *s, struct err *e)
{
    size_t n = 0;
    if (!sort(s, e))
        return false;
    for (size_t i = 0, next; i < s->n; i = next) {
        for (next = i + 1; next < s->n && s->ids[next] == s->ids[i];)
            next++;
        for (size_t k = i; k < next; k++)
            if (next == i + 1 || s->x[k] != -INFINITY) {
                s->ids[n] = s->ids[k];
                s->x[n++] = s->x[k];
            }
    }
    s->n = n;
    return true;
}

bool sparse_row(struct sparse *s, size_t n_vocab, struct row *row, struct err *e)
{
    size_t rising = 1;
    assert(s->n);
    while (rising < s->n && s->ids[rising] > s->ids[rising - 1])
        rising++;
    if (rising < s->n && !(sort(s, e) && check_unique(s, e)))
        return false;
    const uint32_t last = s->ids[s->n - 1];
    if (n_vocab && last >= n_vocab)
        return err_set(e, STATUS_DATA, "the row holds token %" PRIu32 ", the vocabulary ends at %zu", last,
                       n_vocab - 1);
    *row = (struct row){DTYPE_F32, s->x, s->n, s->ids, n_vocab};
    return true;
}

void sparse_free(struct sparse *s)
{
    free(s->x);
    free(s->ids);
    free(s->scratch);
}
