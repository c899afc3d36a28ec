// SPDX-License-Identifier: MIT
#include "grammar/expected.h"
#include "grammar/dfa.h"

#include <string.h>

// The characters that a class is made of, as far as there is room.
static void ranges(const struct grammar *g, uint32_t class, struct expected *to)
{
    size_t words;
    const uint32_t *const range = intern_get(&g->class, class, &words);
    for (size_t i = 0; i < words && to->n < EXPECTED_RANGES; i += 2, to->n++)
        memcpy(to->range[to->n], range + i, sizeof *to->range);
    to->more = words / 2 > to->n;
}

static bool one_character(const struct grammar *g, const struct element *e, uint32_t *c)
{
    size_t words;
    if (e->type != ELEMENT_CLASS)
        return false;
    const uint32_t *const range = intern_get(&g->class, e->value, &words);
    *c = words == 2 ? range[0] : 0;
    return words == 2 && range[0] == range[1];
}

// A class, or as much of a literal as follows.
static struct expected characters(const struct grammar *g, const struct element *e)
{
    struct expected x = {.kind = EXPECTED_TEXT};
    uint32_t c;
    for (; one_character(g, e, &c); e++, x.n++) {
        if (x.n == EXPECTED_RANGES) {
            x.more = true;
            break;
        }
        x.range[x.n][0] = x.range[x.n][1] = c;
    }
    if (!x.n) {
        x.kind = EXPECTED_CLASS;
        ranges(g, e->value, &x);
    }
    return x;
}

static bool same(const struct expected *a, const struct expected *b)
{
    return a->kind == b->kind && a->id == b->id && a->n == b->n && a->more == b->more &&
           !memcmp(a->range, b->range, a->n * sizeof *a->range);
}

static void add(struct expected *out, size_t most, size_t *n, const struct expected *x)
{
    for (size_t i = 0; i < *n && i < most; i++)
        if (same(&out[i], x))
            return;
    if (*n < most)
        out[*n] = *x;
    ++*n;
}

size_t expected_in(const struct dfa *d, uint32_t state, struct expected *out, size_t most)
{
    const struct stacks *const s = &d->stacks;
    const uint32_t set = dfa_set(d, state);
    size_t n = 0;
    if (dfa_inside(d, state))
        add(out, most, &n, &(struct expected){.kind = EXPECTED_REST});
    for (size_t i = 0; !dfa_inside(d, state) && i < stacks_count(s, set); i++) {
        const struct element *const e = &s->g->element[stacks_top(s, set, i).at];
        struct expected x = {.kind = e->type == ELEMENT_TOKEN ? EXPECTED_TOKEN : EXPECTED_NOT_TOKEN, .id = e->value};
        if (e->type == ELEMENT_CLASS)
            x = characters(s->g, e);
        add(out, most, &n, &x);
    }
    if (stacks_end(s, set))
        add(out, most, &n, &(struct expected){.kind = EXPECTED_END});
    return n;
}
