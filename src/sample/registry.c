// SPDX-License-Identifier: MIT
#include "sample/registry.h"

#include <ctype.h>
#include <string.h>

// clang-format off
const struct registry_row registry[] = {
    {"penalties", "", 'e', .options = "repeat-penalty,repeat-last-n,frequency-penalty,presence-penalty", .sampler = &sampler_penalties},
    {"dry", "", 'd', .options = "dry-multiplier,dry-base,dry-allowed-length,dry-penalty-last-n", .sampler = &sampler_dry},
    {"top_n_sigma", "", 's', .options = "top-nsigma", .sampler = &sampler_top_n_sigma},
    {"top_k", "", 'k', .options = "top-k", .sampler = &sampler_top_k},
    {"typ_p", "typ,typical,typical_p", 'y', .options = "typical,min-keep", .sampler = &sampler_typ_p},
    {"top_p", "nucleus", 'p', .options = "top-p,min-keep", .sampler = &sampler_top_p},
    {"min_p", "", 'm', .options = "min-p,min-keep", .sampler = &sampler_min_p},
    {"xtc", "", 'x', .options = "xtc-probability,xtc-threshold,min-keep", .sampler = &sampler_xtc},
    {"scatter", "", 'r', .sampler = &sampler_scatter,
     .options = "scatter-strength,scatter-k,scatter-radius,scatter-steps,scatter-adaptive,scatter-strength-min,scatter-strength-max,"
                "scatter-entropy-target,scatter-absorption,scatter-absorption-last-n,scatter-collision"},
    {"temperature", "temp", 't', .options = "temp,dynatemp-range,dynatemp-exp", .sampler = &sampler_temperature},
    {"infill", "", 'i', .options = "", .sampler = &sampler_infill},
    {"adaptive_p", "", 'a', .options = "adaptive-target,adaptive-decay", .sampler = &sampler_adaptive_p},
    {"greedy", "", .options = "", .sampler = &sampler_greedy},
    {"dist", "", .options = "", .sampler = &sampler_dist},
    {"logit_bias", "", .internal = true, .options = "", .sampler = &sampler_logit_bias},
    {"mirostat", "", .internal = true, .options = "mirostat-ent,mirostat-lr", .sampler = &sampler_mirostat},
    {"mirostat_v2", "", .internal = true, .options = "mirostat-ent,mirostat-lr", .sampler = &sampler_mirostat_v2},
    // of engines, see engine.c
    {"round_f16", "", .internal = true, .options = "", .sampler = &sampler_round_f16},
    {"repeat_each", "", .internal = true, .options = "repeat-penalty,repeat-last-n", .sampler = &sampler_repeat_each},
    {"sort", "", .internal = true, .options = "", .sampler = &sampler_sort},
    {"scale", "", .internal = true, .options = "temp", .sampler = &sampler_scale},
    {"softmax_rank", "", .internal = true, .options = "", .sampler = &sampler_softmax_rank},
    {"softmax_id", "", .internal = true, .options = "", .sampler = &sampler_softmax_id},
    {"top_k_prob", "", .internal = true, .options = "top-k", .sampler = &sampler_top_k_prob},
    {"top_p_above", "", .internal = true, .options = "top-p", .sampler = &sampler_top_p_above},
    {"top_p_reach", "", .internal = true, .options = "top-p", .sampler = &sampler_top_p_reach},
    {"min_p_cut", "", .internal = true, .options = "min-p", .sampler = &sampler_min_p_cut},
    {"draw_pcg", "", .internal = true, .options = "", .sampler = &sampler_draw_pcg},
    {"draw_mt", "", .internal = true, .options = "", .sampler = &sampler_draw_mt},
    {"gumbel", "", .internal = true, .options = "temp", .sampler = &sampler_gumbel},
    {NULL},
};
// clang-format on

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

static bool has_name(const struct registry_row *r, const char *name, size_t len)
{
    if (spells(name, len, r->name))
        return true;
    for (const char *alias = r->aliases; *alias; alias += strspn(alias, ",")) {
        if (spells(name, len, alias))
            return true;
        alias += strcspn(alias, ",");
    }
    return false;
}

const struct registry_row *registry_by_name(const char *name, size_t len)
{
    for (const struct registry_row *r = registry; r->name; r++)
        if (!r->internal && has_name(r, name, len))
            return r;
    return NULL;
}

const struct registry_row *registry_by_letter(char letter)
{
    for (const struct registry_row *r = registry; r->name; r++)
        if (r->letter && r->letter == letter)
            return r;
    return NULL;
}

const struct registry_row *registry_by_sampler(const struct sampler *sampler)
{
    const struct registry_row *r = registry;
    while (r->sampler != sampler)
        r++;
    return r;
}
