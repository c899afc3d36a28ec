// SPDX-License-Identifier: MIT
// llama-server: requests to /completion and /v1/chat/completions, read as release v0.5.0 reads them. llama.cpp's own
// chain is engine llama.
#include "programs/llama.h"

#include "base/number.h"

#include <math.h>

static const struct engine llama = {"llama"};

static const struct field_row fields[] = {
    {"generation_prompt", .form = FIELD_PROMPT},
    {"verbose timings_per_token stream cache_prompt return_tokens return_progress backend_sampling post_sampling_probs "
     "parse_tool_calls echo reasoning_control",
     .form = FIELD_OTHER_FLAG},
    {"sse_ping_interval", .form = FIELD_OTHER_NUMBER, .low = -1},
    {"n_predict max_completion_tokens max_tokens", .form = FIELD_OTHER_NUMBER, .low = -1},
    {"n_indent", .form = FIELD_OTHER_NUMBER},
    {"n_keep", .form = FIELD_OTHER_NUMBER, .low = -1},
    {"n_discard", .form = FIELD_OTHER_NUMBER},
    {"n_cmpl n", .form = FIELD_OTHER_NUMBER, .low = 1},
    {"n_cache_reuse", .form = FIELD_OTHER_NUMBER},
    {"n_probs logprobs", .form = FIELD_OTHER_NUMBER, .low = -INFINITY},
    {LLAMA_OTHERS
     " tools tool_choice parallel_tool_calls metadata store audio modalities prediction seed_offset best_of "
     "suffix input instructions max_output_tokens previous_response_id reasoning",
     .form = FIELD_OTHER},
    {"top_k top_p min_p top_n_sigma xtc_probability xtc_threshold typical_p temperature dynatemp_range "
     "dynatemp_exponent repeat_last_n repeat_penalty frequency_penalty presence_penalty dry_multiplier dry_base "
     "dry_allowed_length dry_penalty_last_n mirostat mirostat_tau mirostat_eta adaptive_target adaptive_decay "
     "min_keep scatter_*",
     .form = FIELD_SAMPLER},
    {"seed", "seed", FIELD_SEED},
    {"samplers", "samplers", FIELD_ORDER},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {"reasoning_budget_tokens", "reasoning-budget"},
    {"reasoning_budget_start_tag", "reasoning-start", FIELD_TEXT},
    {"reasoning_budget_end_tag", "reasoning-end", FIELD_TAGS},
    {"reasoning_budget_end_tags", "reasoning-end", FIELD_TAGS},
    {"reasoning_budget_message", "reasoning-budget-message", FIELD_TEXT},
    {NULL},
};

// A request has a prompt, messages or, for /v1/responses, an input. One with a model may be for any server: it is of
// OpenAI's shape.
static bool find_settings(struct file_view *v)
{
    return (has_key(v->root, "prompt") || json_array(v->root, "messages") || has_key(v->root, "input")) &&
           !has_key(v->root, "model");
}

static bool is_chat(const struct file_view *v)
{
    return cJSON_HasObjectItem(v->settings, "messages") || cJSON_HasObjectItem(v->settings, "input");
}

static const cJSON no_text = {.type = cJSON_String, .valuestring = ""};

// Returns true for a budget that is not negative as the server stores it, in 32 bits.
static bool has_budget(const struct file_view *v)
{
    const cJSON *const tokens = json_member(v->settings, "reasoning_budget_tokens");
    const double x = view_number(v, "reasoning_budget_tokens", 0.0);
    uint64_t bits;
    if (cJSON_IsRaw(tokens) && number_bits(tokens->valuestring, &bits))
        return (int32_t)(uint32_t)bits >= 0;
    return tokens && (cJSON_IsBool(tokens) || (x > -1.0 && x < 0x1p31));
}

// Returns true if the server forces tokens at the end of the budget: only with a message, also an empty one. In a chat
// the template may give both, unless the request has a tag.
static bool forces_end(const struct file_view *v)
{
    return has_key(v->settings, "reasoning_budget_message") ||
           (is_chat(v) && !has_key(v->settings, "reasoning_budget_start_tag"));
}

// Without a reasoning budget, its tags and its message are ignored. In a chat, what the template gives counts in place
// of some keys, and logprobs has a number beside it. `finish` reads what depends on several keys.
static bool read_key(struct file_view *v, const cJSON *item)
{
    if (is_chat(v) && is_key(item, "generation_prompt"))
        view_name(&v->ignored, item->string);
    if (is_chat(v) && (is_key(item, "generation_prompt") ||
                       (view_is_true(v, "logprobs") && (is_key(item, "logprobs") || is_key(item, "n_probs")))))
        return true;
    static const char prefix[] = "reasoning_budget_",
                      later[] = "grammar json_schema response_format grammar_lazy grammar_triggers ignore_eos";
    if (!strncmp(item->string, prefix, sizeof prefix - 1) && !is_key(item, "reasoning_budget_tokens") &&
        !(has_budget(v) && forces_end(v)))
        return true;
    if (is_key(item, "reasoning_budget_message") && !cJSON_IsString(item)) {
        view_read(v, "reasoning_budget_message", &no_text);
        return true;
    }
    if (is_key(item, "reasoning_budget_end_tag") &&
        cJSON_GetObjectItemCaseSensitive(v->settings, "reasoning_budget_end_tags"))
        return true;
    if (!strncmp(item->string, "scatter_", strlen("scatter_")) && v->program->fields)
        view_name(&v->ignored, item->string);
    return name_find(later, NAME_EXACT, item->string, strlen(item->string)) >= 0;
}

// Sets the schema, unless it is NULL. An empty one means any object.
static void set_schema(struct file_view *v, const cJSON *schema)
{
    if (schema && !cJSON_IsObject(schema))
        view_refuse(v, "json_schema is not an object");
    else if (schema)
        view_read(v, "json_schema", schema);
}

// Returns the schema of a chat request: of its response_format, or `schema`, that of json_schema. *any: it is that of
// any object, and none is returned.
static const cJSON *chat_schema(struct file_view *v, const cJSON *schema, bool *any)
{
    const cJSON *const format = json_member(v->settings, "response_format");
    const char *const type = cJSON_GetStringValue(json_member(format, "type"));
    *any = false;
    if (type && !strcmp(type, "json_object")) {
        const bool has = cJSON_GetObjectItemCaseSensitive(format, "schema");
        if (has || !schema || ((cJSON_IsObject(schema) || cJSON_IsArray(schema)) && !schema->child)) {
            schema = json_member(format, "schema");
            *any = !schema;
        }
    } else if (type && !strcmp(type, "json_schema")) {
        schema = json_member(json_member(format, "json_schema"), "schema");
        *any = !schema;
    } else if (type && *type && strcmp(type, "text") != 0) {
        view_refuse(v, "response_format: the type '%.*s' is not text, json_object or json_schema", err_clip(type, 40),
                    type);
    }
    return schema;
}

static void finish_chat(struct file_view *v, const char *grammar, const cJSON *schema)
{
    const cJSON *const tools = json_array(v->settings, "tools");
    const char *const choice = cJSON_GetStringValue(json_member(v->settings, "tool_choice"));
    bool any;
    if (schema && grammar && *grammar)
        view_refuse(v, "json_schema and grammar exclude each other in a chat request");
    if (tools && tools->child && (!choice || strcmp(choice, "none") != 0) &&
        cJSON_GetObjectItemCaseSensitive(v->settings, "grammar"))
        view_refuse(v, "grammar and tools exclude each other");
    const cJSON *const json_schema = schema, *const own = cJSON_GetObjectItemCaseSensitive(v->settings, "grammar")
                                                              ? NULL
                                                              : schema;
    schema = chat_schema(v, schema, &any);
    if (schema && !cJSON_IsObject(schema)) { // no template makes a grammar of it
        schema = own;
    } else if (schema || any) {
        view_note(v, "the server's grammar also allows what the chat template puts around the answer; sampl runs the "
                     "schema alone");
        if (grammar && *grammar)
            view_name(&v->ignored, "grammar");
        if (json_schema && json_schema != schema)
            view_name(&v->ignored, "json_schema");
    }
    set_schema(v, schema);
    if (any)
        view_set(v, "json-schema", "{\"type\":\"object\"}");
    else if (!schema && grammar && *grammar)
        view_set(v, "grammar", grammar);
}

static void finish_completion(struct file_view *v, const char *grammar, const cJSON *schema)
{
    const cJSON *const lazy = json_member(v->settings, "grammar_lazy"), *const triggers = json_member(
                                                                            v->settings, "grammar_triggers");
    if (lazy && !cJSON_IsBool(lazy))
        view_refuse(v, "grammar_lazy is not true or false");
    if (cJSON_IsTrue(lazy) && triggers && !triggers->child)
        view_refuse(v, "grammar_triggers is empty, and the grammar is lazy");
    if (cJSON_IsTrue(lazy)) { // also for a grammar that an option gave
        view_set(v, "grammar", "");
        if (triggers)
            view_unsupported(v, lazy);
        else
            view_note(v, "grammar_lazy: without triggers the grammar never begins, and is left out");
    } else if (!cJSON_GetObjectItemCaseSensitive(v->settings, "grammar")) {
        set_schema(v, schema);
    } else if (grammar && *grammar) {
        view_set(v, "grammar", grammar);
    }
    if (schema && cJSON_GetObjectItemCaseSensitive(v->settings, "grammar"))
        view_name(&v->ignored, "json_schema");
    const cJSON *const format = json_member(v->settings, "response_format");
    if (view_is_on(format) && !llama_is_text(json_member(format, "type"), "text"))
        view_name(&v->ignored, "response_format");
}

static void finish(struct file_view *v)
{
    const char *const grammar = cJSON_GetStringValue(json_member(v->settings, "grammar"));
    const cJSON *const schema = json_member(v->settings, "json_schema"), *const eos =
                                                                             json_member(v->settings, "ignore_eos");
    llama_check_request(v, is_chat(v));
    if (has_budget(v) && !forces_end(v)) {
        view_set(v, "reasoning-budget", "-1");
        view_note(v, "reasoning_budget_tokens without reasoning_budget_message: the server forces no token at its end");
    }
    if (view_number(v, "n_cmpl", view_number(v, "n", 1.0)) > 4.0)
        view_note(v, "more than 4 completions need llama-server's -np");
    if (eos && !cJSON_IsBool(eos))
        view_refuse(v, "ignore_eos is not true or false");
    if (cJSON_IsTrue(eos))
        view_set(v, "ignore-eos", NULL);
    (is_chat(v) ? finish_chat : finish_completion)(v, grammar, schema);
}

const struct program program_llama_request = {
    .name = "llama-server",
    .reads = "request",
    .as_of = "v0.5.0",
    .source = "tools/server/server-schema.cpp",
    .engines = {&llama},
    .marks = {{"n_predict"}, {"samplers"}, {"repeat_penalty"}, {"cache_prompt"}},
    .find = find_settings,
    .marks_text = "prompt, input or an array messages, without model",
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers Ollama SGLang vLLM mlx_lm",
    .fields = fields,
    .rules = READS_AS_REQUEST,
    .unset = UNSET_TYPED,
    .names = LLAMA_SAMPLERS,
    .order_text = "samplers",
    .key = read_key,
    .finish = finish,
};
