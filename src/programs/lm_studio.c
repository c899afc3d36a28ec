// SPDX-License-Identifier: MIT
// LM Studio: presets, whose fields are an array of keys and values.
#include "programs/program.h"

static const struct field_row fields[] = {
    {"max*Tokens stop* system* context* prompt* tool* speculative* cpu* reasoning* llama.* promptTemplate",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"topKSampling", "top-k"},
    {"topPSampling", "top-p"},
    {"minPSampling", "min-p"},
    {"locallyTypicalSampling", "typical"},
    {"repeatPenalty", "repeat-penalty", OFF_AT(1)},
    {"frequencyPenalty", "frequency-penalty", OFF_AT(0)},
    {"presencePenalty", "presence-penalty", OFF_AT(0)},
    {"xtcProbability", "xtc-probability", OFF_UP_TO(0)},
    {"xtcThreshold", "xtc-threshold"},
    {"mirostat", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"tailFreeSampling", "tfs"},
    {"seed", "seed", FIELD_SEED},
    {"logitBias", "logit-bias", FIELD_BIASES},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

// Makes one object of the fields of predictions. A field whose box is not checked becomes false.
static bool find_settings(struct file_view *v)
{
    static const char prefix[] = "llm.prediction.", llama[] = "llama.";
    static const char *const mirostat[][2] = {
        {"version", "mirostat"}, {"learningRate", "mirostat_eta"}, {"targetEntropy", "mirostat_tau"}};
    const cJSON *const config = json_member(v->root, "config"), *const operation = json_member(v->root, "operation");
    const cJSON *list = json_array(operation ? operation : json_member(config, "operation"), "fields");
    list = list ? list : json_array(v->root, "fields");
    bool marked = false; // other files have arrays "fields", too
    for (const cJSON *field = list ? list->child : NULL; field; field = field->next) {
        const char *const key = cJSON_GetStringValue(json_member(field, "key"));
        marked = marked || (key && !strncmp(key, "llm.", strlen("llm.")));
    }
    if (!marked && !(list && !list->child))
        return false;
    cJSON_Delete(v->made);
    cJSON *const settings = v->made = cJSON_CreateObject();
    bool whole = settings;
    for (const cJSON *field = list->child; field; field = field->next) {
        const char *key = cJSON_GetStringValue(json_member(field, "key"));
        cJSON *value = cJSON_GetObjectItemCaseSensitive(field, "value");
        cJSON *const checked = cJSON_GetObjectItemCaseSensitive(value, "checked");
        if (!key || strncmp(key, prefix, sizeof prefix - 1) != 0)
            continue;
        key += sizeof prefix - 1;
        key += strncmp(key, llama, sizeof llama - 1) ? 0 : sizeof llama - 1;
        if (checked && !cJSON_IsNull(checked))
            value = cJSON_IsFalse(checked) ? checked : cJSON_GetObjectItemCaseSensitive(value, "value");
        const bool one = strcmp(key, "mirostatSampling") != 0 || cJSON_IsFalse(value);
        for (size_t i = 0; i < (one ? 1 : sizeof mirostat / sizeof *mirostat); i++) {
            cJSON *const part = one ? value : cJSON_GetObjectItemCaseSensitive(value, mirostat[i][0]);
            if (part && !cJSON_IsNull(part))
                whole = cJSON_AddItemReferenceToObject(settings, one ? key : mirostat[i][1], part) && whole;
        }
    }
    v->settings = settings;
    v->failed = !whole && !err_from_fault(v->e, fault_memory());
    return true;
}

static bool read_key(struct file_view *v, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    const bool structured = is_key(item, "structured");
    if (structured && type && strcmp(type, "none") != 0)
        view_unsupported(v, item);
    return structured;
}

const struct program program_lm_studio = {
    .name = "LM-Studio",
    .reads = "preset",
    .as_of = "2026-08",
    .source = "presets of the application",
    .find = find_settings,
    .marks_text =
        "an array fields, perhaps in operation or a model.yaml's config, that is empty or has keys that begin "
        "with llm.",
    .yields = "sampl-chain llama-server-reply",
    .fields = fields,
    .any_case = true,
    .absent = "temp=0.8 top-k=40 repeat-penalty=1.1 min-p=0.05 top-p=0.95",
    .key = read_key,
};
