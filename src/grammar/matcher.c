// SPDX-License-Identifier: MIT
// How a mask is found.
//
// The plain algorithm, llama.cpp's: the text so far has left a list of stacks. For each token of the vocabulary, decode
// its bytes into characters and begin with a copy of the list. For each character, keep the stacks whose top is a class
// that holds the character, and replace each kept stack by the stacks that can follow it. The token fits if a stack is
// left, or if its last character is incomplete and some completion fits.
//
// Why it is too slow: a vocabulary has about 128,000 tokens of six bytes. Each character of each token is compared with
// each stack, and stacks are copied all the time. tests/unit/bench_grammar.c measures 1 to 30 ms for a mask ("naive");
// a chain takes 0.1 ms for the row.
//
// The idea:
// 1. States. Whether a continuation fits depends only on the set of stacks, and few sets occur in a text. Each set gets
//    a number (stacks.h). The step from a set by a character is computed once and stored: a deterministic automaton,
//    built as far as texts need it.
// 2. Bytes. The automaton reads bytes, not characters: inside a character, its state also holds the bits so far
//    (dfa.h). A step is one look-up in a table, and no token is decoded.
// 3. The trie. Tokens that begin with the same bytes take the same steps. The vocabulary is a trie over bytes
//    (trie.h), and the walk takes each step once for all tokens below a node. Where a byte leads nowhere, the walk
//    passes over the whole subtree.
// 4. Runs. Inside a JSON string nearly all tokens fit, so that the walk would visit nearly all nodes. There, most bytes
//    lead to one state, the string's own. If each byte of a subtree is of such a kind, all its tokens fit: the walk
//    allows them at once and passes over the subtree, too.
// 5. Masks are kept by state. If a state comes back, its mask is there.
//
// Why the masks are equal, by induction over the bytes of a token. Let b be its first bytes, and let them end between
// two characters. The state after b holds the stacks that the plain algorithm keeps after the characters of b: this
// holds for no byte, and each further character picks the frames whose class holds it, as the plain algorithm does
// (dfa_find). Merged stacks with equal tops and bottoms have equal futures, so that a set loses nothing. Inside a
// character, the state holds the stacks before it and its bits, from which the last byte computes the step. A path of
// the trie spells the bytes of its tokens in order, so that each token takes just its own steps. A dead edge is an
// empty set, and no text goes on from it. A run is followed only over bytes whose edges have been computed; each leads
// to the run's next state, where a token may end. All texts of these bytes therefore fit. Two cases in which more
// tokens fit than in llama.cpp are named in matcher.h.
#include "grammar/matcher.h"

#include "base/utf8.h"
#include "grammar/dfa.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// When to forget: between tokens, above these. One mask's walk can exceed them by what the texts of one vocabulary can
// reach.
enum { MOST_STATES = 1 << 14, MOST_SET_WORDS = 1 << 22, MOST_MASK_BYTES = 32 << 20 };

// Limits of the walk. It computes the run of a state once MANY_LIVING children of a node can go on: a run costs 127
// edges. It follows a run for at most MOST_RUN states.
enum { MANY_LIVING = 8, MOST_RUN = 24 };

// The walk at one depth of the trie.
struct level {
    uint32_t state;  // before the byte of a node at this depth
    uint32_t living; // siblings so far whose byte does not lead to EDGE_DEAD
};

struct matcher {
    const struct trie *t;
    struct dfa dfa;
    uint32_t state;       // at the end of the text so far
    size_t mask_bytes;    // of all masks in dfa.node
    struct level level[]; // [t->depth + 1] by depth
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
        free(m->dfa.node[i].mask);
        m->dfa.node[i].mask = NULL;
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

void matcher_reset(struct matcher *m) { m->state = 0; }

// Clears an earlier fault. If automaton or sets have become too large, replaces them by new ones that know only the
// present state. On a fault nothing changes.
static struct fault keep_small(struct matcher *m)
{
    struct dfa fresh;
    m->dfa.stacks.fault = fault_none();
    if (m->dfa.state.n <= MOST_STATES && m->dfa.stacks.set.words <= MOST_SET_WORDS)
        return fault_none();
    struct dfa_state here = m->dfa.node[m->state].state;
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

// Returns the frames whose elements may match next: none inside a character. They are valid until another set is made.
static struct frames next_frames(const struct matcher *m)
{
    const struct dfa_state here = m->dfa.node[m->state].state;
    return here.more ? (struct frames){NULL, 0} : stacks_frames(&m->dfa.stacks, here.set);
}

// Returns the set of stacks after a token that the grammar names by its id; STACKS_NONE if no frame names it.
static uint32_t set_after_id(struct matcher *m, uint32_t id)
{
    struct stacks *const s = &m->dfa.stacks;
    const struct frames f = next_frames(m);
    s->n_top = 0;
    for (size_t i = 0; i < f.n; i++) {
        const struct element *const e = &s->g->element[f.frame[i].at];
        if (e->type == ELEMENT_TOKEN ? e->value == id : e->type == ELEMENT_NOT_TOKEN && e->value != id)
            stacks_pick(s, f.frame[i]);
    }
    return stacks_after(s);
}

// Returns the edge of a token, by its bytes and by its id. If the bytes end inside a character and the id fits, only
// the id counts.
static edge edge_of_token(struct matcher *m, uint32_t id)
{
    const struct piece text = trie_text(m->t->v, id);
    uint32_t set = text.len ? set_after_id(m, id) : STACKS_NONE;
    uint32_t state = m->state;
    edge e = EDGE_DEAD;
    for (size_t i = 0; i < text.len; i++) {
        e = dfa_next(&m->dfa, state, text.p[i]);
        if (e <= EDGE_DEAD)
            break;
        state = edge_state(e);
    }
    if (e != EDGE_BAD && !(e & 1)) // the token may not end there
        e = EDGE_DEAD;
    if (set == STACKS_NONE || e == EDGE_BAD)
        return e;
    if (e != EDGE_DEAD) {
        const struct dfa_state s = m->dfa.node[state].state;
        set = s.more ? set : stacks_unite(&m->dfa.stacks, set, s.set);
    }
    return dfa_edge(&m->dfa, (struct dfa_state){.set = set});
}

bool matcher_can_end(const struct matcher *m)
{
    const struct dfa_state s = m->dfa.node[m->state].state;
    return !s.more && stacks_end(&m->dfa.stacks, s.set);
}

// Sets *fits to whether a token may come next, and moves behind it if it fits and `accept` is true.
static struct fault match_token(struct matcher *m, uint32_t id, bool accept, bool *fits)
{
    struct fault fault = fault_none();
    *fits = vocab_ends(m->t->v, id) && matcher_can_end(m);
    if (vocab_ends(m->t->v, id) || (fault = keep_small(m)).code)
        return fault;
    edge e = edge_of_token(m, id);
    *fits = e > EDGE_DEAD;
    if (*fits && accept) {
        struct dfa_state s = m->dfa.node[edge_state(e)].state;
        s.lax = false; // the next token must continue a character with a continuation byte
        e = dfa_edge(&m->dfa, s);
        m->state = e != EDGE_BAD ? edge_state(e) : m->state;
    }
    return m->dfa.stacks.fault;
}

struct fault matcher_fits(struct matcher *m, uint32_t id, bool *fits) { return match_token(m, id, false, fits); }

struct fault matcher_accept(struct matcher *m, uint32_t id, bool *fits) { return match_token(m, id, true, fits); }

static void allow(uint64_t *mask, const uint32_t *id, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mask[id[i] / 64] |= UINT64_C(1) << id[i] % 64;
}

// Returns whether all texts of at most `height` bytes of these kinds fit from a state on, wherever they end. Returns
// false if the runs do not show it, and on a fault.
static bool run_covers(struct matcher *m, uint32_t state, uint64_t kinds, unsigned height)
{
    for (unsigned i = 0; i < height; i++) {
        if (i == MOST_RUN || (m->dfa.node[state].run.kinds == RUN_UNKNOWN && !dfa_find_run(&m->dfa, state)))
            return false;
        const struct dfa_run run = m->dfa.node[state].run;
        if (kinds & ~run.kinds)
            return false;
        if (run.to == state)
            break;
        state = run.to;
    }
    return true;
}

// Allows the tokens whose bytes fit: goes through the trie and the automaton together.
static void walk(struct matcher *m, uint64_t *mask)
{
    const struct trie *const t = m->t;
    struct level *const level = m->level;
    level[0] = (struct level){m->state, 0};
    for (size_t i = 0; i < t->n;) {
        const struct trie_node *const node = &t->node[i];
        struct level *const here = &level[node->depth];
        if (here->living >= MANY_LIVING && run_covers(m, here->state, node->kinds, node->height)) {
            allow(mask, t->token + node->token, t->node[node->skip].token - node->token);
            i = node->skip;
            continue;
        }
        const edge e = dfa_next(&m->dfa, here->state, node->byte);
        if (e <= EDGE_DEAD) {
            i = node->skip;
            continue;
        }
        here->living++;
        if (e & 1)
            allow(mask, t->token + node->token, node[1].token - node->token);
        if (node->skip > i + 1)
            here[1] = (struct level){edge_state(e), 0};
        i++;
    }
}

// Allows the tokens that the grammar names by their ids, and those that end the text.
static void allow_by_id(const struct matcher *m, uint64_t *mask)
{
    const struct trie *const t = m->t;
    const struct frames f = next_frames(m);
    if (matcher_can_end(m))
        allow(mask, t->end, t->n_end);
    for (size_t i = 0; i < f.n; i++) {
        const struct element *const e = &m->dfa.stacks.g->element[f.frame[i].at];
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
    *mask = m->dfa.node[m->state].mask;
    if (*mask)
        return fault_none();
    const size_t bytes = (m->t->v->n / 64 + 1) * sizeof **mask;
    uint64_t *const made = calloc(1, bytes);
    if (!made)
        return fault_memory();
    walk(m, made);
    if (m->dfa.stacks.fault.code) {
        free(made);
        return m->dfa.stacks.fault;
    }
    allow_by_id(m, made);
    m->mask_bytes += bytes;
    *mask = m->dfa.node[m->state].mask = made;
    return fault_none();
}

// ---- for messages

enum { SHOWN_ITEMS = 6, SHOWN_RANGES = 12 };

static void print_point(struct builder *b, uint32_t c)
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

void matcher_print_token(const struct matcher *m, uint32_t id, struct builder *b)
{
    const struct piece p = vocab_text(m->t->v, id);
    builder_string(b, "");
    for (size_t i = 0; i < p.len;) {
        uint32_t c;
        const size_t n = utf8_decode(p.p + i, p.len - i, &c);
        if (n > 1)
            builder_bytes(b, p.p + i, n);
        else if (n)
            print_point(b, c);
        else
            builder_format(b, "\\x%02X", p.p[i]);
        i += n ? n : 1;
    }
}

static void print_class_point(struct builder *b, uint32_t c)
{
    if (c == '[' || c == ']' || c == '\\')
        builder_byte(b, '\\');
    print_point(b, c);
}

static void print_points(struct builder *b, uint32_t low, uint32_t high)
{
    if (low > high)
        return;
    print_class_point(b, low);
    if (high > low + 1)
        builder_byte(b, '-');
    if (high > low)
        print_class_point(b, high);
}

// A class that goes up to the last character is shown by what it leaves out.
static void print_point_class(struct builder *b, const struct range *range, size_t n)
{
    const bool more = n > SHOWN_RANGES, negated = !more && n && range[n - 1].last == CHAR_MAX_VALUE;
    uint32_t next = 1; // behind the range before
    if (negated && n == 1 && range->first == 1) {
        builder_string(b, "any character");
        return;
    }
    builder_string(b, negated ? "[^" : "[");
    for (size_t i = 0; i < n && i < SHOWN_RANGES; next = range[i++].last + 1)
        print_points(b, negated ? next : range[i].first, negated ? range[i].first - 1 : range[i].last);
    builder_string(b, more ? "...]" : "]");
}

// A token, a class, or as much of a literal as begins here.
static void print_element(struct builder *b, const struct grammar *g, const struct element *e)
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
            print_point(b, range->first);
    }
    if (shown)
        builder_string(b, shown > SHOWN_RANGES ? "...'" : "'");
    else if (range)
        print_point_class(b, range, n);
}

// Returns the rule that an element belongs to. Parts of a rule have its name.
static const struct grammar_rule *rule_at(const struct grammar *g, uint32_t at)
{
    size_t alt = 0, end = g->n_alts, r = 0; // the last alternative that begins at the element or before it
    while (end - alt > 1) {
        const size_t middle = alt + (end - alt) / 2;
        *(g->alt[middle] <= at ? &alt : &end) = middle;
    }
    while (r < g->n_rules && (alt < g->rule[r].first_alt || alt - g->rule[r].first_alt >= g->rule[r].n_alts))
        r++;
    assert(r < g->n_rules);
    return &g->rule[r];
}

void matcher_print_rules(const struct matcher *m, struct builder *b)
{
    const struct grammar *const g = m->dfa.stacks.g;
    const struct grammar_rule *shown[SHOWN_ITEMS];
    const struct frames f = next_frames(m);
    size_t n = 0;
    bool more = false;
    for (size_t i = 0; i < f.n && !more; i++) {
        const struct grammar_rule *const r = rule_at(g, f.frame[i].at);
        size_t equal = 0;
        while (equal < n && (shown[equal]->len != r->len || memcmp(shown[equal]->name, r->name, r->len) != 0))
            equal++;
        more = equal == SHOWN_ITEMS;
        if (equal == n && !more)
            shown[n++] = r;
    }
    for (size_t i = 0; i < n; i++)
        builder_format(b, "%s%.*s", i ? ", " : "", (int)shown[i]->len, shown[i]->name);
    builder_string(b, more ? ", ..." : "");
}

void matcher_print_next(const struct matcher *m, struct builder *b)
{
    const struct grammar *const g = m->dfa.stacks.g;
    struct builder item[SHOWN_ITEMS + 1] = {0};
    const struct frames f = next_frames(m);
    size_t n = 0;
    builder_string(b, "");
    if (m->dfa.node[m->state].state.more)
        builder_string(&item[n++], "the rest of a character");
    for (size_t i = 0; i < f.n && n <= SHOWN_ITEMS; i++) {
        size_t equal = 0; // an item with this text; n: there is none
        builder_clear(&item[n]);
        print_element(&item[n], g, &g->element[f.frame[i].at]);
        while (equal < n && (item[equal].failed || item[n].failed || strcmp(item[equal].text, item[n].text) != 0))
            equal++;
        n += equal == n;
    }
    if (matcher_can_end(m) && n <= SHOWN_ITEMS)
        builder_string(&item[n++], "the end of the text");
    for (size_t i = 0; i < n && i < SHOWN_ITEMS; i++)
        builder_format(b, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", item[i].failed ? "..." : item[i].text);
    b->full = b->full || n > SHOWN_ITEMS;
    for (size_t i = 0; i <= SHOWN_ITEMS; i++)
        builder_free(&item[i]);
}
