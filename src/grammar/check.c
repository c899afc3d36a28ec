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

// Everything here is done without recursion, as a hostile grammar's rules may refer to each other in a chain of any length.
struct check {
    struct grammar *g;
    uint32_t *words;   // the arrays below, as one
    uint32_t *todo;    // [n_rules] rules to be followed up
    uint32_t *number;  // [n_rules] of the search, in the order of discovery, from 1; 0: not seen
    uint32_t *low;     // [n_rules] the least number that is reached from a rule and not in a component yet
    uint32_t *order;   // [n_rules] rules by component
    uint32_t *use;     // [n_rules] an element that uses the rule, + 1; 0: none
    uint32_t *next;    // [n_elements] another element that uses the same rule, + 1; 0: no more
    uint32_t *alt;     // [n_elements] the alternative that an element is in
    uint32_t *left;    // [n_alts] elements of an alternative not yet known to be able to be empty
    uint32_t *of;      // [n_alts] the alternative's rule
    struct step *path; // [n_rules]
    size_t n_path, n_todo, n_order;
    uint32_t n_seen;
    bool first_only; // follow only what an alternative begins with
};

static bool blame(struct grammar_fault *fault, enum grammar_code code, const struct grammar_rule *r)
{
    *fault = (struct grammar_fault){.code = code, .name = r->name, .len = r->len};
    return false;
}

// Lists the uses of each rule, and counts each alternative's elements.
static bool note_uses(struct check *c, struct grammar_fault *fault)
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
                if (!g->rule[e.value].n_alts)
                    return blame(fault, GRAMMAR_UNDEFINED, &g->rule[e.value]);
                c->alt[i] = (uint32_t)a;
                c->next[i] = c->use[e.value];
                c->use[e.value] = i + 1;
            }
        }
    return true;
}

static void mark_empty(struct check *c, uint32_t rule)
{
    if (!c->g->rule[rule].empty)
        c->todo[c->n_todo++] = rule;
    c->g->rule[rule].empty = true;
}

// A rule can be empty when some alternative consists of such rules only.
static void find_empty(struct check *c)
{
    const struct grammar *const g = c->g;
    for (uint32_t r = 0; r < g->n_rules; r++)
        for (size_t a = g->rule[r].first_alt; a < g->rule[r].first_alt + g->rule[r].n_alts; a++)
            if (!c->left[a])
                mark_empty(c, r);
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

static void enter(struct check *c, uint32_t rule)
{
    c->number[rule] = c->low[rule] = ++c->n_seen;
    c->path[c->n_path++] = (struct step){.rule = rule};
    c->todo[c->n_todo++] = rule;
}

// Takes in the least number that a rule leads to; as the last rule of the path it leads to itself.
static void lower(struct check *c, uint32_t low)
{
    uint32_t *const here = &c->low[c->path[c->n_path - 1].rule];
    *here = low < *here ? low : *here;
}

// Numbers the components of what can come first in a rule (Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972): todo holds
// the rules that are in none yet.
static void find_components(struct check *c, uint32_t start)
{
    struct grammar *const g = c->g;
    if (!c->number[start])
        enter(c, start);
    while (c->n_path) {
        struct step *const s = &c->path[c->n_path - 1];
        const uint32_t rule = s->rule;
        const struct element *const e = next_first(c, s);
        if (e && !c->number[e->value]) {
            enter(c, e->value);
        } else if (e && g->rule[e->value].component == NO_COMPONENT) {
            lower(c, c->number[e->value]);
        } else if (!e) {
            if (c->low[rule] == c->number[rule]) {
                while (g->rule[rule].component == NO_COMPONENT) {
                    const uint32_t member = c->todo[--c->n_todo];
                    g->rule[member].component = g->n_components;
                    c->order[c->n_order++] = member;
                }
                g->n_components++;
            }
            if (--c->n_path)
                lower(c, c->low[rule]);
        }
    }
}

// A cycle of what alternatives begin with is a left recursion, and so is one that leaves something to come behind the rule.
static bool no_left_recursion(struct check *c, struct grammar_fault *fault)
{
    struct grammar *const g = c->g;
    g->n_components = c->n_seen = 0;
    c->n_order = 0;
    for (uint32_t r = 0; r < g->n_rules; r++) {
        g->rule[r].component = NO_COMPONENT;
        c->number[r] = 0;
    }
    for (uint32_t r = 0; r < g->n_rules; r++)
        find_components(c, r);
    for (uint32_t r = 0; r < g->n_rules; r++) {
        struct step s = {.rule = r};
        for (const struct element *e; (e = next_first(c, &s));) {
            assert(g->rule[r].component >= g->rule[e->value].component);
            if (g->rule[r].component == g->rule[e->value].component && (c->first_only || e[1].type != ELEMENT_END))
                return blame(fault, GRAMMAR_LEFT_RECURSION, &g->rule[r]);
        }
    }
    return true;
}

// Does a rule begin with a terminal, by way of rules that are known to?
static bool shows_terminal(const struct check *c, const struct grammar_rule *r, const uint32_t *shows)
{
    const struct grammar *const g = c->g;
    for (size_t a = r->first_alt; a < r->first_alt + r->n_alts; a++)
        for (const struct element *e = &g->element[g->alt[a]]; e->type != ELEMENT_END; e++) {
            if (e->type != ELEMENT_RULE || shows[e->value])
                return true;
            if (!g->rule[e->value].empty)
                break;
        }
    return false;
}

// A rule that only ever comes to itself matches nothing: it has no way to begin.
static bool all_begin(struct check *c, struct grammar_fault *fault)
{
    const struct grammar_rule *const rule = c->g->rule;
    uint32_t *const shows = c->number;
    memset(shows, 0, c->g->n_rules * sizeof *shows);
    for (size_t i = 0, end; i < c->n_order; i = end) {
        bool some = false;
        for (end = i; end < c->n_order && rule[c->order[end]].component == rule[c->order[i]].component; end++)
            some = some || shows_terminal(c, &rule[c->order[end]], shows);
        for (size_t k = i; k < end; k++) {
            const struct grammar_rule *const r = &rule[c->order[k]];
            shows[c->order[k]] = some;
            if (!some && !r->empty && r->n_alts)
                return blame(fault, GRAMMAR_LEFT_RECURSION, r);
        }
    }
    return true;
}

static bool allocate(struct check *c)
{
    const struct grammar *const g = c->g;
    uint32_t **const array[] = {&c->todo, &c->number, &c->low, &c->order, &c->use, &c->next, &c->alt, &c->left, &c->of};
    const size_t r = g->n_rules, e = g->n_elements, a = g->n_alts, n[] = {r, r, r, r, r, e, e, a, a};
    c->words = calloc(5 * r + 2 * e + 2 * a, sizeof *c->words);
    c->path = calloc(r, sizeof *c->path);
    uint32_t *at = c->words;
    for (size_t i = 0; at && i < sizeof n / sizeof *n; at += n[i++])
        *array[i] = at;
    return c->words && c->path;
}

bool rules_check(struct grammar *g, struct grammar_fault *fault)
{
    struct check c = {.g = g};
    assert(g->start < g->n_elements);
    bool ok = allocate(&c);
    if (!ok)
        *fault = (struct grammar_fault){.code = GRAMMAR_MEMORY};
    ok = ok && note_uses(&c, fault);
    if (ok)
        find_empty(&c);
    for (int pass = 0; ok && pass < 2; pass++) {
        c.first_only = !pass;
        ok = no_left_recursion(&c, fault);
    }
    ok = ok && all_begin(&c, fault);
    free(c.words);
    free(c.path);
    return ok;
}
