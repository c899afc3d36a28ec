// SPDX-License-Identifier: MIT
// Errors of the command line and the I/O: an exit status and one sentence.
#ifndef SAMPL_IO_ERR_H
#define SAMPL_IO_ERR_H

#include "base/fault.h"

#include <stdbool.h>

// The exit statuses of cli.md.
enum status {
    STATUS_OK = 0,
    STATUS_DATA = 1,  // bad input data
    STATUS_USAGE = 2, // bad options
    STATUS_IO = 3,    // reading or writing failed, or memory is short
};

struct err {
    enum status status;
    char text[600]; // without program name and newline
};

// Fills e and returns false, so that a failing function can say `return err_set(...)`.
__attribute__((format(printf, 3, 4))) bool err_set(struct err *e, enum status status, const char *format, ...);

// Puts "WHERE: " before the text.
__attribute__((format(printf, 2, 3))) bool err_prefix(struct err *e, const char *format, ...);

// How much of a text of others' is quoted: its length, or where that is more, at most `most` bytes that cut no UTF-8 character in two.
// For "%.*s".
int err_clip(const char *text, int most);

// The sentence for a fault of the layers below.
bool err_from_fault(struct err *e, struct fault fault);

// Prints "sampl: text" on stderr.
void err_print(const struct err *e);

// Shows text as the last line of a terminal, in place of the one shown before, until a message takes its place or NULL takes it away.
void err_status_line(const char *text);

// Print "sampl: warning: text" and "sampl: note: text" on stderr.
__attribute__((format(printf, 1, 2))) void err_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void err_note(const char *format, ...);

#endif
