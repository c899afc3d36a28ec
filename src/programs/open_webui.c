// SPDX-License-Identifier: MIT
// Open WebUI: an exported model, whose params stand over the defaults of the engine. An export is an array of models.
#include "programs/program.h"

static const struct field_row fields[] = {
    {"system stop stream_response stream_delta_chunk_size function_calling reasoning_tags max_tokens num_* use_m* "
     "keep_alive think format custom_params",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"repeat_penalty", "repeat-penalty", OFF_AT(1)},
    {"repeat_last_n", "repeat-last-n"},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"mirostat", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"tfs_z", "tfs"},
    {"seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {NULL},
};

static bool find_settings(struct file_view *v)
{
    v->settings = json_member(v->root, "params");
    return cJSON_IsObject(v->settings) && cJSON_IsString(json_member(v->root, "id"));
}

const struct program program_open_webui = {
    .name = "Open-WebUI",
    .reads = "model over the defaults of the engine",
    .as_of = "2026",
    .source = "its exports of models",
    .find = find_settings,
    .marks_text = "an object params, beside a text id",
    .fields = fields,
    .unset = UNSET_DEFAULTS,
};
