// SPDX-License-Identifier: MIT
#include "run/session.h"

#include "base/mem.h"
#include "run/expectation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the sequences of a run

static void session_free(struct session *q)
{
    if (!q)
        return;
    chain_free(q->chain);
    matcher_free(q->matcher);
    recipe_drop(q->recipe);
    free(q->name);
    free(q);
}

void sessions_free(struct sessions *s)
{
    session_free(s->unnamed);
    for (size_t i = 0; i < s->by_name.n; i++)
        session_free(s->named[i]);
    hash_free(&s->by_name);
    free(s->named);
}

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
    return err_from_fault(e, fault);
}

static struct session *session_new(const struct sessions *s, const char *name, struct err *e)
{
    const struct recipe *const recipe = s->recipe;
    struct fault fault = fault_memory();
    struct session *const q = calloc(1, sizeof *q);
    if (q) {
        q->recipe = shared_keep((void *)(uintptr_t)recipe);
        q->name = name ? strdup(name) : NULL;
        if (q->name || !name)
            q->chain = chain_new(recipe->stage, recipe->n_stages, (uint32_t)recipe->parts.seed, &fault);
    }
    if (!q || !q->chain || !make_matcher(s, recipe, &q->matcher, e)) {
        if (!q || !q->chain)
            err_from_fault(e, fault);
        session_free(q);
        return NULL;
    }
    if (name)
        chain_remember(q->chain);
    return q;
}

struct session *sessions_find(struct sessions *s, const char *name, struct err *e)
{
    if (!name) {
        if (!s->unnamed && (s->unnamed = session_new(s, NULL, e)))
            s->unnamed->anew = s->unnamed_ended;
        return s->unnamed;
    }
    const uint32_t hash = hash_bytes(name, strlen(name));
    size_t at = hash, i;
    while ((i = hash_next(&s->by_name, hash, &at)) != HASH_NONE)
        if (!strcmp(s->named[i]->name, name))
            return s->named[i];
    const size_t n = s->by_name.n;
    struct session *q = NULL;
    if (!mem_grow(&s->named, &s->named_cap, n + 1, sizeof(struct session *)))
        err_from_fault(e, fault_memory());
    else if ((q = session_new(s, name, e)) && !hash_add(&s->by_name, hash, (uint32_t)n)) {
        err_from_fault(e, fault_memory());
        session_free(q);
        q = NULL;
    }
    if (q) {
        s->named[n] = q;
        q->place = n;
    }
    return q;
}

void sessions_end(struct sessions *s, struct session *q)
{
    if (q->name) { // the last one takes its place
        struct session *const last = s->named[s->by_name.n - 1];
        hash_remove(&s->by_name, hash_bytes(q->name, strlen(q->name)), (uint32_t)q->place);
        if (last != q) {
            hash_renumber(&s->by_name, hash_bytes(last->name, strlen(last->name)), (uint32_t)last->place, (uint32_t)q->place);
            last->place = q->place;
            s->named[q->place] = last;
        }
    } else {
        s->unnamed = NULL;
        s->unnamed_ended = true;
    }
    session_free(q);
}

// ---- one sequence

bool session_change(struct sessions *s, struct session *q, const cJSON *params, struct err *e)
{
    const struct recipe *const old = q->recipe, *const recipe = recipe_with_params(s->recipes, old, params, e);
    if (recipe == old || !recipe) {
        recipe_drop(recipe);
        return recipe;
    }
    const bool same_rules = recipe->parts.rules == old->parts.rules, same_seed = recipe->parts.seed == old->parts.seed;
    struct matcher *matcher = q->matcher;
    bool ok = same_rules || make_matcher(s, recipe, &matcher, e);
    if (ok) {
        const struct fault fault =
            same_seed ? chain_change(q->chain, recipe->stage, recipe->n_stages)
                      : chain_change_seed(q->chain, recipe->stage, recipe->n_stages, (uint32_t)recipe->parts.seed);
        ok = err_from_fault(e, fault);
        if (!ok && !same_rules)
            matcher_free(matcher);
    }
    if (ok && !same_rules) {
        matcher_free(q->matcher);
        q->matcher = matcher;
    }
    if (ok)
        q->recipe = recipe;
    recipe_drop(ok ? old : recipe);
    return ok;
}

void session_restart(struct session *q, uint64_t row)
{
    chain_reset(q->chain, (uint32_t)q->recipe->parts.seed + (uint32_t)row);
    q->base = row;
}

bool session_accept_prompt(struct session *q, const uint32_t *id, size_t n, struct err *e)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < n && !fault.code; i++)
        fault = chain_accept(q->chain, id[i]);
    return err_from_fault(e, fault);
}

static bool accept_in_grammar(struct session *q, uint32_t id, struct err *e)
{
    bool fits = true;
    char next[EXPECTATION_TEXT], text[TOKEN_TEXT];
    const struct fault fault = matcher_accept(q->matcher, id, &fits);
    if (fault.code)
        return err_from_fault(e, fault);
    return fits || err_set(e, STATUS_DATA, "token %" PRIu32 ", '%s', does not fit the grammar, which allows %s", id,
                           token_text(vocab_text(q->recipe->of->vocab, id), text), expectation_text(q->matcher, next));
}

bool session_accept_text(struct session *q, const uint32_t *id, size_t n, struct err *e)
{
    for (size_t i = 0; q->matcher && i < n; i++)
        if (!accept_in_grammar(q, id[i], e))
            return false;
    return session_accept_prompt(q, id, n, e);
}

bool session_fits(struct session *q, uint32_t id, bool *fits, struct err *e)
{
    *fits = true;
    return !q->matcher || err_from_fault(e, matcher_fits(q->matcher, id, fits));
}

// Where a bit of mask[0..n_bits) is 0, or there is none, x becomes -inf.
static void mask_dense(float *x, size_t n, const uint64_t *mask, size_t n_bits)
{
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t allowed = i < n_bits ? mask[i / 64] : 0;
        for (size_t k = 0; ~allowed && k < 64 && i + k < n; k++)
            x[i + k] = allowed >> k & 1 ? x[i + k] : -INFINITY;
    }
}

static void mask_sparse(float *x, const struct row *row, const uint64_t *mask, size_t n_bits)
{
    for (size_t i = 0; i < row->n; i++) {
        const uint32_t id = row->ids[i];
        if (id >= n_bits || !(mask[id / 64] >> id % 64 & 1))
            x[i] = -INFINITY;
    }
}

bool session_mask(struct session *q, const struct kern *kern, const struct row *row, float *x, struct row *masked, struct err *e)
{
    const uint64_t *mask;
    const size_t n_tokens = q->recipe->of->vocab->n;
    const struct fault fault = matcher_mask(q->matcher, &mask);
    if (fault.code)
        return err_from_fault(e, fault);
    kern->widen[row->type](x, row->data, row->n);
    if (row->ids)
        mask_sparse(x, row, mask, n_tokens);
    else
        mask_dense(x, row->n, mask, n_tokens);
    *masked = *row;
    masked->type = DTYPE_F32;
    masked->data = x;
    return true;
}

bool session_exhausted(const struct session *q, struct err *e)
{
    char next[EXPECTATION_TEXT];
    return err_set(e, STATUS_DATA, "no token is left that fits the grammar, which allows %s", expectation_text(q->matcher, next));
}
