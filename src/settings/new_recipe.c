// SPDX-License-Identifier: MIT
#include "settings/new_recipe.h"

#include "base/platform.h"
#include "settings/value.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Allocates an entry for each stage of the new recipe. Returns how many there are; 0: memory is short.
static size_t order_stages(const struct new_recipe *d, const double *value, struct order_entry **entry)
{
    const struct catalog *const c = &d->of->catalog;
    const struct engine *const engine = d->key.engine;
    const struct order *const order = d->key.order;
    *entry = calloc(order ? order->n + ORDER_MORE : ENGINE_STAGES, sizeof **entry);
    if (!*entry)
        return 0;
    return order ? order_chain(order->entry, order->n, (int)value[c->mirostat], *entry)
                 : order_engine(engine, value[c->temp], d->key.rules, *entry);
}

// Returns the length of a recipe's key: the parts up to the last value of the catalog.
static size_t key_len(const struct catalog *c) { return offsetof(struct recipe_key, value) + c->n * sizeof(double); }

static size_t rounded_up(size_t n)
{
    const size_t align = sizeof(double) - 1;
    return (n + align) & ~align;
}

static void recipe_free(void *thing)
{
    struct recipe *const r = thing;
    recipe_key_drop(&r->key);
    free(r);
}

// Fills the stages of the entry, and their parameters behind the last stage.
static void fill_stages(struct recipe *r, const struct catalog *c, const struct order_entry *entry, const double *value)
{
    char *params = (char *)(r->stage + r->n_stages);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct sampler *const s = entry_sampler(&entry[i]);
        catalog_fill(c, entry[i].place, value, params);
        if (entry[i].own)
            param_store(&s->params[entry[i].param], params, entry[i].value);
        r->stage[i] = (struct stage){s, params, &r->context, entry[i].own && !entry[i].param};
        params += rounded_up(s->params_size);
    }
}

// Finds the heads of the breakers if a stage reads them, because that reads the whole vocabulary. False when memory is
// short.
static bool find_heads(const struct recipe *r)
{
    struct breaker_list *const list = r->key.breakers;
    if (list->ready || !recipe_reads(r, LISTS_BREAKERS))
        return true;
    list->ready = true;
    return breakers_find_heads(&list->breakers, r->of->vocab);
}

// Makes the recipe and moves the parts to it. NULL when memory is short; the new recipe then keeps them.
static struct recipe *recipe_new(struct new_recipe *d)
{
    const struct catalog *const c = &d->of->catalog;
    struct order_entry *entry;
    double value[CATALOG_MOST];
    memcpy(value, d->key.value, c->n * sizeof *value);
    if (d->key.engine->adjust)
        d->key.engine->adjust(c, value);
    const size_t n = order_stages(d, value, &entry);
    size_t size = sizeof(struct recipe) + n * sizeof(struct stage);
    for (size_t i = 0; i < n; i++)
        size += rounded_up(entry_sampler(&entry[i])->params_size);
    struct recipe *const r = n ? calloc(1, size) : NULL;
    if (r) {
        r->of = d->of;
        r->key = d->key;
        r->shared = (struct shared){.key = &r->key, .len = key_len(c), .free = recipe_free};
        r->context = (struct context){d->of->vocab, &d->key.biases->table, &d->key.breakers->breakers,
                                      &d->key.bans->bans, d->key.embeddings ? &d->key.embeddings->embeddings : NULL};
        r->n_stages = n;
        fill_stages(r, c, entry, value);
    }
    free(entry);
    if (r && find_heads(r))
        return r;
    free(r);
    return NULL;
}

bool recipe_set_seed(struct new_recipe *d, int64_t seed, struct err *e)
{
    const bool wide = d->key.engine->wide_seed;
    if (!wide && (seed < -1 || seed > UINT32_MAX))
        return err_set(e, STATUS_USAGE, "--seed: '%" PRId64 "' is not a whole number from -1 to %" PRIu32, seed,
                       UINT32_MAX);
    d->key.seed = wide ? (uint64_t)seed : (uint32_t)seed;
    d->random = engine_draws_seed(d->key.engine, seed);
    return true;
}

// Sets the parts that were not set. The default chain depends on the values, which may have changed: it is made anew.
static bool add_defaults(struct new_recipe *d, struct err *e)
{
    const struct recipe_key *const p = &d->key;
    const bool chain = !p->engine->options && (!p->order || *(const char *)p->order->shared.key == 'd');
    return (p->biases || recipe_set_lists(d, &(struct settings){.reasoning_budget = -1}, e)) &&
           (!chain || recipe_set_samplers(d, NULL, ORDER_NAMES, e));
}

// Draws the seed, if a random one is wanted.
static bool draw_seed(struct new_recipe *d, struct err *e)
{
    uint32_t seed;
    if (!d->random)
        return true;
    if (!platform_random(&seed, sizeof seed))
        return err_set(e, STATUS_IO, "the system gives no random seed; give --seed");
    d->key.seed = seed;
    return true;
}

static bool check_ranges(const struct new_recipe *d, struct err *e)
{
    const struct engine *const engine = d->key.engine;
    const struct catalog *const c = &d->of->catalog;
    const struct engine_range *const range = engine_refused(engine, c, d->key.value);
    char text[NUMBER_TEXT];
    if (!range)
        return true;
    const size_t number = catalog_find(c, range->flag);
    return err_set(e, STATUS_USAGE, "--%s: engine %s takes %s, not %s", range->flag, engine->name, range->takes,
                   value_text(c->param[number], d->key.value[number], text));
}

const struct recipe *recipe_finish(struct new_recipe *d, struct err *e)
{
    uint32_t hash;
    const bool ok = check_ranges(d, e) && add_defaults(d, e) && draw_seed(d, e) &&
                    (!d->of->notes.failed || err_from_fault(e, fault_memory()));
    struct recipe *r = ok ? shared_find(&d->of->recipe, &d->key, key_len(&d->of->catalog), &hash) : NULL;
    struct recipe *const made = ok && !r ? recipe_new(d) : NULL;
    if (made)
        r = shared_add(&d->of->recipe, &made->shared, hash);
    else
        recipe_key_drop(&d->key);
    if (ok && !r)
        err_from_fault(e, fault_memory());
    return r;
}

bool recipe_check_values(const struct new_recipe *d, struct err *e)
{
    for (size_t i = 0; samplers[i]; i++) {
        double params[CATALOG_PARAMS]; // room for any sampler's
        if (!samplers[i]->conflict)
            continue;
        catalog_fill(&d->of->catalog, i, d->key.value, params);
        const char *const conflict = samplers[i]->conflict(params);
        if (conflict)
            return err_set(e, STATUS_USAGE, "%s", conflict);
    }
    return true;
}

// ---- embeddings

static void embeddings_drop(void *thing)
{
    struct embedding_file *const f = thing;
    if (f->owner)
        f->close(f->owner);
    free(f);
}

bool recipe_set_embeddings(struct new_recipe *d, const char *file, enum distance_metric metric,
                           embeddings_open_fn *open, void (*close)(void *owner), struct err *e)
{
    struct builder key = {0};
    bool ok;
    builder_byte(&key, (char)metric);
    builder_bytes(&key, file, strlen(file) + 1);
    struct embedding_file *const f = recipe_share(d, PART_EMBEDDINGS, &key, sizeof *f, embeddings_drop, &ok, e);
    builder_free(&key);
    if (!f)
        return ok;
    f->close = close;
    f->embeddings.metric = metric;
    return open(&f->embeddings, &f->owner, embedding_file_name(f), e);
}
