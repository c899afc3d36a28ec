// SPDX-License-Identifier: MIT
#include "grammar/matcher.h"

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
    const struct trie *t;
    struct dfa dfa;
    uint32_t state; // between tokens
    size_t mask_bytes;
    struct level level[]; // [t->depth + 1] of the walk: the state above each depth
};

struct matcher *matcher_new(const struct grammar *g, const struct trie *t, struct fault *fault)
{
    assert(g && t);
    struct matcher *const m = calloc(1, sizeof *m + (t->depth + 1) * sizeof *m->level);
    if (m) {
        m->t = t;
        dfa_init(&m->dfa, g);
    }
    *fault = m ? m->dfa.stacks.fault : fault_memory();
    if (!fault->code)
        return m;
    matcher_free(m);
    return NULL;
}

static void drop_masks(struct matcher *m)
{
    for (size_t i = 0; m->mask_bytes && i < m->dfa.state.n; i++) {
        free(m->dfa.note[i].mask);
        m->dfa.note[i].mask = NULL;
    }
    m->mask_bytes = 0;
}

void matcher_free(struct matcher *m)
{
    if (!m)
        return;
    drop_masks(m);
    dfa_free(&m->dfa);
    free(m);
}

void matcher_reset(struct matcher *m)
{
    m->state = 0;
}

// Forgets what was found out, if it has become too much, but for where the text stands. A fault changes nothing.
static struct fault keep_small(struct matcher *m)
{
    struct dfa fresh;
    m->dfa.stacks.fault = fault_none();
    if (m->dfa.state.n <= MOST_STATES && m->dfa.stacks.set.words <= MOST_SET_WORDS)
        return fault_none();
    struct dfa_state here = dfa_get(&m->dfa, m->state);
    dfa_init(&fresh, m->dfa.stacks.g);
    here.set = stacks_copy(&fresh.stacks, &m->dfa.stacks, here.set);
    const edge e = dfa_edge(&fresh, here);
    const struct fault fault = fresh.stacks.fault;
    if (fault.code) {
        dfa_free(&fresh);
        return fault;
    }
    drop_masks(m);
    dfa_free(&m->dfa);
    m->dfa = fresh;
    m->state = edge_state(e);
    return fault;
}

// The set of stacks after a token that the grammar names; STACKS_NONE when none is moved by it.
static uint32_t after_token(struct matcher *m, uint32_t id)
{
    struct stacks *const s = &m->dfa.stacks;
    const struct dfa_state here = dfa_get(&m->dfa, m->state);
    size_t n;
    const struct frame *const frame = stacks_frames(s, here.set, &n);
    s->n_top = 0;
    for (size_t i = 0; !here.more && i < n; i++) {
        const struct element *const e = &s->g->element[frame[i].at];
        if (e->type == ELEMENT_TOKEN ? e->value == id : e->type == ELEMENT_NOT_TOKEN && e->value != id)
            stacks_pick(s, frame[i]);
    }
    return stacks_after(s);
}

// Where a token leads, by its bytes and by its id. When one leads into a character and the other past it, it is the id that counts.
static edge after(struct matcher *m, uint32_t id)
{
    const struct piece text = trie_text(m->t->v, id);
    uint32_t set = text.len ? after_token(m, id) : STACKS_NONE;
    uint32_t state = m->state;
    edge e = EDGE_DEAD;
    for (size_t i = 0; i < text.len; i++) {
        e = dfa_next(&m->dfa, state, text.p[i]);
        if (e <= EDGE_DEAD)
            break;
        state = edge_state(e);
    }
    if (e != EDGE_BAD && !(e & 1)) // it may not end there
        e = EDGE_DEAD;
    if (set == STACKS_NONE || e == EDGE_BAD)
        return e;
    if (e != EDGE_DEAD) {
        const struct dfa_state s = dfa_get(&m->dfa, state);
        set = s.more ? set : stacks_unite(&m->dfa.stacks, set, s.set);
    }
    return dfa_edge(&m->dfa, (struct dfa_state){.set = set});
}

bool matcher_can_end(const struct matcher *m)
{
    const struct dfa_state s = dfa_get(&m->dfa, m->state);
    return !s.more && stacks_end(&m->dfa.stacks, s.set);
}

static struct fault move(struct matcher *m, uint32_t id, bool *fits, bool stay)
{
    struct fault fault = fault_none();
    *fits = vocab_ends(m->t->v, id) && matcher_can_end(m);
    if (vocab_ends(m->t->v, id) || (fault = keep_small(m)).code)
        return fault;
    edge e = after(m, id);
    *fits = e > EDGE_DEAD;
    if (*fits && !stay) {
        struct dfa_state s = dfa_get(&m->dfa, edge_state(e));
        s.lax = false; // as the token has ended
        e = dfa_edge(&m->dfa, s);
        m->state = e != EDGE_BAD ? edge_state(e) : m->state;
    }
    return m->dfa.stacks.fault;
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
        if (m->dfa.note[state].run.kinds == RUN_UNKNOWN && !dfa_find_run(&m->dfa, state))
            return false;
        const struct dfa_run run = m->dfa.note[state].run;
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
    const struct dfa_run run = m->dfa.note[from->state].run;
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
    const struct dfa_state here = dfa_get(&m->dfa, m->state);
    size_t n;
    const struct frame *const frame = stacks_frames(s, here.set, &n);
    if (matcher_can_end(m))
        allow(mask, t->end, t->n_end);
    for (size_t i = 0; !here.more && i < n; i++) {
        const struct element *const e = &s->g->element[frame[i].at];
        const uint32_t id = e->value;
        if (e->type == ELEMENT_TOKEN && !vocab_ends(t->v, id) && trie_text(t->v, id).len)
            allow(mask, &id, 1);
        for (size_t k = 0; e->type == ELEMENT_NOT_TOKEN && k < t->n_tokens; k++)
            if (t->token[k] != id)
                allow(mask, &t->token[k], 1);
    }
}

struct fault matcher_mask(struct matcher *m, const uint64_t **mask)
{
    const struct fault fault = keep_small(m);
    if (fault.code)
        return fault;
    if (m->mask_bytes > MOST_MASK_BYTES)
        drop_masks(m);
    uint64_t *found = m->dfa.note[m->state].mask;
    if (!found) {
        const size_t bytes = (m->t->v->n + 63) / 64 * sizeof *found + sizeof *found;
        found = calloc(1, bytes);
        if (!found)
            return fault_memory();
        if (!walk(m, found)) {
            free(found);
            return m->dfa.stacks.fault;
        }
        allow_by_id(m, found);
        m->dfa.note[m->state].mask = found;
        m->mask_bytes += bytes;
    }
    *mask = found;
    return fault_none();
}

// ---- what is expected

// As much of a literal as begins with this class; or, if it is not of one character, the ranges of it that there is room for.
static struct expected expected_characters(const struct grammar *g, const struct element *e)
{
    struct expected x = {.kind = EXPECTED_TEXT};
    const struct range *range = NULL;
    size_t n = 0;
    for (; e->type == ELEMENT_CLASS; e++) {
        range = class_ranges(g, e->value, &n);
        if (n != 1 || range->first != range->last)
            break;
        if (x.n == EXPECTED_RANGES) {
            x.more = true;
            break;
        }
        x.range[x.n][0] = x.range[x.n][1] = range->first;
        x.n++;
    }
    if (x.n)
        return x;
    x = (struct expected){.kind = EXPECTED_CLASS, .more = n > EXPECTED_RANGES};
    for (; x.n < n && x.n < EXPECTED_RANGES; x.n++) {
        x.range[x.n][0] = range[x.n].first;
        x.range[x.n][1] = range[x.n].last;
    }
    return x;
}

// Adds what is expected, if it is not there yet.
static void add_expected(struct expected *out, size_t most, size_t *n, const struct expected *x)
{
    for (size_t i = 0; i < *n && i < most; i++)
        if (out[i].kind == x->kind && out[i].id == x->id && out[i].n == x->n && out[i].more == x->more &&
            !memcmp(out[i].range, x->range, x->n * sizeof *x->range))
            return;
    if (*n < most)
        out[*n] = *x;
    ++*n;
}

size_t matcher_next(const struct matcher *m, struct expected *out, size_t most)
{
    const struct stacks *const s = &m->dfa.stacks;
    const struct dfa_state here = dfa_get(&m->dfa, m->state);
    size_t n = 0, n_frames;
    const struct frame *const frame = stacks_frames(s, here.set, &n_frames);
    if (here.more)
        add_expected(out, most, &n, &(struct expected){.kind = EXPECTED_REST});
    for (size_t i = 0; !here.more && i < n_frames; i++) {
        const struct element *const e = &s->g->element[frame[i].at];
        struct expected x = {.kind = e->type == ELEMENT_TOKEN ? EXPECTED_TOKEN : EXPECTED_NOT_TOKEN, .id = e->value};
        if (e->type == ELEMENT_CLASS)
            x = expected_characters(s->g, e);
        add_expected(out, most, &n, &x);
    }
    if (matcher_can_end(m))
        add_expected(out, most, &n, &(struct expected){.kind = EXPECTED_END});
    return n;
}
