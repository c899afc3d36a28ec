// SPDX-License-Identifier: MIT
#include "run/sequence.h"

#include "grammar/trie.h"
#include "recipe/derive.h"
#include "recipe/server_params.h"

#include <stdlib.h>
#include <string.h>

static void forget_options(struct options *o)
{
    if (o)
        options_free(o);
    free(o);
}

static void sequence_free(struct sequence *q)
{
    if (!q)
        return;
    chain_free(q->chain);
    constraint_free(&q->constraint);
    forget_options(q->own);
    free(q->params);
    free(q->name);
    free(q);
}

void sequences_free(struct sequences *s)
{
    sequence_free(s->unnamed);
    for (size_t i = 0; i < s->slots; i++)
        sequence_free(s->named[i]);
    free(s->named);
    trie_free(s->trie);
    *s = (struct sequences){0};
}

// FNV-1a (Fowler, Noll, Vo).
static uint32_t hash_of(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

// Where the name is, or would go.
static size_t slot_of(struct sequence *const *named, size_t slots, const char *name, uint32_t hash)
{
    size_t i = hash & (slots - 1);
    while (named[i] && (named[i]->hash != hash || strcmp(named[i]->name, name) != 0))
        i = (i + 1) & (slots - 1);
    return i;
}

// Room for one more name at half load.
static bool make_room(struct sequences *s)
{
    if (2 * (s->n + 1) <= s->slots)
        return true;
    const size_t slots = s->slots ? 2 * s->slots : 16;
    struct sequence **const named = calloc(slots, sizeof *named);
    if (!named)
        return false;
    for (size_t i = 0; i < s->slots; i++)
        if (s->named[i])
            named[slot_of(named, slots, s->named[i]->name, s->named[i]->hash)] = s->named[i];
    free(s->named);
    s->named = named;
    s->slots = slots;
    return true;
}

static struct sequence *make(const struct options *o, const char *name, struct err *e)
{
    struct sequence *const q = calloc(1, sizeof *q);
    struct fault fault = fault_memory();
    if (q) {
        q->settings = o;
        q->name = name ? strdup(name) : NULL;
        q->hash = name ? hash_of(name) : 0;
        q->chain = q->name || !name ? chain_new(o->plan, o->n_plan, &fault) : NULL;
    }
    if (!q || !q->chain || !constraint_init(&q->constraint, o, e)) {
        if (!q || !q->chain)
            err_from_fault(e, fault);
        sequence_free(q);
        return NULL;
    }
    if (name)
        chain_remember(q->chain);
    return q;
}

struct sequence *sequences_find(struct sequences *s, const char *name, struct err *e)
{
    if (!name)
        return s->unnamed ? s->unnamed : (s->unnamed = make(s->o, NULL, e));
    if (!make_room(s)) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    struct sequence **const at = &s->named[slot_of(s->named, s->slots, name, hash_of(name))];
    if (!*at) {
        *at = make(s->o, name, e);
        s->n += *at != NULL;
    }
    return *at;
}

// What is no good together with what there was is an error of the row, too.
static bool blame_params(struct err *e)
{
    if (e->status != STATUS_USAGE)
        return false;
    e->status = STATUS_DATA;
    return err_prefix(e, "params");
}

// The settings with params in place of some; NULL on failure.
static struct options *changed(struct sequences *s, const struct options *settings, const cJSON *params, struct err *e)
{
    struct options *const own = calloc(1, sizeof *own);
    if (!own) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    bool ok = derive(own, settings, e);
    if (ok && !own->trie)
        own->trie = s->trie;
    ok = ok && server_params_set(own, params, e) && (derive_plan(own, e) || blame_params(e));
    if (!own->trie_shared) { // the first grammar of the run
        s->trie = own->trie;
        own->trie_shared = true;
    }
    if (ok)
        return own;
    forget_options(own);
    return NULL;
}

// A chain for other settings that goes on where q's stands.
static struct chain *continued(const struct sequence *q, const struct options *settings, struct err *e)
{
    struct fault fault;
    struct chain *const chain = chain_new(settings->plan, settings->n_plan, &fault);
    if (chain) {
        chain_remember(chain);
        fault = chain_adopt(chain, q->chain);
    }
    if (!fault.code)
        return chain;
    err_from_fault(e, fault);
    chain_free(chain);
    return NULL;
}

// Parameters that ask for a random seed ask for another one each time.
static bool random_seed(const cJSON *params)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, params)
    {
        if (!strcmp(item->string, "seed") && (item->valuedouble < 0 || item->valuedouble >= UINT32_MAX))
            return true;
    }
    return false;
}

static bool change(struct sequences *s, struct sequence *q, const cJSON *params, struct err *e)
{
    struct options *const own = changed(s, q->settings, params, e);
    struct chain *const chain = own ? continued(q, own, e) : NULL;
    struct constraint constraint = q->constraint;
    const bool same = own && own->grammar == q->settings->grammar;
    if (!chain || (!same && !constraint_init(&constraint, own, e))) {
        chain_free(chain);
        forget_options(own);
        return false;
    }
    if (!same)
        constraint_free(&q->constraint);
    q->constraint = constraint;
    chain_free(q->chain);
    if (same && q->own && !q->own->grammar_shared) { // it goes on to the new settings
        own->grammar_shared = false;
        q->own->grammar_shared = true;
    }
    forget_options(q->own);
    q->settings = q->own = own;
    q->chain = chain;
    return true;
}

// Writers of rows that know no better repeat the parameters in each. A change costs time for each token of the history.
bool sequence_change(struct sequences *s, struct sequence *q, const cJSON *params, struct err *e)
{
    char *text = cJSON_PrintUnformatted(params);
    if (!text)
        return err_from_fault(e, fault_memory());
    const bool again = q->params && !strcmp(text, q->params), ok = again || change(s, q, params, e);
    if (ok && !again) {
        free(q->params);
        q->params = random_seed(params) ? NULL : text;
    }
    if (text != q->params)
        free(text);
    return ok;
}
