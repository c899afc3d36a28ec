// SPDX-License-Identifier: MIT
#include "grammar/rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Everything here is done without recursion, as a hostile grammar's rules may refer to each other in a chain of any length.
struct check {
    const struct grammar *g;
    bool *empty;          // [n_rules] can the rule be empty?
    uint32_t *todo;       // [n_rules] rules found to be so, not yet followed up
    uint32_t *left;       // [n_alts] rules of an alternative not yet known to be able to be empty
    uint32_t *of;         // [n_alts] the alternative's rule
    size_t *use;          // [n_rules + 1] where a rule's uses begin in used_in
    uint32_t *used_in;    // alternatives
    unsigned char *state; // [n_rules] of the search: 0 not seen, 1 on the path, 2 done
    struct step {
        uint32_t rule;
        size_t alt, at; // where in the rule the search goes on
    } * path;           // [n_rules]
};

static bool fail(struct grammar_fault *fault, enum grammar_code code, const struct grammar_rule *r)
{
    *fault = (struct grammar_fault){.code = code, .name = r->name, .len = r->len};
    return false;
}

static bool all_defined(const struct grammar *g, struct grammar_fault *fault)
{
    for (size_t i = 0; i < g->n_rules; i++)
        if (!g->rule[i].n_alts)
            return fail(fault, GRAMMAR_UNDEFINED, &g->rule[i]);
    return true;
}

// Lists the alternatives that each rule is used in, once a use, and counts each alternative's elements.
static void note_uses(struct check *c)
{
    const struct grammar *const g = c->g;
    for (uint32_t r = 0; r < g->n_rules; r++)
        for (size_t a = g->rule[r].first_alt; a < g->rule[r].first_alt + g->rule[r].n_alts; a++) {
            c->of[a] = r;
            for (const struct element *e = &g->element[g->alt[a]]; e->type != ELEMENT_END; e++) {
                c->left[a]++;
                if (e->type == ELEMENT_RULE)
                    c->use[e->value + 1]++;
            }
        }
    for (size_t r = 0; r < g->n_rules; r++)
        c->use[r + 1] += c->use[r];
    for (uint32_t a = 0; a < g->n_alts; a++)
        for (const struct element *e = &g->element[g->alt[a]]; e->type != ELEMENT_END; e++)
            if (e->type == ELEMENT_RULE)
                c->used_in[c->use[e->value]++] = a;
    for (size_t r = g->n_rules; r; r--)
        c->use[r] = c->use[r - 1];
    c->use[0] = 0;
}

// A rule can be empty when some alternative consists of such rules only.
static void find_empty(struct check *c)
{
    size_t n = 0;
    for (size_t a = 0; a < c->g->n_alts; a++)
        if (!c->left[a] && !c->empty[c->of[a]]) {
            c->empty[c->of[a]] = true;
            c->todo[n++] = c->of[a];
        }
    while (n) {
        const uint32_t r = c->todo[--n];
        for (size_t i = c->use[r]; i < c->use[r + 1]; i++) {
            const uint32_t a = c->used_in[i], of = c->of[a];
            if (!--c->left[a] && !c->empty[of]) {
                c->empty[of] = true;
                c->todo[n++] = of;
            }
        }
    }
}

// The next rule that can come first in the rule at the end of the path, or NULL when there are no more.
static const struct element *next_first(const struct check *c, struct step *s)
{
    const struct grammar_rule *const r = &c->g->rule[s->rule];
    for (; s->alt < r->n_alts; s->alt++, s->at = 0) {
        const struct element *const first = &c->g->element[c->g->alt[r->first_alt + s->alt]];
        const struct element *const e = first + s->at;
        if (e->type != ELEMENT_RULE || (s->at && !c->empty[e[-1].value]))
            continue;
        s->at++;
        return e;
    }
    return NULL;
}

// A depth-first search along what can come first; coming back to the path is a left recursion.
static bool no_left_recursion(struct check *c, uint32_t start, struct grammar_fault *fault)
{
    size_t n = 0;
    if (c->state[start])
        return true;
    c->state[start] = 1;
    c->path[n++] = (struct step){.rule = start};
    while (n) {
        const struct element *const e = next_first(c, &c->path[n - 1]);
        if (!e) {
            c->state[c->path[--n].rule] = 2;
        } else if (c->state[e->value] == 1) {
            const struct grammar_rule *const r = &c->g->rule[e->value];
            return fail(fault, r->loop ? GRAMMAR_EMPTY_LOOP : GRAMMAR_LEFT_RECURSION, r);
        } else if (!c->state[e->value]) {
            c->state[e->value] = 1;
            c->path[n++] = (struct step){.rule = e->value};
        }
    }
    return true;
}

static bool allocate(struct check *c)
{
    const struct grammar *const g = c->g;
    c->empty = calloc(g->n_rules, sizeof *c->empty);
    c->todo = calloc(g->n_rules, sizeof *c->todo);
    c->left = calloc(g->n_alts, sizeof *c->left);
    c->of = calloc(g->n_alts, sizeof *c->of);
    c->use = calloc(g->n_rules + 1, sizeof *c->use);
    c->used_in = calloc(g->n_elements, sizeof *c->used_in);
    c->state = calloc(g->n_rules, sizeof *c->state);
    c->path = calloc(g->n_rules, sizeof *c->path);
    return c->empty && c->todo && c->left && c->of && c->use && c->used_in && c->state && c->path;
}

static void release(struct check *c)
{
    free(c->empty);
    free(c->todo);
    free(c->left);
    free(c->of);
    free(c->use);
    free(c->used_in);
    free(c->state);
    free(c->path);
}

bool rules_check(const struct grammar *g, struct grammar_fault *fault)
{
    struct check c = {.g = g};
    assert(g->root < g->n_rules);
    if (!all_defined(g, fault))
        return false;
    bool ok = allocate(&c);
    if (!ok)
        *fault = (struct grammar_fault){.code = GRAMMAR_MEMORY};
    if (ok) {
        note_uses(&c);
        find_empty(&c);
    }
    for (uint32_t r = 0; ok && r < g->n_rules; r++)
        ok = no_left_recursion(&c, r, fault);
    release(&c);
    return ok;
}
