// SPDX-License-Identifier: MIT
#include "sample/registry.h"

#include <ctype.h>
#include <string.h>

const struct registry_row registry[] = {
    {"penalties", "", 'e', "repeat-penalty", &sampler_penalties},
    {"dry", "", 'd', "dry-multiplier", &sampler_dry},
    {"top_n_sigma", "", 's', "top-nsigma", &sampler_top_n_sigma},
    {"top_k", "", 'k', "top-k", &sampler_top_k},
    {"typ_p", "typ,typical,typical_p", 'y', "typical", &sampler_typ_p},
    {"top_p", "nucleus", 'p', "top-p", &sampler_top_p},
    {"min_p", "", 'm', "min-p", &sampler_min_p},
    {"xtc", "", 'x', "xtc-probability", &sampler_xtc},
    {"scatter", "", 'r', "scatter-strength", &sampler_scatter},
    {"temperature", "temp", 't', "temp", &sampler_temperature},
    {"infill", "", 'i', NULL, NULL},
    {"adaptive_p", "", 'a', "adaptive-target", &sampler_adaptive_p},
    {"greedy", "", 0, NULL, &sampler_greedy},
    {"dist", "", 0, NULL, &sampler_dist},
    {NULL, NULL, 0, NULL, NULL},
};

// Does the len characters at name, read loosely, spell the word that ends at a comma or the end of the string?
static bool spells(const char *name, size_t len, const char *word)
{
    size_t i = 0;
    for (; *word && *word != ','; word++) {
        if (*word == '_')
            continue;
        while (i < len && (name[i] == '_' || name[i] == '-'))
            i++;
        if (i == len || tolower((unsigned char)name[i++]) != *word)
            return false;
    }
    return i == len;
}

const struct registry_row *registry_by_name(const char *name, size_t len)
{
    for (const struct registry_row *r = registry; r->name; r++) {
        if (spells(name, len, r->name))
            return r;
        for (const char *alias = r->aliases; alias && *alias; alias = strchr(alias, ',') ? strchr(alias, ',') + 1 : NULL)
            if (spells(name, len, alias))
                return r;
    }
    return NULL;
}

const struct registry_row *registry_by_letter(char letter)
{
    for (const struct registry_row *r = registry; r->name; r++)
        if (letter && r->letter == letter)
            return r;
    return NULL;
}
