// SPDX-License-Identifier: MIT
#include "out/message.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

static bool status_line; // is one shown?

void message_progress(const char *text)
{
    if (text)
        fprintf(stderr, "\r%s\033[K", text);
    else if (status_line)
        fputs("\r\033[K", stderr);
    status_line = text != NULL;
}

void message_say(enum message_kind kind, const char *format, ...)
{
    static const char *const before[] = {"", "warning: ", "note: "};
    char text[sizeof(struct err)];
    va_list args;
    va_start(args, format);
    err_text(text, sizeof text, format, args);
    va_end(args);
    text_tame(text);
    message_progress(NULL);
    fprintf(stderr, "sampl: %s%s\n", before[kind], text);
}
