// SPDX-License-Identifier: MIT
#include "cli/foreign.h"

#include "cli/command_line.h"
#include "cli/container.h"
#include "cli/notation.h"
#include "out/message.h"
#include "settings/read.h"

#include <stdlib.h>
#include <string.h>

// A file that is read.
struct foreign {
    struct args *a;
    const char *path;
    const char *from;    // the program that the user names; NULL: none
    cJSON *made, *other; // trees that parts of the file are read into; NULL: none
};

// ---- the target of the reader (settings/read.h)

static bool set_as_typed(void *to, const char *option, const char *text, struct err *e)
{
    struct foreign *const f = to;
    const struct option_row *const row = option_by_name(f->a->typed.options, option, strlen(option));
    const char *const own = text ? words_own(&f->a->texts, strdup(text), e) : NULL;
    return (own || !text) && args_set(f->a, row, own, f->path, e);
}

static bool set_value(void *to, size_t number, double x, const char *spelt, struct err *e)
{
    const struct foreign *const f = to;
    struct typed *const t = &f->a->typed;
    const struct param *const p = t->options->catalog->param[number];
    args_give(f->a, option_by_name(t->options, p->flag, strlen(p->flag)), f->path);
    return value_check(p, x, spelt, &t->value[number], e);
}

// Gives a list of the chain.
static struct list *replace_list(void *to, enum list_kind kind, const char *key, struct err *e)
{
    struct foreign *const f = to;
    struct list *const list = &f->a->typed.settings.list[kind];
    const char *const option = kind == LIST_GENERATION ? NULL : list_options[kind] + strlen("--");
    (void)e;
    if (kind != LIST_GENERATION) // which has no option
        args_give(f->a, option_by_name(f->a->typed.options, option, strlen(option)), f->path);
    if (key || !list->name)
        list_begin(list, kind == LIST_GENERATION ? "generation_prompt" : list_options[kind]);
    return list;
}

// ---- a file

// Finds an option of presets (struct file_view: find_option).
static const char *find_option(const void *options, const char *name)
{
    const struct option_row *const row = option_by_name(options, name, strlen(name));
    return !row || row->group != GROUP_CHAIN ? NULL : row->recipe ? row->name : "";
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

// Refuses a file that is of no program, and names its keys that set samplers somewhere.
static bool refuse_file(const struct file_view *v, struct err *e)
{
    struct key_names names = {.n = 0};
    const cJSON *const tree = json_member(v->root, "yaml");
    const char *const notation = tree ? "YAML" : "JSON";
    for (const cJSON *item = (tree ? tree : v->root)->child; item; item = item->next) {
        size_t number;
        const struct field_row *const f =
            item->string ? program_field(program_by_name("bare"), v->catalog, item->string, &number) : NULL;
        if (f && !field_is_other(f))
            view_name(&names, item->string);
    }
    if (names.n)
        err_set(e, STATUS_USAGE,
                "%s of no program whose presets sampl knows; its keys for sampling are %s%s: --preset-from names a "
                "program of --list-programs",
                notation, names.text.text ? names.text.text : "", names.n > KEYS_NAMED ? ", ..." : "");
    else
        err_set(e, STATUS_USAGE, "%s of no program whose presets sampl knows", notation);
    builder_free(&names.text);
    return false;
}

// Finds the program of the file v->root, or takes the one that the user names. False with *e.
static bool find_program(struct file_view *v, const char *from, struct err *e)
{
    if (!from) {
        v->program = program_refuse_other(v, e) ? view_program(v) : NULL;
        return e->status == STATUS_OK && !v->failed && (v->program || refuse_file(v, e));
    }
    v->program = program_by_name(from);
    if (!v->program)
        return err_set(e, STATUS_USAGE, "--preset-from: '%s' is no program of --list-programs", from);
    return (view_settings_of(v, v->program) && !v->failed) ||
           (!v->failed && err_set(e, STATUS_USAGE, "the file has no settings of %s", v->program->name));
}

// Returns true if an element of an array is the one that is named: by its number or text `id`, or by its name.
static bool is_named(const cJSON *element, const char *name)
{
    const cJSON *const id = json_member(element, "id");
    const char *const called = cJSON_GetStringValue(json_member(element, "name"));
    return (id && id->valuestring && !strcmp(id->valuestring, name)) || (called && !strcmp(called, name));
}

// Sets v->root to the command of a model of llama-swap, the one that `section` names or the only one. False with *e.
static bool unpack_swap(struct file_view *v, struct foreign *f, const char *section, struct err *e)
{
    const cJSON *const tree = json_member(v->root, "yaml"), *model, *found = NULL, *macro;
    size_t n = 0;
    cJSON_ArrayForEach(model, json_member(tree, "models"))
    {
        if (cJSON_HasObjectItem(model, "cmd") && (!section || !strcmp(section, model->string))) {
            found = model;
            n++;
        }
    }
    if (n != 1)
        return err_set(e, STATUS_USAGE, "%zu models of llama-swap fit; FILE:NAME chooses one", n);
    const char *const cmd = cJSON_GetStringValue(json_member(found, "cmd"));
    const cJSON *const params = json_member(json_member(found, "filters"), "setParams");
    const cJSON *const global = json_member(tree, "macros");
    cJSON *const macros = cJSON_IsObject(global) ? cJSON_Duplicate(global, true) : cJSON_CreateObject();
    bool whole = macros;
    cJSON_ArrayForEach(macro, json_member(found, "macros"))
    {
        cJSON *const copy = cJSON_Duplicate(macro, true);
        cJSON_DeleteItemFromObjectCaseSensitive(macros, macro->string);
        whole = whole && copy && cJSON_AddItemToObject(macros, macro->string, copy);
    }
    f->made = cmd && whole ? command_line_read(cmd, true, NULL, macros, e) : NULL;
    cJSON_Delete(macros);
    if (!whole)
        return err_from_fault(e, fault_memory());
    if (e->status != STATUS_OK)
        return false;
    if (!f->made)
        return err_set(e, STATUS_USAGE, "cmd of '%.*s' starts no program whose flags sampl reads",
                       err_clip(found->string, 60), found->string);
    if (cJSON_IsObject(params) && !cJSON_AddItemToObject(f->made, "setParams", cJSON_Duplicate(params, true)))
        return err_from_fault(e, fault_memory());
    v->root = f->made;
    return true;
}

// Notes which command of a file is read, and what is not certain of it.
static void note_command(struct file_view *v)
{
    const cJSON *const more = json_member(v->root, "more");
    struct builder note = {0};
    if (more && more->valuedouble > 0.0)
        builder_format(&note, "the first of %d commands is read; FILE:N chooses another", (int)more->valuedouble + 1);
    if (cJSON_HasObjectItem(v->root, "condition"))
        builder_format(&note, "%sthe command stands under a condition", note.len ? "; " : "");
    if (cJSON_HasObjectItem(v->root, "guessed"))
        builder_format(&note, "%sthe command's program is a variable, which is taken for llama-server",
                       note.len ? "; " : "");
    if (note.len)
        view_note(v, note.text);
    v->note.failed = v->note.failed || note.failed;
    builder_free(&note);
}

// Sets v->root to the settings in the flags of a program that is not llama.cpp, which *from then names. False with *e.
static bool unpack_command(struct file_view *v, struct foreign *f, const char **from, struct err *e)
{
    const char *program;
    if (!json_array(v->root, "command") || !cJSON_HasObjectItem(v->root, "more"))
        return true;
    note_command(v);
    cJSON *const settings = command_line_settings(v->root, &program, e);
    if (!program || !settings)
        return !program;
    cJSON_Delete(f->other);
    v->root = f->other = settings;
    *from = *from ? *from : program;
    return true;
}

// Sets v->root to a command in a tree of YAML or JSON, as Docker Compose and Kubernetes have them: the one of a part
// that `section` names or numbers. False: there is none; *e may have an error.
static bool unpack_container(struct file_view *v, struct foreign *f, const char *section, struct err *e)
{
    const cJSON *const yaml = json_member(v->root, "yaml"), *const tree = yaml ? yaml : v->root;
    struct builder script = {0};
    const bool named = section && strspn(section, "0123456789") < strlen(section);
    if (program_refuse_other(v, e) && container_of_tree(tree, named ? section : NULL, &script))
        f->made = command_line_read(script.text, false, named ? NULL : section, NULL, e);
    if (script.failed)
        err_from_fault(e, fault_memory());
    builder_free(&script);
    v->root = f->made ? f->made : v->root;
    return f->made || e->status != STATUS_OK;
}

// Sets v->root to the element of an array that `section` names, or the only one: of /slots, of an export of models.
// Another file has no sections. False with *e.
static bool unpack(struct file_view *v, struct foreign *f, const char *section, struct err *e)
{
    const cJSON *element, *found = NULL, *const models = json_member(json_member(v->root, "yaml"), "models");
    size_t n = 0;
    if (cJSON_HasObjectItem(v->root, "ini"))
        return true;
    if (cJSON_IsObject(models) && cJSON_HasObjectItem(models->child, "cmd"))
        return unpack_swap(v, f, section, e);
    if (json_array(v->root, "command") && cJSON_HasObjectItem(v->root, "more"))
        return true; // notation_read has chosen the command
    if (!f->from && cJSON_IsObject(v->root) && !view_program(v) && !v->failed && unpack_container(v, f, section, e))
        return e->status == STATUS_OK;
    if (v->failed)
        return false;
    if (!cJSON_IsArray(v->root))
        return !section ||
               err_set(e, STATUS_USAGE,
                       "only an ini of llama.cpp's, a list and llama-swap's models have parts such as '%.*s'",
                       err_clip(section, 40), section);
    if (!program_refuse_other(v, e))
        return false;
    cJSON_ArrayForEach(element, v->root)
    {
        if (cJSON_IsObject(element) && (!section || is_named(element, section))) {
            found = element;
            n++;
        }
    }
    if (n == 1)
        v->root = found;
    return n == 1 || err_set(e, STATUS_USAGE, "%zu elements of the array fit; FILE:ID or FILE:NAME chooses one", n);
}

// Lets options behind the file replace lists, where the file's program does so.
static void let_replace(struct foreign *f, const char *options)
{
    for (size_t i = 0; options && i < LIST_GENERATION; i++) {
        const char *const name = list_options[i] + strlen("--");
        if (name_find(options, NAME_EXACT, name, strlen(name)) >= 0)
            f->a->typed.settings.list[i].later = LATER_REPLACES;
    }
}

// Reads the settings of the file v->root. False with *e.
static bool read_root(struct settings_reader *r, struct foreign *f, const char *from, const struct engine *typed,
                      struct err *e)
{
    struct file_view *const v = &r->view;
    const cJSON *const defaults = json_member(v->root, "gendefaults");
    if (cJSON_HasObjectItem(v->root, "model_param") && !(cJSON_IsObject(defaults) && defaults->child))
        return err_set(e, STATUS_USAGE, "a .kcpps file says how KoboldCpp is started, not how it samples");
    if (cJSON_HasObjectItem(v->root, "model_param")) {
        v->root = defaults;
        from = from ? from : "KoboldCpp";
    }
    if (!unpack_command(v, f, &from, e) || !find_program(v, from, e))
        return false;
    const struct program *const p = v->program;
    if (p->unset == UNSET_CHAIN && !forget_chain(f->a, e))
        return false;
    v->engine_named = typed && p->unset != UNSET_CHAIN;
    v->engine = v->engine_named ? typed : p->runs ? p->runs : engine_by_name("llama");
    const bool off = p->unset == UNSET_OFF && !v->engine->options;
    return (v->engine_named || set_as_typed(f, "engine", v->engine->name, e)) &&
           (p->unset == UNSET_TYPED || set_as_typed(f, "neutral", off ? "true" : "false", e)) && read_settings(r);
}

// Notes keys without effect.
static void note_keys(struct file_view *v, const struct key_names *names, const char *what)
{
    struct builder note = {0};
    if (!names->n)
        return;
    builder_format(&note, "keys that %s %s: %s", v->program->name, what, names->text.text ? names->text.text : "");
    if (names->n > KEYS_NAMED)
        builder_format(&note, " and %zu more", names->n - KEYS_NAMED);
    if (note.text)
        view_note(v, note.text);
    v->note.failed = v->note.failed || note.failed || names->text.failed;
    builder_free(&note);
}

// Names keys of samplers that stand beside the object with the settings, where the program does not look.
static void name_beside(struct file_view *v)
{
    const cJSON *item, *holder = NULL;
    if (!cJSON_IsObject(v->root))
        return;
    cJSON_ArrayForEach(item, v->root)
    {
        const cJSON *inner = item->child;
        while (inner && inner != v->settings)
            inner = inner->next;
        holder = item == v->settings || inner ? item : holder;
    }
    for (item = holder ? v->root->child : NULL; item; item = item->next) {
        size_t number;
        const struct field_row *const own = program_field(v->program, v->catalog, item->string, &number);
        const bool samples = own ? !field_is_other(own) : program_any_samples(v->catalog, item->string);
        if (item != holder && samples && view_is_on(item))
            view_name(&v->ignored, item->string);
    }
}

// Names keys that set samplers in other programs, and which a row of the program has only as any key, "*".
static void name_among_others(struct file_view *v)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, v->settings)
    {
        size_t number;
        const struct field_row *const f = program_field(v->program, v->catalog, item->string, &number);
        if (f && field_is_other(f) && !strcmp(f->keys, "*") && view_is_on(item) &&
            program_any_samples(v->catalog, item->string))
            view_name(&v->unknown, item->string);
    }
}

// Keeps what is to be said of the file.
static bool keep_said(struct args *a, const char *path, struct file_view *v, struct err *e)
{
    name_beside(v);
    name_among_others(v);
    note_keys(v, &v->ignored, "ignores");
    note_keys(v, &v->unknown, "does not know");
    builder_string(&v->unsupported, "");
    builder_string(&v->note, "");
    struct builder named = {0};
    const char *const name = v->program->name, *const reads = v->program->reads;
    const bool alone = !strncmp(reads, "an ", strlen("an ")) ||
                       !strncmp(reads, "a ", strlen("a ")); // it says whose file it is, or that it is of no one program
    builder_format(&named, "%s%s%s (%s)", alone ? "" : name,
                   alone                           ? ""
                   : name[strlen(name) - 1] == 's' ? "' "
                                                   : "'s ",
                   reads, v->program->as_of);
    const char *const said[SAID] = {path, v->unsupported.text, v->note.text, v->with_prompt ? v->with_prompt : "",
                                    v->program->unset == UNSET_CHAIN ? "" : named.text};
    bool ok = !(v->note.failed || v->unsupported.failed || named.failed) || err_from_fault(e, fault_memory());
    if (v->warning)
        message_warn("--preset: %s: %s", path, v->warning);
    for (size_t i = 0; ok && i < SAID; i++) {
        const char *const own = words_own(&a->texts, said[i] ? strdup(said[i]) : NULL, e);
        ok = own && words_add(&a->left_out, own, e);
    }
    builder_free(&named);
    return ok;
}

// Keeps the last of keys with one name, as the readers of all programs do, and says so. False with *e.
static bool keep_last_keys(struct file_view *v, cJSON *root, struct err *e)
{
    struct builder repeated = {0}, note = {0};
    struct key_names names = {.n = 0};
    const bool ok = json_keep_last(root, &repeated);
    for (size_t at = 0; ok && at < repeated.len; at += strlen(repeated.text + at) + 1)
        view_name(&names, repeated.text + at);
    if (names.n) {
        builder_format(&note, "repeated keys, of which the last counts: %s", names.text.text ? names.text.text : "");
        if (names.n > KEYS_NAMED)
            builder_format(&note, " and %zu more", names.n - KEYS_NAMED);
        if (note.text)
            view_note(v, note.text);
    }
    const bool whole = ok && !note.failed && !names.text.failed;
    builder_free(&names.text);
    builder_free(&repeated);
    builder_free(&note);
    return whole || err_from_fault(e, fault_memory());
}

bool foreign_read_tree(struct args *a, const char *path, cJSON *root, const char *section, const char *from,
                       const struct engine *typed, struct err *e)
{
    static const struct read_target target = {set_as_typed, set_value, replace_list, NULL};
    struct foreign f = {.a = a, .path = path, .from = from};
    struct settings_reader r = {.view = {.catalog = a->typed.options->catalog,
                                         .root = root,
                                         .find_option = find_option,
                                         .options = a->typed.options,
                                         .e = e},
                                .target = &target,
                                .to = &f,
                                .vocab = args_name_vocab(a)};
    const bool ok = keep_last_keys(&r.view, root, e) && unpack(&r.view, &f, section, e) &&
                    read_root(&r, &f, from, typed, e) && keep_said(a, path, &r.view, e);
    let_replace(&f, ok ? r.view.replaceable : NULL);
    cJSON_Delete(root);
    cJSON_Delete(f.made);
    cJSON_Delete(f.other);
    view_free(&r.view);
    return ok;
}

bool foreign_read(struct args *a, const char *path, const char *text, size_t len, const char *section, const char *from,
                  const struct engine *typed, struct err *e)
{
    cJSON *const root = notation_read(text, len, section, e);
    return root && foreign_read_tree(a, path, root, section, from, typed, e);
}
