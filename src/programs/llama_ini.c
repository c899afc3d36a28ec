// SPDX-License-Identifier: MIT
// llama.cpp: config.ini, and presets of --models-preset.
#include "programs/program.h"

#include <ctype.h>

// Reads the name of an option without its dashes, or of its environment variable. Options that do not concern sampling
// are ignored.
static bool read_key(struct file_view *v, const cJSON *item)
{
    static const char variable[] = "LLAMA_ARG_";
    char name[80] = "";
    const bool is_variable = !strncmp(item->string, variable, sizeof variable - 1);
    strncat(name, item->string + (is_variable ? sizeof variable - 1 : 0), sizeof name - 1);
    for (char *c = name; is_variable && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const char *const option = v->find_option(v->options, name);
    if (option && *option)
        view_set(v, option, item->valuestring);
    else if (option)
        view_unsupported(v, item);
    return true;
}

const struct program program_llama_ini = {
    .name = "llama.cpp",
    .member = "ini",
    .defaults = true,
    .key = read_key,
};
