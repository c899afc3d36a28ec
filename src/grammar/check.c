// SPDX-License-Identifier: MIT
#include "grammar/rules.h"

#include <assert.h>
#include <stdlib.h>

#define NO_COMPONENT UINT32_MAX

// Everything here runs without recursion, because a hostile grammar's rules may refer to each other in a chain of any
// length; and in time linear in the elements.

// What is known of a rule.
struct rule_check {
    uint32_t number;    // in the order of discovery, from 1; 0: not seen
    uint32_t low;       // the least number that the rule leads to outside finished components
    uint32_t first_use; // an element that uses the rule, + 1; 0: none
    bool shows;         // can begin with a terminal; known of rules in finished components
    bool reached;       // a text may lead to the rule
    bool gone;          // llama.cpp's search for left recursion knows that the rule can be empty
};

// What is known of an element that uses a rule.
struct use_check {
    uint32_t next; // another element that uses the same rule, + 1; 0: no more
    uint32_t alt;  // the alternative that it is in
};

struct alt_check {
    uint32_t rule; // the alternative's
    uint32_t left; // its elements that are not yet known to be able to be empty
};

// A rule of the path of a search, and where in it the search goes on.
struct step {
    uint32_t rule;
    size_t alt, at;
};

// Which rules come first in a rule: those of the first elements of its alternatives; those that llama.cpp's search for
// left recursion looks at; or all that can come first.
enum reach { REACH_FIRST, REACH_LLAMA, REACH_ALL };

struct check {
    struct grammar *g;
    struct rule_check *rule; // [g->n_rules]
    struct use_check *use;   // [g->n_elements]
    struct alt_check *alt;   // [g->n_alts]
    uint32_t *todo;          // [n_todo <= g->n_rules] rules whose work is not finished
    struct step *path;       // [n_path <= g->n_rules]
    size_t n_path, n_todo;
    uint32_t n_seen;
    uint32_t stuck; // a rule that only comes to itself, or NO_COMPONENT
    enum reach reach;
};

static void mark_empty(struct check *c, uint32_t rule)
{
    if (!c->g->rule[rule].empty)
        c->todo[c->n_todo++] = rule;
    c->g->rule[rule].empty = true;
}

// Lists the uses of each rule, and counts the elements of each alternative. False: *bad is a rule that is not defined.
static bool list_uses(struct check *c, size_t *bad)
{
    const struct grammar *const g = c->g;
    for (uint32_t r = 0; r < g->n_rules; r++)
        for (size_t a = g->rule[r].first_alt; a < g->rule[r].first_alt + g->rule[r].n_alts; a++) {
            c->alt[a].rule = r;
            for (uint32_t i = g->alt[a]; g->element[i].type != ELEMENT_END; i++) {
                const struct element e = g->element[i];
                c->alt[a].left++;
                if (e.type != ELEMENT_RULE)
                    continue;
                *bad = e.value;
                if (!g->rule[e.value].n_alts)
                    return false;
                c->use[i] = (struct use_check){c->rule[e.value].first_use, (uint32_t)a};
                c->rule[e.value].first_use = i + 1;
            }
            if (!c->alt[a].left)
                mark_empty(c, r);
        }
    return true;
}

// Finds the rules that can be empty: some alternative consists only of rules that can be empty.
static void find_empty(struct check *c)
{
    while (c->n_todo)
        for (uint32_t i = c->rule[c->todo[--c->n_todo]].first_use; i; i = c->use[i - 1].next) {
            struct alt_check *const alt = &c->alt[c->use[i - 1].alt];
            if (!--alt->left)
                mark_empty(c, alt->rule);
        }
}

// Finds the rules that a text may lead to.
static void find_reached(struct check *c)
{
    const struct grammar *const g = c->g;
    const uint32_t root = g->element[g->start].value;
    c->rule[root].reached = true;
    for (c->todo[c->n_todo++] = root; c->n_todo;) {
        const struct grammar_rule *const r = &g->rule[c->todo[--c->n_todo]];
        for (size_t a = r->first_alt; a < r->first_alt + r->n_alts; a++)
            for (const struct element *e = &g->element[g->alt[a]]; e->type != ELEMENT_END; e++)
                if (e->type == ELEMENT_RULE && !c->rule[e->value].reached) {
                    c->rule[e->value].reached = true;
                    c->todo[c->n_todo++] = e->value;
                }
    }
}

// Finds the rules of which llama.cpp's search for left recursion knows that they can be empty: an alternative has no
// element. Rules that stand for their elements can be empty if each of these is such a rule.
static void find_gone(struct check *c)
{
    const struct grammar *const g = c->g;
    for (int inlined = 0; inlined < 2; inlined++)
        for (size_t r = 0; r < g->n_rules; r++) {
            const struct grammar_rule *const rule = &g->rule[r];
            for (size_t a = rule->first_alt; a < rule->first_alt + rule->n_alts && rule->inlined == inlined; a++) {
                const struct element *e = &g->element[g->alt[a]];
                while (inlined && e->type == ELEMENT_RULE && c->rule[e->value].gone)
                    e++;
                c->rule[r].gone = c->rule[r].gone || e->type == ELEMENT_END;
            }
        }
}

// Returns whether what follows an element that uses a rule can come first, too.
static bool passes(const struct check *c, uint32_t rule)
{
    return c->reach == REACH_ALL ? c->g->rule[rule].empty : c->reach == REACH_LLAMA && c->rule[rule].gone;
}

// Returns the next element that uses a rule and can come first in the step's rule; NULL: there are no more.
static const struct element *next_first(const struct check *c, struct step *s)
{
    const struct grammar *const g = c->g;
    const struct grammar_rule *const r = &g->rule[s->rule];
    for (; s->alt < r->n_alts; s->alt++, s->at = 0) {
        const struct element *const e = &g->element[g->alt[r->first_alt + s->alt]] + s->at;
        if (e->type != ELEMENT_RULE || (s->at && !passes(c, e[-1].value)))
            continue;
        s->at++;
        return e;
    }
    return NULL;
}

// Returns whether a rule begins with a terminal, directly or by rules that are known to.
static bool shows_terminal(const struct check *c, const struct grammar_rule *r)
{
    const struct grammar *const g = c->g;
    for (size_t a = r->first_alt; a < r->first_alt + r->n_alts; a++)
        for (const struct element *e = &g->element[g->alt[a]]; e->type != ELEMENT_END; e++) {
            if (e->type != ELEMENT_RULE || c->rule[e->value].shows)
                return true;
            if (!g->rule[e->value].empty)
                break;
        }
    return false;
}

static void visit_rule(struct check *c, uint32_t rule)
{
    c->n_seen++;
    c->rule[rule].number = c->rule[rule].low = c->n_seen;
    c->rule[rule].shows = false;
    c->path[c->n_path++] = (struct step){.rule = rule};
    c->todo[c->n_todo++] = rule;
}

// Lowers the least number that the last rule of the path leads to.
static void lower(struct check *c, uint32_t low)
{
    uint32_t *const here = &c->rule[c->path[c->n_path - 1].rule].low;
    *here = low < *here ? low : *here;
}

// Makes a component of the newest rules of todo, down to `rule`. If its rules only lead to each other, they match
// nothing, and one of them is stuck.
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
        c->rule[member].shows = shows;
        if (!shows && !g->rule[member].empty && g->rule[member].n_alts && c->rule[member].reached &&
            c->stuck == NO_COMPONENT)
            c->stuck = member;
    }
}

// Numbers the components of the graph whose edges lead from a rule to the rules that can come first in it (Tarjan,
// "Depth-First Search and Linear Graph Algorithms", 1972). todo holds the rules that are seen and in no component yet.
static void find_components(struct check *c, uint32_t start)
{
    if (!c->rule[start].number)
        visit_rule(c, start);
    while (c->n_path) {
        struct step *const s = &c->path[c->n_path - 1];
        const uint32_t rule = s->rule;
        const struct element *const e = next_first(c, s);
        if (e && !c->rule[e->value].number) {
            visit_rule(c, e->value);
        } else if (e && c->g->rule[e->value].component == NO_COMPONENT) {
            lower(c, c->rule[e->value].number);
        } else if (!e) {
            if (c->rule[rule].low == c->rule[rule].number)
                close_component(c, rule);
            if (--c->n_path)
                lower(c, c->rule[rule].low);
        }
    }
}

// Looks for left recursion: a cycle of first elements, or a cycle with an element behind the rule that comes first.
// False: *bad is a rule in such a cycle.
static bool no_left_recursion(struct check *c, size_t *bad)
{
    struct grammar *const g = c->g;
    g->n_components = c->n_seen = 0;
    c->stuck = NO_COMPONENT;
    for (size_t r = 0; r < g->n_rules; r++) {
        c->rule[r].number = 0;
        g->rule[r].component = NO_COMPONENT;
    }
    for (uint32_t r = 0; r < g->n_rules; r++)
        find_components(c, r);
    for (uint32_t r = 0; r < g->n_rules; r++) {
        struct step s = {.rule = r};
        if (c->reach == REACH_ALL && !c->rule[r].reached)
            continue; // llama.cpp does not see it, and it does no harm
        *bad = r;
        for (const struct element *e; (e = next_first(c, &s));) {
            assert(g->rule[r].component >= g->rule[e->value].component);
            if (g->rule[r].component == g->rule[e->value].component &&
                (c->reach != REACH_ALL || e[1].type != ELEMENT_END))
                return false;
        }
    }
    return true;
}

// Returns whether no rule is left-recursive. False: *bad is.
static bool find_no_recursion(struct check *c, size_t *bad)
{
    c->reach = REACH_FIRST;
    if (!no_left_recursion(c, bad))
        return false;
    c->reach = REACH_LLAMA;
    c->g->loops = no_left_recursion(c, bad) ? c->g->n_rules : *bad;
    c->reach = REACH_ALL; // the last: its components remain
    if (!no_left_recursion(c, bad))
        return false;
    *bad = c->stuck;
    return c->stuck == NO_COMPONENT;
}

bool rules_check(struct grammar *g, size_t *bad, struct err *e)
{
    struct check c = {.g = g,
                      .rule = calloc(g->n_rules, sizeof *c.rule),
                      .use = calloc(g->n_elements, sizeof *c.use),
                      .alt = calloc(g->n_alts, sizeof *c.alt),
                      .todo = calloc(g->n_rules, sizeof *c.todo),
                      .path = calloc(g->n_rules, sizeof *c.path)};
    const bool memory = c.rule && c.use && c.alt && c.todo && c.path, defined = memory && list_uses(&c, bad);
    assert(g->start < g->n_elements);
    if (defined) {
        find_empty(&c);
        find_gone(&c);
        find_reached(&c);
    }
    const bool ok = defined && find_no_recursion(&c, bad);
    if (!memory)
        err_from_fault(e, fault_memory());
    else if (!ok) {
        const struct grammar_rule *const r = &g->rule[*bad];
        const int shown = err_clip_part(r->name, r->len, RULE_SHOWN);
        if (!defined)
            err_set(e, STATUS_USAGE, "the rule '%.*s' is not defined", shown, r->name);
        else
            err_set(e, STATUS_USAGE, "the rule '%.*s' is left-recursive: it can begin with itself", shown, r->name);
    }
    free(c.rule);
    free(c.use);
    free(c.alt);
    free(c.todo);
    free(c.path);
    return ok;
}
