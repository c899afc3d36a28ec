// SPDX-License-Identifier: MIT
// Lines on stderr: errors, warnings, notes, and one that shows progress.
#ifndef SAMPL_OUT_MESSAGE_H
#define SAMPL_OUT_MESSAGE_H

#include "base/err.h"

// Prints "sampl: ", what it is and the text.
__attribute__((format(printf, 2, 3))) void message_say(const char *what, const char *format, ...);

#define message_error(e)  message_say("", "%s", (e)->text)
#define message_warn(...) message_say("warning: ", __VA_ARGS__)
#define message_note(...) message_say("note: ", __VA_ARGS__)

// Shows text as the last line of a terminal, in place of the one shown before, until a message takes its place or NULL takes it away.
void message_progress(const char *text);

#endif
