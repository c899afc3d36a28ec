// SPDX-License-Identifier: MIT
#include "run/session.h"

#include "out/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- the sequences of a run

static void session_free(void *thing)
{
    struct session *const q = thing;
    chain_free(q->chain);
    matcher_free(q->matcher);
    budget_free(&q->budget);
    recipe_drop(q->recipe);
    free(q);
}

void sessions_free(struct sessions *s)
{
    while (s->by_name.table.n)
        shared_drop(s->by_name.thing[s->by_name.table.n - 1]);
    shared_set_free(&s->by_name);
}

bool session_fault(const struct recipe *recipe, struct fault fault, struct err *e)
{
    if (fault.code != FAULT_GRAMMAR)
        return err_from_fault(e, fault);
    const struct rules *const rules = recipe->parts.rules;
    err_from_fault(e, fault);
    return err_prefix(e, "%s--%s", rules->of_row ? "params: " : "", rules->option);
}

// The recipe's, at its beginning; *matcher is NULL when there is no grammar.
static bool make_matcher(const struct sessions *s, const struct recipe *recipe, struct matcher **matcher, struct err *e)
{
    struct fault fault = fault_none();
    *matcher = NULL;
    if (!recipe->parts.rules)
        return true;
    const struct trie *const trie = recipes_trie(s->recipes);
    if (!trie)
        return err_from_fault(e, fault_memory());
    *matcher = matcher_new(recipe->parts.rules->grammar, trie, &fault);
    return session_fault(recipe, fault, e);
}

// What the generators are seeded with under this recipe: its seed and so much more.
static uint64_t seed_of(const struct recipe *recipe, uint64_t more)
{
    const uint64_t sum = recipe->parts.seed + more;
    return recipe->parts.engine->wide_seed ? sum : (uint32_t)sum;
}

// What a sequence adds to the recipe's seed.
static uint64_t apart(const struct session *q, const struct recipe *recipe)
{
    return recipe->parts.seed_named ? 0 : q->apart;
}

// len: of the name as a key.
static struct session *session_new(const struct sessions *s, const char *name, size_t len, struct err *e)
{
    const struct recipe *const recipe = s->recipe;
    struct session *const q = calloc(1, sizeof *q + len);
    if (!q) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    memcpy(q->name, name, len);
    q->shared = (struct shared){.key = q->name, .len = len, .free = session_free};
    q->recipe = shared_keep((void *)(uintptr_t)recipe);
    q->budget.rules = recipe_budget(recipe);
    q->follows = len || s->unnamed_ended;
    q->chain = chain_new(recipe->stage, recipe->n_stages, seed_of(recipe, 0));
    if (!q->chain)
        err_from_fault(e, fault_memory());
    if (!q->chain || !make_matcher(s, recipe, &q->matcher, e)) {
        session_free(q);
        return NULL;
    }
    if (len)
        chain_remember(q->chain);
    return q;
}

struct session *sessions_find(struct sessions *s, const char *name, struct err *e)
{
    uint32_t hash;
    const size_t len = name ? strlen(name) + 1 : 0;
    struct session *q = shared_find(&s->by_name, name ? name : "", len, &hash);
    if (q) {
        shared_drop(q); // the set's use of it is enough
        return q;
    }
    q = session_new(s, name ? name : "", len, e);
    if (q && !shared_add(&s->by_name, &q->shared, hash)) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    return q;
}

void session_appear(struct sessions *s, struct session *q)
{
    const uint32_t before = s->appeared++;
    q->appeared = true;
    if (!before || !q->recipe->parts.engine->seeds_each)
        return;
    q->apart = before;
    chain_reseed(q->chain, seed_of(q->recipe, apart(q, q->recipe)));
}

void sessions_end(struct sessions *s, struct session *q)
{
    s->unnamed_ended = s->unnamed_ended || !q->shared.len;
    shared_drop(q);
}

// ---- one sequence

// The recipe's budget begins, with what it sees of the generation prompt.
static bool begin_budget(struct session *q, struct err *e)
{
    q->budget.rules = recipe_budget(q->recipe);
    if (!q->budget.rules)
        return true;
    const struct tokens *const before = &q->recipe->parts.reasoning->tag[REASONING_BEFORE];
    budget_reset(&q->budget);
    for (size_t i = 0; i < before->n; i++)
        if (!budget_accept(&q->budget, before->id[i]))
            return err_from_fault(e, fault_memory());
    return true;
}

bool session_begin_text(struct session *q, struct err *e)
{
    if (q->matcher)
        matcher_reset(q->matcher);
    return begin_budget(q, e);
}

bool session_change(struct sessions *s, struct session *q, const cJSON *params, struct err *e)
{
    const struct recipe *const old = q->recipe, *const recipe = recipe_with_params(s->recipes, old, params, e);
    message_notes(&s->recipes->notes);
    if (recipe == old || !recipe) {
        recipe_drop(recipe);
        return recipe;
    }
    const struct parts *const from = &old->parts, *const to = &recipe->parts;
    struct matcher *matcher = q->matcher;
    bool ok = to->rules == from->rules || make_matcher(s, recipe, &matcher, e);
    if (ok)
        ok = chain_change(q->chain, recipe->stage, recipe->n_stages) || err_from_fault(e, fault_memory());
    struct matcher *const unused = ok ? q->matcher : matcher;
    if (ok) {
        const uint64_t seed = seed_of(recipe, apart(q, recipe));
        if (seed != seed_of(old, apart(q, old)))
            chain_reseed(q->chain, seed);
        q->recipe = recipe;
        q->matcher = matcher;
    }
    if (unused != q->matcher)
        matcher_free(unused);
    if (ok && to->reasoning != from->reasoning)
        ok = begin_budget(q, e);
    recipe_drop(q->recipe == recipe ? old : recipe);
    return ok;
}

void session_restart(struct session *q, uint64_t row)
{
    chain_reset(q->chain, seed_of(q->recipe, row));
    q->base = row;
}

void session_locate(struct session *q, uint64_t row, uint64_t nth)
{
    q->apart = q->recipe->parts.engine->seeds_each ? nth : row;
    chain_reset(q->chain, seed_of(q->recipe, apart(q, q->recipe)));
    q->base = row;
}

// ---- the grammar

// How long the parts of a sentence get.
enum { TOKEN_TEXT = 71, EXPECTATION_TEXT = 303 };

static bool accept_in_grammar(struct session *q, uint32_t id, struct err *e)
{
    struct builder text = {.most = TOKEN_TEXT}, next = {.most = EXPECTATION_TEXT};
    bool fits = true;
    const struct fault fault = matcher_accept(q->matcher, id, &fits);
    if (fault.code || fits)
        return session_fault(q->recipe, fault, e);
    matcher_put_token(q->matcher, id, &text);
    matcher_put_next(q->matcher, &next);
    if (text.failed || next.failed)
        err_from_fault(e, fault_memory());
    else
        err_set(e, STATUS_DATA, "token %" PRIu32 ", '%s%s', does not fit the grammar, which allows %s%s", id, text.text,
                text.full ? "..." : "", next.text, next.full ? ", ..." : "");
    builder_free(&text);
    builder_free(&next);
    return false;
}

uint32_t session_forced(const struct session *q)
{
    return q->budget.rules ? budget_forced(&q->budget) : BUDGET_FREE;
}

bool session_exhausted(struct session *q, struct err *e)
{
    struct builder next = {.most = EXPECTATION_TEXT};
    const uint32_t forced = session_forced(q);
    bool fits = true;
    if (forced != BUDGET_FREE && q->matcher && !matcher_fits(q->matcher, forced, &fits).code && !fits)
        return accept_in_grammar(q, forced, e) || err_prefix(e, "the reasoning budget");
    if (forced != BUDGET_FREE)
        return err_set(e, STATUS_DATA, "the reasoning budget forces token %" PRIu32 ", which the row lacks or masks",
                       forced);
    matcher_put_next(q->matcher, &next);
    if (next.failed)
        err_from_fault(e, fault_memory());
    else
        err_set(e, STATUS_DATA, "no token is left that fits the grammar, which allows %s%s", next.text,
                next.full ? ", ..." : "");
    builder_free(&next);
    return false;
}

// ---- tokens

bool session_accept_prompt(struct session *q, const uint32_t *id, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!chain_accept_prompt(q->chain, id[i]))
            return err_from_fault(e, fault_memory());
    return true;
}

bool session_accept_text(struct session *q, const uint32_t *id, size_t n, struct err *e)
{
    for (size_t i = 0; q->matcher && i < n; i++)
        if (!accept_in_grammar(q, id[i], e))
            return false;
    for (size_t i = 0; q->budget.rules && i < n; i++)
        if (!budget_accept(&q->budget, id[i]))
            return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++)
        if (!chain_accept(q->chain, id[i]))
            return err_from_fault(e, fault_memory());
    return true;
}
