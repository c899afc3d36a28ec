// SPDX-License-Identifier: MIT
#include "programs/program.h"

#include <ctype.h>

#define PROGRAM(name) extern const struct program program_##name;
#include "programs/programs.def"
#undef PROGRAM

const struct program *const programs[] = {
#define PROGRAM(name) &program_##name,
#include "programs/programs.def"
#undef PROGRAM
    NULL,
};

const struct program *program_by_name(const char *name)
{
    for (size_t i = 0; programs[i]; i++) {
        const char *a = name, *b = programs[i]->name;
        while (*a || *b) {
            a += strspn(a, "-_. ");
            b += strspn(b, "-_. ");
            if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
                break;
            a += *a != '\0';
            b += *b != '\0';
        }
        if (!*a && !*b && programs[i]->reads)
            return programs[i];
    }
    return NULL;
}

bool program_any_samples(const struct catalog *c, const char *key)
{
    for (size_t i = 0; programs[i]; i++) {
        size_t number;
        const struct field_row *const f = programs[i]->reads ? program_field(programs[i], c, key, &number) : NULL;
        if (f && !field_is_other(f))
            return true;
    }
    return false;
}

const struct engine *engine_by_name(const char *name)
{
    for (size_t i = 0; programs[i]; i++)
        for (const struct engine *const *engine = programs[i]->engines; *engine; engine++)
            if (!strcmp((*engine)->name, name))
                return *engine;
    return NULL;
}

// Returns true if v->root has a mark of the program, and sets v->settings.
static bool root_has_mark(struct file_view *v, const struct program *p)
{
    v->settings = p->member ? json_member(v->root, p->member) : v->root;
    if (p->member && cJSON_IsObject(v->settings))
        return true;
    if (p->member)
        v->settings = v->root;
    if (p->find && p->find(v))
        return !v->settings || cJSON_IsObject(v->settings);
    for (size_t i = 0; i < sizeof p->marks / sizeof *p->marks && p->marks[i][0]; i++)
        if (has_key(v->root, p->marks[i][0]) && (!p->marks[i][1] || has_key(v->root, p->marks[i][1])))
            return true;
    return false;
}

// Returns true if the file, or the tree of its YAML, has a mark of the program. v->root then has it.
static bool has_mark(struct file_view *v, const struct program *p)
{
    const cJSON *const file = v->root, *const tree = json_member(file, "yaml");
    bool found = root_has_mark(v, p);
    if (!found && cJSON_IsObject(tree)) {
        v->root = tree;
        found = root_has_mark(v, p);
        v->root = found ? tree : file;
    }
    return found;
}

// Returns true if a program leaves files with marks of both to the other.
static bool yields_to(const struct program *p, const struct program *other)
{
    return p != other && p->yields &&
           (!strcmp(p->yields, "*") || name_find(p->yields, NAME_EXACT, other->name, strlen(other->name)) >= 0);
}

bool view_settings_of(struct file_view *v, const struct program *p)
{
    const cJSON *const tree = json_member(v->root, "yaml");
    if (has_mark(v, p) && v->settings)
        return true;
    v->settings = tree ? tree : p->member ? NULL : v->root;
    return v->settings;
}

const struct program *view_program(struct file_view *v)
{
    const struct program *best = NULL;
    const cJSON *const file = v->root;
    for (size_t i = 0; programs[i]; i++, v->root = file)
        if (has_mark(v, programs[i]) && (!best || yields_to(best, programs[i])))
            best = programs[i];
    if (best)
        has_mark(v, best);
    return best;
}

// ---- files that are refused by name

static const struct {
    const char *name, *mark, *other; // both marks are members of the file, or of the elements of its list
    const char *advice;
} refused[] = {
    {"LocalAI", "config_file", NULL, "its config_file holds a model's configuration"},
    {"LocalAI", "backend", "parameters",
     "it adds defaults of the model's family; 'yq -o json .parameters FILE | sampl --preset -' reads its keys"},
    {"LiteLLM", "model_list", NULL,
     "'yq -o json .model_list[0].litellm_params FILE | sampl --preset - --preset-from OpenAI' reads those of a model"},
    {"aider", "extra_params", NULL, "'yq -o json .[0].extra_params FILE | sampl --preset -' reads its keys"},
    {"Jan", "settings", "parameters", "'jq .parameters FILE | sampl --preset -' reads its keys"},
    {"Jan", "engine", "prompt_template", "its keys for sampling are those of the OpenAI API: --preset-from OpenAI"},
    {"Jan", "embedding", "model_path", "it has no settings of samplers"},
    {"GPT4All", "filename", "promptTemplate", "it has no settings of samplers but those of the application"},
    {"GPT4All", "filename", "ramrequired", "it has no settings of samplers but those of the application"},
    {"NovelAI", "phrase_rep_pen", NULL, "its samplers and their order are those of its service"},
    {"Continue", "schema", "models", "copy the defaultCompletionOptions of a model into an object of their own"},
};

bool program_refuse_other(const struct file_view *v, struct err *e)
{
    const cJSON *const tree = json_member(v->root, "yaml"), *root = tree ? tree : v->root;
    root = cJSON_IsArray(root) ? root->child : root;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (cJSON_GetObjectItemCaseSensitive(root, refused[i].mark) &&
            (!refused[i].other || cJSON_GetObjectItemCaseSensitive(root, refused[i].other)))
            return err_set(e, STATUS_USAGE, "a file of %s, which sampl does not read: %s", refused[i].name,
                           refused[i].advice);
    return true;
}
