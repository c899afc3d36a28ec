// SPDX-License-Identifier: MIT
#include "out/message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool status_line; // is one shown?

void message_progress(const char *text)
{
    if (text)
        fprintf(stderr, "\r%s\033[K", text);
    else if (status_line)
        fputs("\r\033[K", stderr);
    status_line = text != NULL;
}

// Quoted input must not break the line.
static void print_line(const char *what, char *text)
{
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    message_progress(NULL);
    fprintf(stderr, "sampl: %s%s\n", what, text);
}

void message_error(const struct err *e)
{
    char text[sizeof e->text];
    memcpy(text, e->text, sizeof text);
    print_line("", text);
}

__attribute__((format(printf, 2, 0))) static void print_text(const char *what, const char *format, va_list args)
{
    char text[sizeof(struct err)];
    vsnprintf(text, sizeof text, format, args);
    print_line(what, text);
}

void message_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_text("warning: ", format, args);
    va_end(args);
}

void message_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_text("note: ", format, args);
    va_end(args);
}
