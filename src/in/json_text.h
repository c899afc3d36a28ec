// SPDX-License-Identifier: MIT
// JSON text as a window on a source, read once and forwards; and the values of the input, taken apart: long arrays of
// numbers by our own reader, the rest of objects by cJSON.
#ifndef SAMPL_IN_JSON_TEXT_H
#define SAMPL_IN_JSON_TEXT_H

#include "base/builder.h"
#include "in/source.h"
#include "in/sparse.h"

struct cJSON;
struct kern;

// When the source fails or memory is short, the text ends: whoever reads on comes upon an end, and nothing that is said
// of it counts but `error`, which is looked at once, when all is done.
struct json_text {
    struct source *source;
    const struct kern *kern; // of the numbers
    const char *p, *end;     // the part of the input in view; p is the present place
    const char *origin;      // where the view began; source->offset is its place in the input
    bool failed;
    struct err error; // if failed
};

// Brings at least `want` bytes into view, fewer only at the end of the input, and returns how many are. What was in
// view may move.
size_t json_view(struct json_text *t, size_t want);

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
char json_next_byte(struct json_text *t);

// Returns the next byte, behind the byte at hand, that is not white space. The byte at hand stays in view.
char json_byte_inside(struct json_text *t);

// Does the text at hand begin so? Takes it if it does.
bool json_take(struct json_text *t, const char *text);

// The kind of numbers that an object holds.
enum plane { PLANE_NONE, PLANE_IDS, PLANE_LOGITS, PLANE_LOGPROBS, PLANE_PROBS };

// An array of numbers, or an object. Its memory is kept from value to value. A zeroed struct is ready.
struct json_value {
    enum plane plane;  // which the numbers are; PLANE_NONE: there are none, as in a server's reply
    struct sparse row; // the numbers; and the ids, if any
    bool has_ids;
    size_t n_ids;
    struct builder text; // an object's other members, a 0 in the place of numbers and ids
    struct cJSON *rest;  // what cJSON made of it, until the next value; NULL: it is an array, or has no others

    // A long reply comes in pieces: each is the object with some elements of its array of positions; the last has what
    // follows it, too.
    bool more;             // behind this piece comes another of the same object
    bool follows;          // as this one does
    const struct cut *cut; // the array, once it has begun, or NULL
    size_t member, cut_at; // in the text: the name of the member at hand; the array's first element
    bool amid, has_id;     // it has not ended yet; an element has an id of its own
};

// How many bytes the value at hand has, if it is nothing but an array of numbers, or an object with one as its only
// member, as far as its brackets and the first number tell; else 0.
size_t json_plain_length(struct json_text *t);

// Reads the array or object at hand, from its bracket on. An array holds logits. "logits", "logprobs", "probs" and
// "ids" of an object are numbers unless they are null or hold objects. As numbers, `null` and -Infinity are masked,
// -inf, and NaN and Infinity are themselves; ids are whole numbers without sign, point or exponent. While there is
// more, it reads the next piece, wherever the text stands then.
bool json_read_value(struct json_text *t, struct json_value *v, struct err *e);

void json_value_free(struct json_value *v);

// The token id that is written from p up to stop as JSON writes whole numbers, or -1.
int64_t json_written_id(const char *p, const char *stop);

#endif
