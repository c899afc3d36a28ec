// SPDX-License-Identifier: MIT
// split_check: compares the split of texts into tokens with a search of all splits, in random vocabularies with many equal texts.
#include "random.h"
#include "vocab/split.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 7 };

static size_t random_text(char *text, size_t most)
{
    const size_t len = random_below((unsigned)most + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)random_below(2); // includes NUL
    return len;
}

struct way {
    size_t n;
    uint32_t id[TEXT];
};

// Order: longer tokens first, then fewer byte tokens, then the lower id.
static bool preferred(const struct vocab *v, const struct way *a, const struct way *b)
{
    if (!b->n || a->n != b->n)
        return !b->n || a->n < b->n;
    for (size_t i = 0; i < a->n; i++) {
        const size_t len_a = vocab_text(v, a->id[i]).len, len_b = vocab_text(v, b->id[i]).len;
        if (len_a != len_b)
            return len_a > len_b;
    }
    for (size_t i = 0; i < a->n; i++) {
        const unsigned byte_a = v->flags[a->id[i]] & VOCAB_BYTE, byte_b = v->flags[b->id[i]] & VOCAB_BYTE;
        if (byte_a != byte_b)
            return !byte_a;
        if (a->id[i] != b->id[i])
            return a->id[i] < b->id[i];
    }
    return false;
}

static void search(const struct vocab *v, const char *text, size_t len, struct way *so_far, struct way *best)
{
    if (!len && preferred(v, so_far, best))
        *best = *so_far;
    for (uint32_t id = 0; len && id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        if (!t.len || t.len > len || memcmp(t.p, text, t.len) != 0)
            continue;
        so_far->id[so_far->n++] = id;
        search(v, text + t.len, len - t.len, so_far, best);
        so_far->n--;
    }
}

static int check(size_t n)
{
    struct vocab v;
    char text[TEXT];
    int failed = 0;
    vocab_init(&v);
    for (size_t i = 0; i < n; i++) {
        const size_t len = random_text(text, 4);
        if (!vocab_add(&v, text, len, random_below(3) ? 0 : VOCAB_BYTE))
            return 1;
    }
    for (int i = 0; i < 100; i++) {
        struct way so_far = {0}, best = {0}, got;
        size_t len;
        do
            len = random_text(text, TEXT);
        while (!len);
        search(&v, text, len, &so_far, &best);
        failed += !vocab_split(&v, text, len, got.id, &got.n) || got.n != best.n ||
                  memcmp(got.id, best.id, best.n * sizeof *best.id) != 0;
    }
    vocab_free(&v);
    return failed;
}

int main(void)
{
    int failed = 0;
    for (size_t n = 0; n < 12; n++)
        for (int i = 0; i < 20; i++)
            failed += check(n);
    printf("%d failed\n", failed);
    return failed != 0;
}
