// SPDX-License-Identifier: MIT
#include "in/matrix.h"

#include "base/bits.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

// A row in the byte order of the machine, f64 rounded to the nearest f32.
static bool convert(struct matrix *m, const unsigned char *from, struct err *e)
{
    const size_t size = dtype_size(m->type);
    if (!mem_grow(&m->row, &m->row_cap, m->n * size, 1))
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < m->n; i++, from += m->size) {
        uint64_t bits = 0;
        memcpy(&bits, from, m->size);
        if (m->big)
            bits = __builtin_bswap64(bits) >> (64 - 8 * m->size);
        if (m->size == 8)
            bits = bits_of_f32((float)f64_of_bits(bits));
        memcpy(m->row + i * size, &bits, size);
    }
    return true;
}

bool matrix_next(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct matrix *const m = self;
    const bool as_it_lies = !m->big && m->size == dtype_size(m->type);
    const unsigned char *p;
    size_t have;
    source_skip(s, m->last);
    m->last = 0;
    *end = !m->rows;
    if (*end)
        return true;
    if (!source_peek(s, m->bytes, &p, &have, e))
        return false;
    *end = !have && m->rows == MATRIX_OPEN;
    if (*end)
        return true;
    if (have < m->bytes)
        return err_set(e, STATUS_DATA, "the input ends after %zu of the row's %zu bytes", have, m->bytes);
    if (!as_it_lies && !convert(m, p, e))
        return false;
    m->rows -= m->rows != MATRIX_OPEN;
    m->last = m->bytes;
    r->stays = s->map && as_it_lies;
    r->logits = (struct row){m->type, as_it_lies ? (const void *)p : m->row, m->n};
    return true;
}

int64_t matrix_left(const void *self, const struct source *s)
{
    const struct matrix *const m = self;
    const int64_t bytes = source_left(s);
    if (bytes < 0)
        return -1;
    const uint64_t rows = ((uint64_t)bytes - m->last) / m->bytes;
    return (int64_t)(rows < m->rows ? rows : m->rows);
}

int64_t matrix_promised(const void *self)
{
    return (int64_t)((const struct matrix *)self)->rows;
}

void matrix_jump(void *self, struct source *s, uint64_t rows)
{
    struct matrix *const m = self;
    source_skip(s, m->last + (size_t)rows * m->bytes);
    m->last = 0;
    m->rows -= m->rows != MATRIX_OPEN ? rows : 0;
}

void matrix_close(void *self)
{
    free(((struct matrix *)self)->row);
}
