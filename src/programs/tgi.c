// SPDX-License-Identifier: MIT
// Hugging Face's inference API and text-generation-inference: {"inputs": ..., "parameters": {...}, "options": {...}}.
#include "programs/openai.h"

#include <math.h>
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

// Refuses the numbers that TGI's router refuses, infinities of single precision among them.
static bool is_refused(struct file_view *v, const cJSON *item)
{
    static const struct {
        const char *key;
        double above, below; // bounds, themselves refused
        const char *range;
    } rows[] = {
        {"temperature", 0.0, INFINITY, "above 0"},
        {"repetition_penalty", 0.0, INFINITY, "above 0"},
        {"top_k", 0.0, INFINITY, "above 0"},
        {"top_p", 0.0, 1.0, "above 0 and below 1"},
        {"typical_p", 0.0, 1.0, "above 0 and below 1"},
    };
    double x;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_key(item, rows[i].key) && view_is_number(item, &x) && !(x > rows[i].above && x < rows[i].below))
            return !view_refuse(v, "%s is not %s, and TGI refuses the request", rows[i].key, rows[i].range);
    if (is_key(item, "frequency_penalty") && view_is_number(item, &x) && !(x >= -2.0 && x <= 2.0))
        return !view_refuse(v, "frequency_penalty is not from -2 to 2, and TGI refuses the request");
    return false;
}

// Reads a grammar that is a schema, which masks before the temperature. A regular expression is refused. In one of the
// type json_schema, the schema has a name beside it.
static bool read_key(struct file_view *v, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    const bool named = type && !strcmp(type, "json_schema");
    const cJSON *const content = json_member(item, "value"), *const value =
                                                                 named ? json_member(content, "schema") : content;
    if (is_refused(v, item))
        return true;
    if (is_key(item, "json_schema")) { // alone, it is no key of TGI's
        view_name(&v->unknown, item->string);
        return true;
    }
    if (!is_key(item, "grammar") || !type || !value ||
        (!named && strcmp(type, "json") != 0 && strcmp(type, "json_object") != 0))
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
    if (view_active(v, "frequency-penalty"))
        view_note(v, "TGI divides the counts of frequency_penalty by the length of the text; llama.cpp does not");
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
    .source = "router/src/validation.rs, server/text_generation_server/utils/tokens.py",
    .find = find_settings,
    .marks_text = "inputs and parameters",
    .fields = fields,
    .absent = "repeat-last-n=-1",
    .order = "penalties;temperature;top_k;top_p;typ_p",
    .key = read_key,
    .finish = finish,
};
