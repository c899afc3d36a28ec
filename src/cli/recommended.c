// SPDX-License-Identifier: MIT
// The values that a model's GGUF metadata recommends (sampl-input(5)), read as llama.cpp reads them. A value that
// cannot be read is left out with a warning; the run goes on.
#include "base/names.h"
#include "cli/from_args.h"
#include "programs/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Keys after general.sampling, which presets have, too.
static const char keys[] =
    "top_k top_p min_p xtc_probability xtc_threshold temp penalty_last_n penalty_repeat mirostat "
    "mirostat_tau mirostat_eta";

// The names that llama.cpp has for its samplers. sampl has more samplers, and more names.
static const char llama_names[] =
    "penalties dry xtc infill temperature temp top_k top-k topk top_p top-p topp nucleus min_p min-p minp typ_p typ-p "
    "typp typ top_n_sigma top-n-sigma topnsigma adaptive_p adaptive-p adaptivep";

// Adds a warning that a recommendation is left out.
static void warn_left_out(struct new_recipe *d, const struct args *a, const char *key, const struct err *why)
{
    note_once(d->of, NOTE_WARNING, "--vocab: %s: left out: general.sampling.%s: %s", a->vocab, key, why->text);
}

// Reads the number that a text begins with. A whole number has its low 32 bits. False if there is no number.
static bool leading_number(const struct param *row, const char *text, double *v)
{
    char *end;
    if (row->type == PARAM_INT)
        *v = (int32_t)(uint32_t)strtoll(text, &end, 10);
    else
        *v = (double)strtof(text, &end);
    return end != text;
}

// Sets a parameter. False with *why if the text is no number of the parameter.
static bool set_recommended(struct new_recipe *d, const char *key, size_t number, const char *text, struct err *why)
{
    const struct param *const row = d->of->catalog.param[number];
    double v, value;
    if (!leading_number(row, text, &v))
        return err_set(why, STATUS_DATA, "'%s' is not a number", text);
    if (!strcmp(key, "penalty_last_n"))
        v = fmax(v, 0.0); // a negative window is off, not the whole history
    if (!value_check(row, v, text, &value, why))
        return false;
    d->key.value[number] = value;
    d->of->of_model[number] = true;
    return true;
}

// Appends the names of a chain that llama.cpp knows, each with a ';' behind it.
static void known_names(struct new_recipe *d, const struct args *a, const char *names, struct builder *chain)
{
    builder_string(chain, "");
    for (const char *at = names;; at++) {
        const size_t len = strcspn(at, ";");
        struct err why;
        if (name_find(llama_names, NAME_ANY_CASE, at, len) >= 0) {
            builder_format(chain, "%.*s;", (int)len, at);
        } else {
            err_set(&why, STATUS_DATA, "unknown sampler '%.*s'", err_clip_part(at, len, 40), at);
            warn_left_out(d, a, "sequence", &why);
        }
        at += len;
        if (!*at)
            break;
    }
}

void set_recommendations(struct new_recipe *d, const struct args *a, struct builder *chain)
{
    const struct catalog *const c = &d->of->catalog;
    const struct vocab *const v = d->of->vocab;
    if (!v || !v->recommended.len || d->key.engine->options || a->typed.neutral)
        return;
    for (const char *key = v->recommended.text, *value; *key; key = value + strlen(value) + 1) {
        struct err why;
        value = key + strlen(key) + 1;
        if (!strcmp(key, "sequence") && *value && !args_given(a, "samplers"))
            known_names(d, a, value, chain);
        if (name_find(keys, NAME_EXACT, key, strlen(key)) < 0)
            continue;
        size_t number;
        program_field(&program_sampl, c, key, &number);
        if (typed_origin(&a->typed, c->param[number]->flag) <= ORIGIN_WEAK &&
            !set_recommended(d, key, number, value, &why))
            warn_left_out(d, a, key, &why);
    }
}
