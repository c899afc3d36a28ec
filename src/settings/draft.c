// SPDX-License-Identifier: MIT
#include "settings/draft.h"

#include "base/platform.h"
#include "settings/value.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Allocates the plan of the draft's stages. Returns how many there are; 0: memory is short.
static size_t make_plan(const struct draft *d, const double *value, struct choice **plan)
{
    const struct catalog *const c = &d->of->catalog;
    const struct engine *const engine = d->parts.engine;
    const struct order *const order = d->parts.order;
    *plan = calloc(order ? order->n + PLAN_MORE : ENGINE_STAGES, sizeof **plan);
    if (!*plan)
        return 0;
    return order ? plan_chain(order->choice, order->n, (int)value[c->mirostat], *plan)
                 : plan_engine(engine, value[c->temp], d->parts.rules, *plan);
}

// Returns the length of a recipe's key: the parts up to the last value of the catalog.
static size_t key_len(const struct catalog *c) { return offsetof(struct parts, value) + c->n * sizeof(double); }

static size_t rounded_up(size_t n)
{
    const size_t align = sizeof(double) - 1;
    return (n + align) & ~align;
}

static void recipe_free(void *thing)
{
    struct recipe *const r = thing;
    parts_drop(&r->parts);
    free(r);
}

// Fills the stages of the plan, and their parameters behind the last stage.
static void fill_stages(struct recipe *r, const struct catalog *c, const struct choice *plan, const double *value)
{
    char *params = (char *)(r->stage + r->n_stages);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct sampler *const s = choice_sampler(&plan[i]);
        catalog_fill(c, plan[i].place, value, params);
        if (plan[i].own)
            param_store(&s->params[plan[i].param], params, plan[i].value);
        r->stage[i] = (struct stage){s, params, &r->context, plan[i].own && !plan[i].param};
        params += rounded_up(s->params_size);
    }
}

// Finds the heads of the breakers if the chain has dry, because that reads the whole vocabulary. False when memory is
// short.
static bool find_heads(const struct recipe *r)
{
    struct breaker_list *const list = r->parts.breakers;
    if (list->ready || !recipe_runs(r, &sampler_dry))
        return true;
    list->ready = true;
    return breakers_find_heads(&list->breakers, r->of->vocab);
}

// Makes the recipe and moves the draft's parts to it. NULL when memory is short; the draft then keeps its parts.
static struct recipe *recipe_new(struct draft *d)
{
    const struct catalog *const c = &d->of->catalog;
    struct choice *plan;
    double value[CATALOG_MOST];
    memcpy(value, d->parts.value, c->n * sizeof *value);
    if (d->parts.engine->adjust)
        d->parts.engine->adjust(c, value);
    const size_t n = make_plan(d, value, &plan);
    size_t size = sizeof(struct recipe) + n * sizeof(struct stage);
    for (size_t i = 0; i < n; i++)
        size += rounded_up(choice_sampler(&plan[i])->params_size);
    struct recipe *const r = n ? calloc(1, size) : NULL;
    if (r) {
        r->of = d->of;
        r->parts = d->parts;
        r->shared = (struct shared){.key = &r->parts, .len = key_len(c), .free = recipe_free};
        r->context =
            (struct context){d->of->vocab, &d->parts.biases->table, &d->parts.breakers->breakers, &d->parts.bans->bans,
                             d->parts.embeddings ? &d->parts.embeddings->embeddings : NULL};
        r->n_stages = n;
        fill_stages(r, c, plan, value);
    }
    free(plan);
    if (r && find_heads(r))
        return r;
    free(r);
    return NULL;
}

bool draft_seed(struct draft *d, int64_t seed, struct err *e)
{
    const bool wide = d->parts.engine->wide_seed;
    if (!wide && (seed < -1 || seed > UINT32_MAX))
        return err_set(e, STATUS_USAGE, "--seed: '%" PRId64 "' is not a whole number from -1 to %" PRIu32, seed,
                       UINT32_MAX);
    d->parts.seed = wide ? (uint64_t)seed : (uint32_t)seed;
    d->random = engine_draws_seed(d->parts.engine, seed);
    return true;
}

// Sets the parts that were not set. The default chain depends on the values, which may have changed: it is made anew.
static bool add_defaults(struct draft *d, struct err *e)
{
    const struct parts *const p = &d->parts;
    const bool chain = !p->engine->options && (!p->order || *(const char *)p->order->shared.key == 'd');
    return (p->biases || draft_lists(d, &(struct settings){.reasoning_budget = -1}, e)) &&
           (!chain || draft_samplers(d, NULL, false, e));
}

// Draws the seed, if a random one is wanted.
static bool draw_seed(struct draft *d, struct err *e)
{
    uint32_t seed;
    if (!d->random)
        return true;
    if (!platform_random(&seed, sizeof seed))
        return err_set(e, STATUS_IO, "the system gives no random seed; give --seed");
    d->parts.seed = seed;
    return true;
}

static bool check_ranges(const struct draft *d, struct err *e)
{
    const struct engine *const engine = d->parts.engine;
    const struct catalog *const c = &d->of->catalog;
    const struct engine_range *const range = engine_refused(engine, c, d->parts.value);
    char text[NUMBER_TEXT];
    if (!range)
        return true;
    const size_t number = catalog_find(c, range->flag);
    return err_set(e, STATUS_USAGE, "--%s: engine %s takes %s, not %s", range->flag, engine->name, range->takes,
                   value_text(c->param[number], d->parts.value[number], text));
}

const struct recipe *draft_make(struct draft *d, struct err *e)
{
    uint32_t hash;
    const bool ok = check_ranges(d, e) && add_defaults(d, e) && draw_seed(d, e) &&
                    (!d->of->notes.failed || err_from_fault(e, fault_memory()));
    struct recipe *r = ok ? shared_find(&d->of->recipe, &d->parts, key_len(&d->of->catalog), &hash) : NULL;
    struct recipe *const made = ok && !r ? recipe_new(d) : NULL;
    if (made)
        r = shared_add(&d->of->recipe, &made->shared, hash);
    else
        parts_drop(&d->parts);
    if (ok && !r)
        err_from_fault(e, fault_memory());
    return r;
}

bool draft_check_values(const struct draft *d, struct err *e)
{
    for (size_t i = 0; samplers[i]; i++) {
        double params[CATALOG_PARAMS]; // room for any sampler's
        if (!samplers[i]->conflict)
            continue;
        catalog_fill(&d->of->catalog, i, d->parts.value, params);
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

bool draft_embeddings(struct draft *d, const char *file, enum distance_metric metric, embeddings_open_fn *open,
                      void (*close)(void *owner), struct err *e)
{
    struct builder key = {0};
    bool ok;
    builder_byte(&key, (char)metric);
    builder_bytes(&key, file, strlen(file) + 1);
    struct embedding_file *const f = draft_share(d, PART_EMBEDDINGS, &key, sizeof *f, embeddings_drop, &ok, e);
    builder_free(&key);
    if (!f)
        return ok;
    f->close = close;
    f->embeddings.metric = metric;
    return open(&f->embeddings, &f->owner, embedding_file_name(f), e);
}
