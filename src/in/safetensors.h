// SPDX-License-Identifier: MIT
// The header of safetensors files: a JSON directory of named tensors.
#ifndef SAMPL_IN_SAFETENSORS_H
#define SAMPL_IN_SAFETENSORS_H

#include "in/input.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { NAME_SHOWN = 60 }; // bytes of a tensor's name in a message

// The arguments that '%.*s' needs to show a tensor's name.
#define SHOWN(NAME) err_clip(NAME, NAME_SHOWN), (NAME)

// A type of numbers, by the name that the directory has for it.
struct tensor_type {
    const char *name;
    size_t size;      // bytes of a number, from 1 to 8
    enum dtype dtype; // of rows of such numbers, which F64 is rounded to
    enum { TENSOR_REAL, TENSOR_SIGNED, TENSOR_UNSIGNED } kind;
};

// Returns the type of this name; NULL: there is none, or name is NULL.
const struct tensor_type *tensor_type_named(const char *name);

// Returns the type of a tensor; NULL if it is not known.
const struct tensor_type *tensor_type_of(const cJSON *tensor);

// Reads the i-th number of an array, a whole one. Numbers above INT64_MAX become negative.
static inline int64_t tensor_whole(const struct tensor_type *type, const unsigned char *array, uint64_t i)
{
    uint64_t bits = 0;
    const unsigned unused = 64 - 8 * (unsigned)type->size;
    memcpy(&bits, array + i * type->size, type->size);
    return type->kind == TENSOR_SIGNED ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

// Reads the i-th number of an array.
double tensor_real(const struct tensor_type *type, const unsigned char *array, uint64_t i);

// Reads the directory of a file of format f, which is safetensors, to *root, which the caller deletes, and skips it.
bool safetensors_header(const struct format *f, struct source *s, cJSON **root, struct err *e);

// Reads the i-th element of an array, which must be a whole number.
bool safetensors_whole(const cJSON *array, int i, uint64_t *v);

// Reads a tensor's data_offsets, which must be `want` bytes apart. *begin: bytes from the end of the header to the
// numbers.
bool safetensors_data(const cJSON *tensor, uint64_t want, uint64_t *begin, struct err *e);

#endif
