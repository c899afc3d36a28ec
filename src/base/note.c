// SPDX-License-Identifier: MIT
#include "base/note.h"

#include "base/err.h"

#include <string.h>

void note_add(struct builder *notes, enum note_kind kind, const char *format, ...)
{
    char text[sizeof(struct err)];
    va_list args;
    va_start(args, format);
    err_text(text, sizeof text, format, args);
    va_end(args);
    builder_byte(notes, (char)kind);
    builder_bytes(notes, text, strlen(text) + 1);
}

void notes_move(struct builder *to, struct builder *from)
{
    builder_bytes(to, from->text, from->len);
    to->failed = to->failed || from->failed;
    builder_clear(from);
}
