// SPDX-License-Identifier: MIT
// Distributions as one NumPy array of shape (rows, width), version 1.0.
#include "out/output.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 128 }; // a multiple of 64, as numpy has it, with room for every number of rows

static void make_header(const struct output *out, uint64_t rows, char header[HEADER])
{
    static const char magic[] = "\x93NUMPY\1\0";
    char dict[HEADER];
    const int len = snprintf(dict, sizeof dict, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%" PRIu64 ", %zu), }",
                             out->narrow ? 2 : 4, rows, out->width);
    memset(header, ' ', HEADER);
    memcpy(header, magic, 8);
    header[8] = (char)(HEADER - 10);
    header[9] = 0;
    memcpy(header + 10, dict, (size_t)len);
    header[HEADER - 1] = '\n';
}

static void write_header(struct output *out, uint64_t rows)
{
    char header[HEADER];
    make_header(out, rows, header);
    fwrite(header, 1, sizeof header, out->f);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    if (!out->records) {
        out->narrow = out->narrow && r->type == DTYPE_F16;
        if (record_width(out, r))
            out->width = record_width(out, r);
        if (out->width)
            write_header(out, out->rows < 0 ? 0 : (uint64_t)out->rows);
    }
    return output_raw(out, r, e);
}

// The number of rows, now that it is known, goes into the header where that can be reached.
static bool finish(struct output *out, bool whole, struct err *e)
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
        const ssize_t n = pwrite(fileno(out->f), header + done, sizeof header - done, (off_t)(out->begin + (int64_t)done));
        if (n < 0)
            return output_fail(out, "write", e);
        done += (size_t)n;
    }
    return true;
}

const struct output_format output_npy = {.name = "npy", .binary = true, .values = values, .finish = finish};
