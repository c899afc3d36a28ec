// SPDX-License-Identifier: MIT
// JSON text, read once and forwards from a source.
#ifndef SAMPL_IN_JSON_TEXT_H
#define SAMPL_IN_JSON_TEXT_H

#include "in/source.h"

struct kern;

// If reading fails or memory is short, the text ends: each function then behaves as at the end of the input. The reader
// of a value looks at `failed` once, when it is done; if `failed` is set, `error` is the error, whatever else was
// reported.
struct json_text {
    struct source *source;
    const struct kern *kern; // of the SIMD tier that reads numbers
    const char *p, *end;     // the bytes of the input from the current byte on, as far as they were peeked
    const char *origin;      // the byte at source->offset; the bytes from origin to p are not skipped yet
    bool inside_line;        // the line of *origin has other bytes than white space before it
    bool failed;
    struct err error; // if failed
};

// Peeks at least `want` bytes from the current one on, fewer only at the end of the input. Returns how many there are.
// t->p may move.
size_t json_peek(struct json_text *t, size_t want);

// Skips the bytes before the current one in the source.
void json_discard(struct json_text *t);

// Returns true if only white space precedes the current byte on its line.
bool json_begins_line(struct json_text *t);

// Skips the rest of the line, up to its newline.
void json_skip_line(struct json_text *t);

// Returns the offset of the current byte in the input.
uint64_t json_offset(const struct json_text *t);

// Returns whether the text goes on as Python prints what JSON does not have: 'text', None, True, nan, Logprob(...).
bool json_is_python(const struct json_text *t);

// Sets the error that `expected` should begin at the current byte. Returns false.
bool json_syntax(struct json_text *t, const char *expected, struct err *e);

static inline bool json_is_space(const char *p, const char *end)
{
    return p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t');
}

// Skips white space and returns the byte behind it, which becomes the current one; 0 at the end of the input.
char json_next_byte(struct json_text *t);

// If the input goes on with `text`, skips that and returns true.
bool json_accept(struct json_text *t, const char *text);

// Skips white space from t->p + *i on: advances *i to the next other byte and returns that byte; 0 at the end of the
// input. t->p stays at the same byte.
char json_byte_from(struct json_text *t, size_t *i);

// Returns true if the input goes on with `text` from t->p + from on. Looks at no byte behind the first that differs,
// because a pipe may not have it yet.
bool json_text_at(struct json_text *t, size_t from, const char *text);

// Peeks the word that the input goes on with: bytes that are in `chars`, at most `most`. Returns its length. Looks only
// at the word and the byte behind it, so that a row from a pipe is answered as soon as it is complete.
size_t json_peek_word(struct json_text *t, const char *chars, size_t most);

// Ends the text because reading failed; the caller sets t->error.
void json_fail(struct json_text *t);

#endif
