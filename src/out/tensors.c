// SPDX-License-Identifier: MIT
#include "out/tensors.h"

#include "base/bits.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 256 }; // rows

enum { LSE, XMEAN, IDS, N, MASKED, MAX, SUM, SD, TOKENS, RANKS, TOKEN_LOGITS, LOGITS };

// In the order of the file: the larger numbers first, so that each lies at a multiple of its size.
static const struct {
    const char *name, *type;
    size_t size;
} columns[TENSORS] = {
    [LSE] = {"tail_lse", "F64", 8},
    [XMEAN] = {"tail_xmean", "F64", 8},
    [IDS] = {"topk_ids", "I32", 4},
    [N] = {"tail_n", "I32", 4},
    [MASKED] = {"tail_masked", "I32", 4},
    [MAX] = {"tail_max", "F32", 4},
    [SUM] = {"tail_sum", "F32", 4},
    [SD] = {"tail_sd", "F32", 4},
    [TOKENS] = {"tokens", "I32", 4},
    [RANKS] = {"token_ranks", "I32", 4},
    [TOKEN_LOGITS] = {"token_logits", "F32", 4},
    [LOGITS] = {"topk_logits", NULL, 4},
};

static const char *const logit_types[DTYPE_COUNT] = {"F32", "F16", "BF16"};

void tensors_free(struct tensors *t)
{
    for (size_t i = 0; i < TENSORS; i++)
        free(t->column[i]);
}

static size_t per_row(const struct tensors *t, size_t i) { return i == IDS || i == LOGITS ? t->n : 1; }

// Bytes of a row in the file.
static size_t row_bytes(const struct tensors *t, size_t i)
{
    return per_row(t, i) * (i == LOGITS ? dtype_size(t->type) : columns[i].size);
}

// Returns whether the blocks can be written before the end.
static bool in_blocks(const struct tensors *t) { return t->dest->begin >= 0 && t->dest->rows >= 0; }

// Prints the header of a file of so many rows.
static void print_directory(const struct tensors *t, uint64_t rows, struct builder *b)
{
    uint64_t at = 0, len;
    builder_bytes(b, "        ", sizeof len);
    builder_format(b, "{\"__metadata__\":{\"format\":\"sampl-list\",\"n_vocab\":\"%zu\",\"version\":\"1\"}",
                   t->n_vocab);
    for (size_t i = 0; i < TENSORS; i++) {
        const uint64_t bytes = rows * row_bytes(t, i);
        builder_format(b, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64, columns[i].name,
                       i == LOGITS ? logit_types[t->type] : columns[i].type, rows);
        if (i == IDS || i == LOGITS)
            builder_format(b, ",%zu", t->n);
        builder_format(b, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at, at + bytes);
        at += bytes;
    }
    builder_byte(b, '}');
    builder_pad(b, ' ', (8 - b->len % 8) % 8);
    len = b->len - sizeof len;
    if (builder_whole(b))
        memcpy(b->text, &len, sizeof len);
}

// Narrows the logits that are held, in their place, to the type of the rows.
static void narrow(struct tensors *t, size_t held)
{
    const float *const x = t->column[LOGITS];
    uint16_t *const y = t->column[LOGITS];
    for (size_t i = 0; t->type != DTYPE_F32 && i < held * t->n; i++)
        y[i] = t->type == DTYPE_F16 ? f16_of_f32(x[i]) : (uint16_t)(bits_of_f32(x[i]) >> 16);
}

// Writes the rows that are held: each column where it belongs in a file of so many rows.
static bool write_rows(struct tensors *t, uint64_t rows, struct err *e)
{
    struct dest *const d = t->dest;
    const size_t held = (size_t)(t->rows - t->written);
    struct builder header = {0};
    print_directory(t, rows, &header);
    uint64_t at = (uint64_t)d->begin + header.len;
    bool ok = builder_whole(&header) || err_from_fault(e, fault_memory());
    narrow(t, held);
    if (ok && !t->written)
        fwrite(header.text, 1, header.len, d->stream);
    for (size_t i = 0; ok && i < TENSORS; i++) {
        const size_t bytes = row_bytes(t, i);
        if (in_blocks(t) && fseeko(d->stream, (off_t)(at + t->written * bytes), SEEK_SET))
            ok = dest_fail(d, "seek", e);
        fwrite(t->column[i], bytes, held, d->stream);
        at += rows * bytes;
    }
    builder_free(&header);
    t->written = t->rows;
    return ok;
}

// Checks that the width and the type of the row are those of the rows before it.
static bool is_alike(struct tensors *t, const struct record *r, struct err *e)
{
    const enum dtype type = t->unchanged ? r->type : DTYPE_F32;
    if (!t->n_vocab) {
        t->n_vocab = r->n_vocab;
        t->type = type;
    }
    if (r->n_vocab != t->n_vocab)
        return err_set(e, STATUS_DATA,
                       "%s: row %" PRIu64 " has %zu numbers, those before it %zu; -O json takes any width",
                       t->dest->name, r->row, r->n_vocab, t->n_vocab);
    return type == t->type ||
           err_set(e, STATUS_DATA, "%s: row %" PRIu64 " has logits of type %s, those before it %s; -O json takes any",
                   t->dest->name, r->row, logit_types[type], logit_types[t->type]);
}

// The place of the held row `at` in a column.
static void *cell(const struct tensors *t, size_t i, size_t at)
{
    return (char *)t->column[i] + at * per_row(t, i) * columns[i].size;
}

bool tensors_add(struct tensors *t, const struct record *r, struct err *e)
{
    static const struct tail_size none = {.max = -INFINITY, .lse = -INFINITY, .xmean = -INFINITY};
    const struct tail_size *const tail = r->error ? &none : &r->tail;
    const size_t at = (size_t)(t->rows - t->written);
    const bool token = r->accepted >= 0 && !r->error;
    if (!r->error && !is_alike(t, r, e))
        return false;
    for (size_t i = 0; i < TENSORS; i++)
        if (!mem_grow(&t->column[i], &t->cap[i], (at + 1) * per_row(t, i), columns[i].size))
            return err_from_fault(e, fault_memory());
    int32_t *const ids = cell(t, IDS, at);
    float *const logits = cell(t, LOGITS, at);
    for (size_t i = 0; i < t->n; i++) {
        const bool listed = !r->error && i < r->shown;
        ids[i] = listed ? (int32_t)r->ranked[i].id : -1;
        logits[i] = listed ? r->ranked[i].logit : -INFINITY;
    }
    *(double *)cell(t, LSE, at) = tail->lse;
    *(double *)cell(t, XMEAN, at) = tail->xmean;
    *(int32_t *)cell(t, N, at) = (int32_t)tail->n;
    *(int32_t *)cell(t, MASKED, at) = (int32_t)tail->masked;
    *(float *)cell(t, MAX, at) = tail->max;
    *(float *)cell(t, SUM, at) = tail->sum;
    *(float *)cell(t, SD, at) = tail->sd;
    *(int32_t *)cell(t, TOKENS, at) = token ? (int32_t)r->accepted : -1;
    *(int32_t *)cell(t, RANKS, at) = token ? (int32_t)tail->rank : 0;
    *(float *)cell(t, TOKEN_LOGITS, at) = token ? tail->logit : -INFINITY;
    t->rows++;
    return !in_blocks(t) || t->rows - t->written < BLOCK || !t->n_vocab || write_rows(t, (uint64_t)t->dest->rows, e);
}

bool tensors_end(struct tensors *t, bool whole, struct err *e)
{
    return !whole || (in_blocks(t) && t->written && t->rows == t->written) ||
           write_rows(t, in_blocks(t) ? (uint64_t)t->dest->rows : t->rows, e);
}
