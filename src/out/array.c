// SPDX-License-Identifier: MIT
#include "out/array.h"

#include "base/bits.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define F16_OVERFLOW 65520.0f // the least number that rounds to infinity in f16

enum {
    BLOCK = 4096, // numbers
    HEADER = 128  // bytes: a multiple of 64, as numpy writes it; enough for every number of rows
};

// Returns whether a header precedes the numbers.
static bool has_header(const struct array *a) { return a->dest->format->counted; }

// Checks that the row can be written. All rows are as wide as the first.
static bool check_row(struct array *a, const struct record *r, struct err *e)
{
    const size_t width = a->single ? 1 : r->n_vocab;
    if (has_header(a) && a->dest->begin < 0 && a->dest->rows >= 0 && a->rows >= (uint64_t)a->dest->rows)
        return err_set(e, STATUS_DATA,
                       "%s: there are more rows than the npy header states; write to a file, or use -O f32",
                       a->dest->name);
    if (has_header(a) && !a->rows)
        a->type = r->type == DTYPE_F16 ? a->type : DTYPE_F32;
    if (!a->rows && width)
        a->width = width;
    if (r->error && a->width)
        return true;
    if (!width)
        return err_set(e, STATUS_DATA, "%s: row %" PRIu64 " is bad and its width is not known; give it with --n-vocab",
                       a->dest->name, r->row);
    if (width != a->width)
        return err_set(e, STATUS_DATA,
                       "%s: row %" PRIu64 " has %zu numbers, those before it %zu; -O json takes any width",
                       a->dest->name, r->row, width, a->width);
    for (size_t i = 0; a->type == DTYPE_F16 && i < width; i++)
        if (r->values[i] >= F16_OVERFLOW)
            return err_set(e, STATUS_DATA, "%s: row %" PRIu64 ": %g of token %zu is beyond f16, use -O f32",
                           a->dest->name, r->row, (double)r->values[i], i);
    return true;
}

// Writes a row. A bad row is NaN throughout, which every reader refuses. In f16, numbers are rounded to nearest; those
// below its range become -inf, which is masked.
static void write_row(struct array *a, const struct record *r)
{
    float single[BLOCK];
    uint16_t half[BLOCK];
    if (!r->error && a->type == DTYPE_F32) {
        fwrite(r->values, sizeof *r->values, a->width, a->dest->stream);
        return;
    }
    for (size_t at = 0; at < a->width; at += BLOCK) {
        const size_t n = a->width - at < BLOCK ? a->width - at : BLOCK;
        for (size_t i = 0; i < n; i++) {
            single[i] = r->error ? NAN : r->values[at + i];
            half[i] = f16_of_f32(single[i]);
        }
        if (a->type == DTYPE_F16)
            fwrite(half, sizeof *half, n, a->dest->stream);
        else
            fwrite(single, sizeof *single, n, a->dest->stream);
    }
}

// Writes the header: the magic, the version, the length of the rest in two bytes, and a dictionary as Python writes it.
static void write_header(struct array *a, uint64_t rows)
{
    char header[HEADER];
    const int len = snprintf(
        header, HEADER, "\x93NUMPY\1%c%c%c{'descr': '<f%d', 'fortran_order': False, 'shape': (%" PRIu64 ", %zu), }", 0,
        HEADER - 10, 0, (int)dtype_size(a->type), rows, a->width);
    assert(len > 10 && len < HEADER);
    memset(header + len, ' ', (size_t)(HEADER - 1 - len));
    header[HEADER - 1] = '\n';
    fwrite(header, 1, sizeof header, a->dest->stream);
}

bool array_add(struct array *a, const struct record *r, struct err *e)
{
    if (!check_row(a, r, e))
        return false;
    if (has_header(a) && !a->rows)
        write_header(a, a->dest->rows < 0 ? 0 : (uint64_t)a->dest->rows);
    write_row(a, r);
    a->rows++;
    return true;
}

bool array_end(struct array *a, bool whole, struct err *e)
{
    struct dest *const d = a->dest;
    if (!has_header(a))
        return true;
    if (!a->rows && whole)
        write_header(a, 0);
    if (!a->rows || d->begin < 0 || (uint64_t)d->rows == a->rows)
        return true;
    if (!dest_flush(d, e))
        return false;
    const off_t end = ftello(d->stream);
    if (end < 0 || fseeko(d->stream, (off_t)d->begin, SEEK_SET))
        return dest_fail(d, "seek", e);
    write_header(a, a->rows);
    return dest_flush(d, e) && (!fseeko(d->stream, end, SEEK_SET) || dest_fail(d, "seek", e));
}
