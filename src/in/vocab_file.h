// SPDX-License-Identifier: MIT
// Vocabularies from files: GGUF models, Hugging Face's tokenizer.json and vocab.json, and plain text.
#ifndef SAMPL_IN_VOCAB_FILE_H
#define SAMPL_IN_VOCAB_FILE_H

#include "in/source.h"
#include "vocab/vocab.h"

// A kind of file: one file vocab_NAME.c and one row in vocab_file.c.
struct vocab_format {
    const char *ending; // of file names, for a file whose content does not tell its kind

    // Returns true if a file of this kind may begin with these bytes: the first 64 of the file, or all.
    bool (*probe)(const unsigned char *head, size_t len);

    // Adds the tokens of the source to v, which is empty, and sets v->eos and v->eot if the file names them; vocab_load
    // calls vocab_finish. Errors need no file name.
    bool (*load)(struct vocab *v, struct source *s, struct err *e);
};

extern const struct vocab_format vocab_gguf, vocab_json;

// Reads the vocabulary at path; "-" is standard input. v may be uninitialised. The caller frees v with vocab_free, also
// after an error. Errors name the file.
bool vocab_load(struct vocab *v, const char *path, struct err *e);

#endif
