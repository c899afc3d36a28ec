// SPDX-License-Identifier: MIT
// The header of NumPy's .npy files, versions 1 to 3: a Python dict with type and shape.
#ifndef SAMPL_IN_NPY_HEADER_H
#define SAMPL_IN_NPY_HEADER_H

#include "in/input.h"

enum { NPY_HEADER_MAX = 10000 }; // bytes; numpy reads no longer header either

enum { NPY_DIMS = 8 };

struct npy_header {
    char text[NPY_HEADER_MAX + 1]; // the dict, NUL-terminated
    char *p;                       // the current character
    size_t at, end;                // where the text begins and ends in the file
    const char *descr, *shape;     // the values in text; NULL before they are read
    int shape_len;
    bool fortran, has_fortran; // the value, and whether it was read
    uint64_t dim[NPY_DIMS];    // the first dimensions
    size_t dims;               // number of dimensions; leading ones are left out until three are left
};

// The arguments that '%.*s' needs to show the shape.
#define NPY_SHAPE(h) err_clip_part((h)->shape, (size_t)(h)->shape_len, 60), (h)->shape

// Reads the header of a file of format f, which is npy, and skips the header. h is zeroed. Fails with STATUS_DATA if it
// is no such header; descr and the rest of the shape are for the caller to check. After a structured type, whose descr
// is a list, the other members may be missing.
bool npy_header_read(struct npy_header *h, const struct format *f, struct source *s, struct err *e);

#endif
