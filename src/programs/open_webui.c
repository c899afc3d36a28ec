// SPDX-License-Identifier: MIT
// Open WebUI: an exported model, whose params stand over the defaults of the engine. An export is an array of models.
#include "programs/program.h"

static const struct field_row fields[] = {
    {"system stop stream_response stream_delta_chunk_size function_calling reasoning_tags max_tokens num_* use_m* "
     "keep_alive think compact_token_threshold reasoning_effort tools",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical_p", "typical"},
    {"repeat_penalty repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"repeat_last_n", "repeat-last-n"},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"mirostat", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"tfs_z", "tfs"},
    {"seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"format", "json-schema", FIELD_SCHEMA},
    {"response_format", NULL, OFF_AT(0)},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

// Open WebUI sends the members of custom_params as they are, and in place of the params that they repeat. The format
// "json" asks for any JSON value.
static bool read_key(struct file_view *v, const cJSON *item)
{
    const cJSON *const custom = json_member(v->settings, "custom_params");
    if (is_key(item, "custom_params")) {
        if (!cJSON_IsObject(item) && view_is_on(item))
            view_unsupported(v, item);
        for (const cJSON *member = item->child; member; member = member->next)
            if (cJSON_IsNull(member) || read_key(v, member))
                continue;
            else if (view_knows(v, member->string))
                view_read(v, member->string, member);
            else
                view_name(&v->unknown, member->string);
        return true;
    }
    const cJSON *const in_place = cJSON_GetObjectItemCaseSensitive(custom, item->string);
    const char *const text = is_key(item, "format") ? cJSON_GetStringValue(item) : NULL;
    if (in_place && in_place != item)
        return true;
    if (text && !strcmp(text, "json"))
        view_set(v, "json-schema", "{}");
    return text && !strcmp(text, "json");
}

static bool find_settings(struct file_view *v)
{
    v->settings = json_member(v->root, "params");
    return cJSON_IsObject(v->settings) && cJSON_IsString(json_member(v->root, "id"));
}

const struct program program_open_webui = {
    .name = "Open-WebUI",
    .reads = "model over the defaults of the engine",
    .as_of = "2026",
    .source = "backend/open_webui/utils/payload.py",
    .find = find_settings,
    .marks_text = "an object params, beside a text id",
    .fields = fields,
    .unset = UNSET_DEFAULTS,
    .key = read_key,
};
