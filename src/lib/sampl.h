// SPDX-License-Identifier: MIT
// libsampl: llama.cpp's sampler chain, and those of other programs, for a program's own rows of logits. sampl(3).
//
// The ids are those of the program sampl(1), for the same rows, options, seeds and histories. The library opens no
// file, reads no environment, prints nothing and has no global state. A chain and its sequences are used by one thread
// at a time; other chains may be used by other threads meanwhile. A vocabulary that is made may be shared by threads.
// Grammars and schemas need a stack of 2 MB.
//
// Errors: functions return enum sampl_status, or NULL. sampl_error then has the text. No function ends the program.
// Arguments are only read, and may be freed after the call, unless a comment says otherwise.
#ifndef SAMPL_LIB_SAMPL_H
#define SAMPL_LIB_SAMPL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define SAMPL_API __attribute__((visibility("default")))
#else
#define SAMPL_API
#endif

enum sampl_status {
    SAMPL_OK = 0,
    SAMPL_DATA = 1,  // the row, a token or a member of params cannot be used
    SAMPL_USAGE = 2, // a word, the vocabulary or the call is wrong
    SAMPL_SYSTEM = 3 // memory is short, or the system gives no random seed
};

// Returns the version, as "0.4.0".
SAMPL_API const char *sampl_version(void);

// Returns the name of the SIMD tier that all chains use, as "avx2". No result depends on the tier.
SAMPL_API const char *sampl_tier(void);

// ---- a vocabulary, which grammars, biases of texts and breakers of texts need

struct sampl_vocab;

// Makes the vocabulary of n tokens: texts[i] has the bytes of token i, lengths[i] of them. A text that is NULL is a
// control token without a text. lengths NULL: each text ends at a NUL. Texts that end a generation in llama.cpp, such
// as </s>, do so here. The caller frees the vocabulary after all of its chains. NULL: memory is short, or n is above
// 2147483647.
SAMPL_API struct sampl_vocab *sampl_vocab(const char *const *texts, const size_t *lengths, size_t n);
SAMPL_API void sampl_vocab_free(struct sampl_vocab *vocab); // may be NULL

// ---- a chain: the samplers, their parameters and the memory to run them

struct sampl_chain;

// Makes the chain that sampl(1) makes of the options words[0..n), such as {"--top-p", "0.9", "--seed", "7"}. Only
// options of the chain are accepted, and none that opens a file or names a preset. params, unless NULL, is a JSON
// object like the "params" of a row (sampl-input(5)), which then changes the chain. Notes and warnings of sampl(1)
// are left out. vocab may be NULL, and outlives the chain.
// Returns NULL if memory is short. Otherwise the caller frees the result; if sampl_error(result) is not NULL, the words
// or params are wrong, and the result is good for nothing else.
SAMPL_API struct sampl_chain *sampl_chain(const struct sampl_vocab *vocab, const char *const *words, size_t n,
                                          const char *params);
SAMPL_API void sampl_chain_free(struct sampl_chain *chain); // after its sequences; may be NULL

// Returns the text of the error of the last call that concerned the chain or one of its sequences: one sentence, which
// stays until the next such call. NULL: the call succeeded. A chain that is NULL lacks memory.
SAMPL_API const char *sampl_error(const struct sampl_chain *chain);

// ---- a sequence: the accepted tokens, and the state of generators, samplers and grammar

struct sampl_sequence;

// Begins a sequence. Its seed is the chain's seed + offset, unless params named a seed. The program's offsets are 0 for
// one text and for named sequences; the row's number with --independent; and the index of the sequence
// in engines that seed each one. The caller frees it before the chain. NULL with sampl_error on failure.
SAMPL_API struct sampl_sequence *sampl_sequence(struct sampl_chain *chain, uint64_t offset);
SAMPL_API void sampl_sequence_free(struct sampl_sequence *sequence); // may be NULL

// Changes parameters from the next row on, as the "params" of a row do. History and generators go on. If params is
// NULL, or after an error, the parameters are those before.
SAMPL_API int sampl_params(struct sampl_sequence *sequence, const char *params);

// Accepts n tokens of the prompt: they join the history that penalties read, and a grammar does not see them. Must be
// called before the first row. After a failure the sequence can only be freed.
SAMPL_API int sampl_prompt(struct sampl_sequence *sequence, const uint32_t *ids, size_t n);

// Accepts the token that follows the row, chosen by sampl_row or not. Fails with SAMPL_DATA if the token does not fit
// the grammar; the sequence stays as it is.
SAMPL_API int sampl_accept(struct sampl_sequence *sequence, uint32_t id);

// ---- rows

enum sampl_type { SAMPL_F32, SAMPL_F16, SAMPL_BF16 };

enum sampl_flags {
    SAMPL_WANT_P = 1,      // compute the probability of the token; it may take longer than the choice
    SAMPL_WANT_KEPT = 2,   // keep the candidates for sampl_kept
    SAMPL_HAS_POSITION = 4 // `position` is known; otherwise the rows of the sequence are counted
};

struct sampl_row {
    const void *logits;  // [n] at any alignment; -inf masks a token
    const uint32_t *ids; // [n] of a sparse row: the ids of its logits, strictly rising; all other tokens are masked.
                         // NULL: the ids are 0..n-1
    size_t n;            // at least 1
    size_t n_vocab;      // of a sparse row: size of the vocabulary, above every id; 0: that of the chain's, or unknown
    uint32_t type;       // enum sampl_type
    uint32_t flags;      // enum sampl_flags
    uint32_t position;   // of the row in its text, with the prompt
};

struct sampl_token {
    uint32_t id;
    float p; // probability among the candidates that the chain keeps; NaN: not wanted
};

// Chooses the token of a row, and does not accept it. *token is set if the result is SAMPL_OK. After SAMPL_DATA (NaN,
// +inf, no token is left, ...) the generators have the state as after a good row. SAMPL_USAGE: `row` is wrong (n,
// type or ids), and the sequence stays as it is.
SAMPL_API int sampl_row(struct sampl_sequence *sequence, const struct sampl_row *row, struct sampl_token *token);

// Returns the candidates that the chain kept of its last row, by falling probability, then rising id: *n of them, in
// memory of the chain, until its next row. NULL, and *n 0: the row failed, or had no SAMPL_WANT_KEPT.
SAMPL_API const struct sampl_token *sampl_kept(const struct sampl_chain *chain, size_t *n);

#ifdef __cplusplus
}
#endif

#endif
