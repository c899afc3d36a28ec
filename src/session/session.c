// SPDX-License-Identifier: MIT
#include "session/session.h"

#include "settings/new_recipe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- the grammar

bool session_fault(const struct recipe *recipe, struct fault fault, struct err *e)
{
    if (fault.code != FAULT_GRAMMAR)
        return err_from_fault(e, fault);
    const struct rules *const rules = recipe->key.rules;
    err_from_fault(e, fault);
    return err_prefix(e, "%s--%s", rules->of_row ? "params: " : "", rules->option);
}

enum { TOKEN_TEXT = 71, EXPECTATION_TEXT = 303 }; // bytes of a message's parts

// Sets the error "WHAT the grammar, which allows ...". Returns false.
static bool not_allowed(const struct matcher *m, const char *what, struct err *e)
{
    struct builder next = {.most = EXPECTATION_TEXT};
    matcher_print_next(m, &next);
    if (next.failed)
        err_from_fault(e, fault_memory());
    else
        err_set(e, STATUS_DATA, "%s the grammar, which allows %s%s", what, next.text, next.full ? ", ..." : "");
    builder_free(&next);
    return false;
}

static bool accept_in_grammar(const struct recipe *recipe, struct matcher *m, uint32_t id, struct err *e)
{
    struct builder token = {.most = TOKEN_TEXT}, what = {0};
    bool fits = true;
    const struct fault fault = matcher_accept(m, id, &fits);
    if (fault.code || fits)
        return session_fault(recipe, fault, e);
    matcher_print_token(m, id, &token);
    builder_format(&what, "token %" PRIu32 ", '%s%s', does not fit", id, token.text, token.full ? "..." : "");
    if (token.failed || what.failed)
        err_from_fault(e, fault_memory());
    else
        not_allowed(m, what.text, e);
    builder_free(&token);
    builder_free(&what);
    return false;
}

// Moves a matcher from the root past the generation prompt, if the prompt concerns the recipe's grammar.
static bool prefill_grammar(const struct recipe *recipe, struct matcher *m, struct err *e)
{
    const struct generation *const before = recipe->key.generation;
    for (size_t i = 0; before && recipe->key.grammar_prefilled && i < before->tokens.n; i++)
        if (!accept_in_grammar(recipe, m, before->tokens.id[i], e))
            return err_prefix(e, "generation_prompt");
    return true;
}

// Makes a matcher at the beginning of a text; *matcher is NULL if there is no grammar, or after a failure.
static bool make_matcher(const struct sessions *s, const struct recipe *recipe, struct matcher **matcher, struct err *e)
{
    struct fault fault = fault_none();
    *matcher = NULL;
    if (!recipe->key.rules)
        return true;
    const struct trie *const trie = recipes_trie(s->recipes);
    if (!trie)
        return err_from_fault(e, fault_memory());
    *matcher = matcher_new(recipe->key.rules->grammar, trie, &fault);
    if (session_fault(recipe, fault, e) && prefill_grammar(recipe, *matcher, e))
        return true;
    matcher_free(*matcher);
    *matcher = NULL;
    return false;
}

// ---- the sequences of a run

void session_free(void *session)
{
    struct session *const q = session;
    chain_free(q->chain);
    matcher_free(q->matcher);
    budget_free(&q->budget);
    recipe_drop(q->own);
    free(q);
}

void sessions_free(struct sessions *s)
{
    for (void *q; (q = shared_any(&s->by_name));)
        shared_drop(q);
}

uint64_t session_seed(const struct recipe *recipe, uint64_t offset)
{
    const uint64_t sum = recipe->key.seed + offset;
    return recipe->key.engine->wide_seed ? sum : (uint32_t)sum;
}

uint64_t session_seed_of(const struct session *q, const struct recipe *recipe)
{
    return session_seed(recipe, recipe->key.seed_named ? 0 : q->seed_offset);
}

struct session *session_new(const struct sessions *s, const char *name, size_t len, struct err *e)
{
    const struct recipe *const recipe = s->recipe;
    struct session *const q = calloc(1, sizeof *q + len);
    if (!q) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    memcpy(q->name, name, len);
    q->shared = (struct shared){.key = q->name, .len = len, .free = session_free};
    q->recipe = recipe;
    q->budget.rules = recipe_budget(recipe);
    q->follows = len || s->unnamed_ended;
    q->chain = chain_new(recipe->stage, recipe->n_stages, session_seed(recipe, 0));
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
    if (q->appeared)
        return;
    const uint32_t before = s->appeared++;
    q->appeared = true;
    if (!before || !q->recipe->key.engine->seeds_each)
        return;
    q->seed_offset = before;
    chain_reseed(q->chain, session_seed_of(q, q->recipe));
}

void sessions_end(struct sessions *s, struct session *q)
{
    s->unnamed_ended = s->unnamed_ended || !q->shared.len;
    shared_drop(q);
}

// ---- one sequence

// Begins the recipe's reasoning budget with the generation prompt.
static bool begin_budget(struct session *q, struct err *e)
{
    q->budget.rules = recipe_budget(q->recipe);
    if (!q->budget.rules)
        return true;
    const struct generation *const before = q->recipe->key.generation;
    budget_reset(&q->budget);
    for (size_t i = 0; before && i < before->tokens.n; i++)
        if (!budget_accept(&q->budget, before->tokens.id[i]))
            return err_from_fault(e, fault_memory());
    return true;
}

bool session_change(struct sessions *s, struct session *q, const cJSON *params, struct err *e)
{
    const struct recipe *const old = q->recipe, *const recipe = recipe_with_params(s->recipes, old, params, e);
    if (recipe == old || !recipe) {
        recipe_drop(recipe);
        return recipe;
    }
    const bool prefilled = recipe->key.grammar_prefilled, other_prompt = recipe->key.generation != old->key.generation,
               other_rules = recipe->key.rules != old->key.rules || prefilled != old->key.grammar_prefilled ||
                             (prefilled && other_prompt),
               other_reasoning = recipe->key.reasoning != old->key.reasoning || other_prompt;
    struct matcher *matcher = NULL;
    if ((other_rules && !make_matcher(s, recipe, &matcher, e)) ||
        !(chain_change(q->chain, recipe->stage, recipe->n_stages) || err_from_fault(e, fault_memory()))) {
        matcher_free(matcher);
        recipe_drop(recipe);
        return false;
    }
    if (other_rules) {
        matcher_free(q->matcher);
        q->matcher = matcher;
    }
    if (session_seed_of(q, recipe) != session_seed_of(q, old))
        chain_reseed(q->chain, session_seed_of(q, recipe));
    recipe_drop(q->own);
    q->recipe = q->own = recipe;
    return !other_reasoning || begin_budget(q, e);
}

bool session_restart(struct session *q, struct err *e)
{
    if (q->matcher) {
        matcher_reset(q->matcher);
        if (!prefill_grammar(q->recipe, q->matcher, e))
            return false;
    }
    return begin_budget(q, e);
}

uint32_t session_forced(const struct session *q) { return q->budget.rules ? budget_forced(&q->budget) : BUDGET_FREE; }

bool session_exhausted(struct session *q, bool listed, struct err *e)
{
    const uint32_t forced = session_forced(q);
    bool fits = true;
    if (forced == BUDGET_FREE)
        return not_allowed(q->matcher, listed ? "the list has no token that fits" : "no token is left that fits", e);
    if (q->matcher && !matcher_fits(q->matcher, forced, &fits).code && !fits)
        return accept_in_grammar(q->recipe, q->matcher, forced, e) || err_prefix(e, "the reasoning budget");
    return err_set(e, STATUS_DATA, "the reasoning budget forces token %" PRIu32 ", which the row lacks or masks",
                   forced);
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
        if (!accept_in_grammar(q->recipe, q->matcher, id[i], e))
            return false;
    for (size_t i = 0; q->budget.rules && i < n; i++)
        if (!budget_accept(&q->budget, id[i]))
            return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++)
        if (!chain_accept(q->chain, id[i]))
            return err_from_fault(e, fault_memory());
    return true;
}

// ---- lists

// Returns what a row of this recipe depends on, as bits of enum unknown.
static unsigned depends_on(const struct recipe *recipe)
{
    unsigned bits = UNKNOWN_PASSES;
    if (recipe_budget(recipe) || recipe->key.rules)
        bits |= UNKNOWN_TOKENS;
    for (const struct stage *s = recipe->stage; s < recipe->stage + recipe->n_stages; s++) {
        if (!stage_enabled(s))
            continue;
        bits |= s->sampler->window && s->sampler->window(s) ? UNKNOWN_TOKENS : 0;
        bits |= s->sampler->needs_rows && s->sampler->needs_rows(s) ? UNKNOWN_DRAWS : 0;
        bits |= s->sampler->learns ? UNKNOWN_NUMBERS : 0;
        bits |= s->sampler->skips_by_width ? UNKNOWN_WIDTH : 0;
        bits |= s->sampler->counts_tokens ? UNKNOWN_LENGTH : 0;
    }
    return bits;
}

// Adds what remains unknown after a row whose outcome is not that of the full row.
static void add_unknown(struct session *q, int64_t known)
{
    q->unknown |= UNKNOWN_NUMBERS | (known < 0 ? UNKNOWN_TOKENS : 0u) | (q->matcher ? UNKNOWN_PASSES : 0u);
}

// Returns whether the sequence has lists: the row is one, or an earlier row was.
static bool has_lists(const struct session *q, const struct row *row)
{
    return row->unlisted.partial || row->unlisted.scale == SCALE_LOGPROBS || q->unknown & HAD_LIST;
}

bool session_exact(const struct session *q, const struct row *row, const struct cand *c)
{
    return !has_lists(q, row) || (unlisted_exact(&c->unlisted) && !(q->unknown & depends_on(q->recipe)));
}

void session_record_unlisted(struct session *q, const struct row *row, const struct cand *c, int64_t known,
                             struct result *res)
{
    if (!has_lists(q, row))
        return;
    const bool carried = q->unknown & depends_on(q->recipe), exact = session_exact(q, row, c);
    // The shown weight of a complete list is 0. It is shown if something else is unknown.
    res->record.partial = row->unlisted.partial || !exact || list_is_coarse(&c->unlisted);
    res->record.unlisted_weight = row->unlisted.weight;
    res->record.exact = exact;
    const double within = exact ? listed_within(&c->unlisted) : INFINITY;
    res->record.within = within < INFINITY ? within : NAN;
    res->record.rounded = list_is_rounded(&c->unlisted);
    q->unknown |= HAD_LIST | (c->unlisted.draw_unsure || carried ? UNKNOWN_DRAWS : 0u) |
                  (c->unlisted.draw_unsure ? UNKNOWN_NUMBERS : 0u);
    if (!exact)
        add_unknown(q, known);
}

void session_failed_unknown(struct session *q, int64_t known)
{
    q->unknown |= UNKNOWN_DRAWS | (known < 0 ? UNKNOWN_LENGTH : 0u) | (q->unknown & HAD_LIST ? 0u : UNKNOWN_WIDTH);
    add_unknown(q, known);
}
