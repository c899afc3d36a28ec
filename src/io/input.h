// SPDX-License-Identifier: MIT
// Rows from files: opens them in turn, finds out their formats, and hands out the rows that were asked for.
#ifndef SAMPL_IO_INPUT_H
#define SAMPL_IO_INPUT_H

#include "io/source.h"
#include "sample/cand.h"

// What the user said about the input.
struct input_config {
    const char *const *files; // [n_files], at least one; "-" is standard input
    size_t n_files;
    const char *format;  // a format's name or "auto"
    size_t n_vocab;      // 0: not given
    int64_t first, last; // the rows wanted, first <= r < last; a negative one counts from the end
};

// A format: one file in_NAME.c and one row in input.c.
struct format {
    const char *name;
    const char *endings; // of file names, space-separated: ".f32 .bin"; NULL: none
    int kind;            // for formats that share their functions
    size_t size;         // bytes of state, zeroed before open

    // Do these first bytes of an input (64 or all) belong to this format? NULL: cannot be told by content.
    bool (*probe)(const unsigned char *head, size_t len);

    // Reads what precedes the rows. NULL: the format is not available yet.
    bool (*open)(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e);

    // The next row, valid until the next call. *end without a row after the last. Errors need no file name.
    bool (*next)(void *self, struct source *s, struct row *row, bool *end, struct err *e);

    // Number of whole rows left, or -1 when that cannot be known without reading them. NULL: never known.
    int64_t (*left)(const void *self, const struct source *s);

    void (*close)(void *self); // NULL: nothing to free
};

extern const struct format format_f32, format_f16, format_bf16, format_json;

struct input;

// config must outlive the input. NULL and *e on failure.
struct input *input_open(const struct input_config *config, struct err *e);
void input_close(struct input *in);

// The next wanted row and its number, counted from 0 over all files; valid until the next call. *end without a row after the last.
// Errors name file and row.
bool input_next(struct input *in, struct row *row, uint64_t *number, bool *end, struct err *e);

// Puts "FILE: row N" of the last row before an error found while working on it.
bool input_blame(const struct input *in, struct err *e);

#endif
