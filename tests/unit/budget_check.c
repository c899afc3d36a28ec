// SPDX-License-Identifier: MIT
// budget_check: compares the reasoning budget with a slow version that searches the whole text after every token. Tags, budgets and
// texts are random, of few different tokens, some of which end inside a character.
#include "random.h"
#include "sample/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 6, LONG = 4, TEXT = 200, ENDS = 3 };

struct case_rules {
    uint32_t start[LONG], end[ENDS][LONG], forced[LONG];
    struct tokens ends[ENDS];
    struct budget_rules rules;
};

static struct tokens random_tag(uint32_t id[LONG], size_t most)
{
    const struct tokens tag = {id, 1 + random_below((unsigned)most)};
    for (size_t i = 0; i < tag.n; i++)
        id[i] = random_below(TOKENS);
    return tag;
}

static void make_rules(struct case_rules *c, const struct vocab *v)
{
    c->rules =
        (struct budget_rules){.most = random_below(5), .end = c->ends, .n_ends = 1 + random_below(ENDS), .vocab = v};
    c->rules.start = random_tag(c->start, 2);
    c->rules.forced = random_tag(c->forced, LONG);
    c->rules.forced.n *= random_below(8) > 0;
    c->rules.longest = c->rules.start.n;
    for (size_t i = 0; i < c->rules.n_ends; i++) {
        c->ends[i] = random_tag(c->end[i], LONG);
        if (c->ends[i].n > c->rules.longest)
            c->rules.longest = c->ends[i].n;
    }
}

// ---- the slow version: text[from..n) are the tokens since the last change of state

struct slow {
    uint32_t text[TEXT];
    size_t n, from, counted, forced;
    enum budget_state state;
};

static bool slow_ends(const struct slow *s, const struct tokens *tag)
{
    if (s->n - s->from < tag->n)
        return false;
    for (size_t i = 0; i < tag->n; i++)
        if (s->text[s->n - tag->n + i] != tag->id[i])
            return false;
    return true;
}

// Tokens 4 and 5 are the bytes of a character of two bytes. The other tokens are letters.
static void slow_accept(struct slow *s, const struct budget_rules *r, uint32_t id)
{
    bool ends = false;
    const bool whole = id < 4 || !r->vocab;
    s->text[s->n++] = id;
    for (size_t i = 0; i < r->n_ends; i++)
        ends = ends || slow_ends(s, &r->end[i]);
    switch (s->state) {
    case BUDGET_IDLE:
        if (!slow_ends(s, &r->start))
            return;
        s->counted = s->forced = 0;
        s->state = r->most ? BUDGET_COUNTING : BUDGET_FORCING;
        break;
    case BUDGET_COUNTING:
        if (ends)
            s->state = BUDGET_IDLE;
        else if (++s->counted < r->most)
            return;
        else
            s->state = whole ? BUDGET_FORCING : BUDGET_WAITING;
        s->forced = 0;
        break;
    case BUDGET_WAITING:
        if (!ends && !whole)
            return;
        s->state = ends ? BUDGET_IDLE : BUDGET_FORCING;
        break;
    case BUDGET_FORCING:
        if (++s->forced < r->forced.n)
            return;
        s->state = BUDGET_IDLE;
        break;
    }
    s->from = s->n;
}

static bool same(const struct budget *b, const struct slow *s, const struct budget_rules *r)
{
    const uint32_t forced = s->state == BUDGET_FORCING && r->forced.n ? r->forced.id[s->forced] : BUDGET_FREE;
    return b->state == s->state && budget_forced(b) == forced;
}

static bool run_case(const struct vocab *v, size_t seen[])
{
    struct case_rules c;
    make_rules(&c, random_below(2) ? v : NULL);
    struct budget b = {.rules = &c.rules};
    struct slow s = {.state = BUDGET_IDLE};
    bool ok = same(&b, &s, &c.rules);
    for (size_t i = 0; ok && i < TEXT; i++) {
        const bool obey =
            budget_forced(&b) != BUDGET_FREE && random_below(8); // accepted tokens may differ from the forced token
        const uint32_t id = obey ? budget_forced(&b) : random_below(TOKENS);
        ok = budget_accept(&b, id);
        slow_accept(&s, &c.rules, id);
        ok = ok && same(&b, &s, &c.rules);
        seen[b.state]++;
    }
    budget_reset(&b);
    ok = ok && b.state == BUDGET_IDLE && budget_forced(&b) == BUDGET_FREE;
    budget_free(&b);
    return ok;
}

int main(void)
{
    static const char *const text[TOKENS] = {"a", "b", "c", "", "\xc3", "\xa9"};
    struct vocab v;
    size_t failed = 0, seen[BUDGET_FORCING + 1] = {0};
    vocab_init(&v);
    for (size_t i = 0; i < TOKENS; i++)
        if (!vocab_add(&v, text[i], strlen(text[i]), 0))
            return 1;
    enum { CASES = 20000 };
    for (size_t i = 0; i < CASES; i++)
        failed += !run_case(&v, seen);
    vocab_free(&v);
    for (size_t i = 0; i <= BUDGET_FORCING; i++)
        failed += seen[i] < CASES; // each state must be reached at least CASES times
    printf("%d passed, %zu failed\n", CASES, failed);
    return failed != 0;
}
