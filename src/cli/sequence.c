// SPDX-License-Identifier: MIT
#include "cli/sequence.h"

#include "cli/derive.h"
#include "cli/server_params.h"

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
    forget_options(q->own);
    free(q->name);
    free(q);
}

void sequences_free(struct sequences *s)
{
    sequence_free(s->unnamed);
    for (size_t i = 0; i < s->slots; i++)
        sequence_free(s->named[i]);
    free(s->named);
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
    if (!q || !q->chain) {
        sequence_free(q);
        err_from_fault(e, fault);
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

bool sequence_change(struct sequence *q, const cJSON *params, struct err *e)
{
    struct options *const own = calloc(1, sizeof *own);
    struct fault fault = fault_none();
    if (!own)
        return err_from_fault(e, fault_memory());
    bool ok = derive(own, q->settings, e) && server_params_set(own, params, e) && derive_plan(own, e);
    struct chain *const chain = ok ? chain_new(own->plan, own->n_plan, &fault) : NULL;
    if (chain) {
        chain_remember(chain);
        fault = chain_adopt(chain, q->chain);
    }
    ok = ok && (!fault.code || err_from_fault(e, fault));
    if (!ok) {
        chain_free(chain);
        forget_options(own);
        return false;
    }
    chain_free(q->chain);
    forget_options(q->own);
    *q = (struct sequence){.name = q->name, .hash = q->hash, .settings = own, .own = own, .chain = chain, .begun = q->begun};
    return true;
}
