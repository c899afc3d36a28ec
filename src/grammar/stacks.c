// SPDX-License-Identifier: MIT
#include "grammar/stacks.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VISITS = 1 << 15, // sets looked at for one expansion
    MOST_DEPTH = 2000,     // of stacks that differ, in a union
    MOST_WORDS = 1 << 24,  // of all sets
};

static uint32_t fail(struct stacks *s, enum fault_code code)
{
    s->fault = (struct fault){code, 0};
    return STACKS_BAD;
}

// The set with these words, which lie outside the table.
static uint32_t add(struct stacks *s, const uint32_t *word, size_t n)
{
    const size_t known = s->set.n;
    if (s->set.words > MOST_WORDS)
        return fail(s, FAULT_GRAMMAR);
    if (!mem_grow(&s->expanded, &s->expanded_cap, known + 1, sizeof *s->expanded) ||
        !mem_grow(&s->seen, &s->seen_cap, known + 1, sizeof *s->seen))
        return fail(s, FAULT_MEMORY);
    const uint32_t set = intern_add(&s->set, word, n);
    if (set == INTERN_NONE)
        return fail(s, FAULT_MEMORY);
    if (set == known) {
        s->expanded[set] = STACKS_BAD;
        s->seen[set] = 0;
    }
    return set;
}

static uint32_t single(struct stacks *s, uint32_t at, uint32_t below)
{
    const uint32_t word[] = {0, at, below};
    return below == STACKS_BAD ? STACKS_BAD : add(s, word, 3);
}

bool stacks_init(struct stacks *s, const struct grammar *g)
{
    static const uint32_t none[] = {0}, end[] = {1};
    *s = (struct stacks){.g = g};
    return add(s, none, 1) == STACKS_NONE && add(s, end, 1) != STACKS_BAD;
}

void stacks_free(struct stacks *s)
{
    intern_free(&s->set);
    free(s->expanded);
    free(s->seen);
    free(s->todo);
    free(s->word);
    free(s->top);
    free(s->many);
    memset(s, 0, sizeof *s);
}

static bool put(struct stacks *s, uint32_t word)
{
    if (!mem_grow(&s->word, &s->word_cap, s->n_word + 1, sizeof *s->word))
        return fail(s, FAULT_MEMORY) != STACKS_BAD;
    s->word[s->n_word++] = word;
    return true;
}

static uint32_t unite(struct stacks *s, uint32_t a, uint32_t b, unsigned depth);

// Puts the positions of both sets, in order; those in both once, with the union of what lies below. The tables may move meanwhile.
static bool put_both(struct stacks *s, uint32_t a, uint32_t b, unsigned depth)
{
    const size_t na = stacks_count(s, a), nb = stacks_count(s, b);
    bool ok = put(s, stacks_end(s, a) || stacks_end(s, b));
    for (size_t i = 0, j = 0; ok && (i < na || j < nb);) {
        struct frame p = i < na ? stacks_top(s, a, i) : stacks_top(s, b, j);
        if (i < na && j < nb) {
            const struct frame q = stacks_top(s, b, j);
            if (p.at == q.at) {
                p.below = unite(s, p.below, q.below, depth + 1);
                i++, j++;
            } else if (p.at < q.at) {
                i++;
            } else {
                p = q;
                j++;
            }
        } else {
            i < na ? i++ : j++;
        }
        ok = p.below != STACKS_BAD && put(s, p.at) && put(s, p.below);
    }
    return ok;
}

static uint32_t unite(struct stacks *s, uint32_t a, uint32_t b, unsigned depth)
{
    if (a == b || b == STACKS_NONE)
        return a;
    if (a == STACKS_NONE)
        return b;
    if (a > b) {
        const uint32_t swap = a;
        a = b;
        b = swap;
    }
    uint32_t *const memo = s->united[(a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 22];
    if (memo[0] == a && memo[1] == b)
        return memo[2];
    if (depth > MOST_DEPTH)
        return fail(s, FAULT_GRAMMAR);
    const size_t from = s->n_word;
    uint32_t set = STACKS_BAD;
    if (put_both(s, a, b, depth))
        set = add(s, s->word + from, s->n_word - from);
    s->n_word = from;
    if (set != STACKS_BAD) {
        memo[0] = a;
        memo[1] = b;
        memo[2] = set;
    }
    return set;
}

// In pairs, so that the sets in between stay small.
uint32_t stacks_unite(struct stacks *s, uint32_t *set, size_t n)
{
    if (!n)
        return STACKS_NONE;
    for (; n > 1; n = (n + 1) / 2) {
        for (size_t i = 0; i < n / 2; i++)
            if ((set[i] = unite(s, set[2 * i], set[2 * i + 1], 0)) == STACKS_BAD)
                return STACKS_BAD;
        if (n % 2)
            set[n / 2] = set[n - 1];
    }
    return set[0];
}

static bool visit(struct stacks *s, uint32_t set)
{
    if (set == STACKS_BAD)
        return false;
    if (!mem_grow(&s->todo, &s->todo_cap, s->n_todo + 1, sizeof *s->todo))
        return fail(s, FAULT_MEMORY) != STACKS_BAD;
    s->todo[s->n_todo++] = set;
    return true;
}

// Notes a terminal, or puts what a rule begins with on the list of sets to visit.
static bool look_at(struct stacks *s, struct frame p)
{
    const struct element *const e = &s->g->element[p.at];
    if (e->type != ELEMENT_RULE) {
        if (!mem_grow(&s->top, &s->top_cap, s->n_top + 1, sizeof *s->top))
            return fail(s, FAULT_MEMORY) != STACKS_BAD;
        s->top[s->n_top++] = p;
        return true;
    }
    const struct grammar_rule *const r = &s->g->rule[e->value];
    const uint32_t rest = e[1].type == ELEMENT_END ? p.below : single(s, p.at + 1, p.below);
    bool ok = rest != STACKS_BAD;
    for (size_t a = r->first_alt; ok && a < r->first_alt + r->n_alts; a++) {
        const uint32_t at = s->g->alt[a];
        ok = visit(s, s->g->element[at].type == ELEMENT_END ? rest : single(s, at, rest));
    }
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const struct frame *const x = a, *const y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

uint32_t stacks_of(struct stacks *s, bool end, const struct frame *p, size_t n)
{
    const size_t from = s->n_word;
    bool ok = put(s, end);
    for (size_t i = 0; ok && i < n; i++)
        ok = put(s, p[i].at) && put(s, p[i].below);
    const uint32_t set = ok ? add(s, s->word + from, s->n_word - from) : STACKS_BAD;
    s->n_word = from;
    return set;
}

// The set of the tops found, each place once.
static uint32_t gather(struct stacks *s, bool end)
{
    size_t kept = 0;
    if (s->n_top)
        qsort(s->top, s->n_top, sizeof *s->top, by_place);
    if (!mem_grow(&s->many, &s->many_cap, s->n_top + 1, sizeof *s->many))
        return fail(s, FAULT_MEMORY);
    for (size_t i = 0, n; i < s->n_top; i += n) {
        const uint32_t at = s->top[i].at;
        for (n = 0; i + n < s->n_top && s->top[i + n].at == at; n++)
            s->many[n] = s->top[i + n].below;
        const uint32_t below = stacks_unite(s, s->many, n);
        if (below == STACKS_BAD)
            return STACKS_BAD;
        s->top[kept++] = (struct frame){at, below};
    }
    return stacks_of(s, end, s->top, kept);
}

static uint32_t expand(struct stacks *s, uint32_t set)
{
    if (set == STACKS_BAD || s->expanded[set] != STACKS_BAD)
        return set == STACKS_BAD ? STACKS_BAD : s->expanded[set];
    bool end = false;
    s->n_todo = s->n_top = 0;
    s->round++;
    bool ok = visit(s, set);
    for (size_t visits = 0; ok && s->n_todo; visits++) {
        uint32_t here = s->todo[--s->n_todo];
        if (s->expanded[here] != STACKS_BAD)
            here = s->expanded[here];
        if (s->seen[here] == s->round)
            continue;
        s->seen[here] = s->round;
        if (visits == MOST_VISITS)
            return fail(s, FAULT_GRAMMAR);
        end = end || stacks_end(s, here);
        const size_t n = stacks_count(s, here);
        for (size_t i = 0; ok && i < n; i++)
            ok = look_at(s, stacks_top(s, here, i));
    }
    const uint32_t to = ok ? gather(s, end) : STACKS_BAD;
    if (to != STACKS_BAD)
        s->expanded[set] = s->expanded[to] = to;
    return to;
}

uint32_t stacks_start(struct stacks *s)
{
    const struct grammar_rule *const root = &s->g->rule[s->g->root];
    if (!mem_grow(&s->many, &s->many_cap, root->n_alts + 1, sizeof *s->many))
        return fail(s, FAULT_MEMORY);
    for (size_t a = 0; a < root->n_alts; a++) {
        static const uint32_t end[] = {1};
        const uint32_t at = s->g->alt[root->first_alt + a], after = add(s, end, 1);
        s->many[a] = s->g->element[at].type == ELEMENT_END ? after : single(s, at, after);
        if (s->many[a] == STACKS_BAD)
            return STACKS_BAD;
    }
    return expand(s, stacks_unite(s, s->many, root->n_alts));
}

uint32_t stacks_after(struct stacks *s, struct frame p)
{
    assert(s->g->element[p.at].type > ELEMENT_RULE);
    return expand(s, s->g->element[p.at + 1].type == ELEMENT_END ? p.below : single(s, p.at + 1, p.below));
}

// Copies a set whose parts have been copied.
static uint32_t copy(struct stacks *to, const struct stacks *from, uint32_t set, const uint32_t *copied)
{
    size_t n;
    const uint32_t *const word = intern_get(&from->set, set, &n);
    to->n_word = 0;
    bool ok = put(to, word[0]);
    for (size_t i = 1; ok && i < n; i += 2)
        ok = put(to, word[i]) && put(to, copied[word[i + 1]]);
    return ok ? add(to, to->word, n) : STACKS_BAD;
}

// Parts are older than what they are part of, so marking goes down the ids and copying up.
bool stacks_shrink(struct stacks *s, uint32_t *set)
{
    struct stacks fresh;
    assert(*set < s->set.n);
    uint32_t *const mark = calloc((size_t)*set + 1, sizeof *mark);
    bool ok = stacks_init(&fresh, s->g) && mark;
    if (ok)
        mark[*set] = 1;
    for (uint32_t id = ok ? *set : 0; id; id--)
        for (size_t i = 0; mark[id] && i < stacks_count(s, id); i++)
            mark[stacks_top(s, id, i).below] = 1;
    for (uint32_t id = 0; ok && id <= *set; id++)
        if (mark[id])
            ok = (mark[id] = copy(&fresh, s, id, mark)) != STACKS_BAD;
    if (!ok) {
        fail(s, FAULT_MEMORY);
        stacks_free(&fresh);
        free(mark);
        return false;
    }
    *set = mark[*set];
    free(mark);
    stacks_free(s);
    *s = fresh;
    return true;
}
