// SPDX-License-Identifier: MIT
// Distributions as little-endian numbers without a header, f32 and f16, which the raw input formats read; and as one
// NumPy array of shape (rows, width), version 1.0.
#include "base/bits.h"
#include "out/output.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 4096, // numbers
    HEADER = 128  // bytes: a multiple of 64, as numpy has it, with room for every number of rows
};

// A row that came to nothing is NaN throughout, which a reader refuses just as well.
static void write_nan(struct output *out, size_t n)
{
    const float nan = NAN;
    const uint16_t narrow = f16_of_f32(nan);
    for (size_t i = 0; i < n; i++)
        if (out->narrow)
            fwrite(&narrow, sizeof narrow, 1, out->f);
        else
            fwrite(&nan, sizeof nan, 1, out->f);
}

// Rounds to nearest. What is too low for f16 is as good as masked; what is too high would be read as an error.
static bool write_narrow(struct output *out, const struct record *r, size_t n, struct err *e)
{
    uint16_t half[BLOCK] = {0};
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t len = n - at < BLOCK ? n - at : BLOCK;
        uint32_t top = 0; // the largest of the positive ones
        for (size_t i = 0; i < len; i++) {
            half[i] = f16_of_f32(r->values[at + i]);
            top = !(half[i] & 0x8000u) && half[i] > top ? half[i] : top;
        }
        for (size_t i = 0; top >= 0x7c00u && i < len; i++)
            if (half[i] == 0x7c00u)
                return err_set(e, STATUS_DATA, "%s: row %" PRIu64 ": %g of token %zu is beyond f16, use -O f32",
                               out->name, r->row, (double)r->values[at + i], at + i);
        fwrite(half, sizeof *half, len, out->f);
    }
    return true;
}

// All rows are as wide as the first.
static bool write_row(struct output *out, const struct record *r, struct err *e)
{
    const size_t width = record_width(out, r);
    if (!out->records && width)
        out->width = width;
    if (r->error && out->width) {
        write_nan(out, out->width);
        return true;
    }
    if (!width)
        return err_set(e, STATUS_DATA, "%s: row %" PRIu64 " is bad and its width is not known; give it with --n-vocab",
                       out->name, r->row);
    if (width != out->width)
        return err_set(e, STATUS_DATA,
                       "%s: row %" PRIu64 " has %zu numbers, those before it %zu; -O json takes any width", out->name,
                       r->row, width, out->width);
    if (out->narrow)
        return write_narrow(out, r, width, e);
    fwrite(r->values, sizeof *r->values, width, out->f);
    return true;
}

// The magic, version 1.0, the length of the rest in two bytes, and the rest: a dictionary as Python writes it.
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

static bool npy_row(struct output *out, const struct record *r, struct err *e)
{
    if (out->begin < 0 && out->rows >= 0 && out->records >= (uint64_t)out->rows)
        return err_set(e, STATUS_DATA, "%s: more rows come than the npy header says; write to a file, or use -O f32",
                       out->name);
    if (!out->records) {
        out->narrow = out->narrow && r->type == DTYPE_F16;
        if (record_width(out, r))
            out->width = record_width(out, r);
        if (out->width)
            write_header(out, out->rows < 0 ? 0 : (uint64_t)out->rows);
    }
    return write_row(out, r, e);
}

// The number of rows, now that it is known, goes into the header where that can be reached.
static bool npy_finish(struct output *out, bool whole, struct err *e)
{
    char header[HEADER];
    if (!out->records && whole) {
        out->narrow = false;
        write_header(out, 0);
    }
    if (!out->records || out->begin < 0 || (uint64_t)out->rows == out->records)
        return true;
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

static void begin_f16(struct output *out)
{
    out->narrow = true;
}

const struct output_format output_f32 = {.name = "f32", .binary = true, .values = write_row};
const struct output_format output_f16 = {.name = "f16", .binary = true, .begin = begin_f16, .values = write_row};
const struct output_format output_npy = {
    .name = "npy", .binary = true, .values = npy_row, .finish = npy_finish, .counted = true};
