// SPDX-License-Identifier: MIT
#include "grammar/rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_COMPONENT UINT32_MAX

// A rule and where in it a search goes on.
struct step {
    uint32_t rule;
    size_t alt, at;
};

// Everything here is done without recursion, as a hostile grammar's rules may refer to each other in a chain of any
// length.
struct check {
    struct grammar *g;
    uint32_t *words;   // the arrays below, as one
    uint32_t *todo;    // [n_rules] rules to be followed up
    uint32_t *number;  // [n_rules] of the search, in the order of discovery, from 1; 0: not seen
    uint32_t *low;     // [n_rules] the least number that is reached from a rule and not in a component yet
    uint32_t *shows;   // [n_rules] can it begin with a terminal? Known of rules in a component
    uint32_t *use;     // [n_rules] an element that uses the rule, + 1; 0: none
    uint32_t *next;    // [n_elements] another element that uses the same rule, + 1; 0: no more
    uint32_t *alt;     // [n_elements] the alternative that an element is in
    uint32_t *left;    // [n_alts] elements of an alternative not yet known to be able to be empty
    uint32_t *of;      // [n_alts] the alternative's rule
    struct step *path; // [n_rules]
    size_t n_path, n_todo;
    uint32_t n_seen;
    uint32_t stuck;  // a rule that only comes to itself, or NO_COMPONENT
    bool first_only; // follow only what an alternative begins with
};

static void mark_empty(struct check *c, uint32_t rule)
{
    if (!c->g->rule[rule].empty)
        c->todo[c->n_todo++] = rule;
    c->g->rule[rule].empty = true;
}

// Lists the uses of each rule, and counts each alternative's elements. False: *bad is a rule that is not defined.
static bool note_uses(struct check *c, size_t *bad)
{
    const struct grammar *const g = c->g;
    for (uint32_t r = 0; r < g->n_rules; r++)
        for (size_t a = g->rule[r].first_alt; a < g->rule[r].first_alt + g->rule[r].n_alts; a++) {
            c->of[a] = r;
            for (uint32_t i = g->alt[a]; g->element[i].type != ELEMENT_END; i++) {
                const struct element e = g->element[i];
                c->left[a]++;
                if (e.type != ELEMENT_RULE)
                    continue;
                *bad = e.value;
                if (!g->rule[e.value].n_alts)
                    return false;
                c->alt[i] = (uint32_t)a;
                c->next[i] = c->use[e.value];
                c->use[e.value] = i + 1;
            }
            if (!c->left[a])
                mark_empty(c, r);
        }
    return true;
}

// A rule can be empty when some alternative consists of such rules only.
static void find_empty(struct check *c)
{
    while (c->n_todo) {
        const uint32_t r = c->todo[--c->n_todo];
        for (uint32_t i = c->use[r]; i; i = c->next[i - 1])
            if (!--c->left[c->alt[i - 1]])
                mark_empty(c, c->of[c->alt[i - 1]]);
    }
}

// The next use of a rule that can come first in the step's rule, or NULL when there are no more.
static const struct element *next_first(const struct check *c, struct step *s)
{
    const struct grammar *const g = c->g;
    const struct grammar_rule *const r = &g->rule[s->rule];
    for (; s->alt < r->n_alts; s->alt++, s->at = 0) {
        const struct element *const e = &g->element[g->alt[r->first_alt + s->alt]] + s->at;
        if (e->type != ELEMENT_RULE || (s->at && (c->first_only || !g->rule[e[-1].value].empty)))
            continue;
        s->at++;
        return e;
    }
    return NULL;
}

// Does a rule begin with a terminal, by way of rules that are known to?
static bool shows_terminal(const struct check *c, const struct grammar_rule *r)
{
    const struct grammar *const g = c->g;
    for (size_t a = r->first_alt; a < r->first_alt + r->n_alts; a++)
        for (const struct element *e = &g->element[g->alt[a]]; e->type != ELEMENT_END; e++) {
            if (e->type != ELEMENT_RULE || c->shows[e->value])
                return true;
            if (!g->rule[e->value].empty)
                break;
        }
    return false;
}

static void visit_rule(struct check *c, uint32_t rule)
{
    c->number[rule] = c->low[rule] = ++c->n_seen;
    c->shows[rule] = false;
    c->path[c->n_path++] = (struct step){.rule = rule};
    c->todo[c->n_todo++] = rule;
}

// Takes in the least number that a rule leads to; as the last rule of the path it leads to itself.
static void lower(struct check *c, uint32_t low)
{
    uint32_t *const here = &c->low[c->path[c->n_path - 1].rule];
    *here = low < *here ? low : *here;
}

// Makes the newest rules, down to this one, a component. One whose rules only ever come to each other matches
// nothing: it has no way to begin.
static void close_component(struct check *c, uint32_t rule)
{
    struct grammar *const g = c->g;
    bool shows = false;
    size_t from = c->n_todo;
    do {
        const uint32_t member = c->todo[--from];
        g->rule[member].component = g->n_components;
        shows = shows || shows_terminal(c, &g->rule[member]);
    } while (c->todo[from] != rule);
    g->n_components++;
    while (c->n_todo > from) {
        const uint32_t member = c->todo[--c->n_todo];
        c->shows[member] = shows;
        if (!shows && !g->rule[member].empty && g->rule[member].n_alts && c->stuck == NO_COMPONENT)
            c->stuck = member;
    }
}

// Numbers the components of what can come first in a rule (Tarjan, "Depth-First Search and Linear Graph Algorithms",
// 1972): todo holds the rules that are in none yet.
static void find_components(struct check *c, uint32_t start)
{
    if (!c->number[start])
        visit_rule(c, start);
    while (c->n_path) {
        struct step *const s = &c->path[c->n_path - 1];
        const uint32_t rule = s->rule;
        const struct element *const e = next_first(c, s);
        if (e && !c->number[e->value]) {
            visit_rule(c, e->value);
        } else if (e && c->g->rule[e->value].component == NO_COMPONENT) {
            lower(c, c->number[e->value]);
        } else if (!e) {
            if (c->low[rule] == c->number[rule])
                close_component(c, rule);
            if (--c->n_path)
                lower(c, c->low[rule]);
        }
    }
}

// A cycle of what alternatives begin with is a left recursion, and so is one that leaves something to come behind the
// rule. False: *bad is a rule in one.
static bool no_left_recursion(struct check *c, size_t *bad)
{
    struct grammar *const g = c->g;
    g->n_components = c->n_seen = 0;
    c->stuck = NO_COMPONENT;
    memset(c->number, 0, g->n_rules * sizeof *c->number);
    for (size_t r = 0; r < g->n_rules; r++)
        g->rule[r].component = NO_COMPONENT;
    for (uint32_t r = 0; r < g->n_rules; r++)
        find_components(c, r);
    for (uint32_t r = 0; r < g->n_rules; r++) {
        struct step s = {.rule = r};
        *bad = r;
        for (const struct element *e; (e = next_first(c, &s));) {
            assert(g->rule[r].component >= g->rule[e->value].component);
            if (g->rule[r].component == g->rule[e->value].component && (c->first_only || e[1].type != ELEMENT_END))
                return false;
        }
    }
    return true;
}

static bool allocate(struct check *c)
{
    const struct grammar *const g = c->g;
    uint32_t **const array[] = {&c->todo, &c->number, &c->low, &c->shows, &c->use, &c->next, &c->alt, &c->left, &c->of};
    const size_t r = g->n_rules, e = g->n_elements, a = g->n_alts, n[] = {r, r, r, r, r, e, e, a, a};
    c->words = calloc(5 * r + 2 * e + 2 * a, sizeof *c->words);
    c->path = calloc(r, sizeof *c->path);
    uint32_t *at = c->words;
    for (size_t i = 0; at && i < sizeof n / sizeof *n; at += n[i++])
        *array[i] = at;
    return c->words && c->path;
}

enum grammar_code rules_check(struct grammar *g, size_t *bad)
{
    struct check c = {.g = g};
    enum grammar_code code = GRAMMAR_OK;
    assert(g->start < g->n_elements);
    if (!allocate(&c))
        code = GRAMMAR_MEMORY;
    else if (!note_uses(&c, bad))
        code = GRAMMAR_UNDEFINED;
    else
        find_empty(&c);
    for (int pass = 0; !code && pass < 2; pass++) {
        c.first_only = !pass;
        code = no_left_recursion(&c, bad) ? GRAMMAR_OK : GRAMMAR_LEFT_RECURSION;
    }
    if (!code && c.stuck != NO_COMPONENT) {
        *bad = c.stuck;
        code = GRAMMAR_LEFT_RECURSION;
    }
    free(c.words);
    free(c.path);
    return code;
}
