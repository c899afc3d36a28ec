// SPDX-License-Identifier: MIT
// The metadata of GGUF files, versions 2 and 3 (sampl-input(5)): pairs of a key and a value, then a directory of
// tensors.
#ifndef SAMPL_IN_GGUF_H
#define SAMPL_IN_GGUF_H

#include "in/source.h"

enum { GGUF_KEY = 64 }; // room for the keys that are read

// GGUF's value types.
enum {
    TYPE_U32 = 4,
    TYPE_I32 = 5,
    TYPE_F32 = 6,
    TYPE_BOOL = 7,
    TYPE_STRING = 8,
    TYPE_ARRAY = 9,
    TYPE_F64 = 12,
    TYPES = 13
};

// Returns the bytes of a value; 0: they vary.
size_t gguf_size(uint32_t type);

// Where a value is in the file.
struct gguf_value {
    bool given;
    uint32_t elements; // type of an array's elements
    uint64_t n;        // bytes of a string, elements of an array, else 1
    size_t at;         // offset of the bytes or elements, behind type and number
};

// The file, read from its start. After a failure, no function reads any more: numbers are then 0 and values empty.
struct gguf {
    struct source *source;
    const unsigned char *p; // [have] the file as far as it was peeked
    size_t have, at;        // at: offset of the current byte
    bool ok;                // nothing failed
    struct err *e;          // the error if not ok
};

// Returns true if a file that begins with these bytes is GGUF; also for a file that ends inside the magic.
bool gguf_probe(const unsigned char *head, size_t len);

// Reads the beginning of the file: the numbers of tensors and of pairs.
void gguf_begin(struct gguf *g, uint64_t *tensors, uint64_t *pairs);

// Reads a number of `size` bytes.
uint64_t gguf_integer(struct gguf *g, size_t size);

// Reads the key of a pair, or the name of a tensor. A key that is longer than `key`, or holds a NUL, becomes empty.
void gguf_key(struct gguf *g, char key[GGUF_KEY]);

// Reads the type of a value.
uint32_t gguf_type(struct gguf *g);

// Skips a value and returns where it is. depth: how many arrays are open, with this one; at least 1.
struct gguf_value gguf_pass(struct gguf *g, uint32_t type, int depth);

#endif
