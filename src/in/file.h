// SPDX-License-Identifier: MIT
// Small files as a whole.
#ifndef SAMPL_IN_FILE_H
#define SAMPL_IN_FILE_H

#include "base/err.h"

#include <stddef.h>

// Reads path into *text, NUL-terminated, *len bytes without the NUL; the caller frees it.
bool file_slurp(const char *path, char **text, size_t *len, struct err *e);

#endif
