// SPDX-License-Identifier: MIT
// An error as the user is told of it: an exit status and one sentence.
#ifndef SAMPL_BASE_ERR_H
#define SAMPL_BASE_ERR_H

#include "base/fault.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

// The exit statuses of sampl(1).
enum status {
    STATUS_OK = 0,
    STATUS_DATA = 1,   // bad input data
    STATUS_USAGE = 2,  // bad options
    STATUS_IO = 3,     // reading or writing failed, or memory is short
    STATUS_DIFFERS = 4 // something that was compared differs, and nothing worse happened
};

struct err {
    enum status status;
    char text[900]; // without program name and newline
};

// Formats as vsnprintf does. If the text is too long for size, shortens its longest word (a file's name, a quoted
// argument), between characters, so that what the message says of that word remains; without memory for that, cuts the
// end of the text.
__attribute__((format(printf, 3, 0))) void err_text(char *text, size_t size, const char *format, va_list args);

// Fills e and returns false, so that a failing function can say `return err_set(...)`.
__attribute__((format(printf, 3, 4))) bool err_set(struct err *e, enum status status, const char *format, ...);

// Puts "WHERE: " before the text, as much of it as there is room for.
__attribute__((format(printf, 2, 3))) bool err_prefix(struct err *e, const char *format, ...);

// Ends the run without a message: with STATUS_OK if the reader of the output has gone, as head(1) does; with another
// status if the error was printed already. Returns false.
bool err_silent(struct err *e, enum status status);

static inline bool err_is_silent(const struct err *e) { return !*e->text; }

// How much of a text of others' is quoted: its length, or where that is more, at most `most` bytes that cut no UTF-8
// character in two. For "%.*s". The second is of a text of len bytes.
int err_clip(const char *text, int most);
int err_clip_part(const char *text, size_t len, int most);

// The sentence for a fault of the layers below; true, and e as it was, if there is none.
bool err_from_fault(struct err *e, struct fault fault);

#endif
