// SPDX-License-Identifier: MIT
#include "grammar/stacks.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MIB = 64, MOST_WORDS = MOST_MIB << 18 }; // of all sets

#define NOWHERE UINT32_MAX

static uint32_t no_memory(struct stacks *s)
{
    s->fault = fault_memory();
    return STACKS_BAD;
}

// The set with these words, which lie outside the table.
static uint32_t add(struct stacks *s, const uint32_t *word, size_t n)
{
    const size_t known = s->set.n;
    if (s->set.words > MOST_WORDS) {
        s->fault = (struct fault){FAULT_GRAMMAR, MOST_MIB};
        return STACKS_BAD;
    }
    if (!mem_grow(&s->expanded, &s->expanded_cap, known + 1, sizeof *s->expanded) ||
        !mem_grow(&s->seen, &s->seen_cap, known + 1, sizeof *s->seen))
        return no_memory(s);
    const uint32_t set = intern_add(&s->set, word, n);
    if (set == INTERN_NONE)
        return no_memory(s);
    if (set == known) {
        s->expanded[set] = STACKS_BAD;
        s->seen[set] = 0;
    }
    return set;
}

static uint32_t single(struct stacks *s, uint32_t at, uint32_t below)
{
    const uint32_t word[] = {0, at, below};
    return add(s, word, 3);
}

bool stacks_init(struct stacks *s, const struct grammar *g)
{
    static const uint32_t none[] = {0}, end[] = {1};
    *s = (struct stacks){.g = g, .here = NOWHERE};
    s->called = calloc(g->n_components, sizeof *s->called);
    s->pending = calloc(g->n_components / 64 + 1, sizeof *s->pending);
    s->entered = calloc(g->n_rules, sizeof *s->entered);
    if (!s->called || !s->pending || !s->entered)
        return no_memory(s) != STACKS_BAD;
    return add(s, none, 1) == STACKS_NONE && add(s, end, 1) != STACKS_BAD;
}

void stacks_free(struct stacks *s)
{
    intern_free(&s->set);
    free(s->expanded);
    free(s->seen);
    free(s->call);
    free(s->called);
    free(s->pending);
    free(s->entered);
    free(s->todo);
    free(s->word);
    free(s->many);
    free(s->top);
    free(s->job);
    memset(s, 0, sizeof *s);
}

static bool put(struct stacks *s, uint32_t word)
{
    if (!mem_grow(&s->word, &s->word_cap, s->n_word + 1, sizeof *s->word))
        return no_memory(s) != STACKS_BAD;
    s->word[s->n_word++] = word;
    return true;
}

// The set of the words from `from` on, which are taken away.
static uint32_t take(struct stacks *s, size_t from)
{
    const uint32_t set = add(s, s->word + from, s->n_word - from);
    s->n_word = from;
    return set;
}

// ---- unions

static uint32_t *memo_of(struct stacks *s, uint32_t a, uint32_t b)
{
    return s->united[(a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 22];
}

// The union of two sets if it is plain, or has just been computed; STACKS_BAD otherwise. Orders the two.
static uint32_t known_union(struct stacks *s, uint32_t *a, uint32_t *b)
{
    const uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    const uint32_t *const memo = memo_of(s, low, high);
    *a = low;
    *b = high;
    if (low == high || low == STACKS_NONE)
        return high;
    return memo[0] == low && memo[1] == high ? memo[2] : STACKS_BAD;
}

static bool push_job(struct stacks *s, size_t *n, uint32_t a, uint32_t b)
{
    if (!mem_grow(&s->job, &s->job_cap, *n + 1, sizeof *s->job))
        return no_memory(s) != STACKS_BAD;
    s->job[(*n)++] = (struct union_job){.a = a, .b = b, .words = s->n_word};
    return put(s, stacks_end(s, a) || stacks_end(s, b));
}

// Puts the frames of both sets, in order, up to one that both have with unequal sets below, *a and *b. False when memory is short.
static bool put_frames(struct stacks *s, struct union_job *job, uint32_t *a, uint32_t *b)
{
    const size_t na = stacks_count(s, job->a), nb = stacks_count(s, job->b);
    bool ok = true;
    for (*a = *b = STACKS_NONE; ok && *a == *b && (job->i < na || job->j < nb);) {
        const struct frame none = {NOWHERE, STACKS_NONE};
        const struct frame p = job->i < na ? stacks_top(s, job->a, job->i) : none;
        const struct frame q = job->j < nb ? stacks_top(s, job->b, job->j) : none;
        job->i += p.at <= q.at;
        job->j += q.at <= p.at;
        ok = put(s, p.at < q.at ? p.at : q.at);
        if (p.at == q.at) {
            *a = p.below;
            *b = q.below;
        }
        if (ok && (p.at != q.at || p.below == q.below))
            ok = put(s, p.at <= q.at ? p.below : q.below);
    }
    return ok;
}

// What lies below a frame that both sets have is a union itself. The depth of stacks being without bound, so are the jobs.
static uint32_t unite(struct stacks *s, uint32_t a, uint32_t b)
{
    const size_t words = s->n_word;
    uint32_t set = known_union(s, &a, &b);
    size_t n = 0;
    bool ok = set != STACKS_BAD || push_job(s, &n, a, b);
    while (ok && n) {
        struct union_job *const job = &s->job[n - 1];
        ok = put_frames(s, job, &a, &b);
        if (ok && a != b) {
            set = known_union(s, &a, &b);
            ok = set != STACKS_BAD ? put(s, set) : push_job(s, &n, a, b);
        } else if (ok) {
            uint32_t *const memo = memo_of(s, job->a, job->b);
            set = take(s, job->words);
            memo[0] = job->a;
            memo[1] = job->b;
            memo[2] = set;
            n--;
            ok = set != STACKS_BAD && (!n || put(s, set));
        }
    }
    s->n_word = words;
    return ok ? set : STACKS_BAD;
}

// In pairs, so that the sets in between stay small.
uint32_t stacks_unite(struct stacks *s, uint32_t *set, size_t n)
{
    if (!n)
        return STACKS_NONE;
    for (; n > 1; n = (n + 1) / 2) {
        for (size_t i = 0; i < n / 2; i++)
            if ((set[i] = unite(s, set[2 * i], set[2 * i + 1])) == STACKS_BAD)
                return STACKS_BAD;
        if (n % 2)
            set[n / 2] = set[n - 1];
    }
    return set[0];
}

// ---- expansion: rules at the top become what they begin with
//
// Each rule that comes to the top is expanded once, over the union of all that may lie below it, after those that it can come first in:
// rules_check has numbered the components of the left-most uses so. The cost is linear in the rules and alternatives that are met,
// however many ways lead there.

bool stacks_pick(struct stacks *s, struct frame f)
{
    if (!mem_grow(&s->top, &s->top_cap, s->n_top + 1, sizeof *s->top))
        return no_memory(s) != STACKS_BAD;
    s->top[s->n_top++] = f;
    return true;
}

uint32_t stacks_picked(struct stacks *s, bool end)
{
    const size_t from = s->n_word;
    bool ok = put(s, end);
    for (size_t i = 0; ok && i < s->n_top; i++)
        ok = put(s, s->top[i].at) && put(s, s->top[i].below);
    return ok ? take(s, from) : STACKS_BAD;
}

// Notes that a rule is at the top over a set. Within the component that is being expanded the set is the same as for the others.
static bool call_rule(struct stacks *s, uint32_t rule, uint32_t rest)
{
    const uint32_t component = s->g->rule[rule].component;
    if (component == s->here && s->entered[rule] == s->round)
        return true;
    assert(s->here == NOWHERE || component <= s->here);
    if (!mem_grow(&s->call, &s->call_cap, s->n_call + 1, sizeof *s->call))
        return no_memory(s) != STACKS_BAD;
    s->call[s->n_call++] = (struct rule_call){rule, rest, s->called[component]};
    s->called[component] = (uint32_t)s->n_call;
    s->pending[component / 64] |= UINT64_C(1) << component % 64;
    return true;
}

// Brings what stands from `at` on to the top: a terminal, or a rule, and what follows a rule that can be empty.
static bool enter(struct stacks *s, uint32_t at, uint32_t below)
{
    for (const struct element *e = &s->g->element[at];; e++, at++) {
        if (e->type == ELEMENT_END)
            return true;
        if (e->type != ELEMENT_RULE)
            return stacks_pick(s, (struct frame){at, below});
        const uint32_t rest = e[1].type == ELEMENT_END ? below : single(s, at + 1, below);
        if (rest == STACKS_BAD || !call_rule(s, e->value, rest))
            return false;
        if (!s->g->rule[e->value].empty)
            return true;
        if (e[1].type == ELEMENT_END)
            continue;
        if (s->seen[rest] == s->round) // what follows has been here
            return true;
        s->seen[rest] = s->round;
    }
}

// Is all from `at` to the end of the alternative able to be empty, so that what lies below comes to the top, too?
static bool shows_below(const struct stacks *s, uint32_t at)
{
    const struct element *e = &s->g->element[at];
    while (e->type == ELEMENT_RULE && s->g->rule[e->value].empty)
        e++;
    return e->type == ELEMENT_END;
}

// Enters the frames of a set, and the tops of what shows below them, which has been expanded. *end: the text may end.
static bool enter_set(struct stacks *s, uint32_t set, bool *end)
{
    const size_t n = stacks_count(s, set);
    bool ok = true;
    *end = stacks_end(s, set);
    for (size_t i = 0; ok && i < n; i++) {
        const struct frame f = stacks_top(s, set, i);
        ok = enter(s, f.at, f.below);
        if (!ok || !shows_below(s, f.at))
            continue;
        const uint32_t below = s->expanded[f.below];
        if (s->seen[below] == s->round)
            continue;
        s->seen[below] = s->round;
        *end = *end || stacks_end(s, below);
        for (size_t k = 0; ok && k < stacks_count(s, below); k++)
            ok = stacks_pick(s, stacks_top(s, below, k));
    }
    return ok;
}

// Expands the rules of a component that have been called.
static bool expand_component(struct stacks *s, uint32_t component)
{
    const uint32_t first = s->called[component];
    size_t n = 0;
    for (uint32_t i = first; i; i = s->call[i - 1].next)
        n++;
    if (!mem_grow(&s->many, &s->many_cap, n, sizeof *s->many))
        return no_memory(s) != STACKS_BAD;
    n = 0;
    for (uint32_t i = first; i; i = s->call[i - 1].next)
        s->many[n++] = s->call[i - 1].rest;
    const uint32_t rest = stacks_unite(s, s->many, n);
    bool ok = rest != STACKS_BAD;
    s->here = component;
    while (ok && s->called[component]) {
        const struct rule_call *const call = &s->call[s->called[component] - 1];
        const struct grammar_rule *const r = &s->g->rule[call->rule];
        const bool again = s->entered[call->rule] == s->round;
        s->called[component] = call->next;
        s->entered[call->rule] = s->round;
        for (size_t a = r->first_alt; ok && !again && a < r->first_alt + r->n_alts; a++)
            ok = enter(s, s->g->alt[a], rest);
    }
    s->here = NOWHERE;
    return ok;
}

// Expands all that has been called, from the highest component down.
static bool expand_calls(struct stacks *s)
{
    bool ok = true;
    size_t high = 0;
    for (size_t i = 0; i < s->n_call; i++) {
        const uint32_t component = s->g->rule[s->call[i].rule].component;
        high = component > high ? component : high;
    }
    for (size_t i = s->n_call ? high / 64 + 1 : 0; i-- > 0;)
        while (s->pending[i]) {
            const uint32_t component = (uint32_t)(64 * i + 63 - (size_t)__builtin_clzll(s->pending[i]));
            ok = ok && expand_component(s, component);
            s->called[component] = 0;
            s->pending[i] &= ~(UINT64_C(1) << component % 64);
        }
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const struct frame *const x = a, *const y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

// The set of the tops found, each element once.
static uint32_t gather(struct stacks *s, bool end)
{
    size_t kept = 0;
    if (s->n_top)
        qsort(s->top, s->n_top, sizeof *s->top, by_place);
    if (!mem_grow(&s->many, &s->many_cap, s->n_top + 1, sizeof *s->many))
        return no_memory(s);
    for (size_t i = 0, n; i < s->n_top; i += n) {
        const uint32_t at = s->top[i].at;
        for (n = 0; i + n < s->n_top && s->top[i + n].at == at; n++)
            s->many[n] = s->top[i + n].below;
        const uint32_t below = stacks_unite(s, s->many, n);
        if (below == STACKS_BAD)
            return STACKS_BAD;
        s->top[kept++] = (struct frame){at, below};
    }
    s->n_top = kept;
    return stacks_picked(s, end);
}

static bool expand_set(struct stacks *s, uint32_t set)
{
    bool end;
    s->n_top = s->n_call = 0;
    s->round++;
    const bool entered = enter_set(s, set, &end), ok = expand_calls(s) && entered;
    const uint32_t to = ok ? gather(s, end) : STACKS_BAD;
    if (to != STACKS_BAD)
        s->expanded[set] = s->expanded[to] = to;
    return to != STACKS_BAD;
}

static bool visit(struct stacks *s, uint32_t set)
{
    if (!mem_grow(&s->todo, &s->todo_cap, s->n_todo + 1, sizeof *s->todo))
        return no_memory(s) != STACKS_BAD;
    s->todo[s->n_todo++] = set;
    return true;
}

// What shows below a set is expanded first, and once for all sets above it.
static uint32_t expand(struct stacks *s, uint32_t set)
{
    if (set == STACKS_BAD)
        return STACKS_BAD;
    s->n_todo = 0;
    bool ok = visit(s, set);
    while (ok && s->n_todo) {
        const uint32_t here = s->todo[s->n_todo - 1];
        const size_t n = s->expanded[here] == STACKS_BAD ? stacks_count(s, here) : 0, before = s->n_todo;
        for (size_t i = 0; ok && i < n; i++) {
            const struct frame f = stacks_top(s, here, i);
            if (s->expanded[f.below] == STACKS_BAD && shows_below(s, f.at))
                ok = visit(s, f.below);
        }
        if (s->n_todo > before)
            continue;
        s->n_todo--;
        ok = ok && (s->expanded[here] != STACKS_BAD || expand_set(s, here));
    }
    return ok ? s->expanded[set] : STACKS_BAD;
}

uint32_t stacks_start(struct stacks *s)
{
    static const uint32_t end[] = {1};
    const uint32_t below = add(s, end, 1);
    return below == STACKS_BAD ? STACKS_BAD : expand(s, single(s, s->g->start, below));
}

uint32_t stacks_after(struct stacks *s)
{
    size_t kept = 0, n = 0;
    if (!mem_grow(&s->many, &s->many_cap, s->n_top + 1, sizeof *s->many))
        return no_memory(s);
    for (size_t i = 0; i < s->n_top; i++) {
        const struct frame f = s->top[i];
        assert(s->g->element[f.at].type > ELEMENT_RULE);
        if (s->g->element[f.at + 1].type == ELEMENT_END)
            s->many[n++] = f.below;
        else
            s->top[kept++] = (struct frame){f.at + 1, f.below};
    }
    s->n_top = kept;
    if (kept && (s->many[n++] = stacks_picked(s, false)) == STACKS_BAD)
        return STACKS_BAD;
    return expand(s, stacks_unite(s, s->many, n));
}

// ---- shrinking

// Copies a set whose parts have been copied.
static uint32_t copy(struct stacks *to, const struct stacks *from, uint32_t set, const uint32_t *copied)
{
    size_t n;
    const uint32_t *const word = intern_get(&from->set, set, &n);
    bool ok = put(to, word[0]);
    for (size_t i = 1; ok && i < n; i += 2)
        ok = put(to, word[i]) && put(to, copied[word[i + 1]]);
    return ok ? take(to, 0) : STACKS_BAD;
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
        no_memory(s);
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
