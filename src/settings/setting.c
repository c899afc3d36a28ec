// SPDX-License-Identifier: MIT
#include "settings/setting.h"

#include "base/names.h"

#include <string.h>

// clang-format off
const struct setting setting_table[] = {
    // numbers under names that llama-server does not know, and numbers that are off at another value than their sampler
    {NULL, "temp temperature", "temp", .off = OFF_AT, .off_value = 1},
    {NULL, "top_k topKSampling", "top-k"},
    {NULL, "top_p topPSampling", "top-p"},
    {NULL, "min_p minPSampling", "min-p"},
    {NULL, "typical_p typical typ_p locallyTypicalSampling", "typical"},
    {NULL, "rep_pen rep_penalty repetition_penalty repeat_penalty repeatPenalty penalty_repeat", "repeat-penalty",
     .off = OFF_AT, .off_value = 1},
    {NULL, "rep_pen_range repetition_penalty_range repeat_last_n penalty_last_n", "repeat-last-n"},
    {NULL, "freq_pen frequency_penalty frequencyPenalty", "frequency-penalty", .off = OFF_AT},
    {NULL, "presence_pen presence_penalty presencePenalty", "presence-penalty", .off = OFF_AT},
    {NULL, "nsigma top_n_sigma", "top-nsigma"},
    {NULL, "xtcProbability", "xtc-probability", .off = OFF_UP_TO},
    {NULL, "xtcThreshold", "xtc-threshold"},
    {NULL, "mirostat mirostat_mode", "mirostat", .off = OFF_AT},
    {NULL, "mirostat_tau", "mirostat-ent"},
    {NULL, "mirostat_eta", "mirostat-lr"},
    {NULL, "dynatemp_exponent", "dynatemp-exp"},
    {NULL, "adaptive_target", "adaptive-target", .off = OFF_UP_TO},
    {NULL, "tfs tfs_z tailFreeSampling", "tfs"},
    {NULL, "smoothing_curve", "smoothing-curve"},
    {NULL, "no_repeat_ngram_size", "no-repeat-ngram"},
    {NULL, "encoder_rep_pen encoder_repetition_penalty", "encoder-repeat-penalty"},
    {NULL, "rep_pen_slope", "repeat-penalty-slope", .off = OFF_AT, .off_value = 1},
    {NULL, "min_tokens min_new_tokens", "min-tokens", .off = OFF_UP_TO},
    {NULL, "penalty_alpha rep_pen_decay min_length diversity_penalty", NULL, .off = OFF_AT},
    {NULL, "guidance_scale num_beams num_beam_groups", NULL, .off = OFF_AT, .off_value = 1},

    {"seed", "seed sampler_seed sampling_seed", NULL, SETTING_SEED}, // every engine has one
    {"samplers", NULL, "samplers", SETTING_SAMPLERS},
    {"logit_bias", "logit_bias logitBias", "logit-bias", SETTING_BIASES},
    {"ignore_eos", "ban_eos_token ignore_eos ignore_eos_token", "ignore-eos", SETTING_EOS},
    {"dry_sequence_breakers", "dry_sequence_breakers", "dry-sequence-breaker", SETTING_BREAKERS},
    {"dry_breaker_tokens", NULL, "dry-breaker-tokens", SETTING_SEQUENCES, .list = LIST_BREAKER_IDS},
    {"bad_words_ids", "bad_words_ids", "bad-word-tokens", SETTING_SEQUENCES, .list = LIST_BANS},
    {"custom_token_bans", "suppress_tokens custom_token_bans", "bad-word-tokens", SETTING_BANS, .list = LIST_BANS},
    {"grammar", "grammar grammar_string", "grammar", SETTING_GRAMMAR},
    {"json_schema", "json_schema", "json-schema", SETTING_SCHEMA},
    {"grammar_lazy", NULL, NULL, SETTING_FALSE},
    {"grammar_triggers", NULL, NULL, SETTING_EMPTY},
    {"reasoning_budget_tokens", "reasoning_budget_tokens", "reasoning-budget", SETTING_NUMBER, OFF_AT, -1},
    {"reasoning_budget_start_tag", NULL, "reasoning-start", SETTING_TEXT, .list = LIST_START},
    {"reasoning_budget_end_tag", NULL, "reasoning-end", SETTING_TAGS, .list = LIST_END_TAGS},
    {"reasoning_budget_end_tags", NULL, "reasoning-end", SETTING_TAGS, .list = LIST_END_TAGS},
    {"reasoning_budget_message", NULL, "reasoning-budget-message", SETTING_TEXT, .list = LIST_MESSAGE},
    {"generation_prompt", NULL, NULL, SETTING_TEXT, .list = LIST_GENERATION},
    {NULL},
};
// clang-format on

const char setting_server_ignores[] =
    "add_generation_prompt backend_sampling cache_prompt chat_format chat_parser chat_template_kwargs "
    "continue_final_message echo generation_prompt grammar_type id_slot ignore_eos_default input_extra input_prefix "
    "input_suffix logprobs lora max_completion_tokens max_tokens message_delimiters messages model n n_cache_reuse "
    "n_cmpl n_discard n_indent n_keep n_predict n_probs parse_tool_calls post_sampling_probs preserved_tokens prompt "
    "reasoning_control reasoning_effort reasoning_format reasoning_in_content response_fields return_progress "
    "return_tokens sse_ping_interval stop stream stream_options t_max_predict_ms t_max_prompt_ms "
    "thinking_budget_tokens thinking_forced_open timings_per_token top_logprobs user verbose speculative*";

const struct setting *setting_of_request(const char *key)
{
    for (const struct setting *s = setting_table; s->request || s->presets; s++)
        if (s->request && !strcmp(s->request, key))
            return s;
    return NULL;
}

const struct setting *setting_of_preset(const char *key)
{
    for (const struct setting *s = setting_table; s->request || s->presets; s++)
        if (s->presets && name_find(s->presets, NAME_ANY_CASE, key, strlen(key)) >= 0)
            return s;
    return NULL;
}

bool setting_biases(const cJSON *item, bool (*each)(void *to, const struct setting_bias *b), void *to)
{
    for (const cJSON *entry = item->child; entry; entry = entry->next) {
        const cJSON key = {.type = cJSON_String, .valuestring = entry->string};
        struct setting_bias b = {item, entry, &key, entry};
        if (cJSON_IsArray(entry)) {
            b.token = cJSON_GetArrayItem(entry, 0);
            b.amount = cJSON_GetArrayItem(entry, 1);
        } else if (cJSON_IsObject(entry)) {
            b.token = cJSON_GetObjectItemCaseSensitive(entry, "token");
            b.amount = cJSON_GetObjectItemCaseSensitive(entry, "bias");
        }
        if (!each(to, &b))
            return false;
    }
    return true;
}

bool setting_texts(const cJSON *item, struct list *l)
{
    const bool several = cJSON_IsArray(item);
    for (const cJSON *text = several ? item->child : item; text; text = several ? text->next : NULL) {
        if (!cJSON_IsString(text))
            return false;
        if (*text->valuestring)
            list_add_text(l, ENTRY_TEXT, text->valuestring, strlen(text->valuestring), 0.0f);
    }
    return true;
}
