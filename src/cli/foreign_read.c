// SPDX-License-Identifier: MIT
// Reads a file as the dialect that identifies it.
#include "cli/dialects.h"
#include "cli/notation.h"

static bool is_of_dialect(struct foreign *f, const struct dialect *d)
{
    f->settings = d->member ? json_member(f->root, d->member) : f->root;
    if (d->member)
        return cJSON_IsObject(f->settings);
    if (d->identify)
        return d->identify(f) && (!f->settings || cJSON_IsObject(f->settings)); // NULL: memory is short
    for (size_t i = 0; i < sizeof d->marks / sizeof *d->marks; i++)
        if (has_key(f->root, d->marks[i][0]) && (!d->marks[i][1] || has_key(f->root, d->marks[i][1])))
            return true;
    return false;
}

// Finds the dialect of the file, and its settings.
static bool find_dialect(struct foreign *f)
{
    if (cJSON_HasObjectItem(f->root, "model_param"))
        return err_set(f->e, STATUS_USAGE, "a .kcpps file says how KoboldCpp is started, not how it samples");
    for (f->dialect = dialects; f->dialect->name; f->dialect++)
        if (is_of_dialect(f, f->dialect))
            return true;
    return err_set(f->e, STATUS_USAGE, "JSON of no program whose presets sampl knows");
}

// Chooses the engine that the options are for: the one that was typed, or the program's own. If it is not llama, the
// samplers are in its order, and its defaults hold for absent settings.
static void choose_engine(struct foreign *f)
{
    const struct dialect *const d = f->dialect;
    f->typed = d->whole ? NULL : f->typed;
    f->engine = f->typed ? f->typed : d->engine ? engine_by_name(d->engine) : engines;
    if (!f->typed)
        foreign_set(f, "engine", f->engine->name);
    foreign_set(f, "neutral", f->engine->options || d->defaults ? "false" : "true");
}

// Adds the options of the settings. False with *e.
static bool convert_settings(struct foreign *f)
{
    const struct dialect *const d = f->dialect;
    choose_engine(f);
    for (const cJSON *item = f->settings ? f->settings->child : NULL; item && !f->failed; item = item->next)
        if (!cJSON_IsNull(item) && !(d->ignored && name_find(d->ignored, NAME_PATTERN, item->string, 0) >= 0) &&
            !(d->read_key && d->read_key(f, item)))
            foreign_setting(f, item);
    foreign_absent(f, d->absent ? d->absent : "");
    if (d->chain)
        foreign_chain(f, d->chain);
    if (d->finish && !f->failed)
        d->finish(f);
    if (f->chain.text && !f->engine->options)
        foreign_set(f, "samplers", f->chain.text);
    if (!f->failed && (f->chain.failed || f->unsupported.failed || f->note.failed))
        return err_from_fault(f->e, fault_memory());
    return !f->failed;
}

// Resets the options of the chain, but for the seed.
static bool forget_chain(struct args *a, struct err *e)
{
    bool ok = true;
    for (const struct option_row *row = a->typed.options->row; ok && row->name; row++)
        if (row->recipe && strcmp(row->name, "seed") != 0)
            ok = typed_forget(&a->typed, row, e);
    return ok;
}

bool foreign_read(struct foreign *f, const char *text, size_t len, const char *section)
{
    f->root = notation_read(text, len, section, f->e);
    const bool ok =
        f->root && find_dialect(f) && (!f->dialect->whole || forget_chain(f->a, f->e)) && convert_settings(f);
    cJSON_Delete(f->root);
    builder_free(&f->chain);
    return ok;
}
