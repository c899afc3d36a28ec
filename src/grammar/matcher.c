// SPDX-License-Identifier: MIT
#include "grammar/matcher.h"

#include "base/mem.h"
#include "grammar/dfa.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// When to forget: between tokens, above these. One mask's walk can go past them by what one vocabulary's texts can reach.
enum { MOST_STATES = 1 << 14, MOST_SET_WORDS = 1 << 22, MOST_MASK_BYTES = 32 << 20 };

// Of the walk. Runs are looked for from WORTH_IT children that live, and followed for as many states.
enum { WORTH_IT = 8, MOST_RUN = 24 };

struct level {
    uint32_t state;
    uint32_t living; // nodes passed here that can go on; WORTH_IT or more below one that had as many and led along its run
};

struct matcher {
    const struct grammar *g;
    const struct trie *t;
    struct dfa dfa;
    uint32_t state; // between tokens
    uint32_t start;
    uint64_t **mask; // [masks] by state; NULL: not asked for yet
    size_t masks, mask_cap, mask_bytes;
    struct level *level; // [t->depth + 1] of the walk: the state above each depth
};

static struct fault fault_of(const struct matcher *m)
{
    return m->dfa.stacks.fault;
}

static bool begin(struct matcher *m)
{
    const edge e = dfa_between(&m->dfa, stacks_start(&m->dfa.stacks));
    assert(e != EDGE_DEAD); // as rules_check has seen to
    m->start = m->state = edge_state(e);
    return e != EDGE_BAD;
}

struct matcher *matcher_new(const struct grammar *g, const struct trie *t, struct fault *fault)
{
    assert(g && t);
    struct matcher *const m = calloc(1, sizeof *m);
    *fault = fault_memory();
    if (!m)
        return NULL;
    m->g = g;
    m->t = t;
    m->level = calloc(t->depth + 1, sizeof *m->level);
    if (m->level && dfa_init(&m->dfa, g) && begin(m)) {
        *fault = fault_none();
        return m;
    }
    if (m->level)
        *fault = fault_of(m);
    matcher_free(m);
    return NULL;
}

static void drop_masks(struct matcher *m)
{
    for (size_t i = 0; i < m->masks; i++)
        free(m->mask[i]);
    m->masks = 0;
    m->mask_bytes = 0;
}

void matcher_free(struct matcher *m)
{
    if (!m)
        return;
    drop_masks(m);
    free(m->mask);
    free(m->level);
    dfa_free(&m->dfa);
    free(m);
}

void matcher_reset(struct matcher *m)
{
    m->state = m->start;
}

// Forgets what was found out, if it has become too much. The start, which is needed again, is found out anew.
static bool keep_small(struct matcher *m)
{
    if (m->dfa.state.n <= MOST_STATES && m->dfa.stacks.set.words <= MOST_SET_WORDS)
        return true;
    uint32_t here = m->state;
    drop_masks(m);
    if (!dfa_shrink(&m->dfa, &here) || !begin(m))
        return false;
    m->state = here;
    return true;
}

// The set of stacks after a token that the grammar names; STACKS_NONE when none is moved by it.
static uint32_t after_token(struct matcher *m, uint32_t id)
{
    struct stacks *const s = &m->dfa.stacks;
    const uint32_t set = dfa_set(&m->dfa, m->state);
    const size_t count = dfa_inside(&m->dfa, m->state) ? 0 : stacks_count(s, set);
    s->n_top = 0;
    for (size_t i = 0; i < count; i++) {
        const struct frame f = stacks_top(s, set, i);
        const struct element *const e = &m->g->element[f.at];
        const bool fits = e->type == ELEMENT_TOKEN ? e->value == id : e->type == ELEMENT_NOT_TOKEN && e->value != id;
        if (fits && !stacks_pick(s, f))
            return STACKS_BAD;
    }
    return s->n_top ? stacks_after(s) : STACKS_NONE;
}

// Where a token's bytes lead.
static edge after_text(struct matcher *m, struct piece text)
{
    edge e = EDGE_DEAD;
    uint32_t state = m->state;
    for (size_t i = 0; i < text.len; i++) {
        e = dfa_next(&m->dfa, state, text.p[i]);
        if (e <= EDGE_DEAD)
            return e;
        state = edge_state(e);
    }
    return e != EDGE_DEAD && !(e & 1) ? EDGE_DEAD : e;
}

// Where a token leads, by its bytes and by its id. When one leads into a character and the other past it, it is the id that counts.
static edge after(struct matcher *m, uint32_t id)
{
    const struct piece text = trie_text(m->t->v, id);
    if (!text.len)
        return EDGE_DEAD;
    const uint32_t set = after_token(m, id);
    if (set == STACKS_BAD)
        return EDGE_BAD;
    const edge e = after_text(m, text);
    if (set == STACKS_NONE || e == EDGE_BAD)
        return e;
    if (e == EDGE_DEAD || dfa_inside(&m->dfa, edge_state(e)))
        return dfa_between(&m->dfa, set);
    uint32_t both[] = {set, dfa_set(&m->dfa, edge_state(e))};
    return dfa_between(&m->dfa, stacks_unite(&m->dfa.stacks, both, 2));
}

bool matcher_can_end(const struct matcher *m)
{
    return dfa_can_end(&m->dfa, m->state);
}

static struct fault move(struct matcher *m, uint32_t id, bool *fits, bool stay)
{
    *fits = vocab_ends(m->t->v, id) && matcher_can_end(m);
    if (vocab_ends(m->t->v, id))
        return fault_none();
    if (!keep_small(m))
        return fault_of(m);
    edge e = after(m, id);
    *fits = e > EDGE_DEAD;
    if (*fits && !stay) {
        e = dfa_token_end(&m->dfa, edge_state(e));
        if (e != EDGE_BAD)
            m->state = edge_state(e);
    }
    return e == EDGE_BAD ? fault_of(m) : fault_none();
}

struct fault matcher_fits(struct matcher *m, uint32_t id, bool *fits)
{
    return move(m, id, fits, true);
}

struct fault matcher_accept(struct matcher *m, uint32_t id, bool *fits)
{
    return move(m, id, fits, false);
}

static void allow(uint64_t *mask, const uint32_t *id, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mask[id[i] / 64] |= UINT64_C(1) << id[i] % 64;
}

// Do all texts made of these kinds of byte, `height` long at most, fit from a state on, wherever they end? Says no when it is not plain.
static bool runs(struct matcher *m, uint32_t state, uint64_t kinds, unsigned height, bool *all)
{
    *all = false;
    for (unsigned i = 0; i < height; i++) {
        if (i == MOST_RUN)
            return true;
        if (m->dfa.run[state].kinds == RUN_UNKNOWN && !dfa_find_run(&m->dfa, state))
            return false;
        const struct dfa_run run = m->dfa.run[state];
        if (kinds & ~run.kinds)
            return true;
        if (run.to == state)
            break;
        state = run.to;
    }
    *all = true;
    return true;
}

// The level below a node.
static struct level descend(const struct matcher *m, const struct level *from, uint32_t to)
{
    const struct dfa_run run = m->dfa.run[from->state];
    const bool along = run.kinds != RUN_UNKNOWN && run.kinds && run.to == to;
    return (struct level){to, along ? from->living : 0};
}

// Goes down the trie and the automaton together: a subtree without a way to match is passed over, and so is one whose texts all match
// because its bytes are of the run that the state is in, as within a string, once its tokens are allowed.
static bool walk(struct matcher *m, uint64_t *mask)
{
    const struct trie *const t = m->t;
    struct level *const level = m->level;
    level[0] = (struct level){m->state, 0};
    for (size_t i = 0; i < t->n;) {
        const struct trie_node *const node = &t->node[i];
        struct level *const here = &level[node->depth];
        bool all = false;
        if (here->living >= WORTH_IT && !runs(m, here->state, t->bytes[i], t->height[i], &all))
            return false;
        if (all) {
            allow(mask, t->token + node->token, t->node[node->skip].token - node->token);
            i = node->skip;
            continue;
        }
        const edge e = dfa_next(&m->dfa, here->state, (unsigned char)node->byte);
        if (e == EDGE_BAD)
            return false;
        if (e == EDGE_DEAD) {
            i = node->skip;
            continue;
        }
        here->living++;
        if (e & 1)
            allow(mask, t->token + node->token, node[1].token - node->token);
        if (node->skip > i + 1)
            here[1] = descend(m, here, edge_state(e));
        i++;
    }
    return true;
}

// Tokens that the grammar names, and those that end the text.
static void allow_by_id(const struct matcher *m, uint64_t *mask)
{
    const struct stacks *const s = &m->dfa.stacks;
    const struct trie *const t = m->t;
    const uint32_t set = dfa_set(&m->dfa, m->state);
    if (matcher_can_end(m))
        allow(mask, t->end, t->n_end);
    for (size_t i = 0; !dfa_inside(&m->dfa, m->state) && i < stacks_count(s, set); i++) {
        const struct element *const e = &m->g->element[stacks_top(s, set, i).at];
        const uint32_t id = e->value;
        if (e->type == ELEMENT_TOKEN && !vocab_ends(t->v, id) && trie_text(t->v, id).len)
            allow(mask, &id, 1);
        for (size_t k = 0; e->type == ELEMENT_NOT_TOKEN && k < t->n_tokens; k++)
            if (t->token[k] != id)
                allow(mask, &t->token[k], 1);
    }
}

static bool find_mask(struct matcher *m)
{
    const size_t bytes = (m->t->v->n + 63) / 64 * sizeof(uint64_t) + sizeof(uint64_t);
    uint64_t *const mask = calloc(1, bytes);
    if (mask && walk(m, mask)) {
        allow_by_id(m, mask);
        m->mask[m->state] = mask;
        m->mask_bytes += bytes;
        return true;
    }
    if (!mask)
        m->dfa.stacks.fault = fault_memory();
    free(mask);
    return false;
}

struct fault matcher_mask(struct matcher *m, const uint64_t **mask)
{
    if (!keep_small(m))
        return fault_of(m);
    if (m->mask_bytes > MOST_MASK_BYTES)
        drop_masks(m);
    if (!mem_grow(&m->mask, &m->mask_cap, m->state + 1, sizeof *m->mask))
        return fault_memory();
    while (m->masks <= m->state)
        m->mask[m->masks++] = NULL;
    if (!m->mask[m->state] && !find_mask(m))
        return fault_of(m);
    *mask = m->mask[m->state];
    return fault_none();
}

// ---- what is expected

// The characters that a class is made of, as far as there is room.
static struct expected expected_class(const struct grammar *g, uint32_t class)
{
    struct expected x = {.kind = EXPECTED_CLASS};
    size_t n;
    const struct range *const range = class_ranges(g, class, &n);
    for (; x.n < n && x.n < EXPECTED_RANGES; x.n++) {
        x.range[x.n][0] = range[x.n].first;
        x.range[x.n][1] = range[x.n].last;
    }
    x.more = n > x.n;
    return x;
}

static bool one_character(const struct grammar *g, const struct element *e, uint32_t *c)
{
    size_t n;
    if (e->type != ELEMENT_CLASS)
        return false;
    const struct range *const range = class_ranges(g, e->value, &n);
    *c = n == 1 ? range->first : 0;
    return n == 1 && range->first == range->last;
}

// A class, or as much of a literal as follows.
static struct expected expected_characters(const struct grammar *g, const struct element *e)
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
    return x.n ? x : expected_class(g, e->value);
}

static bool same_expected(const struct expected *a, const struct expected *b)
{
    return a->kind == b->kind && a->id == b->id && a->n == b->n && a->more == b->more &&
           !memcmp(a->range, b->range, a->n * sizeof *a->range);
}

static void add_expected(struct expected *out, size_t most, size_t *n, const struct expected *x)
{
    for (size_t i = 0; i < *n && i < most; i++)
        if (same_expected(&out[i], x))
            return;
    if (*n < most)
        out[*n] = *x;
    ++*n;
}

size_t matcher_next(const struct matcher *m, struct expected *out, size_t most)
{
    const struct stacks *const s = &m->dfa.stacks;
    const uint32_t set = dfa_set(&m->dfa, m->state);
    const bool inside = dfa_inside(&m->dfa, m->state);
    size_t n = 0;
    if (inside)
        add_expected(out, most, &n, &(struct expected){.kind = EXPECTED_REST});
    for (size_t i = 0; !inside && i < stacks_count(s, set); i++) {
        const struct element *const e = &m->g->element[stacks_top(s, set, i).at];
        struct expected x = {.kind = e->type == ELEMENT_TOKEN ? EXPECTED_TOKEN : EXPECTED_NOT_TOKEN, .id = e->value};
        if (e->type == ELEMENT_CLASS)
            x = expected_characters(m->g, e);
        add_expected(out, most, &n, &x);
    }
    if (matcher_can_end(m))
        add_expected(out, most, &n, &(struct expected){.kind = EXPECTED_END});
    return n;
}
