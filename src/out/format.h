// SPDX-License-Identifier: MIT
// The output formats. A format says what it can write, and has the syntax; a view (views/view.h) has the contents.
#ifndef SAMPL_OUT_FORMAT_H
#define SAMPL_OUT_FORMAT_H

#include "trace/record.h"

#include <stdbool.h>

// The kinds of formats, as bits. A view names those that it can be written in.
enum format_kind {
    FORMAT_TEXT = 1 << 0,   // for people and shell scripts; each view has its own
    FORMAT_CELLS = 1 << 1,  // lines of cells, below a line with the names of the columns
    FORMAT_JSON = 1 << 2,   // one object a line, with llama-server's field names
    FORMAT_PAGE = 1 << 3,   // HTML
    FORMAT_ARRAY = 1 << 4,  // numbers only, binary
    FORMAT_TENSORS = 1 << 5 // safetensors, of lists
};

// A line of formats.def.
struct output_format {
    const char *name;
    enum format_kind kind;
    const char *inputs; // names of input formats: it writes their distributions if no output format is named
    bool counted;       // the number of rows comes first
    enum dtype type;    // FORMAT_ARRAY: of the numbers, f32 or f16

    // FORMAT_CELLS: what stands before, between and behind the cells of a line; below the heading; and the character
    // that an escape precedes in texts, or 0.
    const char *before, *between, *behind, *below;
    char escaped;
};

extern const struct output_format output_formats[]; // in the order of formats.def; the last one has no name
extern const char output_format_choices[];          // their names, each behind a comma

// Returns the format with a name that exists.
const struct output_format *output_format_named(const char *name);

// Returns the format of distributions if no output format is named. input: the name of the input's format.
const struct output_format *output_format_like(const char *input);

// Returns the first format of these kinds.
const struct output_format *output_format_of(unsigned kinds);

#endif
