// SPDX-License-Identifier: MIT
#include "grammar/trie.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

// Sorts by head, byte by byte from the last; equal heads stay in order. to has room for n as well. Returns the array with the result.
static struct entry *by_head(struct entry *entry, struct entry *to, size_t n)
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

// By text, then id, the order in which they come. By head first, which tells most apart. entry has room for 2 n.
static struct entry *sort_entries(struct entry *entry, size_t n)
{
    entry = by_head(entry, entry + n, n);
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && entry[i + run].head == entry[i].head; run++)
            ;
        if (run > 1)
            qsort(entry + i, run, sizeof *entry, by_text);
    }
    return entry;
}

// Lists the tokens with a text, and those that end a generation.
static bool list_tokens(struct trie *t, struct entry **entry)
{
    const struct vocab *const v = t->v;
    *entry = calloc(2 * v->n + 1, sizeof **entry);
    t->token = calloc(v->n + 1, sizeof *t->token);
    t->end = calloc(v->n + 1, sizeof *t->end);
    if (!*entry || !t->token || !t->end)
        return false;
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece text = trie_text(v, id);
        if (vocab_ends(v, id))
            t->end[t->n_end++] = id;
        else if (text.len)
            (*entry)[t->n_tokens++] = (struct entry){head_of(text), text, id};
    }
    return true;
}

// How far two texts agree.
static size_t common(struct piece a, struct piece b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.p[n] == b.p[n])
        n++;
    return n;
}

// Ends the subtrees of the path's nodes at depth `keep` and below, deepest first, and tells their parents what was in them.
static void close_path(struct trie *t, uint32_t *path, size_t *len, size_t keep)
{
    while (*len > keep) {
        const uint32_t at = path[--*len];
        t->node[at].skip = (uint32_t)t->n;
        if (!*len)
            break;
        const uint32_t above = path[*len - 1];
        const unsigned char height = t->height[at] < 255 ? t->height[at] + 1 : 255;
        t->bytes[above] |= t->bytes[at];
        t->height[above] = height > t->height[above] ? height : t->height[above];
    }
}

static bool add_node(struct trie *t, uint32_t depth, unsigned char byte, uint32_t token)
{
    assert(depth < 1 << 24 && byte);
    if (!mem_grow(&t->node, &t->node_cap, t->n + 2, sizeof *t->node) ||
        !mem_grow(&t->bytes, &t->bytes_cap, t->n + 1, sizeof *t->bytes) || !mem_grow(&t->height, &t->height_cap, t->n + 1, 1))
        return false;
    t->node[t->n] = (struct trie_node){.token = token, .depth = depth & 0xffffff, .byte = byte};
    t->height[t->n] = 1;
    t->bytes[t->n++] = trie_kind(byte);
    return true;
}

static bool build(struct trie *t, const struct entry *entry, uint32_t *path)
{
    size_t len = 0;
    if (!mem_grow(&t->node, &t->node_cap, 1, sizeof *t->node))
        return false;
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        const struct piece text = entry[i].text;
        close_path(t, path, &len, i ? common(text, entry[i - 1].text) : 0);
        for (; len < text.len; len++) {
            path[len] = (uint32_t)t->n;
            if (!add_node(t, (uint32_t)len, text.p[len], i))
                return false;
        }
        t->token[i] = entry[i].id;
    }
    close_path(t, path, &len, 0);
    t->node[t->n] = (struct trie_node){.skip = (uint32_t)t->n, .token = (uint32_t)t->n_tokens};
    return true;
}

struct trie *trie_new(const struct vocab *v)
{
    struct trie *const t = calloc(1, sizeof *t);
    struct entry *entry = NULL;
    uint32_t *path = NULL;
    bool ok = t;
    if (ok) {
        t->v = v;
        ok = list_tokens(t, &entry);
    }
    for (size_t i = 0; ok && i < t->n_tokens; i++)
        t->depth = entry[i].text.len > t->depth ? entry[i].text.len : t->depth;
    if (ok) {
        path = calloc(t->depth + 1, sizeof *path);
        ok = path && t->depth < 1 << 24 && build(t, sort_entries(entry, t->n_tokens), path);
    }
    free(path);
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
    free(t->bytes);
    free(t->height);
    free(t->token);
    free(t->end);
    free(t);
}
