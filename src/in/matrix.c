// SPDX-License-Identifier: MIT
// Beside what others share: the raw formats, which are rows of n_vocab little-endian numbers and nothing else.
#include "in/matrix.h"

#include "base/bits.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum matrix_shape matrix_set_shape(struct matrix *m, const uint64_t dim[3], size_t dims)
{
    assert(m->size);
    if (!dims || dims > 3 || (dims == 3 && dim[0] != 1 && dim[1] != 1))
        return MATRIX_NO_ROWS;
    const uint64_t n = dim[dims - 1];
    if (!n)
        return MATRIX_EMPTY;
    m->rows = 1;
    for (size_t i = 0; i + 1 < dims; i++)
        m->rows *= dim[i]; // all but one are 1
    if (n > INT32_MAX || n > SIZE_MAX / 2 / m->size || m->rows > (uint64_t)INT64_MAX / (n * m->size))
        return MATRIX_TOO_LARGE;
    m->n = (size_t)n;
    m->bytes = m->n * m->size;
    return MATRIX_OK;
}

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

bool matrix_take(struct matrix *m, struct source *s, const unsigned char **p, size_t *have, bool *end, struct err *e)
{
    assert(m->bytes && m->bytes <= SIZE_MAX / 2);
    source_skip(s, m->last);
    m->last = 0;
    *end = !m->rows;
    if (*end)
        return true;
    if (!source_peek(s, m->bytes, p, have, e))
        return false;
    *end = !*have && m->rows == MATRIX_OPEN;
    if (*have < m->bytes)
        return true;
    m->rows -= m->rows != MATRIX_OPEN;
    m->last = m->bytes;
    return true;
}

bool matrix_goes_on(struct source *s, bool *more, struct err *e)
{
    const unsigned char *p;
    size_t have = 0;
    const bool ok = source_peek(s, 1, &p, &have, e);
    *more = have > 0;
    return ok;
}

bool matrix_next(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct matrix *const m = self;
    const bool as_it_lies = !m->big && m->size == dtype_size(m->type);
    const unsigned char *p;
    size_t have;
    if (!matrix_take(m, s, &p, &have, end, e))
        return false;
    if (*end)
        return true;
    if (have < m->bytes)
        return err_set(e, STATUS_DATA, "the input ends after %zu of the row's %zu bytes", have, m->bytes);
    if (!as_it_lies && !convert(m, p, e))
        return false;
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
    const struct matrix *const m = self;
    assert(m->rows != MATRIX_OPEN);
    return (int64_t)m->rows;
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

static bool open_raw(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct matrix *const m = self;
    (void)s;
    m->type = (enum dtype)f->kind;
    m->size = dtype_size(m->type);
    m->n = config->n_vocab ? config->n_vocab : config->n_tokens;
    m->rows = MATRIX_OPEN;
    if (!m->n)
        return err_set(e, STATUS_USAGE, "raw %s rows need their width, --n-vocab", f->name);
    if (m->n > SIZE_MAX / 2 / m->size)
        return err_set(e, STATUS_USAGE, "--n-vocab is too large for this machine");
    m->bytes = m->n * m->size;
    return true;
}

#define RAW(NAME, TYPE, ENDINGS)                                                                                              \
    {                                                                                                                         \
        .name = NAME, .endings = ENDINGS, .kind = TYPE, .size = sizeof(struct matrix), .open = open_raw, .next = matrix_next, \
        .left = matrix_left, .jump = matrix_jump                                                                              \
    }

const struct format format_f32 = RAW("f32", DTYPE_F32, ".f32 .bin");
const struct format format_f16 = RAW("f16", DTYPE_F16, ".f16");
const struct format format_bf16 = RAW("bf16", DTYPE_BF16, ".bf16");
