// SPDX-License-Identifier: MIT
// JSON text as a window on a source, read once and forwards; and arrays of numbers, the data plane of JSON input.
#ifndef SAMPL_IN_JSON_TEXT_H
#define SAMPL_IN_JSON_TEXT_H

#include "in/source.h"

struct json_text {
    struct source *source;
    const char *p, *end; // the part of the input in view; p is the present place
    const char *origin;  // where the view began; source->offset is its place in the input
};

// Brings at least `want` bytes into view, fewer only at the end of the input. What was in view may move.
bool json_view(struct json_text *t, size_t want, struct err *e);

// Lets go of what lies before the present place.
void json_release(struct json_text *t);

// The present place, in bytes from the start of the input.
uint64_t json_place(const struct json_text *t);

// The error that something else was expected here. Returns false.
bool json_syntax(const struct json_text *t, const char *expected, struct err *e);

static inline bool json_is_space(const char *p, const char *end)
{
    return p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t');
}

// The next byte that is not white space, which is not taken; 0 at the end of the input.
bool json_next_byte(struct json_text *t, char *c, struct err *e);

// The same behind the byte at hand, which stays in view.
bool json_byte_inside(struct json_text *t, char *c, struct err *e);

struct json_numbers {
    float *x; // [n]
    size_t n, cap;
};

struct json_ids {
    uint32_t *id; // [n]
    size_t n, cap;
};

// Read an array, from its '[' on: of numbers, where `null` and -Infinity are masked, -inf, and NaN and Infinity are themselves; of token
// ids, whole numbers without sign, point or exponent.
bool json_read_numbers(struct json_text *t, struct json_numbers *a, struct err *e);
bool json_read_ids(struct json_text *t, struct json_ids *a, struct err *e);

// The token id that is written from p up to stop as JSON writes whole numbers, or -1.
int64_t json_id(const char *p, const char *stop);

#endif
