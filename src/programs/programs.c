// SPDX-License-Identifier: MIT
#include "programs/program.h"

#define PROGRAM(name) extern const struct program program_##name;
#include "programs/programs.def"
#undef PROGRAM

const struct program *const programs[] = {
#define PROGRAM(name) &program_##name,
#include "programs/programs.def"
#undef PROGRAM
    NULL,
};

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
    return p != other && p->yields && name_find(p->yields, NAME_EXACT, other->name, strlen(other->name)) >= 0;
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
