// SPDX-License-Identifier: MIT
#include "out/screen.h"

#include "base/platform.h"
#include "out/token_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 40, MOST = 1000 }; // columns

static int columns_of(int fd)
{
    const char *const wish = getenv("COLUMNS");
    char *end = NULL;
    long n = wish ? strtol(wish, &end, 10) : 0;
    if (!wish || *end || n <= 0)
        n = platform_columns(fd);
    return n <= 0 ? SCREEN_USUAL : n < LEAST ? LEAST : n > MOST ? MOST : (int)n;
}

struct screen screen_of(int fd)
{
    if (!isatty(fd))
        return (struct screen){.utf8 = platform_utf8()};
    const char *const no = getenv("NO_COLOR"), *const term = getenv("TERM");
    const bool dumb = term && !strcmp(term, "dumb");
    return (struct screen){
        .columns = columns_of(fd), .utf8 = platform_utf8(), .color = !dumb && !(no && *no), .dumb = dumb};
}

// Returns the length in bytes of the colour sequence that begins at p; 0: none does.
static size_t color_length(const char *p, size_t len)
{
    const char *const end = len > 1 && p[0] == '\033' && p[1] == '[' ? memchr(p, 'm', len) : NULL;
    return end ? (size_t)(end - p) + 1 : 0;
}

// Returns how many bytes of a line, which is not empty, fit into `columns`. A line that is too long ends at a blank
// behind punctuation or two blanks, if it then takes a third of the columns; else at the last blank; else anywhere. The
// blanks must stand outside of quotes.
static size_t part_length(const char *line, size_t len, int columns)
{
    size_t part = 0, blank = 0;
    bool quoted = false;
    int used = 0;
    for (size_t at = 0, bytes; at < len; at += bytes) {
        bytes = color_length(line + at, len - at);
        if (bytes)
            continue;
        used += (int)text_columns((const unsigned char *)line + at, len - at, &bytes);
        if (used > columns)
            return part ? part : blank ? blank : at;
        const char c = line[at], before = at ? line[at - 1] : ' ';
        if (c == '\\' && at + 1 < len && line[at + 1] > ' ') { // an escape, perhaps of a quote
            bytes++;
            used++;
        }
        quoted ^= c == '"';
        if (c != ' ' || quoted || used <= SCREEN_INDENT)
            continue;
        blank = at;
        if (3 * used >= columns && strchr(" ;,:)", before))
            part = at;
    }
    return len;
}

static void fold_line(struct builder *b, const char *line, size_t len, int columns)
{
    for (int indent = 0; len; indent = SCREEN_INDENT) {
        size_t n = len > (size_t)(columns - indent) ? part_length(line, len, columns - indent) : len;
        size_t shown = n;
        while (n < len && shown && line[shown - 1] == ' ')
            shown--;
        builder_pad(b, ' ', (size_t)indent);
        builder_bytes(b, line, shown);
        builder_byte(b, '\n');
        for (; n < len && line[n] == ' '; n++) {
        }
        line += n;
        len -= n;
    }
}

void screen_fold(struct builder *b, const char *text, size_t len, int columns)
{
    const char *const end = text + len;
    while (text < end) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text)), *const stop = newline ? newline : end;
        if (stop == text)
            builder_byte(b, '\n');
        fold_line(b, text, (size_t)(stop - text), columns);
        text = stop + 1;
    }
}
