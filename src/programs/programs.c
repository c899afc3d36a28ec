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

const struct engine *engine_by_name(const char *name)
{
    for (size_t i = 0; programs[i]; i++)
        for (const struct engine *const *engine = programs[i]->engines; *engine; engine++)
            if (!strcmp((*engine)->name, name))
                return *engine;
    return NULL;
}

// Returns true if the file has a mark of the program, and sets v->settings.
static bool has_mark(struct file_view *v, const struct program *p)
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
    for (size_t i = 0; programs[i]; i++)
        if (has_mark(v, programs[i]) && (!best || yields_to(best, programs[i])))
            best = programs[i];
    if (best)
        has_mark(v, best);
    return best;
}
