// SPDX-License-Identifier: MIT
// The texts of a vocabulary as a trie over bytes, laid out in the order of a walk, so that going through it is going
// through arrays. Built once, const from then on. A text ends before its first NUL, as it does for llama.cpp.
// End-of-generation tokens and tokens without a text are not in it.
#ifndef SAMPL_GRAMMAR_TRIE_H
#define SAMPL_GRAMMAR_TRIE_H

#include "vocab/vocab.h"

struct trie_node {
    uint32_t skip; // the node after this one's subtree
    uint32_t
        token; // where in trie.token its tokens begin, then those of its subtree; they end where the next node's begin
    uint32_t depth : 24; // nodes above it
    uint32_t byte : 8;
};

struct trie {
    const struct vocab *v;
    struct trie_node *node; // [n + 1] parents before children; the last one only ends lists
    uint64_t *bytes;        // [n] kinds of byte in the subtree, the node's own included: the union of trie_kind's
    unsigned char *height;  // [n] levels of the subtree, 255 for more
    size_t n;
    uint32_t *token; // [n_tokens] ids, by text
    size_t n_tokens;
    uint32_t *end; // [n_end] end-of-generation tokens
    size_t n_end;
    size_t depth; // of the deepest node, plus 1
};

#define TRIE_OTHER (UINT64_C(1) << 63) // the kind of all bytes from 128 on

// Bytes that texts use alike share a kind, one bit of 64: a mask that says of each subtree what is in it.
uint64_t trie_kind(unsigned char byte);

// v outlives the trie. NULL when memory is short.
struct trie *trie_new(const struct vocab *v);
void trie_free(struct trie *t);

// A token's text as the grammar sees it: empty for one that matches nothing.
struct piece trie_text(const struct vocab *v, uint32_t id);

#endif
