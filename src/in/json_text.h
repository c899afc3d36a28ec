// SPDX-License-Identifier: MIT
// JSON text, read once and forwards from a source; and the values of the input in parts: arrays of numbers are read
// here, the other members of an object by cJSON.
#ifndef SAMPL_IN_JSON_TEXT_H
#define SAMPL_IN_JSON_TEXT_H

#include "base/builder.h"
#include "in/source.h"
#include "in/sparse.h"

struct cJSON;
struct kern;

// If reading fails or memory is short, the text ends: each function then behaves as at the end of the input. The reader
// of a value looks at `failed` once, when it is done; if `failed` is set, `error` is the error, whatever else was
// reported.
struct json_text {
    struct source *source;
    const struct kern *kern; // of the SIMD tier that reads numbers
    const char *p, *end;     // the bytes of the input from the current byte on, as far as they were peeked
    const char *origin;      // the byte at source->offset; the bytes from origin to p are not skipped yet
    bool failed;
    struct err error; // if failed
};

// Peeks at least `want` bytes from the current one on, fewer only at the end of the input. Returns how many there are.
// t->p may move.
size_t json_peek(struct json_text *t, size_t want);

// Skips the bytes before the current one in the source.
void json_discard(struct json_text *t);

// Returns the offset of the current byte in the input.
uint64_t json_offset(const struct json_text *t);

// Sets the error that `expected` should begin at the current byte. Returns false.
bool json_syntax(const struct json_text *t, const char *expected, struct err *e);

static inline bool json_is_space(const char *p, const char *end)
{
    return p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t');
}

// Skips white space and returns the byte behind it, which becomes the current one; 0 at the end of the input.
char json_next_byte(struct json_text *t);

// Returns the first byte behind the current one that is not white space; 0 at the end of the input. The current byte
// stays.
char json_byte_inside(struct json_text *t);

// If the input goes on with `text`, skips that and returns true.
bool json_accept(struct json_text *t, const char *text);

// The kind of numbers that an object holds.
enum plane { PLANE_NONE, PLANE_IDS, PLANE_LOGITS, PLANE_LOGPROBS, PLANE_PROBS };

// An array of numbers, or an object. Its memory is kept from value to value. A zeroed struct is ready.
struct json_value {
    enum plane plane;  // of the numbers; PLANE_NONE: there are none, as in a server's reply
    struct sparse row; // the numbers; and the ids, if any
    bool has_ids;
    size_t n_ids;
    struct builder text; // the object as text, with 0 in place of each array of numbers or ids
    struct cJSON
        *rest; // the parsed text, until the next value is read; NULL for an array, or an object of numbers only

    // A long reply is read in pieces. Each piece is the object as far as it has been read, with some elements of its
    // long array. The last piece has the members behind the array, too.
    bool more;                      // another piece of the object follows
    bool continued;                 // this piece is not the first
    const struct long_array *array; // the long array, once it has begun, or NULL
    size_t member_at;               // where in text the name of the current member begins
    size_t array_at;                // where in text the first element of the long array begins
    bool in_array;                  // the long array has not ended yet
    bool looked;                    // ids behind the long array were looked for
    bool alone;                     // the elements of the long array need no ids from behind it
};

// Returns the length of the next value if it is an array of numbers, or an object with such an array as its only
// member; else 0. Looks only at the brackets, the member's name and the first byte of the array.
size_t json_plain_length(struct json_text *t);

// Reads an array or object; the current byte is its bracket, or, if v->more, the comma behind the piece before. An
// array holds logits. The members "logits", "logprobs", "probs" and "ids" of an object are arrays of numbers unless
// they are null or hold objects or arrays. `null` and -Infinity mask a token (-inf); NaN and Infinity are read as such
// and reported later. An id is a whole number without sign, point and exponent. Errors have STATUS_DATA, or STATUS_IO
// if memory is short.
bool json_read_value(struct json_text *t, struct json_value *v, struct err *e);

void json_value_free(struct json_value *v);

// Returns the token id that p[0..stop - p) spells as JSON spells whole numbers, or -1.
int64_t json_written_id(const char *p, const char *stop);

#endif
