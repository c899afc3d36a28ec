// SPDX-License-Identifier: MIT
#include "out/message.h"

#include "base/platform.h"
#include "base/utf8.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLEAR "\r\033[K"

static volatile sig_atomic_t status_line; // a line of message_progress is shown

void message_progress(const char *text)
{
    if (!text && !status_line)
        return;
    status_line = true; // before the line, because a signal may come
    fprintf(stderr, CLEAR "%s", text ? text : "");
    status_line = text != NULL;
}

void message_abandon(void)
{
    if (status_line && write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1) > 0)
        status_line = false;
}

static unsigned long dropped; // messages that were left out since the last one that was printed

// Prints a message. Rows must not wait for a reader of messages, so that a message for which a pipe has no room is left
// out. A pipe with room takes a message at once. The descriptor cannot be made non-blocking, since other programs write
// to the same pipe.
static void print_line(const char *before, const char *text)
{
    if (platform_would_block(STDERR_FILENO)) {
        dropped++;
        return;
    }
    if (dropped)
        fprintf(stderr, "sampl: note: %lu messages were left out: standard error was full\n", dropped);
    dropped = 0;
    fprintf(stderr, "sampl: %s%s\n", before, text);
}

void message_say(enum message_kind kind, const char *format, ...)
{
    static const char *const before[] = {"", "warning: ", "note: "};
    char text[sizeof(struct err)];
    va_list args;
    va_start(args, format);
    err_text(text, sizeof text, format, args);
    va_end(args);
    text_make_safe(text);
    message_progress(NULL);
    print_line(before[kind], text);
}

void message_no_note(void) { message_warn("out of memory: a note is missing"); }

void message_notes(struct builder *notes)
{
    for (size_t at = 0; at < notes->len; at += strlen(notes->text + at) + 1)
        message_say(notes->text[at] == NOTE_WARNING ? MESSAGE_WARNING : MESSAGE_NOTE, "%s", notes->text + at + 1);
    builder_clear(notes);
}
