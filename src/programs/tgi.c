// SPDX-License-Identifier: MIT
// Hugging Face's inference API and text-generation-inference: {"inputs": ..., "parameters": {...}, "options": {...}}.
#include "programs/openai.h"

#include <string.h>

static const struct field_row fields[] = {
    {"best_of decoder_input_details details do_sample max_new_tokens return_full_text stop* top_n_tokens truncate "
     "adapter_id num_return_sequences max_time",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"typical_p", "typical"},
    {"repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"seed", "seed", FIELD_SEED},
    {"json_schema", "json-schema", FIELD_SCHEMA}, // that of a grammar
    {"grammar watermark", NULL, OFF_AT(0)},
    {NULL},
};

// Reads a grammar that is a schema, which masks before the temperature. A regular expression is refused.
static bool read_key(struct file_view *v, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    const cJSON *const value = json_member(item, "value");
    if (is_key(item, "json_schema")) { // alone, it is no key of TGI's
        view_name(&v->unknown, item->string);
        return true;
    }
    if (!is_key(item, "grammar") || !type || strncmp(type, "json", strlen("json")) != 0 || !value)
        return false;
    openai_schema_first(v, value);
    return true;
}

// Without do_sample and without a setting that only acts on draws, the likeliest token is chosen.
static void finish(struct file_view *v)
{
    const bool draws = view_is_true(v, "do_sample") || view_active(v, "temp") || view_active(v, "top-k") ||
                       view_active(v, "top-p") || view_active(v, "typical");
    if (!draws)
        view_set(v, "temp", "0");
}

static bool find_settings(struct file_view *v)
{
    v->settings = json_member(v->root, "parameters");
    return v->settings && has_key(v->root, "inputs");
}

const struct program program_tgi = {
    .name = "TGI",
    .reads = "request",
    .as_of = "db931fcf, 2026-01",
    .source = "router/src/lib.rs, server/text_generation_server/utils/tokens.py",
    .find = find_settings,
    .marks_text = "inputs and parameters",
    .fields = fields,
    .absent = "repeat-last-n=-1",
    .order = "penalties;temperature;top_k;top_p;typ_p",
    .key = read_key,
    .finish = finish,
};
