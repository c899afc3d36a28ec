// SPDX-License-Identifier: MIT
// Vocabularies from files: GGUF models, Hugging Face's tokenizer.json and vocab.json, and plain text.
#ifndef SAMPL_IN_VOCAB_FILE_H
#define SAMPL_IN_VOCAB_FILE_H

#include "in/source.h"
#include "vocab/vocab.h"

// A kind of file: one file vocab_NAME.c and one row in vocab_file.c.
struct vocab_format {
    const char *ending; // of file names, when the content does not tell

    // Do these first bytes of a file (64 or all) belong to this kind?
    bool (*probe)(const unsigned char *head, size_t len);

    // Reads the source into v, which is empty. Errors need no file name.
    bool (*load)(struct vocab *v, struct source *s, struct err *e);
};

extern const struct vocab_format vocab_gguf, vocab_json;

// Fills v, which must not hold anything, from the file at path; "-" is standard input. v must be freed either way.
// Errors need no option's name.
bool vocab_load(struct vocab *v, const char *path, struct err *e);

#endif
