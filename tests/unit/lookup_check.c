// SPDX-License-Identifier: MIT
// lookup_check: compares the search of tokens by text with vocab_find_only, in random vocabularies with many equal texts.
#include "random.h"
#include "vocab/vocab.h"

#include <stdio.h>
#include <stdlib.h>

static size_t random_text(char text[4])
{
    const size_t len = random_below(4);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)random_below(3); // includes NUL
    return len;
}

static int check(size_t n)
{
    struct vocab v;
    struct lookup l;
    char text[4];
    int failed = 0;
    vocab_init(&v);
    for (size_t i = 0; i < n; i++) {
        const size_t len = random_text(text);
        if (!vocab_add(&v, text, len, random_below(3) ? 0 : VOCAB_BYTE))
            return 1;
    }
    if (!lookup_build(&l, &v))
        return 1;
    for (int i = 0; i < 200; i++) {
        const size_t len = random_text(text);
        uint32_t other;
        failed += lookup_find(&l, text, len) != vocab_find_only(&v, text, len, &other);
    }
    lookup_free(&l);
    vocab_free(&v);
    return failed;
}

int main(void)
{
    int failed = 0;
    for (size_t n = 0; n < 300; n++)
        failed += check(n);
    printf("%d failed\n", failed);
    return failed != 0;
}
