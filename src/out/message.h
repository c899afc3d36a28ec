// SPDX-License-Identifier: MIT
// Lines on stderr: errors, warnings, notes, and one that shows progress.
#ifndef SAMPL_OUT_MESSAGE_H
#define SAMPL_OUT_MESSAGE_H

#include "base/err.h"

// Prints "sampl: text".
void message_error(const struct err *e);

// Print "sampl: warning: text" and "sampl: note: text".
__attribute__((format(printf, 1, 2))) void message_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_note(const char *format, ...);

// Shows text as the last line of a terminal, in place of the one shown before, until a message takes its place or NULL takes it away.
void message_progress(const char *text);

#endif
