// SPDX-License-Identifier: MIT
// The header of safetensors files: a JSON directory of named tensors.
#ifndef SAMPL_IN_SAFETENSORS_H
#define SAMPL_IN_SAFETENSORS_H

#include "in/input.h"

#include <cjson/cJSON.h>

enum { NAME_SHOWN = 60 }; // bytes of a tensor's name in a message

// The arguments that '%.*s' needs to show a tensor's name.
#define SHOWN(NAME) err_clip(NAME, NAME_SHOWN), (NAME)

// Reads the directory of a file of format f, which is safetensors, to *root, which the caller deletes, and skips it.
bool safetensors_header(const struct format *f, struct source *s, cJSON **root, struct err *e);

// Reads the i-th element of an array, which must be a whole number.
bool safetensors_whole(const cJSON *array, int i, uint64_t *v);

// Reads a tensor's data_offsets, which must be `want` bytes apart. *begin: bytes from the end of the header to the
// numbers.
bool safetensors_data(const cJSON *tensor, uint64_t want, uint64_t *begin, struct err *e);

#endif
