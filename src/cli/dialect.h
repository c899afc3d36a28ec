// SPDX-License-Identifier: MIT
// Presets of SillyTavern, KoboldCpp, text-generation-webui, transformers, Ollama, LM Studio, llama-server and what
// talks to it, and of sampl's own --print-chain=json. A file's dialect is recognised by its content, see
// sampl-formats(5).
#ifndef SAMPL_CLI_DIALECT_H
#define SAMPL_CLI_DIALECT_H

#include "cli/foreign.h"

extern const struct dialect dialects[]; // ends with one without a name; of several that claim a file the first has it

// Makes options of a text[0..len), with a NUL behind it, that is no preset of sampl's: fills f->words and f->lacking,
// which the caller frees either way. options, vocab and e of f are set before. section: of the file; NULL: none is
// named. False with *e.
bool dialect_read(struct foreign *f, const char *text, size_t len, const char *section);

#endif
