// SPDX-License-Identifier: MIT
#include "grammar/stacks.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST_MIB = 64, MOST_WORDS = MOST_MIB << 18 }; // of all sets

#define NOWHERE UINT32_MAX

// Grows an array as mem_grow does. False on a fault, including an earlier one.
static bool grow_array(struct stacks *s, void *array, size_t *cap, size_t need, size_t size)
{
    if (need > *cap && !mem_grow(array, cap, need, size))
        s->fault = fault_memory();
    return !s->fault.code;
}

// Returns the set with these words, which must lie outside s->set.
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

// Returns the set of one frame.
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

// Pops the words from index `from` on and returns the set with these words.
static uint32_t pop_set(struct stacks *s, size_t from)
{
    const uint32_t set = intern_set(s, s->word + from, s->n_word - from);
    s->n_word = from;
    return set;
}

// Returns frame i of a set; its `at` is NOWHERE behind the last frame.
static struct frame frame_at(const struct stacks *s, uint32_t set, size_t i)
{
    const struct frames f = stacks_frames(s, set);
    return i < f.n ? f.frame[i] : (struct frame){NOWHERE, STACKS_NONE};
}

// ---- unions

// Returns the entry of s->united for two sets. It may hold the union of two others.
static uint32_t *memo_of(struct stacks *s, uint32_t a, uint32_t b)
{
    return s->united[(a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 22];
}

// Pushes the union of two sets if the sets are equal, if one has no stack, or if the union has just been computed.
// Otherwise begins a job that computes the union.
static void push_union(struct stacks *s, uint32_t a, uint32_t b)
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

// Pushes the next frame of the two sets of a job. If both sets have the frame's element, the set below is a union
// itself. False: there are no more frames.
static bool push_frame(struct stacks *s, struct union_job *job)
{
    const struct frame a = frame_at(s, job->a, job->i), b = frame_at(s, job->b, job->j);
    if (a.at == NOWHERE && b.at == NOWHERE)
        return false;
    job->i += a.at <= b.at;
    job->j += b.at <= a.at;
    append_word(s, a.at < b.at ? a.at : b.at);
    push_union(s, a.at <= b.at ? a.below : b.below, b.at <= a.at ? b.below : a.below);
    return true;
}

// Runs jobs from a stack, not by recursion, because stacks have no greatest depth. A finished job pushes its union as
// the next word of the job that began it.
uint32_t stacks_unite(struct stacks *s, uint32_t a, uint32_t b)
{
    const size_t from = s->n_word;
    s->n_job = 0;
    push_union(s, a, b);
    while (s->n_job && !s->fault.code) {
        struct union_job *const job = &s->job[s->n_job - 1];
        if (push_frame(s, job))
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

// Pops the words from index `from` on, which are sets, and returns their union. Unites pairs, then pairs of results, so
// that each set takes part in log n unions.
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
// The plain algorithm: while a stack has a rule at the top, replace the stack by one stack for each alternative of the
// rule. A rule that is reached in k ways is then expanded k times, and ways multiply along chains of rules.
//
// The idea: expand each rule once, over the union of all sets that may lie below it. This needs an order in which all
// callers of a rule come before the rule. rules_check has numbered the components of the graph "rule can begin with
// rule" for this: a caller has a higher component, or the same. In one component all rules have the same set below,
// since a left-recursive rule with an element behind is refused. The cost is linear in the rules and alternatives that
// are met. The set is the same: union and expansion commute.

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

// Records that a rule is at the top over the set `rest`. A rule of the present component is recorded only once, because
// all its rules have the same rest.
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

// Brings the element `at` to the top: picks a terminal, calls a rule. Behind a rule that can be empty, goes on with the
// next element.
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
        if (!s->g->rule[e->value].empty || (!last && s->note[rest].seen == s->round)) // the next element has been here
            return;
        if (!last)
            s->note[rest].seen = s->round;
    }
}

// Returns whether all elements from `at` to the end of the alternative can be empty. If so, the tops of the set below
// come to the top, too.
static bool shows_below(const struct stacks *s, uint32_t at)
{
    const struct element *e = &s->g->element[at];
    while (e->type == ELEMENT_RULE && s->g->rule[e->value].empty)
        e++;
    return e->type == ELEMENT_END;
}

// Brings the frames of a set to the top, and the tops of the sets that show below them; these have been expanded.
// Returns whether the text may end.
static bool enter_set(struct stacks *s, uint32_t set)
{
    bool end = stacks_end(s, set);
    struct frame f;
    for (size_t i = 0; (f = frame_at(s, set, i)).at != NOWHERE; i++) {
        push_top(s, f.at, f.below);
        const uint32_t below = s->note[f.below].expanded;
        if (!shows_below(s, f.at) || s->note[below].seen == s->round)
            continue;
        s->note[below].seen = s->round;
        end = end || stacks_end(s, below);
        const struct frames top = stacks_frames(s, below);
        for (size_t k = 0; k < top.n; k++)
            stacks_pick(s, top.frame[k]);
    }
    return end;
}

// Expands the called rules of a component.
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

// Expands all called rules, from the highest component down. Their own calls are of the same component or lower ones.
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

// Sorts the picked frames, and unites those of the same element.
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

// Returns the expanded set, with only terminals at the top. Expands the sets below it first, each only once for all
// sets above it.
static uint32_t expand(struct stacks *s, uint32_t set)
{
    const size_t from = s->n_word;
    if (!s->note[set].expanded)
        append_word(s, set);
    while (s->n_word > from && !s->fault.code) {
        const size_t todo = s->n_word;
        const uint32_t here = s->word[todo - 1];
        const struct frames f = stacks_frames(s, here);
        for (size_t i = 0; !s->note[here].expanded && i < f.n; i++)
            if (!s->note[f.frame[i].below].expanded && shows_below(s, f.frame[i].at))
                append_word(s, f.frame[i].below);
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

// A set is younger than the sets in it. Marks the sets in use by falling id, then copies them by rising id.
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
        const struct frames f = stacks_frames(from, id);
        for (size_t i = 0; mark[id] && i < f.n; i++)
            mark[f.frame[i].below] = true;
    }
    for (uint32_t id = 0; id <= set; id++) {
        const struct frames f = stacks_frames(from, id);
        if (!mark[id])
            continue;
        s->n_top = 0;
        for (size_t i = 0; i < f.n; i++)
            stacks_pick(s, (struct frame){f.frame[i].at, mark[f.frame[i].below]});
        mark[id] = stacks_picked(s, stacks_end(from, id));
    }
    const uint32_t copied = mark[set];
    free(mark);
    return copied;
}
