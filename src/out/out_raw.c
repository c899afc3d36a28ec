// SPDX-License-Identifier: MIT
// Distributions as numbers: f32 and f16, little-endian and without a header, which the raw input formats read; npy, a
// NumPy array of shape (rows, width), version 1.0.
#include "base/bits.h"
#include "out/output.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define F16_OVERFLOW 65520.0f // the least number that rounds to infinity in f16

enum {
    BLOCK = 4096, // numbers
    HEADER = 128  // bytes: a multiple of 64, as numpy writes it; enough for every number of rows
};

// Can the row be written? All rows are as wide as the first.
static bool check_row(struct output *out, const struct record *r, struct err *e)
{
    const size_t width = record_width(out, r);
    if (!out->records && width)
        out->width = width;
    if (r->error && out->width)
        return true;
    if (!width)
        return err_set(e, STATUS_DATA, "%s: row %" PRIu64 " is bad and its width is not known; give it with --n-vocab",
                       out->name, r->row);
    if (width != out->width)
        return err_set(e, STATUS_DATA,
                       "%s: row %" PRIu64 " has %zu numbers, those before it %zu; -O json takes any width", out->name,
                       r->row, width, out->width);
    for (size_t i = 0; out->narrow && i < width; i++)
        if (r->values[i] >= F16_OVERFLOW)
            return err_set(e, STATUS_DATA, "%s: row %" PRIu64 ": %g of token %zu is beyond f16, use -O f32", out->name,
                           r->row, (double)r->values[i], i);
    return true;
}

// Writes a row. A bad row is NaN throughout, which every reader refuses. In f16, numbers are rounded to nearest; those
// below its range become -inf, which is masked.
static void write_row(struct output *out, const struct record *r)
{
    float single[BLOCK];
    uint16_t half[BLOCK];
    if (!r->error && !out->narrow) {
        fwrite(r->values, sizeof *r->values, out->width, out->f);
        return;
    }
    for (size_t at = 0; at < out->width; at += BLOCK) {
        const size_t n = out->width - at < BLOCK ? out->width - at : BLOCK;
        for (size_t i = 0; i < n; i++) {
            single[i] = r->error ? NAN : r->values[at + i];
            half[i] = f16_of_f32(single[i]);
        }
        if (out->narrow)
            fwrite(half, sizeof *half, n, out->f);
        else
            fwrite(single, sizeof *single, n, out->f);
    }
}

// Fills in the header: the magic, the version, the length of the rest in two bytes, and a dictionary as Python writes
// it.
static void make_header(const struct output *out, uint64_t rows, char header[HEADER])
{
    const int len = snprintf(
        header, HEADER, "\x93NUMPY\1%c%c%c{'descr': '<f%d', 'fortran_order': False, 'shape': (%" PRIu64 ", %zu), }", 0,
        HEADER - 10, 0, out->narrow ? 2 : 4, rows, out->width);
    assert(len > 10 && len < HEADER);
    memset(header + len, ' ', (size_t)(HEADER - 1 - len));
    header[HEADER - 1] = '\n';
}

static void write_header(struct output *out, uint64_t rows)
{
    char header[HEADER];
    make_header(out, rows, header);
    fwrite(header, 1, sizeof header, out->f);
}

static bool npy_check(struct output *out, const struct record *r, struct err *e)
{
    if (out->begin < 0 && out->rows >= 0 && out->records >= (uint64_t)out->rows)
        return err_set(e, STATUS_DATA,
                       "%s: there are more rows than the npy header states; write to a file, or use -O f32", out->name);
    if (!out->records)
        out->narrow = out->narrow && r->type == DTYPE_F16;
    return check_row(out, r, e);
}

static void npy_row(struct output *out, const struct record *r)
{
    if (!out->records)
        write_header(out, out->rows < 0 ? 0 : (uint64_t)out->rows);
    write_row(out, r);
}

// Corrects the number of rows in the header if the output can be written again there.
static bool npy_finish(struct output *out, bool whole, struct err *e)
{
    char header[HEADER];
    if (!out->records && whole)
        write_header(out, 0);
    if (!out->records || out->begin < 0 || (uint64_t)out->rows == out->records)
        return true;
    if (fflush(out->f))
        return output_fail(out, "write", e);
    make_header(out, out->records, header);
    for (size_t done = 0; done < sizeof header;) {
        const ssize_t n =
            pwrite(fileno(out->f), header + done, sizeof header - done, (off_t)(out->begin + (int64_t)done));
        if (n < 0)
            return output_fail(out, "write", e);
        done += (size_t)n;
    }
    return true;
}

static void begin_f16(struct output *out) { out->narrow = true; }

const struct output_format output_f32 = {.name = "f32", .binary = true, .check = check_row, .values = write_row};
const struct output_format output_f16 = {
    .name = "f16", .inputs = "f16", .binary = true, .begin = begin_f16, .check = check_row, .values = write_row};
const struct output_format output_npy = {.name = "npy",
                                         .inputs = "npy kld safetensors",
                                         .binary = true,
                                         .counted = true,
                                         .check = npy_check,
                                         .values = npy_row,
                                         .finish = npy_finish};
