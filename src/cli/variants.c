// SPDX-License-Identifier: MIT
// Recipes of the variants, and notes on variants that have the same chain.
#include "chain/chain.h"
#include "cli/from_args.h"
#include "out/message.h"

#include <string.h>

enum { MOST_NOTES = 3 };

// ---- variants with the same chain

// Returns the first enabled stage from *i on, and moves *i behind it. NULL: there is none.
static const struct stage *next_enabled(const struct recipe *r, size_t *i)
{
    while (*i < r->n_stages && !stage_enabled(&r->stage[*i]))
        ++*i;
    return *i < r->n_stages ? &r->stage[(*i)++] : NULL;
}

// Do two recipes choose the same token from any row?
static bool same_chain(const struct recipe *a, const struct recipe *b)
{
    size_t i = 0, k = 0;
    const struct parts *const p = &a->parts, *const q = &b->parts;
    if (a == b)
        return true;
    if (p->seed != q->seed || p->rules != q->rules || (p->rules && p->engine != q->engine))
        return false;
    for (;;) {
        const struct stage *const x = next_enabled(a, &i), *const y = next_enabled(b, &k);
        if (!x || !y)
            return x == y;
        const struct sampler *const s = x->sampler;
        if (s != y->sampler || (s->params_size && memcmp(x->params, y->params, s->params_size) != 0) ||
            (s == &sampler_logit_bias && p->biases != q->biases) || (s == &sampler_dry && p->breakers != q->breakers) ||
            (s == &sampler_bans && p->bans != q->bans))
            return false;
    }
}

static void note_same_chains(const struct variants *v, const struct recipe *const *recipe)
{
    size_t twins = 0;
    for (size_t i = 1; i < v->n; i++) {
        size_t k = 0;
        while (k < i && !same_chain(recipe[i], recipe[k]))
            k++;
        twins += k < i;
        if (k < i && twins <= MOST_NOTES)
            message_note("variants '%.*s' and '%.*s' come to the same chain", VARIANT_NAME(&v->of[k]),
                         VARIANT_NAME(&v->of[i]));
    }
    if (twins > MOST_NOTES)
        message_note("%zu more variants come to the same chain as another", twins - MOST_NOTES);
}

// ---- the recipes

// Does a sampler of the chain have its own value in place of the option's?
static bool chain_fixes(const struct recipe *r, const struct option_row *row)
{
    const struct order *const order = r->parts.order;
    for (size_t i = 0; row->param && order && i < order->n; i++) {
        const struct choice *const c = &order->choice[i];
        if (c->own && r->of->catalog.number[c->place][c->param] == row->number)
            return true;
    }
    return false;
}

static bool make_recipe(struct recipes *r, const struct variants *v, struct variant *x, const struct recipe **recipe,
                        struct err *e)
{
    struct builder names = {.most = 300};
    // If several variants differ in swept values only, the one with the first of each prints the notes for all.
    bool engine = false, first = true, ok = true;
    for (size_t i = 0; i < v->n_sweeps && x->swept; i++) {
        const bool is_engine = !strcmp(x->swept[i].row->name, "engine");
        engine = engine || is_engine;
        first = first && (is_engine || !x->swept[i].place);
    }
    if (engine)
        ok = args_leave_out(&x->args, &names, e);
    if (ok && first && names.len)
        message_note("variant '%.*s': engine %s has no stage for %s%s, which it goes without", VARIANT_NAME(x),
                     x->args.engine, names.text, names.full ? ", ..." : "");
    builder_free(&names);
    *recipe = ok ? recipe_from_args(r, &x->args, e) : NULL;
    for (size_t i = 0; *recipe && ok && i < v->n_sweeps && x->swept; i++)
        if (chain_fixes(*recipe, x->swept[i].row))
            ok = err_set(e, STATUS_USAGE, "--sweep: the chain has a value of its own for --%s", x->swept[i].row->name);
    if (*recipe && ok && first)
        note_idle_options(*recipe, x, &v->of[0].args);
    return (*recipe && ok) || err_prefix(e, "variant '%.*s'", VARIANT_NAME(x));
}

bool recipes_of_variants(struct recipes *r, struct variants *v, const struct recipe **recipe, struct err *e)
{
    note_idle_options(recipe[0], &v->of[0], NULL);
    for (size_t i = 1; i < v->n; i++)
        if (!make_recipe(r, v, &v->of[i], &recipe[i], e))
            return false;
    if (!v->of[0].args.against)
        note_same_chains(v, recipe);
    return true;
}
