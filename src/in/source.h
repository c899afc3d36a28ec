// SPDX-License-Identifier: MIT
// The bytes of one input, in order. A regular file is mapped, and pages that have been read are released; anything else
// is read in large blocks, and so is a file where maps are copies or do not exist. Memory stays constant however long
// the input is.
#ifndef SAMPL_IN_SOURCE_H
#define SAMPL_IN_SOURCE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

// Called before a reader waits for bytes of another program or person, which may wait for answers itself. Unless `act`
// is NULL, act(to, e) answers what has been read. False with *e ends the reading.
struct source_idle {
    bool (*act)(void *to, struct err *e);
    void *to;
};

struct source {
    const char *name; // for messages
    int fd;
    bool standard; // standard input, which stays open
    bool mapped;   // buf is the whole file, read-only
    bool sized;    // a regular file that is read in blocks; `size` is its length
    uint64_t size;
    uint64_t ahead;     // bytes behind buf[end - 1] that were skipped, and are not to be read
    uint64_t begin;     // file offset of a redirected standard input when it was opened, else 0
    uint64_t offset;    // begin and the bytes skipped so far
    unsigned char *buf; // buf[start..end) are the bytes from the current one on, as far as they were read
    size_t cap, start, end;
    size_t released;                // bytes of a mapped file whose pages were released
    bool at_end;                    // no byte follows buf[end - 1]
    struct source_map *map;         // if mapped
    const struct source_idle *idle; // or NULL
};

// Sets a function to call if a mapped file became shorter while it was read, before the program ends. A signal handler
// calls the function. NULL: none. Not to be called while a source is open.
void source_on_shrink(void (*act)(void));

// Opens path; "-" is standard input. Sets s, also on failure: source_close frees it. Errors, here and below, do not
// name the file.
bool source_open(struct source *s, const char *path, struct err *e);
void source_close(struct source *s);

// Closes the file of a mapped source and keeps the mapping.
void source_close_fd(struct source *s);

// Calls act(arg). If a mapped file turns out to have become shorter meanwhile, returns false with *e, unless e is NULL:
// act was left where it stood, and whatever it was changing can only be freed. act reads the file without holding a
// lock.
bool source_guard(void (*act)(void *arg), void *arg, struct err *e);

// The rows that begin at the current byte, for the message about a file that became shorter.
struct source_rows {
    uint64_t number, in_file; // of the first row: in the run, and in the file
    bool several;             // there are several files: the message shows both numbers
    size_t bytes;             // of each row; 0: only the first row is known
};
void source_rows(struct source *s, const struct source_rows *rows);

// Makes at least `want` bytes available, fewer only at the end of the input: *have bytes at *p, valid until the next
// peek.
bool source_peek(struct source *s, size_t want, const unsigned char **p, size_t *have, struct err *e);

// Returns whether reading more bytes than were peeked would wait for another program or person.
bool source_waits(const struct source *s);

// Skips n bytes, which were peeked or are among those of source_left.
void source_skip(struct source *s, uint64_t n);

// Leaves memory of a mapped source, from[0..len), to the caller, who gives it back with source_give_back. The source
// gives back what lies before `from`.
void source_leave(struct source *s, const void *from, size_t len);

// Gives whole pages of a map back to the system, from the page that holds `from` to the last that ends by `to`. Returns
// where the next call for what follows begins. A later access reads the file again.
const char *source_give_back(const char *from, const char *to);

// Returns the number of bytes from the current one to the end, or -1 if it is not known.
int64_t source_left(const struct source *s);

// Finds the next line and skips it: *len bytes at *line without the newline, valid until the next peek. *line is NULL
// at the end of the input. If a line has more than `most` bytes, *len is above `most` and the line is not skipped.
bool source_line(struct source *s, size_t most, const char **line, size_t *len, struct err *e);

// Reads a whole file into *text, NUL-terminated, *len bytes without the NUL. The caller frees *text. Fails with
// STATUS_USAGE if the file has more than `most` bytes (0: no limit), else with STATUS_IO. Errors name the file.
bool file_slurp(const char *path, size_t most, char **text, size_t *len, struct err *e);

#endif
