// SPDX-License-Identifier: MIT
// Token ids from a file: text, or an .npy array of whole numbers.
#ifndef SAMPL_IN_ID_FILE_H
#define SAMPL_IN_ID_FILE_H

#include "in/source.h"

// The ids of all lines, one line after the other. A zeroed struct is empty.
struct id_file {
    uint32_t *id; // [n]
    size_t n, cap;
    size_t *end; // [lines] of each line: where its ids end
    size_t lines, end_cap;
};

void id_file_free(struct id_file *f);

// Reads a file; "-" is standard input. A line of a text has any number of ids, separated by blanks or commas. An array
// has the shape (N,), a line for each id, or (N, K), a line for each row. least: 0, or -1 if a row may have no token;
// then -1 is UINT32_MAX. Fails with STATUS_DATA if the file has anything else. Errors name the file. The caller frees f
// either way.
bool id_file_read(struct id_file *f, const char *path, int64_t least, struct err *e);

// Sets *id to the ids of a line that exists, or to NULL if the file has no id. Returns the number of ids.
static inline size_t id_file_line(const struct id_file *f, size_t line, const uint32_t **id)
{
    const size_t from = line ? f->end[line - 1] : 0;
    *id = f->n ? f->id + from : NULL;
    return f->end[line] - from;
}

#endif
