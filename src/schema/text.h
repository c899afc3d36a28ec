// SPDX-License-Identifier: MIT
// A text that grows. A failure sticks: what is added afterwards is lost, and one look at `failed` at the end is enough.
#ifndef SAMPL_SCHEMA_TEXT_H
#define SAMPL_SCHEMA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_MOST ((size_t)8 << 20) // no text grows longer, in bytes

struct text {
    char *p; // [len] and a NUL once anything was added; NULL before
    size_t len, cap;
    bool failed, full; // memory was short; or TEXT_MOST was reached
};

// A zeroed struct is an empty text.
void text_free(struct text *t);

void text_bytes(struct text *t, const void *bytes, size_t len);
void text_string(struct text *t, const char *s);
void text_append(struct text *t, const struct text *more); // its failure too
void text_number(struct text *t, uint64_t n);

// "s" in GBNF, with the quotes.
void text_literal(struct text *t, const char *s);

// The JSON spelling of the string s, with its quotes: what must be escaped is, everything else stands as it is.
void text_json(struct text *t, const char *s);

// `item` at least `min` and at most `max` times, in counts that every GBNF parser takes. max UINT64_MAX: without limit.
void text_repeat(struct text *t, const char *item, uint64_t min, uint64_t max);

#define REPEAT_MOST UINT64_C(1000000000000) // the largest min and the largest limit

#endif
