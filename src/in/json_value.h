// SPDX-License-Identifier: MIT
// The values of a JSON input, in parts: arrays of numbers are read here, the other members of an object by cJSON.
#ifndef SAMPL_IN_JSON_VALUE_H
#define SAMPL_IN_JSON_VALUE_H

#include "base/builder.h"
#include "in/json_text.h"
#include "in/sparse.h"

struct cJSON;

// The kind of numbers that an object holds.
enum plane { PLANE_NONE, PLANE_IDS, PLANE_LOGITS, PLANE_LOGPROBS, PLANE_PROBS };

// An array of positions in a server's reply. Each position may list the whole vocabulary, so that the array may have
// gigabytes. An object with such an array is read in pieces, to keep memory constant. Most servers write members behind
// the array that its tokens need: ids, texts, or the prompt. What stands behind it is then looked for before the first
// piece ends, and each piece has it.
struct long_array {
    const char *member, *name; // of the object, and of the array in it
    size_t depth;              // brackets that are open around the array, without the object's
    const char *close;         // closes the array, those brackets and the object, if its tokens have ids; or NULL
    bool alone;                // the tokens always have ids
};

// An array of numbers, or an object. Its memory is kept from value to value. A zeroed struct is ready.
struct json_value {
    enum plane plane;  // of the numbers; PLANE_NONE: there are none, as in a server's reply
    struct sparse row; // the numbers; and the ids, if any
    bool has_ids;
    size_t n_ids;
    bool paired;         // json_value_pair has moved the numbers to the tree
    struct builder text; // the object as text, with 0 in place of each array of numbers or ids
    struct cJSON
        *tree; // the parsed text, until the next value is read; NULL for an array, or an object of numbers only

    // A long reply is read in pieces. Each piece is the object with some elements of its long array.
    bool more;                      // another piece of the object follows
    bool continued;                 // this piece is not the first
    const struct long_array *array; // the long array, once it has begun, or NULL
    size_t before;                  // elements of the long array in the pieces before this one
    size_t n_all;                   // elements of the whole long array, if has_tail

    // For json_value.c.
    struct builder tail; // if has_tail, what stands behind the long array
    size_t member_at;    // where in text the name of the current member begins
    size_t array_at;     // where in text the first element of the long array begins
    size_t n_elements;   // of the long array, as far as they were read
    unsigned seen;       // bits of the arrays that have begun
    bool in_array;       // the long array has not ended yet
    bool alone;          // the elements of the long array need no member from behind it
    bool looked;         // the tail was looked for
    bool has_tail;
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

// If an object of numbers has flat ids or texts of tokens beside them, under another name than "ids", puts the numbers
// into the tree, where the reader of replies finds both; the object then holds no numbers of its own.
bool json_value_pair(struct json_value *v, struct err *e);

void json_value_free(struct json_value *v);

// Returns the token id that p[0..stop - p) spells as JSON spells whole numbers, or -1.
int64_t json_written_id(const char *p, const char *stop);

#endif
