// SPDX-License-Identifier: MIT
#include "base/note.h"

#include "base/err.h"

#include <string.h>

void note_add(struct builder *notes, enum note_kind kind, const char *format, ...)
{
    char entry[1 + sizeof(struct err)] = {(char)kind};
    va_list args;
    va_start(args, format);
    err_text(entry + 1, sizeof entry - 1, format, args);
    va_end(args);
    builder_bytes(notes, entry, strlen(entry) + 1); // whole or not at all
}

void notes_move(struct builder *to, struct builder *from)
{
    builder_bytes(to, from->text, from->len);
    to->failed = to->failed || from->failed;
    builder_clear(from);
}
