// SPDX-License-Identifier: MIT
#include "samplers/engine.h"

#include "base/names.h"

#include <assert.h>
#include <string.h>

bool engine_has(const struct engine *engine, bool grammar_first, const char *name, size_t len)
{
    return !engine->options || name_find(engine->options, NAME_EXACT, name, len) >= 0 ||
           (grammar_first && engine->first_options && name_find(engine->first_options, NAME_EXACT, name, len) >= 0);
}

bool engine_has_free(const struct engine *engine, const char *name, size_t len)
{
    return engine->free_options && name_find(engine->free_options, NAME_EXACT, name, len) >= 0;
}

const char *engine_refusal(const struct engine *engine, bool grammar, bool grammar_first, const char *name)
{
    static const char always[] = "seed,neutral,engine,backend-sampling,perf,no-perf,escape,no-escape,"
                                 "gpt-oss-20b-default,gpt-oss-120b-default";
    const size_t len = strlen(name);
    if (grammar && engine_has_free(engine, name, len))
        return "has no stage for it under a grammar";
    if (name_find(always, NAME_EXACT, name, len) >= 0 || engine_has(engine, grammar_first, name, len))
        return NULL;
    if (engine_has(engine, true, name, len))
        return "has no stage for it without --grammar-first";
    return name_find("samplers,sampler-seq", NAME_EXACT, name, len) >= 0 ? "has an order of its own"
                                                                         : "has no stage for it";
}

double engine_default(const struct engine *engine, const struct catalog *c, size_t number)
{
    const struct param *const row = c->param[number];
    for (const struct engine_default *def = engine->defaults; def->flag; def++)
        if (!strcmp(def->flag, row->flag))
            return param_value(row, def->value);
    return param_value(row, row->def);
}

bool engine_has_range(const struct engine *engine, const char *flag)
{
    const struct engine_range *range = engine->ranges;
    while (range->flag && strcmp(range->flag, flag) != 0)
        range++;
    return range->flag != NULL;
}

const struct engine_range *engine_refused(const struct engine *engine, const struct catalog *c, const double *value)
{
    for (const struct engine_range *range = engine->ranges; range->flag; range++) {
        const double x = value[catalog_find(c, range->flag)];
        if (!(x >= range->low && x <= range->high) || (range->but_0 && x == 0.0))
            return range;
    }
    return NULL;
}

// Returns a sampler without a value of its own.
static struct order_entry entry_of(const struct sampler *s) { return (struct order_entry){.place = sampler_place(s)}; }

size_t order_engine(const struct engine *engine, double temp, bool grammar, struct order_entry *entry)
{
    assert(engine->options);
    const unsigned never = (temp > 0.0 ? ENGINE_COLD : ENGINE_HOT) | (grammar ? ENGINE_FREE : 0u);
    size_t n = 0;
    for (const struct engine_stage *stage = engine->stage; stage->sampler; stage++)
        if (!(stage->when & never))
            entry[n++] = entry_of(stage->sampler);
    return n;
}

size_t order_chain(const struct order_entry *named, size_t n, int mirostat, struct order_entry *entry)
{
    assert(mirostat >= 0 && mirostat <= 2);
    size_t stages = 0;
    entry[stages++] = entry_of(&sampler_logit_bias);
    entry[stages++] = entry_of(&sampler_bans);
    if (mirostat) {
        assert(!strcmp(sampler_temperature.params[1].flag, "dynatemp-range")); // which is left out
        entry[stages++] = (struct order_entry){sampler_place(&sampler_temperature), true, 1, 0.0};
        entry[stages++] = entry_of(mirostat == 1 ? &sampler_mirostat : &sampler_mirostat_v2);
        return stages;
    }
    struct order_entry selector = entry_of(&sampler_dist);
    for (size_t i = 0; i < n; i++) {
        if (entry_sampler(&named[i])->selector)
            selector = named[i];
        else
            entry[stages++] = named[i];
    }
    entry[stages++] = selector;
    return stages;
}
