// SPDX-License-Identifier: MIT
// Sets of characters, and how they are written within a JSON string.
#ifndef SAMPL_SCHEMA_CHARSET_H
#define SAMPL_SCHEMA_CHARSET_H

#include "schema/text.h"

#define CHAR_MOST 0x10ffffu

struct char_range {
    uint32_t first, last;
};

// In order, without overlap, once charset_tidy has been called.
struct charset {
    struct char_range *r; // [n]
    size_t n, cap;
};

void charset_free(struct charset *s);
bool charset_add(struct charset *s, uint32_t first, uint32_t last); // false: memory is short
void charset_tidy(struct charset *s);

// Turns a tidy set into its complement, which is tidy.
bool charset_invert(struct charset *s);

// A GBNF expression, bracketed where need be, for one character of the tidy set as a JSON string spells it: as itself, or, where it has
// to be, escaped. A set that is empty comes out as a class without members.
bool charset_write(const struct charset *s, struct text *t);

// Adds a character's UTF-8.
void text_character(struct text *t, uint32_t c);

// The character at *s, which is UTF-8 and not at its end; moves on.
uint32_t next_character(const char **s);

#endif
