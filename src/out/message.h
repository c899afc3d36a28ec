// SPDX-License-Identifier: MIT
// Messages on stderr: errors, warnings, notes, and a line that shows progress.
#ifndef SAMPL_OUT_MESSAGE_H
#define SAMPL_OUT_MESSAGE_H

#include "base/err.h"
#include "base/note.h"

enum message_kind { MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_NOTE };

// Never waits for the reader of standard error: a full pipe does not get the message, and the next message is preceded
// by the number of those left out. Prints "sampl: text", "sampl: warning: text" or "sampl: note: text".
__attribute__((format(printf, 2, 3))) void message_say(enum message_kind kind, const char *format, ...);

#define message_error(e)  message_say(MESSAGE_ERROR, "%s", (e)->text)
#define message_warn(...) message_say(MESSAGE_WARNING, __VA_ARGS__)
#define message_note(...) message_say(MESSAGE_NOTE, __VA_ARGS__)

// Warns that a note is missing, because there was no memory for its text.
void message_no_note(void);

// Prints the notes and warnings that the core made, and clears them.
void message_notes(struct builder *notes);

// Shows text as the last line of a terminal, in place of the text before. A message, or text NULL, removes it.
void message_progress(const char *text);

// For signal handlers: removes the line of message_progress.
void message_abandon(void);

#endif
