// SPDX-License-Identifier: MIT
#include "grammar/stacks.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MIB = 64, MOST_WORDS = MOST_MIB << 18 }; // of all sets

#define NOWHERE UINT32_MAX

// Makes room in an array, as mem_grow does. False on a fault, this or an earlier one.
static bool grow_array(struct stacks *s, void *array, size_t *cap, size_t need, size_t size)
{
    if (need > *cap && !mem_grow(array, cap, need, size))
        s->fault = fault_memory();
    return !s->fault.code;
}

// The set with these words, which lie outside the table.
static uint32_t intern_set(struct stacks *s, const uint32_t *word, size_t n)
{
    const size_t known = s->set.n;
    if (s->set.words > MOST_WORDS)
        s->fault = (struct fault){FAULT_GRAMMAR, MOST_MIB};
    if (!grow_array(s, &s->note, &s->note_cap, known + 1, sizeof *s->note))
        return STACKS_NONE;
    const uint32_t set = intern_add(&s->set, word, n);
    if (set == known)
        s->note[set] = (struct set_note){0};
    if (set == INTERN_NONE)
        s->fault = fault_memory();
    return set == INTERN_NONE ? STACKS_NONE : set;
}

static uint32_t single(struct stacks *s, uint32_t at, uint32_t below)
{
    const uint32_t word[] = {0, at, below};
    return intern_set(s, word, 3);
}

bool stacks_init(struct stacks *s, const struct grammar *g)
{
    static const uint32_t none[] = {false};
    *s = (struct stacks){.g = g, .here = NOWHERE};
    s->called = calloc(g->n_components, sizeof *s->called);
    s->pending = calloc(g->n_components / 64 + 1, sizeof *s->pending);
    s->entered = calloc(g->n_rules, sizeof *s->entered);
    if (!s->called || !s->pending || !s->entered)
        s->fault = fault_memory();
    return intern_set(s, none, 1) == STACKS_NONE && !s->fault.code;
}

void stacks_free(struct stacks *s)
{
    intern_free(&s->set);
    free(s->note);
    free(s->call);
    free(s->called);
    free(s->pending);
    free(s->entered);
    free(s->word);
    free(s->top);
    free(s->job);
    *s = (struct stacks){0};
}

static void append_word(struct stacks *s, uint32_t word)
{
    if (grow_array(s, &s->word, &s->word_cap, s->n_word + 1, sizeof *s->word))
        s->word[s->n_word++] = word;
}

// The set of the words from `from` on, which are taken away.
static uint32_t pop_set(struct stacks *s, size_t from)
{
    const uint32_t set = intern_set(s, s->word + from, s->n_word - from);
    s->n_word = from;
    return set;
}

// The i-th frame of a set; at is NOWHERE where there is none.
static struct frame frame_at(const struct stacks *s, uint32_t set, size_t i)
{
    size_t n;
    const struct frame *const frame = stacks_frames(s, set, &n);
    return i < n ? frame[i] : (struct frame){NOWHERE, STACKS_NONE};
}

// ---- unions

// The place of two sets' union; it may hold that of others.
static uint32_t *memo_of(struct stacks *s, uint32_t a, uint32_t b)
{
    return s->united[(a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 22];
}

// Puts the union of two sets if it is plain, or has just been computed; otherwise begins to compute it.
static void put_union(struct stacks *s, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    const uint32_t *const memo = memo_of(s, low, high);
    if (low == high || low == STACKS_NONE) {
        append_word(s, high);
    } else if (memo[0] == low && memo[1] == high && memo[2] != STACKS_NONE) {
        append_word(s, memo[2]);
    } else if (grow_array(s, &s->job, &s->job_cap, s->n_job + 1, sizeof *s->job)) {
        s->job[s->n_job++] = (struct union_job){.a = low, .b = high, .words = s->n_word};
        append_word(s, stacks_end(s, low) || stacks_end(s, high));
    }
}

// Puts the next frame of the two sets. What lies below one that both have is a union itself. False: there is none.
static bool put_frame(struct stacks *s, struct union_job *job)
{
    const struct frame a = frame_at(s, job->a, job->i), b = frame_at(s, job->b, job->j);
    if (a.at == NOWHERE && b.at == NOWHERE)
        return false;
    job->i += a.at <= b.at;
    job->j += b.at <= a.at;
    append_word(s, a.at < b.at ? a.at : b.at);
    put_union(s, a.at <= b.at ? a.below : b.below, b.at <= a.at ? b.below : a.below);
    return true;
}

// The depth of stacks being without bound, so are the jobs. What each comes to is put where the one before it goes on.
uint32_t stacks_unite(struct stacks *s, uint32_t a, uint32_t b)
{
    const size_t from = s->n_word;
    s->n_job = 0;
    put_union(s, a, b);
    while (s->n_job && !s->fault.code) {
        struct union_job *const job = &s->job[s->n_job - 1];
        if (put_frame(s, job))
            continue;
        uint32_t *const memo = memo_of(s, job->a, job->b);
        memo[0] = job->a;
        memo[1] = job->b;
        memo[2] = pop_set(s, job->words);
        s->n_job--;
        append_word(s, memo[2]);
    }
    s->n_word = from;
    return s->fault.code ? STACKS_NONE : s->word[from];
}

// The union of the sets that are the words from `from` on, which are taken away. In pairs, so that the sets in
// between stay small.
static uint32_t unite_from(struct stacks *s, size_t from)
{
    assert(from <= s->n_word);
    size_t n = s->n_word - from;
    for (; n > 1; n = (n + 1) / 2) {
        for (size_t i = 0; i < n / 2; i++) {
            const uint32_t set = stacks_unite(s, s->word[from + 2 * i], s->word[from + 2 * i + 1]);
            s->word[from + i] = set;
        }
        if (n % 2)
            s->word[from + n / 2] = s->word[from + n - 1];
    }
    s->n_word = from;
    return n ? s->word[from] : STACKS_NONE;
}

// ---- expansion: rules at the top become what they begin with
//
// Each rule that comes to the top is expanded once, over the union of all that may lie below it, after those that it
// can come first in: rules_check has numbered the components of the left-most uses so. The cost is linear in the
// rules and alternatives that are met, however many ways lead there.

void stacks_pick(struct stacks *s, struct frame f)
{
    if (grow_array(s, &s->top, &s->top_cap, s->n_top + 1, sizeof *s->top))
        s->top[s->n_top++] = f;
}

uint32_t stacks_picked(struct stacks *s, bool end)
{
    const size_t from = s->n_word;
    append_word(s, end);
    for (size_t i = 0; i < s->n_top; i++) {
        append_word(s, s->top[i].at);
        append_word(s, s->top[i].below);
    }
    return pop_set(s, from);
}

// Notes that a rule is at the top over a set. Within the component that is being expanded the set is the same as for
// the others.
static void call_rule(struct stacks *s, uint32_t rule, uint32_t rest)
{
    const uint32_t component = s->g->rule[rule].component;
    if (component == s->here && s->entered[rule] == s->round)
        return;
    assert(s->here == NOWHERE || component <= s->here);
    if (!grow_array(s, &s->call, &s->call_cap, s->n_call + 1, sizeof *s->call))
        return;
    s->call[s->n_call++] = (struct rule_call){rule, rest, s->called[component]};
    s->called[component] = (uint32_t)s->n_call;
    s->pending[component / 64] |= UINT64_C(1) << component % 64;
    if (s->n_pending <= component / 64)
        s->n_pending = component / 64 + 1;
}

// Brings what stands from `at` on to the top: a terminal, or a rule, and what follows a rule that can be empty.
static void push_top(struct stacks *s, uint32_t at, uint32_t below)
{
    for (const struct element *e = &s->g->element[at]; e->type != ELEMENT_END; e++, at++) {
        if (e->type != ELEMENT_RULE) {
            stacks_pick(s, (struct frame){at, below});
            return;
        }
        const bool last = e[1].type == ELEMENT_END;
        const uint32_t rest = last ? below : single(s, at + 1, below);
        call_rule(s, e->value, rest);
        if (!s->g->rule[e->value].empty || (!last && s->note[rest].seen == s->round)) // what follows has been here
            return;
        if (!last)
            s->note[rest].seen = s->round;
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

// Enters the frames of a set, and the tops of what shows below them, which has been expanded. Returns whether the
// text may end.
static bool enter_set(struct stacks *s, uint32_t set)
{
    bool end = stacks_end(s, set);
    struct frame f;
    for (size_t i = 0, n; (f = frame_at(s, set, i)).at != NOWHERE; i++) {
        push_top(s, f.at, f.below);
        const uint32_t below = s->note[f.below].expanded;
        if (!shows_below(s, f.at) || s->note[below].seen == s->round)
            continue;
        s->note[below].seen = s->round;
        end = end || stacks_end(s, below);
        const struct frame *const top = stacks_frames(s, below, &n);
        for (size_t k = 0; k < n; k++)
            stacks_pick(s, top[k]);
    }
    return end;
}

// Expands the rules of a component that have been called.
static void expand_component(struct stacks *s, uint32_t component)
{
    const size_t from = s->n_word;
    for (uint32_t i = s->called[component]; i; i = s->call[i - 1].next)
        append_word(s, s->call[i - 1].rest);
    const uint32_t rest = unite_from(s, from);
    s->here = component;
    while (s->called[component]) {
        const struct rule_call *const call = &s->call[s->called[component] - 1];
        const struct grammar_rule *const r = &s->g->rule[call->rule];
        const bool again = s->entered[call->rule] == s->round;
        s->called[component] = call->next;
        s->entered[call->rule] = s->round;
        for (size_t a = r->first_alt; !again && a < r->first_alt + r->n_alts; a++)
            push_top(s, s->g->alt[a], rest);
    }
    s->here = NOWHERE;
}

// Expands all that has been called, from the highest component down; what that calls is no higher.
static void expand_calls(struct stacks *s)
{
    for (; s->n_pending; s->n_pending--)
        for (uint64_t *const word = &s->pending[s->n_pending - 1]; *word;) {
            const size_t bit = 63 - (size_t)__builtin_clzll(*word);
            expand_component(s, (uint32_t)(64 * (s->n_pending - 1) + bit));
            *word &= ~(UINT64_C(1) << bit);
        }
}

static int by_place(const void *a, const void *b)
{
    const struct frame *const x = a, *const y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

// Makes the tops found a set's, each element once.
static void merge_tops(struct stacks *s)
{
    size_t kept = 0;
    if (s->n_top)
        qsort(s->top, s->n_top, sizeof *s->top, by_place);
    for (size_t i = 0; i < s->n_top;) {
        const uint32_t at = s->top[i].at;
        const size_t from = s->n_word;
        for (; i < s->n_top && s->top[i].at == at; i++)
            append_word(s, s->top[i].below);
        s->top[kept++] = (struct frame){at, unite_from(s, from)};
    }
    s->n_top = kept;
}

static void expand_set(struct stacks *s, uint32_t set)
{
    s->n_top = s->n_call = 0;
    s->round++;
    const bool end = enter_set(s, set);
    expand_calls(s);
    merge_tops(s);
    const uint32_t to = stacks_picked(s, end);
    s->note[set].expanded = s->note[to].expanded = to;
}

// Expands a set. The sets below it are expanded first, and only once for all sets above them.
static uint32_t expand(struct stacks *s, uint32_t set)
{
    const size_t from = s->n_word;
    if (!s->note[set].expanded)
        append_word(s, set);
    while (s->n_word > from && !s->fault.code) {
        const size_t todo = s->n_word;
        const uint32_t here = s->word[todo - 1];
        size_t n;
        const struct frame *const frame = stacks_frames(s, here, &n);
        for (size_t i = 0; !s->note[here].expanded && i < n; i++)
            if (!s->note[frame[i].below].expanded && shows_below(s, frame[i].at))
                append_word(s, frame[i].below);
        if (s->n_word > todo)
            continue;
        s->n_word--;
        if (!s->note[here].expanded)
            expand_set(s, here);
    }
    s->n_word = from;
    return s->note[set].expanded;
}

uint32_t stacks_start(struct stacks *s)
{
    static const uint32_t end[] = {true};
    return expand(s, single(s, s->g->start, intern_set(s, end, 1)));
}

uint32_t stacks_after(struct stacks *s)
{
    const size_t from = s->n_word;
    size_t kept = 0;
    if (!s->n_top)
        return STACKS_NONE;
    for (size_t i = 0; i < s->n_top; i++) {
        const struct frame f = s->top[i];
        assert(s->g->element[f.at].type > ELEMENT_RULE);
        if (s->g->element[f.at + 1].type == ELEMENT_END)
            append_word(s, f.below);
        else
            s->top[kept++] = (struct frame){f.at + 1, f.below};
    }
    s->n_top = kept;
    if (kept)
        append_word(s, stacks_picked(s, false));
    return expand(s, unite_from(s, from));
}

// Parts are older than what they are part of, so marking goes down the ids and copying up.
uint32_t stacks_copy(struct stacks *s, const struct stacks *from, uint32_t set)
{
    assert(set < from->set.n);
    uint32_t *const mark = calloc((size_t)set + 1, sizeof *mark);
    if (!mark) {
        s->fault = fault_memory();
        return STACKS_NONE;
    }
    mark[set] = true;
    for (uint32_t id = set; id; id--) {
        size_t n;
        const struct frame *const frame = stacks_frames(from, id, &n);
        for (size_t i = 0; mark[id] && i < n; i++)
            mark[frame[i].below] = true;
    }
    for (uint32_t id = 0; id <= set; id++) {
        size_t n;
        const struct frame *const frame = stacks_frames(from, id, &n);
        if (!mark[id])
            continue;
        s->n_top = 0;
        for (size_t i = 0; i < n; i++)
            stacks_pick(s, (struct frame){frame[i].at, mark[frame[i].below]});
        mark[id] = stacks_picked(s, stacks_end(from, id));
    }
    const uint32_t copied = mark[set];
    free(mark);
    return copied;
}
