// SPDX-License-Identifier: MIT
// llama-server: the settings that its replies echo and that /props shows.
#include "programs/llama.h"

static const struct field_row fields[] = {
    {"samplers", "samplers", FIELD_OTHER}, // finish reads the order
    {LLAMA_OTHERS, .form = FIELD_OTHER},
    PRESET_FIELDS,
    {"seed", "seed", FIELD_SEED},
    LLAMA_FIELDS,
    {"ban_eos_token ignore_eos_token", "ignore-eos", FIELD_EOS},
    {"suppress_tokens", "bad-word-tokens", FIELD_BANS},
    {"penalty_alpha rep_pen_decay min_length diversity_penalty", NULL, OFF_AT(0)},
    {"guidance_scale num_beams num_beam_groups", NULL, OFF_AT(1)},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

// Finds the settings that a reply echoes, or those that /props shows, or those of a slot of /slots.
static bool find_echo(struct file_view *v)
{
    const cJSON *const props = json_member(v->root, "default_generation_settings");
    const cJSON *const of_reply = json_member(v->root, "generation_settings");
    const cJSON *const params = json_member(props, "params");
    const cJSON *const of_slot = has_key(v->root, "is_processing") ? json_member(v->root, "params") : NULL;
    v->settings = of_reply ? of_reply : params ? params : props ? props : of_slot;
    return v->settings;
}

// If a reply echoes the settings, the biases include the bans of ignore_eos, so that ignore_eos is ignored. A schema
// without members allows any object. Without a reasoning budget, its tags and its message are ignored.
static bool read_key(struct file_view *v, const cJSON *item)
{
    static const char prefix[] = "reasoning_budget_";
    if (!strncmp(item->string, prefix, sizeof prefix - 1) && view_number(v, "reasoning_budget_tokens", -1.0) < 0.0)
        return true;
    if (is_key(item, "json_schema") && cJSON_IsObject(item) && !item->child)
        view_set(v, "json-schema", "{\"type\":\"object\"}");
    else
        return is_key(item, "ignore_eos") && v->settings != v->root && has_key(v->settings, "logit_bias");
    return true;
}

static void finish(struct file_view *v)
{
    const cJSON *const names = json_member(v->settings, "samplers");
    if (cJSON_IsString(names))
        view_set(v, "sampler-seq", names->valuestring);
    else if (names)
        view_order(v, "samplers", "");
}

const struct program program_llama_reply = {
    .name = "llama-server-reply",
    .reads = "an echo of llama-server's settings",
    .as_of = "v0.5.0",
    .source = "tools/server/server-task.cpp",
    .find = find_echo,
    .marks_text = "generation_settings, default_generation_settings of /props, or is_processing and params of /slots",
    .yields = "sampl-chain",
    .fields = fields,
    .any_case = true,
    .unset = UNSET_DEFAULTS,
    .order_text = "samplers",
    .key = read_key,
    .finish = finish,
};
