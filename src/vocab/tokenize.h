// SPDX-License-Identifier: MIT
// llama.cpp's tokenizer (release v0.5.0, src/llama-vocab.cpp: tokenizer_st_partition, llm_tokenizer_spm_session and
// llm_tokenizer_bpe_session), exactly where it takes no tables of Unicode. Special tokens are cut out of a text first.
// What is left is tokenized with SentencePiece by the scores of the vocabulary; with byte-level BPE by its merges, if
// every pre-tokenizer leaves it in one piece: one character of ASCII, or an optional space, at most one capital letter,
// then lower-case ASCII letters.
#ifndef SAMPL_VOCAB_TOKENIZE_H
#define SAMPL_VOCAB_TOKENIZE_H

#include "vocab/vocab.h"

#define TOKENIZE_LONGEST 16384 // bytes of a text

// The tokens and merges of a vocabulary by their spelt texts. A zeroed struct is not built.
struct token_tables {
    const struct vocab *vocab;
    struct hash_table texts, merges;
    size_t *merge; // [n_merges] where each begins in vocab->tokenizer.merges
    size_t n_merges;
};

// Builds the tables of v, which must outlive t and not change. v->tokenizer.kind is not TOKENIZER_NONE. Returns false
// if memory is short.
bool token_tables_build(struct token_tables *t, const struct vocab *v);
void token_tables_free(struct token_tables *t);

enum tokenized {
    TOKENIZED,
    TOKENIZE_UNKNOWN, // the text takes more than what is here
    TOKENIZE_MEMORY,
};

// Tokenizes text[0..len) to id[0..*n). kinds: VOCAB_DEFINED, if all other special tokens are plain text; or with
// VOCAB_SPECIAL. id has room for 4 * len + 3.
enum tokenized tokenize(const struct token_tables *t, unsigned kinds, const void *text, size_t len, uint32_t *id,
                        size_t *n);

#endif
