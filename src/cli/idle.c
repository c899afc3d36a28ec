// SPDX-License-Identifier: MIT
// Notes on options of the chain that were typed and have no effect on it, or another than their number says. A preset
// sets many options that are off. Notes on them say only that one switches off what another asks for, and that the
// chain lacks the sampler that one enables.
#include "base/number.h"
#include "cli/variants.h"
#include "out/message.h"

#include <stddef.h>
#include <stdio.h>

enum { PHRASE = 100 };

// Returns the first sampler with this parameter that would be enabled if the chain had it. NULL: there is none.
static const struct sampler *missing_sampler(const struct recipe *r, size_t number)
{
    const struct catalog *const c = &r->of->catalog;
    for (size_t i = 0; samplers[i]; i++) {
        const bool has = !sampler_internal(i) && sampler_param(samplers[i], c->param[number]->flag);
        if (has && catalog_enables(c, i, r->key.value, &r->context))
            return samplers[i];
    }
    return NULL;
}

// Returns a phrase for a parameter of a stage that runs, if its number is beyond its range. NULL: it is not.
static const char *beyond_range(const struct stage *stage, const struct param *row, char text[PHRASE])
{
    const struct sampler *const s = stage->sampler;
    const float value = (float)param_load(row, stage->params);
    const char *const does = row == s->params && value > 1.0f && s->above_one ? s->above_one(stage) : NULL;
    char digits[NUMBER_TEXT];
    if (!does)
        return NULL;
    number_text(value, digits); // all of them: 1.0000001 is not 1
    number_plain(digits);
    snprintf(text, PHRASE, "of %s %s", digits, does);
    return text;
}

// Returns a phrase for a parameter of a stage that is off. A row's parameters may enable the stage, so the phrase names
// the condition. NULL: the value is the default, or the option that enables the sampler was typed, too, and says that
// it is off, or a preset has the parameter.
static const char *idle_beside(const struct stage *off, const struct args *a, const struct param *row, double value,
                               bool preset, char text[PHRASE])
{
    const struct sampler *const s = off->sampler;
    if (row == s->params || value == row->def)
        return NULL;
    if (stage_runs_with(off, row, row->def))
        snprintf(text, PHRASE, "of %.6g switches %s off", value, s->name);
    else if (preset || args_given(a, s->params->flag))
        return NULL;
    else
        snprintf(text, PHRASE, "has no effect while %s is off", s->name);
    return text;
}

// Returns why a parameter has no effect, as a phrase behind its name. NULL: a stage reads the parameter, or its value
// enables nothing.
static const char *idle_param(const struct recipe *r, const struct args *a, size_t number, bool preset,
                              char text[PHRASE])
{
    const struct catalog *const c = &r->of->catalog;
    const struct engine *const engine = r->key.engine;
    const char *const flag = c->param[number]->flag;
    const struct stage *off = NULL; // a stage that has the parameter, and does not run
    bool fixed = false;
    if (engine->greedy_at_1 && number == catalog_find(c, engine->greedy_at_1) && r->key.value[number] == 1.0)
        return NULL;
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        const struct param *const row = sampler_param(stage->sampler, flag);
        const bool reads =
            row && (engine->options || param_load(row, stage->params) == param_rounded(row, r->key.value[number]));
        const char *const phrase = reads && !preset && stage->sampler->idle ? stage->sampler->idle(stage, row) : NULL;
        if (phrase || (reads && engine->options))
            return phrase;
        if (reads && stage_enabled(stage))
            return beyond_range(stage, row, text);
        off = reads && !off ? stage : off;
        fixed = fixed || row;
    }
    if (off)
        return idle_beside(off, a, sampler_param(off->sampler, flag), r->key.value[number], preset, text);
    const struct sampler *const s = missing_sampler(r, number);
    if (s && recipe_has_mirostat(r))
        return preset ? NULL : "has no effect while mirostat runs in place of the samplers";
    if (!s || fixed || (engine->options && number == c->temp)) // an engine's stages depend on temp
        return NULL;
    snprintf(text, PHRASE, "has no effect while the chain has no %s", s->name);
    return text;
}

// Returns why --scatter-embeddings or --scatter-metric has no effect, as a phrase behind its name. NULL: it has one, or
// the option is another.
static const char *idle_vectors(const struct recipe *r, const struct option_row *row)
{
    const bool metric = row->at == offsetof(struct args, metric);
    if (row->group != GROUP_CHAIN || !(metric || row->at == offsetof(struct args, embeddings)))
        return NULL;
    if (!r->key.embeddings)
        return "has no effect without --scatter-embeddings";
    return recipe_reads(r, LISTS_VECTORS) ? NULL : "has no effect while scatter is off or the chain has no scatter";
}

// Returns whether the option has the same value in the base.
static bool as_in_base(const struct option_row *row, const struct args *a, const struct args *base)
{
    return base && base->typed.given[row - a->typed.options->row] &&
           (row->param ? a->typed.value[row->number] == base->typed.value[row->number]
                       : a->typed.samplers == base->typed.samplers);
}

void note_idle_options(const struct recipe *r, const struct variant *x, const struct args *base)
{
    const struct args *const a = &x->args;
    for (const struct option_row *row = a->typed.options->row; row->name && a->action == ACTION_RUN; row++) {
        char text[PHRASE];
        const char *phrase = NULL;
        const enum origin origin = a->typed.given[row - a->typed.options->row];
        const bool preset = origin == ORIGIN_PRESET, typed = origin == ORIGIN_COMMAND_LINE;
        if (!(typed || (preset && (row->param || row->at == offsetof(struct args, metric)))) ||
            as_in_base(row, a, base))
            continue;
        if (row->param)
            phrase = idle_param(r, a, row->number, preset, text);
        else if ((row->kind == OPTION_NAMES || row->kind == OPTION_LETTERS) && recipe_has_mirostat(r))
            phrase = "has no effect while mirostat runs in their place";
        else
            phrase = idle_vectors(r, row);
        if (phrase && base)
            message_note("variant '%.*s': --%s %s", VARIANT_NAME(x), row->name, phrase);
        else if (phrase)
            message_note("--%s %s", row->name, phrase);
    }
}
