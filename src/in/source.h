// SPDX-License-Identifier: MIT
// The bytes of one input, in order. A regular file is mapped, and the part already read is given back to the system;
// anything else is read in large blocks. Either way memory stays constant however long the input is.
#ifndef SAMPL_IN_SOURCE_H
#define SAMPL_IN_SOURCE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct source {
    const char *name; // for messages
    int fd;
    bool standard;      // standard input, which stays open
    bool mapped;        // buf is the whole file, read-only
    uint64_t begin;     // where a redirected file stood at the start, else 0
    uint64_t offset;    // begin and the bytes skipped so far
    unsigned char *buf; // holds the present place and what follows it: [start, end)
    size_t cap, start, end;
    size_t dropped;         // bytes of a mapped file already given back
    bool at_end;            // nothing comes behind buf
    struct source_map *map; // if mapped
};

// Before the program ends because an input became shorter while it was read, `act` is called, in a signal handler;
// NULL: nothing. Not to be called while a source is open.
void source_on_shrink(void (*act)(void));

// Opens path; "-" is standard input. Errors need no file name, here and below.
bool source_open(struct source *s, const char *path, struct err *e);
void source_close(struct source *s);

// Closes the file of a mapped source, which it no longer needs; the mapping stays.
void source_close_fd(struct source *s);

// The rows from the present place on, for the message when a file becomes shorter.
struct source_rows {
    uint64_t number, in_file; // of the first
    bool several;             // files: both numbers are told
    size_t bytes;             // of each; 0: the first is all that is known
};
void source_rows(struct source *s, const struct source_rows *rows);

// Makes at least want bytes available unless the input ends first: *have bytes at *p, valid until the next peek.
bool source_peek(struct source *s, size_t want, const unsigned char **p, size_t *have, struct err *e);

// Moves past n bytes that were peeked, or that source_left counts; the latter are not looked at.
void source_skip(struct source *s, size_t n);

// Bytes from the present place to the end, or -1 when that cannot be known.
int64_t source_left(const struct source *s);

// A small file as a whole, of `most` bytes (0: as many as there are): reads path into *text, NUL-terminated, *len bytes
// without the NUL; the caller frees it. Errors name the file; that it is larger is one of usage.
bool file_slurp(const char *path, size_t most, char **text, size_t *len, struct err *e);

#endif
