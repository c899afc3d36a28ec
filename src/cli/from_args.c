// SPDX-License-Identifier: MIT
#include "cli/from_args.h"

#include "cli/hint.h"
#include "in/embeddings.h"
#include "in/vocab_file.h"
#include "out/message.h"

#include <stdlib.h>
#include <string.h>

// ---- the engine

// Returns whether the chain would differ if the engine had a stage for the option. Options that were reset before count
// as off, so that the window of a penalty is not listed beside it. Breakers count with the option of DRY that switches
// it on.
static bool would_differ(const struct args *a, const struct option_row *row)
{
    const struct catalog *const c = a->typed.options->catalog;
    const struct context context = {0};
    double neutral[CATALOG_MOST];
    catalog_neutral(c, neutral);
    if (!row->param)
        return strncmp(row->name, "dry-", 4) != 0;
    if (a->typed.value[row->number] == neutral[row->number])
        return false;
    for (size_t i = 0; samplers[i]; i++)
        if (!sampler_internal(i) && sampler_param(samplers[i], row->name) &&
            catalog_enables(c, i, a->typed.value, &context))
            return true;
    return !strcmp(row->name, "mirostat") || !strcmp(row->name, "min-tokens"); // whose stages no chain names
}

bool args_leave_out(struct args *a, const char *preset, struct builder *names, struct err *e)
{
    const struct option_row *row = a->typed.options->row;
    for (; typed_refusal(&a->typed, preset, &row); row++) {
        if (preset && a->preset[row - a->typed.options->row] != preset)
            continue;
        if (!preset || would_differ(a, row))
            builder_format(names, "%s--%s", names->len ? ", " : "", row->name);
        if (!typed_forget(&a->typed, row, e))
            return false;
    }
    return true;
}

// Resets the options of presets that the engine has no stage for, with a note for each preset with options that would
// change the chain.
static bool leave_out_of_presets(struct recipes *r, struct args *a, struct err *e)
{
    const struct option_row *first = a->typed.options->row;
    bool ok = true;
    while (ok && typed_refusal(&a->typed, true, &first)) {
        struct builder names = {0};
        const char *const file = a->preset[first - a->typed.options->row];
        ok = args_leave_out(a, file, &names, e) && (!names.failed || err_from_fault(e, fault_memory()));
        if (ok && names.len)
            note_once(r, NOTE_PLAIN, "--preset: %s: engine %s has no stage for %s, which it ignores", file,
                      a->typed.engine, names.text);
        builder_free(&names);
    }
    return ok;
}

// ---- the grammar, and vectors

static bool set_grammar_text(struct new_recipe *d, const struct args *a, struct err *e)
{
    const struct option_row *const row = a->typed.grammar_row;
    char *content = NULL;
    if (!row)
        return a->action != ACTION_PRINT_GRAMMAR || err_set(e, STATUS_USAGE, "--print-grammar: no grammar is given");
    if (!d->of->vocab && a->action == ACTION_RUN)
        return err_set(e, STATUS_USAGE, "a grammar needs --vocab");
    struct grammar_text g = typed_grammar(&a->typed);
    if (option_names_file(row)) {
        g.file = a->typed.grammar;
        if (!file_slurp(g.file, 0, &content, &g.text.len, e))
            return err_prefix(e, "--%s", row->name);
        g.text.p = (const unsigned char *)content;
    }
    const bool schema = g.kind == GRAMMAR_SCHEMA, none = !schema && !g.text.len,
               ok = none || recipe_set_grammar(d, &g, e);
    free(content);
    if (!ok && !option_names_file(row))
        hint_file(a->typed.grammar, schema ? "--json-schema-file " : "--grammar-file ", e);
    return ok;
}

// ---- all of it

// Adds what files have: the vocabulary with its recommendations, the grammar, and vectors.
static bool add_files(struct new_recipe *d, const void *arg, struct builder *names, struct err *e)
{
    struct recipes *const r = d->of;
    const struct args *const a = arg;
    if (a->vocab && !r->vocab) {
        if (!vocab_load(&r->texts, a->vocab, e))
            return err_prefix(e, "--vocab");
        r->vocab = &r->texts;
    }
    set_recommendations(d, a, names);
    if (!set_grammar_text(d, a, e))
        return false;
    return !a->embeddings || recipe_set_embeddings(d, a->embeddings, a->metric, embeddings_open, embeddings_close, e) ||
           err_prefix(e, "--scatter-embeddings");
}

// Warns of a chain whose breakers match nothing.
static void warn_of_chain(struct recipes *r, const struct recipe *recipe)
{
    if (!r->vocab && recipe->key.breakers->breakers.n_texts && recipe_reads(recipe, LISTS_BREAKERS))
        note_once(r, NOTE_WARNING,
                  "without a vocabulary dry's text breakers match nothing; --dry-breaker-tokens gives them as ids");
}

const struct recipe *recipe_from_args(struct recipes *r, const struct args *given, struct err *e)
{
    struct args a = *given; // whose lists stay the caller's
    r->unknown = a.lenient ? UNKNOWN_IS_LEFT_OUT : UNKNOWN_IS_ERROR;
    r->refused = a.strict_grammar ? REFUSED_IS_ERROR : REFUSED_IS_NOTED;
    if (!leave_out_of_presets(r, &a, e))
        return NULL;
    const struct recipe *recipe = recipe_from_typed(r, &a.typed, add_files, &a, e);
    if (a.action == ACTION_RUN)
        recipe = recipe_checked(recipe, e);
    if (recipe)
        warn_of_chain(r, recipe);
    message_notes(&r->notes);
    return recipe;
}
