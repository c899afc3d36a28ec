// SPDX-License-Identifier: MIT
#include "in/list_tensors.h"

#include "base/bits.h"
#include "in/token_list.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// The end of the column's number of a row, from 1, as `begin` is its beginning.
static uint64_t column_end(const struct list_column *k, uint64_t row)
{
    return k->begin + row * (k->type == COLUMN_F64 ? sizeof(double) : sizeof(float));
}

// The number of a column; NaN if there is no such column.
static double read_column(const struct list_tensors *t, size_t i, uint64_t row)
{
    const struct list_column *const k = &t->column[i];
    const unsigned char *const p = k->data + (column_end(k, row) - k->begin);
    int32_t whole;
    float x;
    double y = NAN;
    if (k->type == COLUMN_I32)
        return memcpy(&whole, p, sizeof whole), whole;
    if (k->type == COLUMN_F32)
        return memcpy(&x, p, sizeof x), x;
    if (k->type == COLUMN_F64)
        memcpy(&y, p, sizeof y);
    return y;
}

bool list_tensors_open(struct list_tensors *t, struct matrix *m, struct source *s, struct err *e)
{
    const uint64_t id_bytes = m->n * t->id_size;
    const uint64_t ids_end = t->ids_begin + m->all * id_bytes, numbers_end = t->numbers_begin + m->all * m->bytes;
    uint64_t end = ids_end > numbers_end ? ids_end : numbers_end;
    for (struct list_column *k = t->column; k < t->column + COLUMNS; k++)
        if (k->type && column_end(k, m->all) > end)
            end = column_end(k, m->all);
    const unsigned char *p;
    size_t have;
    assert(t->id_size && m->bytes);
    m->listed = true;
    if (!source_peek(s, end > SIZE_MAX ? SIZE_MAX : (size_t)end, &p, &have, e))
        return false;
    const uint64_t ids = have > t->ids_begin ? (have - t->ids_begin) / id_bytes : 0;
    const uint64_t numbers = have > t->numbers_begin ? (have - t->numbers_begin) / m->bytes : 0;
    t->whole = ids < numbers ? ids : numbers;
    for (struct list_column *k = t->column; k < t->column + COLUMNS; k++) {
        const uint64_t whole = have > k->begin ? (have - k->begin) / (column_end(k, 1) - k->begin) : 0;
        k->data = p + k->begin;
        if (k->type && whole < t->whole)
            t->whole = whole;
    }
    t->ids = p + (ids ? t->ids_begin : 0);
    t->numbers = p + (numbers ? t->numbers_begin : 0);
    return true;
}

// Returns the id at p. Ids above INT64_MAX become negative, which is no id, either.
static int64_t read_tensor_id(const struct list_tensors *t, const unsigned char *p)
{
    uint64_t bits = 0;
    const unsigned shift = 64 - 8 * (unsigned)t->id_size;
    memcpy(&bits, p, t->id_size);
    return t->id_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

// Returns the number of a token of a row, -inf if the token is masked.
static float read_tensor_number(const struct matrix *m, const unsigned char *row, size_t i)
{
    if (m->size == 8) {
        uint64_t bits;
        memcpy(&bits, row + i * sizeof bits, sizeof bits);
        return (float)f64_of_bits(bits);
    }
    return row_logit(&(struct row){m->type, row, m->n}, i);
}

// Makes a row of the tokens of t->row and of their tail.
static bool tail_row(struct list_tensors *t, uint64_t index, size_t n_vocab, struct input_row *r, struct err *e)
{
    const double token = read_column(t, COLUMN_TOKEN, index), rank = read_column(t, COLUMN_TOKEN_RANK, index);
    struct list_tail tail = {.prefix = "tail_",
                             .rank_name = "token_ranks",
                             .token_rank = rank == 0.0 ? NAN : rank,
                             .token = token >= 0.0 ? (int64_t)token : -1,
                             .token_logit = read_column(t, COLUMN_TOKEN_LOGIT, index)};
    for (size_t i = 0; i < TAIL_MEMBERS; i++)
        tail.value[i] = read_column(t, i, index);
    r->recorded = tail.token;
    if (n_vocab && t->n_vocab && n_vocab != t->n_vocab)
        return err_set(e, STATUS_DATA, "n_vocab is %zu, --n-vocab %zu", t->n_vocab, n_vocab);
    return list_tail_row(&t->row, &tail, n_vocab ? n_vocab : t->n_vocab, &r->logits, e);
}

static bool read_listed_row(struct list_tensors *t, const struct matrix *m, uint64_t index,
                            const struct input_config *config, struct input_row *r, struct err *e)
{
    const unsigned char *const ids = t->ids + index * m->n * t->id_size, *const numbers = t->numbers + index * m->bytes;
    const double unit = m->type == DTYPE_F16 ? 0x1p-11 : m->type == DTYPE_BF16 ? 0x1p-8 : 0x1p-24;
    t->row.n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const int64_t id = read_tensor_id(t, ids + i * t->id_size);
        const float x = read_tensor_number(m, numbers, i);
        if (id < 0 && x == -INFINITY) // padding
            continue;
        if (id < 0 || id > INT32_MAX)
            return err_set(e, STATUS_DATA,
                           "ids: element %zu, '%" PRId64 "', is not a whole number from 0 to 2147483647", i, id);
        if (!sparse_add(&t->row, (uint32_t)id, x, e))
            return false;
    }
    return t->column[TAIL_LSE].type ? tail_row(t, index, config->n_vocab, r, e)
                                    : token_list_row(&t->row, t->logits, unit, input_n_vocab(config), &r->logits, e);
}

bool list_tensors_next(struct list_tensors *t, struct matrix *m, struct source *s, const struct input_config *config,
                       struct input_row *r, bool *end, struct err *e)
{
    const uint64_t index = m->all - m->rows;
    *end = !m->rows;
    if (*end)
        return true;
    if (index >= t->whole)
        return err_set(e, STATUS_DATA, "the input ends after %" PRIu64 " of %" PRIu64 " rows", t->whole, m->all);
    matrix_jump(m, s, 1);
    matrix_name_row(m, r);
    return read_listed_row(t, m, index, config, r, e) || input_bad_row(r, input_n_vocab(config), e);
}
