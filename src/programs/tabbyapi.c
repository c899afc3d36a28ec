// SPDX-License-Identifier: MIT
// TabbyAPI: sampler override presets, YAML such as "temperature: {override: 0.8, force: false}". Its ExLlamaV3 backend
// runs the chain: biases, penalties, bans, temperature, top_k, top_p, min_p, or with temperature_last the temperature
// behind them, then xtc and adaptive_p. It does nothing with the keys of FIELD_IGNORED.
#include "programs/program.h"

static const struct field_row fields[] = {
    {"max_tokens stop token_healing temperature_last add_bos_token skip_special_tokens "
     "logprobs top_logprobs loop_detect_*",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"xtc_probability", "xtc-probability", OFF_UP_TO(0)},
    {"xtc_threshold", "xtc-threshold"},
    {"repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"penalty_range", "repeat-last-n"},
    {"min_tokens", "min-tokens", OFF_UP_TO(0)},
    {"adaptive_decay", "adaptive-decay"},
    {"banned_tokens", "bad-word-tokens", FIELD_BANS},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {"grammar_string", "grammar", FIELD_GRAMMAR},
    {"top_a tfs typical skew smoothing_factor dry_* mirostat* min_temp max_temp temp_exponent ban_eos_token "
     "allowed_tokens",
     .form = FIELD_IGNORED},
    {"repetition_decay", NULL, OFF_UP_TO(1)}, // ExLlamaV3 gets 1 for 0
    {"banned_strings regex_pattern", NULL, OFF_AT(0)},
    {NULL},
};

// Makes one object of the overrides. The file is told by members that are objects with "override".
static bool find_settings(struct file_view *v)
{
    const cJSON *const tree = json_member(v->root, "yaml");
    bool marked = false, whole = true;
    for (const cJSON *item = tree ? tree->child : NULL; item; item = item->next)
        marked = marked || (cJSON_IsObject(item) && cJSON_GetObjectItemCaseSensitive(item, "override"));
    if (!marked)
        return false;
    cJSON_Delete(v->made);
    cJSON *const settings = v->made = cJSON_CreateObject();
    for (const cJSON *item = tree->child; item && settings; item = item->next) {
        cJSON *const value = cJSON_GetObjectItemCaseSensitive(item, "override");
        if (value)
            whole = cJSON_AddItemReferenceToObject(settings, item->string, value) && whole;
    }
    v->settings = settings;
    v->failed = (!settings || !whole) && !err_from_fault(v->e, fault_memory());
    return true;
}

// adaptive_p runs with a target below 1.
static bool read_key(struct file_view *v, const cJSON *item)
{
    double x;
    const bool target = is_key(item, "adaptive_target") && view_is_number(item, &x);
    if (target && x < 1.0)
        view_set_number(v, "adaptive-target", x);
    return target;
}

static void finish(struct file_view *v)
{
    const bool last = view_is_true(v, "temperature_last");
    const double target = view_number(v, "adaptive_target", 1.0);
    view_chain(v, last ? "penalties;top_k;top_p;min_p;temperature" : "penalties;temperature;top_k;top_p;min_p");
    if (view_active(v, "xtc-probability")) {
        view_chain(v, "xtc");
        view_note(v, "the xtc of TabbyAPI spares newlines and special tokens; that of llama.cpp does not");
    }
    if (target < 1.0 && !v->engine->options)
        builder_string(&v->chain, ";adaptive_p");
}

const struct program program_tabbyapi = {
    .name = "TabbyAPI",
    .reads = "override preset",
    .as_of = "e632af4, 2026-08",
    .source = "backends/exllamav3/model.py, common/sampling.py",
    .find = find_settings,
    .marks_text = "YAML of mappings with override",
    .fields = fields,
    .absent = "repeat-last-n=-1",
    .order_text = "penalties;temperature;top_k;top_p;min_p",
    .key = read_key,
    .finish = finish,
};
