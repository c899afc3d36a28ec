// SPDX-License-Identifier: MIT
// Text that grows. What goes wrong sticks, so that a writer adds all it has and looks once, at the end: when memory is
// short, `failed` is set; when a text would grow beyond `most`, `full` is. Either way the text keeps what it had, and
// nothing is added any more.
#ifndef SAMPL_BASE_BUILDER_H
#define SAMPL_BASE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A zeroed struct is an empty text without a limit; `most` may be set before the first addition.
struct builder {
    char *text;  // [len], and a NUL behind it; NULL before the first addition. free() it, or call builder_free
    size_t len;  // in bytes
    size_t cap;  // room at text
    size_t most; // that len may come to; 0: no limit
    bool failed, full;
};

void builder_free(struct builder *b);

// Empties the text and keeps its memory and its limit.
void builder_clear(struct builder *b);

// Returns whether all of it was added.
static inline bool builder_whole(const struct builder *b) { return !b->failed && !b->full; }

// Add to the text, all or nothing. An addition of no bytes makes text a string, too.
void builder_add(struct builder *b, const void *bytes, size_t len);
void builder_pad(struct builder *b, char byte, size_t n);               // n times
void builder_int(struct builder *b, int64_t x, int width);              // in decimal, with blanks before it
void builder_fixed(struct builder *b, double x, int digits, int width); // as printf's %*.*f does; digits: 1 to 6
void builder_float(struct builder *b, float x);                         // as number_text does
void builder_character(struct builder *b, uint32_t point);              // its UTF-8
__attribute__((format(printf, 2, 3))) void builder_format(struct builder *b, const char *format, ...); // as printf does

// builder_add without a call for a text that fits into the room that is left.
static inline void builder_bytes(struct builder *b, const void *bytes, size_t len)
{
    if (!b->text || b->most || !builder_whole(b) || len >= b->cap - b->len) {
        builder_add(b, bytes, len);
        return;
    }
    if (len)
        memcpy(b->text + b->len, bytes, len);
    b->len += len;
    b->text[b->len] = '\0';
}

static inline void builder_byte(struct builder *b, char byte) { builder_bytes(b, &byte, 1); }

static inline void builder_string(struct builder *b, const char *s) { builder_bytes(b, s, strlen(s)); }

// Add a text of any bytes as a JSON string, in quotes. U+FFFD replaces each byte that is not UTF-8. In the string for a
// page, the characters < > & and hidden ones are escaped, too, so that HTML takes the string for no tag.
void builder_json(struct builder *b, const void *text, size_t len);
void builder_json_page(struct builder *b, const void *text, size_t len);

#endif
