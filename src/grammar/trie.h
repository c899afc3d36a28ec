// SPDX-License-Identifier: MIT
// The texts of a vocabulary as a trie over bytes. Nodes stand in the order of a walk: parents before children,
// siblings by byte. A walk that skips subtrees therefore only moves forward in one array. A trie is const once it is
// built.
//
// A text ends before its first NUL, as it does for llama.cpp. End-of-generation tokens and tokens without a text are
// not in the trie.
#ifndef SAMPL_GRAMMAR_TRIE_H
#define SAMPL_GRAMMAR_TRIE_H

#include "vocab/vocab.h"

struct trie_node {
    uint32_t skip;        // index of the node behind this node's subtree
    uint32_t token;       // index in trie.token of the tokens with this text, then of those in its subtree
    uint64_t kinds;       // of the node's byte and of all bytes in its subtree: the union of trie_kind
    uint32_t depth;       // number of nodes above it
    unsigned char byte;   // the last byte of its text
    unsigned char height; // levels of its subtree, the node's own included; 255 for more
};

// The tokens of node i are token[node[i].token .. node[i + 1].token); those of its subtree, the node's own included,
// end at node[node[i].skip].token.
struct trie {
    const struct vocab *v;
    struct trie_node *node; // [n + 1] the last one only ends lists
    size_t n;
    uint32_t *token; // [n_tokens] ids, by text
    size_t n_tokens;
    uint32_t *end; // [n_end] end-of-generation tokens
    size_t n_end;
    size_t depth; // levels of the trie: bytes of the longest text
};

#define TRIE_OTHER (UINT64_C(1) << 63) // the kind of all bytes from 128 on

// Returns the kind of a byte: one bit of 64. Bytes that texts use alike share a kind, so that one word can hold the
// kinds of a whole subtree.
uint64_t trie_kind(unsigned char byte);

// Builds the trie of a vocabulary, which must outlive it. NULL when memory is short.
struct trie *trie_new(const struct vocab *v);
void trie_free(struct trie *t);

// Returns a token's text up to its first NUL. A token with an empty text matches nothing.
struct piece trie_text(const struct vocab *v, uint32_t id);

#endif
