// SPDX-License-Identifier: MIT
// Reads matrices. The raw formats are here, too: rows of n_vocab little-endian numbers, without a header.
#include "in/matrix.h"

#include "base/bits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Converts numbers to the byte order of the machine, and f64 to the nearest f32.
static void convert(struct matrix *m, const unsigned char *from)
{
    const size_t size = dtype_size(m->type);
    char *to = m->row;
    for (size_t i = 0; i < m->n; i++, from += m->size, to += size) {
        uint64_t bits = 0;
        memcpy(&bits, from, m->size);
        if (m->big)
            bits = __builtin_bswap64(bits) >> (64 - 8 * m->size);
        if (m->size == 8)
            bits = bits_of_f32((float)f64_of_bits(bits));
        memcpy(to, &bits, size);
    }
}

enum matrix_shape matrix_set_shape(struct matrix *m, const uint64_t dim[3], size_t dims)
{
    assert(m->size);
    if (!dims || dims > 3)
        return MATRIX_NO_ROWS;
    const uint64_t n = dim[dims - 1];
    if (!n)
        return MATRIX_EMPTY;
    m->length = dims == 3 && dim[0] > 1 && dim[1] > 1 ? dim[1] : 0;
    if (m->length && dim[0] > UINT64_MAX / dim[1])
        return MATRIX_TOO_LARGE;
    m->rows = 1;
    for (size_t i = 0; i + 1 < dims; i++)
        m->rows *= dim[i];
    if (n > INT32_MAX || n > SIZE_MAX / 2 / m->size || m->rows > (uint64_t)INT64_MAX / (n * m->size))
        return MATRIX_TOO_LARGE;
    m->n = (size_t)n;
    m->bytes = m->n * m->size;
    m->convert = m->big || m->size != dtype_size(m->type) ? convert : NULL;
    m->all = m->rows;
    return MATRIX_OK;
}

void matrix_add_sequences(struct matrix *m)
{
    m->first = m->sequences;
    m->sequences += m->length ? m->all / m->length : 0;
}

void matrix_name_row(struct matrix *m, struct input_row *r)
{
    if (!m->length)
        return;
    const uint64_t row = m->all - m->rows - 1;
    snprintf(m->name, sizeof m->name, "%" PRIu64, row / m->length);
    r->seq = m->name;
    r->length = m->length;
    r->place = (struct place){true, m->first + row / m->length, r->number - row % m->length};
    r->fresh = r->place.first == r->number;
}

bool matrix_header(const struct format *f, struct source *s, size_t n, const unsigned char **p, struct err *e)
{
    const size_t len = f->magic ? strlen(f->magic) : 0;
    size_t have;
    if (!source_peek(s, n, p, &have, e))
        return false;
    if (have < len || (len && memcmp(*p, f->magic, len) != 0))
        return err_set(e, STATUS_DATA, "the input does not begin as %s files do", f->name);
    return have >= n || err_set(e, STATUS_DATA, "the input ends inside the %s header", f->name);
}

// Sets the error for bytes behind the last row. Returns false.
static bool extra_bytes(const struct matrix *m, struct err *e)
{
    if (m->promised)
        return err_set(e, STATUS_DATA, "there are bytes after the last of the %" PRIu64 " rows promised", m->all);
    return err_set(e, STATUS_DATA, "there are bytes after the last row of the npy shape");
}

// Sets the error for an input that ends after `have` bytes of a row. Returns false.
static bool short_row(const struct matrix *m, size_t have, struct err *e)
{
    if (m->promised)
        return err_set(e, STATUS_DATA, "the file holds %" PRIu64 " rows of the %" PRIu64 " promised", m->all - m->rows,
                       m->all);
    return err_set(e, STATUS_DATA, "the input ends after %zu of the row's %zu bytes", have, m->bytes);
}

bool matrix_next(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                 struct err *e)
{
    struct matrix *const m = self;
    const unsigned char *p;
    size_t have;
    (void)config;
    assert(m->bytes && m->bytes <= SIZE_MAX / 2);
    if (!source_peek(s, m->rows ? m->bytes : m->closed, &p, &have, e))
        return false;
    *end = !m->rows || (!have && m->rows == MATRIX_OPEN);
    if (*end)
        return !m->closed || !have || extra_bytes(m, e);
    if (have < m->bytes)
        return short_row(m, have, e);
    matrix_jump(m, s, 1);
    if (m->convert) {
        if (!m->row)
            m->row = calloc(m->n, dtype_size(m->type));
        if (!m->row)
            return err_from_fault(e, fault_memory());
        m->convert(m, p);
    }
    r->logits = (struct row){m->type, m->convert ? m->row : p, m->n};
    r->mapped = s->mapped && !m->convert;
    r->facts = m->all == MATRIX_OPEN ? ROW_RAW : 0u;
    r->ragged = m->ragged;
    m->ragged = 0;
    matrix_name_row(m, r);
    return true;
}

void matrix_jump(struct matrix *m, struct source *s, uint64_t rows)
{
    if (!m->listed)
        source_skip(s, rows * m->bytes);
    m->rows -= m->rows != MATRIX_OPEN ? rows : 0;
}

static bool open_raw(void *self, const struct format *f, struct source *s, const struct input_config *config,
                     struct err *e)
{
    struct matrix *const m = self;
    m->type = (enum dtype)f->kind;
    m->size = dtype_size(m->type);
    const uint64_t n[3] = {input_n_vocab(config)};
    if (!n[0])
        return err_set(e, STATUS_USAGE, "raw %s rows need their width, --n-vocab", f->name);
    if (n[0] < config->n_tokens) // perhaps llama-cli's -n was meant
        return err_set(
            e, STATUS_USAGE,
            "--n-vocab: %zu is less than the vocabulary's %zu tokens; llama-cli's -n, tokens to predict, is --rows :N",
            config->n_vocab, config->n_tokens);
    if (matrix_set_shape(m, n, 1) != MATRIX_OK)
        return err_set(e, STATUS_USAGE, "--n-vocab is too large for this machine");
    m->all = m->rows = MATRIX_OPEN;
    const int64_t left = s->mapped || s->sized ? source_left(s) : 0;
    m->ragged = (size_t)((uint64_t)left % m->bytes);
    return true;
}

#define RAW(TYPE, NAME, ...)                                                                                 \
    {                                                                                                        \
        .name = NAME, .endings = {__VA_ARGS__}, .kind = TYPE, .size = sizeof(struct matrix), .matrix = true, \
        .open = open_raw, .next = matrix_next                                                                \
    }

const struct format format_f32 = RAW(DTYPE_F32, "f32", ".f32", ".bin");
const struct format format_f16 = RAW(DTYPE_F16, "f16", ".f16");
const struct format format_bf16 = RAW(DTYPE_BF16, "bf16", ".bf16");
