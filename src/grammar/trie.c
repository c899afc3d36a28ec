// SPDX-License-Identifier: MIT
#include "grammar/trie.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_NODE UINT32_MAX

uint64_t trie_kind(unsigned char byte)
{
    const unsigned kind = byte >= 0x80   ? 63
                          : byte == '\n' ? 62
                          : byte < 0x20  ? 0
                          : byte < 0x30  ? 1 + byte - 0x20u        // 1 to 16: each sign its own
                          : byte < 0x3a  ? 17                      // digits
                          : byte < 0x41  ? 18 + byte - 0x3au       // 18 to 24
                          : byte < 0x5b  ? 25 + (byte - 0x41u) / 2 // 25 to 37: letters in pairs
                          : byte < 0x61  ? 38 + byte - 0x5bu       // 38 to 43
                          : byte < 0x7b  ? 44 + (byte - 0x61u) / 2 // 44 to 56
                                         : 57 + byte - 0x7bu;       // 57 to 61
    return UINT64_C(1) << kind;
}

struct piece trie_text(const struct vocab *v, uint32_t id)
{
    struct piece t = vocab_text(v, id);
    const unsigned char *const nul = t.len ? memchr(t.p, 0, t.len) : NULL;
    if (nul)
        t.len = (size_t)(nul - t.p);
    return t;
}

struct entry {
    uint64_t head; // the text's first 8 bytes, as a number that sorts like them
    struct piece text;
    uint32_t id;
};

static uint64_t head_of(struct piece t)
{
    uint64_t head = 0;
    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < t.len ? t.p[i] : 0);
    return head;
}

static int by_text(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    const size_t len = x->text.len < y->text.len ? x->text.len : y->text.len;
    const int order = len ? memcmp(x->text.p, y->text.p, len) : 0;
    if (order || x->text.len != y->text.len)
        return order ? order : x->text.len < y->text.len ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

// Sorts by head with one counting sort for each of its bytes, the last byte first; equal heads keep their order. `to`
// is scratch of n entries. Returns the array that holds the result: `entry` or `to`.
static struct entry *sort_by_head(struct entry *entry, struct entry *to, size_t n)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < n; i++)
            start[1 + (entry[i].head >> shift & 0xff)]++;
        for (unsigned b = 0; b < 256; b++)
            start[b + 1] += start[b];
        for (size_t i = 0; i < n; i++)
            to[start[entry[i].head >> shift & 0xff]++] = entry[i];
        struct entry *const from = entry;
        entry = to;
        to = from;
    }
    return entry;
}

// Sorts n entries by text, then by id. `entry` has room for 2 n. Returns the sorted array, a half of `entry`.
//
// qsort alone would compare two texts n log n times, half of the time that a trie of 128,000 tokens takes. Most texts
// differ within 8 bytes. Eight counting passes over these bytes settle them, and qsort gets only the runs of entries
// with equal heads. The order is the same: heads order texts as their first 8 bytes do (a NUL never occurs in a text,
// so a shorter text comes first), and the passes keep ids in order, in which the entries come.
static struct entry *sort_entries(struct entry *entry, size_t n)
{
    entry = sort_by_head(entry, entry + n, n);
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && entry[i + run].head == entry[i].head; run++)
            ;
        if (run > 1)
            qsort(entry + i, run, sizeof *entry, by_text);
    }
    return entry;
}

// Lists the tokens that have a text as entries, and those that end a generation in t->end.
static void list_tokens(struct trie *t, struct entry *entry)
{
    for (uint32_t id = 0; id < t->v->n; id++) {
        const struct piece text = trie_text(t->v, id);
        if (vocab_ends(t->v, id)) {
            t->end[t->n_end++] = id;
        } else if (text.len) {
            entry[t->n_tokens++] = (struct entry){head_of(text), text, id};
            t->depth = text.len > t->depth ? text.len : t->depth;
        }
    }
}

// Returns how many bytes the text of entry i shares with the text of the entry before it.
static size_t shared_prefix(const struct entry *entry, size_t i)
{
    size_t n = 0;
    if (i)
        while (n < entry[i].text.len && n < entry[i - 1].text.len && entry[i].text.p[n] == entry[i - 1].text.p[n])
            n++;
    return n;
}

// Closes the open nodes from depth `keep` on, the deepest first: their subtrees end before node t->n. Adds the kinds
// and height of each to its parent. Until a node is closed, its skip is the index of its parent. Returns the deepest
// node that stays open, or NO_NODE.
static uint32_t close_nodes(struct trie *t, uint32_t at, size_t keep)
{
    while (at != NO_NODE && t->node[at].depth >= keep) {
        struct trie_node *const node = &t->node[at];
        at = node->skip;
        node->skip = (uint32_t)t->n;
        if (at != NO_NODE) {
            struct trie_node *const parent = &t->node[at];
            const unsigned char height = node->height < 255 ? node->height + 1 : 255;
            parent->height = height > parent->height ? height : parent->height;
            parent->kinds |= node->kinds;
        }
    }
    return at;
}

// Makes the nodes of the sorted texts. A text adds a node for each byte that it does not share with the text before
// it. False when memory is short.
static bool add_nodes(struct trie *t, const struct entry *entry)
{
    size_t nodes = 0;
    uint32_t open = NO_NODE;
    for (size_t i = 0; i < t->n_tokens; i++)
        nodes += entry[i].text.len - shared_prefix(entry, i);
    t->node = calloc(nodes + 1, sizeof *t->node);
    if (!t->node)
        return false;
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        const struct piece text = entry[i].text;
        uint32_t depth = (uint32_t)shared_prefix(entry, i);
        open = close_nodes(t, open, depth);
        for (; depth < text.len; depth++) {
            t->node[t->n] = (struct trie_node){open, i, trie_kind(text.p[depth]), depth, text.p[depth], 1};
            open = (uint32_t)t->n++;
        }
        t->token[i] = entry[i].id;
    }
    assert(t->n == nodes);
    close_nodes(t, open, 0);
    t->node[t->n] = (struct trie_node){.skip = (uint32_t)t->n, .token = (uint32_t)t->n_tokens};
    return true;
}

struct trie *trie_new(const struct vocab *v)
{
    struct trie *const t = calloc(1, sizeof *t);
    struct entry *const entry = calloc(2 * v->n + 1, sizeof *entry);
    bool ok =
        t && entry && (t->token = calloc(v->n + 1, sizeof *t->token)) && (t->end = calloc(v->n + 1, sizeof *t->end));
    if (ok) {
        t->v = v;
        list_tokens(t, entry);
        ok = add_nodes(t, sort_entries(entry, t->n_tokens));
    }
    free(entry);
    if (ok)
        return t;
    trie_free(t);
    return NULL;
}

void trie_free(struct trie *t)
{
    if (!t)
        return;
    free(t->node);
    free(t->token);
    free(t->end);
    free(t);
}
