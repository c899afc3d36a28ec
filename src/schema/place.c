// SPDX-License-Identifier: MIT
#include "schema/place.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_PLACES 250

struct place_block {
    struct place_block *next;
    size_t n;
    struct place place[BLOCK_PLACES];
};

void places_free(struct places *all)
{
    for (struct place_block *b = all->block, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    all->block = NULL;
}

static const struct place *add(struct places *all, struct place p)
{
    if (!all->block || all->block->n == BLOCK_PLACES) {
        struct place_block *const b = malloc(sizeof *b);
        if (!b)
            return NULL;
        b->next = all->block;
        b->n = 0;
        all->block = b;
    }
    struct place *const to = &all->block->place[all->block->n++];
    *to = p;
    return to;
}

const struct place *place_name(struct places *all, const struct place *up, const char *name)
{
    return add(all, (struct place){up, name, 0});
}

const struct place *place_index(struct places *all, const struct place *up, size_t index)
{
    return add(all, (struct place){up, NULL, index});
}

// Text written from its end towards its beginning.
struct backwards {
    char *start, *p;
    bool full;
};

static void put(struct backwards *b, char c)
{
    if (b->p == b->start)
        b->full = true;
    else
        *--b->p = c;
}

static void put_index(struct backwards *b, size_t index)
{
    do
        put(b, (char)('0' + index % 10));
    while (index /= 10);
}

static void put_name(struct backwards *b, const char *name)
{
    for (const char *c = name + strlen(name); c-- > name;) {
        if (*c == '~' || *c == '/') {
            put(b, *c == '~' ? '0' : '1');
            put(b, '~');
        } else {
            put(b, *c);
        }
    }
}

// Moves the text to the front; `lost` stands for a beginning that did not fit.
static void finish(struct backwards *b, char *to, size_t size, const char *lost)
{
    const size_t n = (size_t)(to + size - b->p);
    if (b->full && n > strlen(lost))
        memcpy(b->p, lost, strlen(lost));
    memmove(to, b->p, n);
}

void place_pointer(const struct place *at, const char *keyword, char *to, size_t size)
{
    struct backwards b = {to, to + size, false};
    put(&b, '\0');
    if (keyword) {
        put_name(&b, keyword);
        put(&b, '/');
    }
    for (; at && at->up && !b.full; at = at->up) {
        if (at->name)
            put_name(&b, at->name);
        else
            put_index(&b, at->index);
        put(&b, '/');
    }
    finish(&b, to, size, "...");
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void put_plain(struct backwards *b, const char *name)
{
    for (const char *c = name + strlen(name); c-- > name;)
        if (is_plain(*c))
            put(b, *c);
        else if (c != name && *b->p != '-' && *b->p)
            put(b, '-');
}

void place_rule_name(const struct place *at, char *to, size_t size)
{
    struct backwards b = {to, to + size, false};
    put(&b, '\0');
    for (; at && at->up && !b.full; at = at->up) {
        if (at->name && !strcmp(at->name, "properties"))
            continue;
        if (*b.p && *b.p != '-')
            put(&b, '-');
        if (at->name)
            put_plain(&b, at->name);
        else
            put_index(&b, at->index);
    }
    while (*b.p == '-')
        b.p++;
    finish(&b, to, size, "");
}
