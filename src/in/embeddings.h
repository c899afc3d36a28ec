// SPDX-License-Identifier: MIT
// Embedding matrices from files, for --scatter-embeddings: safetensors, npy and GGUF (sampl-input(5)).
#ifndef SAMPL_IN_EMBEDDINGS_H
#define SAMPL_IN_EMBEDDINGS_H

#include "base/err.h"
#include "sample/embeddings.h"

// Opens a file of vectors: fills *m but for the metric. The file stays mapped, so that only vectors that are looked at
// are read; what cannot be mapped is read as far as the matrix goes. file outlives *owner, which embeddings_close
// frees, also after an error, unless it is NULL. "-" is standard input. Errors name the file.
bool embeddings_open(struct embeddings *m, void **owner, const char *file, struct err *e);
void embeddings_close(void *owner);

#endif
