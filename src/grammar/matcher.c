// SPDX-License-Identifier: MIT
#include "grammar/matcher.h"

#include "base/utf8.h"
#include "grammar/dfa.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// When to forget: between tokens, above these. One mask's walk can go past them by what one vocabulary's texts can
// reach.
enum { MOST_STATES = 1 << 14, MOST_SET_WORDS = 1 << 22, MOST_MASK_BYTES = 32 << 20 };

// Limits of the walk: it looks for runs from WORTH_IT living children on, and follows a run for MOST_RUN states.
enum { WORTH_IT = 8, MOST_RUN = 24 };

struct level {
    uint32_t state;
    uint32_t
        living; // nodes passed here that can go on; WORTH_IT or more below one that had as many and led along its run
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

// Where a token leads, by its bytes and by its id. When one leads into a character and the other past it, it is the
// id that counts.
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

// Do all texts made of these kinds of byte, `height` long at most, fit from a state on, wherever they end? Says no
// when it is not plain.
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

// Goes down the trie and the automaton together: a subtree without a way to match is passed over, and so is one whose
// texts all match because its bytes are of the run that the state is in, as within a string, once its tokens are
// allowed.
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

// ---- for messages

enum { SHOWN_ITEMS = 6, SHOWN_RANGES = 12 };

static void put_point(struct builder *b, uint32_t c)
{
    static const char names[] = "\n\r\t", letters[] = "nrt";
    const char *const name = c && c < 0x80 ? strchr(names, (int)c) : NULL;
    if (name)
        builder_format(b, "\\%c", letters[name - names]);
    else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        builder_format(b, "\\x%02" PRIX32, c);
    else if (c < 0x80)
        builder_byte(b, (char)c);
    else
        builder_format(b, c < 0x10000 ? "\\u%04" PRIX32 : "\\U%08" PRIX32, c);
}

void matcher_put_token(const struct matcher *m, uint32_t id, struct builder *b)
{
    const struct piece p = vocab_text(m->t->v, id);
    builder_string(b, "");
    for (size_t i = 0; i < p.len;) {
        uint32_t c;
        const size_t n = utf8_decode(p.p + i, p.len - i, &c);
        if (n > 1)
            builder_bytes(b, p.p + i, n);
        else if (n)
            put_point(b, c);
        else
            builder_format(b, "\\x%02X", p.p[i]);
        i += n ? n : 1;
    }
}

static void put_in_class(struct builder *b, uint32_t c)
{
    if (c == '[' || c == ']' || c == '\\')
        builder_byte(b, '\\');
    put_point(b, c);
}

static void put_range(struct builder *b, uint32_t low, uint32_t high)
{
    if (low > high)
        return;
    put_in_class(b, low);
    if (high > low + 1)
        builder_byte(b, '-');
    if (high > low)
        put_in_class(b, high);
}

// A class that goes up to the last character is shown by what it leaves out.
static void put_class(struct builder *b, const struct range *range, size_t n)
{
    const bool more = n > SHOWN_RANGES, negated = !more && n && range[n - 1].last == CHAR_MAX_VALUE;
    uint32_t next = 1; // behind the range before
    if (negated && n == 1 && range->first == 1) {
        builder_string(b, "any character");
        return;
    }
    builder_string(b, negated ? "[^" : "[");
    for (size_t i = 0; i < n && i < SHOWN_RANGES; next = range[i++].last + 1)
        put_range(b, negated ? next : range[i].first, negated ? range[i].first - 1 : range[i].last);
    builder_string(b, more ? "...]" : "]");
}

// A token, a class, or as much of a literal as begins here.
static void put_element(struct builder *b, const struct grammar *g, const struct element *e)
{
    size_t n, shown = 0;
    const struct range *range = NULL;
    if (e->type != ELEMENT_CLASS)
        builder_format(b, "%s<[%" PRIu32 "]>", e->type == ELEMENT_TOKEN ? "" : "!", e->value);
    for (; e->type == ELEMENT_CLASS && shown <= SHOWN_RANGES; e++, shown++) {
        range = class_ranges(g, e->value, &n);
        if (n != 1 || range->first != range->last)
            break;
        if (!shown)
            builder_byte(b, '\'');
        if (shown < SHOWN_RANGES)
            put_point(b, range->first);
    }
    if (shown)
        builder_string(b, shown > SHOWN_RANGES ? "...'" : "'");
    else if (range)
        put_class(b, range, n);
}

void matcher_put_next(const struct matcher *m, struct builder *b)
{
    const struct stacks *const s = &m->dfa.stacks;
    const struct dfa_state here = dfa_get(&m->dfa, m->state);
    struct builder item[SHOWN_ITEMS + 1] = {0};
    size_t n = 0, n_frames;
    const struct frame *const frame = stacks_frames(s, here.set, &n_frames);
    builder_string(b, "");
    if (here.more)
        builder_string(&item[n++], "the rest of a character");
    for (size_t i = 0; !here.more && i < n_frames && n <= SHOWN_ITEMS; i++) {
        size_t same = 0;
        builder_clear(&item[n]);
        put_element(&item[n], s->g, &s->g->element[frame[i].at]);
        while (same < n && (item[same].failed || item[n].failed || strcmp(item[same].text, item[n].text) != 0))
            same++;
        n += same == n;
    }
    if (matcher_can_end(m) && n <= SHOWN_ITEMS)
        builder_string(&item[n++], "the end of the text");
    for (size_t i = 0; i < n && i < SHOWN_ITEMS; i++)
        builder_format(b, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", item[i].failed ? "..." : item[i].text);
    b->full = b->full || n > SHOWN_ITEMS;
    for (size_t i = 0; i <= SHOWN_ITEMS; i++)
        builder_free(&item[i]);
}
