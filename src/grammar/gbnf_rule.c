// SPDX-License-Identifier: MIT
#include "base/mem.h"
#include "grammar/gbnf.h"

#include <string.h>

bool gbnf_push(struct gbnf *p, enum element_type type, uint32_t value)
{
    if (p->n_work + p->g->n_elements >= GRAMMAR_MOST_ELEMENTS)
        return gbnf_fail(p, GRAMMAR_LARGE, p->at, 0);
    if (!mem_grow(&p->work, &p->work_cap, p->n_work + 1, sizeof *p->work))
        return gbnf_memory(p);
    p->work[p->n_work++] = (struct element){type, value};
    return true;
}

uint32_t gbnf_rule(struct gbnf *p, const char *name, size_t len)
{
    struct grammar *const g = p->g;
    if (!mem_grow(&g->rule, &g->rule_cap, g->n_rules + 1, sizeof *g->rule))
        return INTERN_NONE;
    g->rule[g->n_rules] = (struct rule){.name = name, .len = len};
    return (uint32_t)g->n_rules++;
}

bool gbnf_define(struct gbnf *p, uint32_t rule, size_t from)
{
    struct grammar *const g = p->g;
    if (!gbnf_push(p, ELEMENT_END, 0))
        return false;
    const size_t n = p->n_work - from;
    if (!mem_grow(&g->element, &g->element_cap, g->n_elements + n, sizeof *g->element))
        return gbnf_memory(p);
    memcpy(g->element + g->n_elements, p->work + from, n * sizeof *g->element);
    p->n_work = from;
    g->rule[rule].first_alt = g->n_alts;
    bool starts = true;
    for (size_t i = 0; i < n; i++) {
        if (starts) {
            if (!mem_grow(&g->alt, &g->alt_cap, g->n_alts + 1, sizeof *g->alt))
                return gbnf_memory(p);
            g->alt[g->n_alts++] = (uint32_t)g->n_elements;
            g->rule[rule].n_alts++;
        }
        starts = g->element[g->n_elements++].type == ELEMENT_END;
    }
    return true;
}

// A new rule of the owner's: "item rest | ", or without a rest "item | ". rest is INTERN_NONE for none, or the rule itself with loop.
static bool optional(struct gbnf *p, struct element item, uint32_t rest, bool loop, uint32_t *rule)
{
    const struct rule *const owner = &p->g->rule[p->owner];
    const size_t from = p->n_work;
    *rule = gbnf_rule(p, owner->name, owner->len);
    if (*rule == INTERN_NONE)
        return gbnf_memory(p);
    p->g->rule[*rule].loop = loop;
    if (loop)
        rest = *rule;
    return gbnf_push(p, item.type, item.value) && (rest == INTERN_NONE || gbnf_push(p, ELEMENT_RULE, rest)) &&
           gbnf_push(p, ELEMENT_END, 0) && gbnf_define(p, *rule, from);
}

// Makes the work from item on one element, by giving several a rule of their own.
static bool as_one(struct gbnf *p, size_t item, struct element *one)
{
    if (p->n_work - item != 1) {
        const struct rule *const owner = &p->g->rule[p->owner];
        const uint32_t rule = gbnf_rule(p, owner->name, owner->len);
        if (rule == INTERN_NONE)
            return gbnf_memory(p);
        if (!gbnf_define(p, rule, item) || !gbnf_push(p, ELEMENT_RULE, rule))
            return false;
    }
    *one = p->work[item];
    return true;
}

// item{least,most}: `least` times the item, then nested optional ones; a loop when most is UINT32_MAX.
static bool write_out(struct gbnf *p, size_t item, uint32_t least, uint32_t most)
{
    struct element one = {ELEMENT_END, 0};
    uint32_t rest = INTERN_NONE;
    if (!as_one(p, item, &one))
        return false;
    p->n_work = item;
    for (uint32_t i = 0; i < least; i++)
        if (!gbnf_push(p, one.type, one.value))
            return false;
    if (most == UINT32_MAX)
        return optional(p, one, INTERN_NONE, true, &rest) && gbnf_push(p, ELEMENT_RULE, rest);
    for (uint32_t i = least; i < most; i++)
        if (!optional(p, one, rest, false, &rest))
            return false;
    return rest == INTERN_NONE || gbnf_push(p, ELEMENT_RULE, rest);
}

static bool bound(struct gbnf *p, uint32_t *v)
{
    const char *const start = p->at;
    *v = gbnf_number(p);
    if (p->at == start)
        return gbnf_fail(p, GRAMMAR_REPEAT, start, 0);
    if (*v > GRAMMAR_MOST_REPEATS)
        return gbnf_fail(p, GRAMMAR_REPEAT_LARGE, start, (size_t)(p->at - start));
    gbnf_space(p, p->depth);
    return true;
}

// {m}, {m,} or {m,n}; the cursor is behind the brace.
static bool bounds(struct gbnf *p, uint32_t *least, uint32_t *most)
{
    const char *const start = p->at - 1;
    gbnf_space(p, p->depth);
    if (!bound(p, least))
        return false;
    *most = *least;
    if (gbnf_peek(p) == ',') {
        p->at++;
        gbnf_space(p, p->depth);
        *most = UINT32_MAX;
        if (gbnf_peek(p) != '}' && !bound(p, most))
            return false;
    }
    if (gbnf_peek(p) != '}')
        return gbnf_fail(p, GRAMMAR_REPEAT, p->at, 0);
    p->at++;
    return *least <= *most || gbnf_fail(p, GRAMMAR_REPEAT_ORDER, start, (size_t)(p->at - start));
}

bool gbnf_repeat(struct gbnf *p, size_t item)
{
    const char *const start = p->at;
    const char kind = *p->at++;
    uint32_t least = kind == '+', most = kind == '?' ? 1 : UINT32_MAX;
    if (item == p->n_work)
        return gbnf_fail(p, GRAMMAR_NOTHING, start, 1);
    return (kind != '{' || bounds(p, &least, &most)) && write_out(p, item, least, most);
}
