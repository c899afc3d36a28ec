// SPDX-License-Identifier: MIT
// The programs whose presets are read; sampl-formats(5) has the same as a table.
#include "cli/dialect.h"
#include "cli/foreign.h"
#include "out/message.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const cJSON *object, const char *key)
{
    return json_member(object, key);
}

static bool has_any(const cJSON *object, const char *const *keys)
{
    while (*keys && !has(object, *keys))
        keys++;
    return *keys;
}

static bool is_key(const cJSON *item, const char *key)
{
    return !strcmp(item->string, key);
}

static bool is_true(const struct foreign *f, const char *key)
{
    return cJSON_IsTrue(json_member(f->settings, key));
}

// Says the chain: the order that a setting gives, or another if it gives none; then names that count only while their settings are active.
static void say_order(struct foreign *f, const char *key, const char *otherwise, const char *behind)
{
    char *const given = foreign_names(f, json_member(f->settings, key));
    struct builder b = {0};
    builder_format(&b, "%s;%s", given && *given ? given : otherwise, behind);
    foreign_say_chain(f, b.text ? b.text : "");
    free(given);
    foreign_end(f, &b);
}

// If the setting `on` is true, the temperature moves between `low` and `high`, and the plain one is not used.
static void say_moving_temp(struct foreign *f, const char *on, const char *low, const char *high)
{
    const double from = foreign_number(f, low, 1.0), to = foreign_number(f, high, 1.0);
    if (!is_true(f, on))
        return;
    foreign_say_number(f, "temp", (from + to) / 2.0);
    foreign_say_number(f, "dynatemp-range", (to - from) / 2.0);
}

// SillyTavern and text-generation-webui write the two cutoffs in units of 1e-4.
static bool take_cutoff(struct foreign *f, const cJSON *item)
{
    cJSON *scaled;
    char text[32];
    if (!is_key(item, "epsilon_cutoff") && !is_key(item, "eta_cutoff"))
        return false;
    snprintf(text, sizeof text, "%.9g", foreign_number(f, item->string, 0.0) * 1e-4);
    scaled = cJSON_CreateRaw(text);
    if (scaled) {
        scaled->string = item->string;
        scaled->type |= cJSON_StringIsConst;
        foreign_take(f, scaled);
    }
    f->words.failed = f->words.failed || !scaled;
    cJSON_Delete(scaled);
    return true;
}

// ---- SillyTavern

static bool is_silly(const cJSON *root)
{
    return has(root, "rep_pen") && has_any(root, (const char *[]){"typical_p", "temperature_last", NULL});
}

static bool silly_rule(struct foreign *f, const cJSON *item)
{
    return take_cutoff(f, item);
}

static void silly_finish(struct foreign *f)
{
    say_moving_temp(f, "dynatemp", "min_temp", "max_temp");
    if (has(f->settings, "samplers") || foreign_active(f, "adaptive-target"))
        say_order(
            f, "samplers",
            "penalties;encoder_penalty;dry;no_repeat_ngram;top_n_sigma;top_k;top_a;tfs;typ_p;top_p;epsilon_cutoff;eta_cutoff;min_p;xtc;"
            "temperature;smoothing;skew",
            "adaptive_p");
    if (has(f->settings, "samplers"))
        foreign_note_idle(f);
}

// ---- KoboldAI, KoboldCpp

static bool is_kobold(const cJSON *root)
{
    return has(root, "sampler_order") || (has(root, "rep_pen") && has(root, "typical"));
}

static bool kobold_rule(struct foreign *f, const cJSON *item)
{
    const double v = foreign_number(f, item->string, NAN);
    if (is_key(item, "rep_pen_range") && v == 0.0)
        foreign_say(f, "repeat-last-n", "1");
    else
        return is_key(item, "rep_pen_slope") && (v <= 0.0 || v > 1.0);
    return true;
}

static void kobold_finish(struct foreign *f)
{
    static const char *const stages[] = {"top_k",    "top_a", "top_p;min_p", "tfs", "typ_p", "temperature;smoothing",
                                         "penalties"};
    static const int usual[] = {6, 0, 1, 3, 4, 2, 5};
    const cJSON *const order = json_array(f->settings, "sampler_order");
    struct builder b = {0};
    builder_string(&b, "dry;top_k=3000");
    for (int i = 0; i < (order ? cJSON_GetArraySize(order) : 7); i++) {
        const char *const number = order ? cJSON_GetArrayItem(order, i)->valuestring : NULL;
        const int n = !order ? usual[i] : number && !number[1] && *number >= '0' && *number <= '6' ? *number - '0' : -1;
        if (n < 0) {
            foreign_fail(f, "sampler_order is not a list of numbers from 0 to 6");
            break;
        }
        builder_format(&b, ";%s", stages[n]);
        builder_string(&b, n == 5 && foreign_active(f, "top-nsigma") ? ";top_n_sigma" : "");
    }
    builder_string(&b, ";xtc;adaptive_p");
    foreign_say_chain(f, b.text ? b.text : "");
    foreign_end(f, &b);
    if (foreign_active(f, "dry-multiplier") && !has(f->settings, "dry_sequence_breakers"))
        foreign_say(f, "dry-sequence-breaker", "none");
    if (foreign_active(f, "mirostat") && (foreign_active(f, "repeat-penalty") || foreign_active(f, "dry-multiplier")))
        message_warn("--preset: KoboldCpp penalises before mirostat, which here runs alone");
    if (!has(f->settings, "temp")) { // a request, which its server completes
        static const char *const requested[][3] = {
            {"temperature", "temp", "0.75"}, {"top_k", "top-k", "100"}, {"top_p", "top-p", "0.92"}};
        for (size_t i = 0; i < sizeof requested / sizeof *requested; i++)
            if (!has(f->settings, requested[i][0]))
                foreign_say(f, requested[i][1], requested[i][2]);
    }
}

// ---- text-generation-webui

static bool webui_rule(struct foreign *f, const cJSON *item)
{
    const char *const range = item->valuestring;
    if (!is_key(item, "repetition_penalty_range"))
        return take_cutoff(f, item);
    const bool all = foreign_number(f, item->string, 1.0) == 0.0;
    foreign_say(f, "repeat-last-n", all ? "-1" : range);
    foreign_say(f, "dry-penalty-last-n", all ? "-1" : range);
    return true;
}

static void webui_finish(struct foreign *f)
{
    static const char last[] =
        "penalties;dry;top_n_sigma;top_k;top_p;typ_p;epsilon_cutoff;eta_cutoff;tfs;top_a;min_p;xtc";
    static const char first[] =
        "penalties;dry;top_n_sigma;temperature;smoothing;top_k;top_p;typ_p;epsilon_cutoff;eta_cutoff;tfs;top_a;min_p;xtc";
    const bool temp_last = is_true(f, "temperature_last");
    say_moving_temp(f, "dynamic_temperature", "dynatemp_low", "dynatemp_high");
    if (cJSON_IsFalse(json_member(f->settings, "do_sample"))) {
        foreign_say_chain(f, "encoder_penalty;penalties;dry;no_repeat_ngram;temperature");
        foreign_say(f, "temp", "0");
    } else {
        say_order(f, "sampler_priority", temp_last ? last : first,
                  temp_last ? "temperature;smoothing;encoder_penalty;no_repeat_ngram;adaptive_p"
                            : "encoder_penalty;no_repeat_ngram;adaptive_p");
    }
}

// ---- transformers

static bool is_hf(const cJSON *root)
{
    return has_any(root, (const char *[]){"transformers_version", "_from_model_config", "do_sample", NULL}) ||
           (has(root, "eos_token_id") && has(root, "top_p"));
}

// Without do_sample nothing but penalties acts.
static bool hf_rule(struct foreign *f, const cJSON *item)
{
    static const char *const drawn[] = {"temperature", "top_k",          "top_p",      "min_p", "typical_p",
                                        "top_h",       "epsilon_cutoff", "eta_cutoff", NULL};
    if (is_key(item, "top_k") && foreign_number(f, "top_k", 0.0) < 0.0)
        foreign_fail(f, "top_k is below 0, which transformers refuses");
    for (size_t i = 0; !is_true(f, "do_sample") && drawn[i]; i++)
        if (is_key(item, drawn[i]))
            return true;
    return false;
}

static void hf_finish(struct foreign *f)
{
    if (is_true(f, "do_sample")) {
        foreign_say_chain(
            f,
            "encoder_penalty;penalties;no_repeat_ngram;temperature;top_h;top_k;top_p;min_p;typ_p;epsilon_cutoff;eta_cutoff");
        if (!has(f->settings, "top_k"))
            foreign_say(f, "top-k", "50");
    } else {
        foreign_say_chain(f, "encoder_penalty;penalties;no_repeat_ngram;temperature");
        foreign_say(f, "temp", "0");
    }
}

// ---- Ollama

static bool is_ollama(const cJSON *root)
{
    return cJSON_IsObject(json_member(root, "options")) ||
           has_any(root, (const char *[]){"num_predict", "num_ctx", NULL});
}

static cJSON *ollama_settings(cJSON *root)
{
    cJSON *const options = cJSON_GetObjectItemCaseSensitive(root, "options");
    return options ? options : root;
}

static void ollama_finish(struct foreign *f)
{
    const cJSON *const format = json_member(f->root, "format");
    if (f->settings != f->root && foreign_is_on(format))
        foreign_lack(f, format);
}

// ---- LM Studio

static const cJSON *studio_fields(const cJSON *root)
{
    const cJSON *const fields = json_array(json_member(root, "operation"), "fields");
    return fields ? fields : json_array(root, "fields");
}

static bool is_studio(const cJSON *root)
{
    return studio_fields(root);
}

// False: memory is short.
static bool copy_to(cJSON *settings, const char *key, const cJSON *value)
{
    cJSON *const copy = value ? cJSON_Duplicate(value, true) : NULL;
    if (!value || cJSON_AddItemToObject(settings, key, copy))
        return true;
    cJSON_Delete(copy);
    return false;
}

// Makes one object of the list of fields, those of predictions; a field whose box is not checked becomes false. NULL: memory is short.
static cJSON *studio_settings(cJSON *root)
{
    static const char prefix[] = "llm.prediction.", llama[] = "llama.";
    const cJSON *field;
    cJSON *const settings = cJSON_AddObjectToObject(root, "settings of LM Studio");
    bool copied = settings;
    cJSON_ArrayForEach(field, studio_fields(root))
    {
        const char *key = cJSON_GetStringValue(json_member(field, "key"));
        const cJSON *value = json_member(field, "value");
        if (!key || strncmp(key, prefix, sizeof prefix - 1) != 0)
            continue;
        key += sizeof prefix - 1;
        key += strncmp(key, llama, sizeof llama - 1) ? 0 : sizeof llama - 1;
        if (cJSON_IsFalse(json_member(value, "checked")))
            value = json_member(value, "checked");
        else if (has(value, "checked"))
            value = json_member(value, "value");
        if (strcmp(key, "mirostatSampling") != 0 || cJSON_IsFalse(value)) {
            copied = copy_to(settings, key, value) && copied;
            continue;
        }
        copied = copy_to(settings, "mirostat", json_member(value, "version")) &&
                 copy_to(settings, "mirostat_eta", json_member(value, "learningRate")) &&
                 copy_to(settings, "mirostat_tau", json_member(value, "targetEntropy")) && copied;
    }
    return copied ? settings : NULL;
}

static bool studio_rule(struct foreign *f, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    return is_key(item, "structured") && (!type || !strcmp(type, "none"));
}

// ---- llama-server, and what talks to it

static bool is_echo(const cJSON *root)
{
    return has_any(root, (const char *[]){"generation_settings", "default_generation_settings", NULL});
}

static cJSON *echo_settings(cJSON *root)
{
    cJSON *const of_reply = cJSON_GetObjectItemCaseSensitive(root, "generation_settings");
    cJSON *const of_props = cJSON_GetObjectItemCaseSensitive(root, "default_generation_settings");
    cJSON *const params = cJSON_GetObjectItemCaseSensitive(of_props, "params");
    return of_reply ? of_reply : params ? params : of_props;
}

static bool is_request(const cJSON *root)
{
    return has_any(root, (const char *[]){"n_predict", "samplers", "repeat_penalty", "cache_prompt", NULL});
}

// A budget for reasoning has tags and a message; without one they mean nothing.
static bool take_budget(struct foreign *f, const cJSON *item)
{
    static const char *const options[][2] = {{"start_tag", "reasoning-start"},
                                             {"end_tag", "reasoning-end"},
                                             {"end_tags", "reasoning-end"},
                                             {"message", "reasoning-budget-message"}};
    static const char prefix[] = "reasoning_budget_";
    if (strncmp(item->string, prefix, sizeof prefix - 1) != 0)
        return false;
    if (foreign_number(f, "reasoning_budget_tokens", -1.0) < 0.0)
        return true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(item->string + sizeof prefix - 1, options[i][0]) != 0)
            continue;
        for (const cJSON *text = cJSON_IsArray(item) ? item->child : item; text; text = text->next) {
            if (cJSON_IsString(text) && *text->valuestring)
                foreign_say(f, options[i][1], text->valuestring);
            if (text == item)
                break;
        }
        return true;
    }
    return false;
}

// Settings that a reply echoes hold the bans of ignore_eos among their biases. A schema without members allows any object.
static bool server_rule(struct foreign *f, const cJSON *item)
{
    if (take_budget(f, item))
        return true;
    if (is_key(item, "json_schema") && cJSON_IsObject(item) && !item->child)
        foreign_say(f, "json-schema", "{\"type\":\"object\"}");
    else if (!is_key(item, "samplers"))
        return is_key(item, "ignore_eos") && f->settings != f->root && has(f->settings, "logit_bias");
    return true;
}

static void server_finish(struct foreign *f)
{
    const cJSON *const names = json_member(f->settings, "samplers");
    if (cJSON_IsString(names))
        foreign_say(f, "sampler-seq", names->valuestring);
    else if (names)
        say_order(f, "samplers", "", "");
}

static bool is_openai(const cJSON *root)
{
    return has(root, "model") && has_any(root, (const char *[]){"messages", "prompt", NULL});
}

static bool openai_rule(struct foreign *f, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    return (is_key(item, "repetition_penalty") && !foreign_is_on(item)) || // mlx_lm.server's off
           (is_key(item, "response_format") && type && !strcmp(type, "text"));
}

static void openai_finish(struct foreign *f)
{
    foreign_say_chain(f, "penalties;temperature;min_p;top_k;top_p");
}

// ---- sampl's own --print-chain=json

static bool is_own(const cJSON *root)
{
    return json_array(root, "chain");
}

// Adds a stage to the chain: its name and, as "=VALUE", the first of its parameters; all of them are said as options, too. The stages of other
// engines have no names in a chain.
static void own_stage(struct foreign *f, const cJSON *stage, bool engine, struct builder *chain)
{
    const char *const name = cJSON_GetStringValue(json_member(stage, "name"));
    const struct sampler *const s = name ? sampler_by_name(name, strlen(name)) : NULL;
    const cJSON *item;
    bool main = s && !engine;
    if (name && !strncmp(name, "mirostat", 8))
        foreign_say(f, "mirostat", name[8] ? "2" : "1");
    if (main)
        builder_format(chain, "%s%s", chain->len ? ";" : "", s->name);
    cJSON_ArrayForEach(item, stage)
    {
        if (is_key(item, "name") || is_key(item, "enabled"))
            continue;
        if (main && cJSON_IsRaw(item))
            builder_format(chain, "=%s", item->valuestring);
        const struct option_row *const row = option_by_name(f->options, item->string, strlen(item->string));
        if (is_key(item, "logit_bias"))
            foreign_take(f, item);
        else if (!row || !row->param)
            foreign_fail(f, "%s has no parameter %s", name ? name : "a stage", item->string);
        else if (cJSON_IsRaw(item) || cJSON_IsBool(item))
            foreign_say(f, row->name, cJSON_IsRaw(item) ? item->valuestring : cJSON_IsTrue(item) ? "true" : "false");
        main = false;
    }
}

// Says an array of ids as options have it: 1,2 for [1,2].
static void say_ids(struct foreign *f, const char *flag, const cJSON *ids)
{
    char *const list = cJSON_PrintUnformatted(ids);
    if (list)
        list[strcspn(list, "]")] = '\0';
    foreign_say(f, flag, list && *list ? list + 1 : "");
    f->words.failed = f->words.failed || !list;
    cJSON_free(list);
}

static void own_finish(struct foreign *f)
{
    const char *const engine = cJSON_GetStringValue(json_member(f->root, "engine"));
    struct builder chain = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, json_array(f->root, "chain"))
    {
        own_stage(f, item, engine, &chain);
    }
    cJSON_ArrayForEach(item, json_array(f->root, "dry_breaker_tokens"))
    {
        say_ids(f, "dry-breaker-tokens", item);
    }
    if (json_array(f->root, "eog_tokens"))
        say_ids(f, "eog-tokens", json_array(f->root, "eog_tokens"));
    if (cJSON_IsTrue(json_member(f->root, "grammar_first")))
        foreign_say(f, "grammar-first", NULL);
    const cJSON *const reasoning = json_member(f->root, "reasoning"), *const tokens = json_member(reasoning, "tokens");
    if (tokens && cJSON_IsRaw(tokens) && *tokens->valuestring != '-') {
        foreign_say(f, "reasoning-budget", tokens->valuestring);
        say_ids(f, "reasoning-start", json_array(reasoning, "start"));
        cJSON_ArrayForEach(item, json_array(reasoning, "end"))
        {
            say_ids(f, "reasoning-end", item);
        }
        if (foreign_is_on(json_member(reasoning, "message"))) // a text, of which only the ids are known
            foreign_lack(f, json_member(reasoning, "message"));
    }
    if (engine)
        foreign_say(f, "engine", engine);
    else if (chain.len)
        foreign_say(f, "samplers", chain.text);
    foreign_end(f, &chain);
}

// ---- llama.cpp's config.ini, and presets of --models-preset

// Options without their dashes, or the names of their environment variables. What does not concern sampling is passed over.
static bool ini_rule(struct foreign *f, const cJSON *item)
{
    static const char variable[] = "LLAMA_ARG_";
    char name[80];
    const bool is_variable = !strncmp(item->string, variable, sizeof variable - 1);
    snprintf(name, sizeof name, "%s", item->string + (is_variable ? sizeof variable - 1 : 0));
    for (char *c = name; is_variable && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const struct option_row *const row = option_by_name(f->options, name, strlen(name));
    if (row && row->group == GROUP_CHAIN && !row->recipe)
        foreign_lack(f, item);
    else if (row && row->recipe)
        foreign_say(f, row->name, item->valuestring);
    return true;
}

// ---- the table

// Members of requests, and of the settings that replies echo, that do not bear on which token is chosen from a row.
const char server_ignored[] =
    "add_generation_prompt backend_sampling cache_prompt chat_format chat_parser chat_template_kwargs continue_final_message "
    "echo generation_prompt grammar_type id_slot ignore_eos_default input_extra input_prefix input_suffix logprobs lora "
    "max_completion_tokens max_tokens message_delimiters messages model n n_cache_reuse n_cmpl n_discard n_indent n_keep "
    "n_predict n_probs parse_tool_calls post_sampling_probs preserved_tokens prompt reasoning_control reasoning_effort "
    "reasoning_format reasoning_in_content response_fields return_progress return_tokens sse_ping_interval stop stream "
    "stream_options t_max_predict_ms t_max_prompt_ms thinking_budget_tokens thinking_forced_open timings_per_token "
    "top_logprobs user verbose speculative*";

#define TEXT_PARTS                                                                                                                             \
    "model prompt messages system template stream stream_options raw keep_alive suffix images think tools tool_choice user n stop max_tokens " \
    "max_completion_tokens logprobs top_logprobs echo store metadata "

// clang-format off
const struct dialect dialects[] = {
    {"sampl", is_own, .defaults = true, .ignored = "chain engine from dry_breaker_tokens eog_tokens reasoning grammar_first", .finish = own_finish},
    {"llama-server", is_echo, echo_settings, .defaults = true, .rule = server_rule, .finish = server_finish, .ignored = server_ignored},
    {"LM Studio", is_studio, studio_settings, .rule = studio_rule,
     .absent = "temp=0.8 top-k=40 repeat-penalty=1.1 min-p=0.05 top-p=0.95",
     .ignored = "max*Tokens stop* system* context* prompt* tool* speculative* cpu* reasoning* llama.* promptTemplate"},
    {"SillyTavern", is_silly, .rule = silly_rule, .finish = silly_finish,
     .ignored = "temperature_last min_temp max_temp dynatemp streaming n negative_prompt length_penalty early_stopping do_sample add_bos_token "
                "skip_special_tokens spaces_between_special_tokens speculative_ngram include_reasoning sampler* rep_pen_size genamt "
                "max_length max_context* truncation_length extensions *_send_banned_tokens send_banned_tokens"},
    {"KoboldCpp", is_kobold, .rule = kobold_rule, .finish = kobold_finish,
     .absent = "repeat-last-n=320 dry-penalty-last-n=320 xtc-threshold=0.2",
     .ignored = "sampler_order prompt memory max_length max_context_length n quiet genkey images streaming_kobold single_line trim_stop "
                "render_special bypass_eos stop_sequence use_* stream*"},
    {"transformers", is_hf, .rule = hf_rule, .finish = hf_finish, .absent = "repeat-last-n=-1",
     .ignored = "do_sample transformers_version _from_model_config *_token_id max_* cache_* use_cache return_* output_* num_return_sequences "
                "early_stopping length_penalty stop_strings num_assistant_tokens* assistant_* is_assistant prompt_lookup* chat_format "
                "renormalize_logits remove_invalid_values low_memory token_healing trust_remote_code"},
    {"Ollama", is_ollama, ollama_settings, .finish = ollama_finish,
     .absent = "temp=0.8 top-k=40 top-p=0.9 repeat-last-n=64",
     .ignored = TEXT_PARTS "options format num_* stop mirostat* penalize_newline low_vram f16_kv use_m* main_gpu logits_all vocab_only "
                "embedding_only rope_* draft_*"},
    {"llama-server", is_request, .defaults = true, .rule = server_rule, .finish = server_finish, .ignored = server_ignored},
    {"OpenAI", is_openai, .rule = openai_rule, .finish = openai_finish, .absent = "repeat-last-n=-1", .ignored = TEXT_PARTS},
    {"text-generation-webui", .member = "yaml", .tfs = "tfs_tg", .rule = webui_rule, .finish = webui_finish,
     .absent = "repeat-last-n=1024 dry-penalty-last-n=1024",
     .ignored = "do_sample dynamic_temperature temperature_last dynatemp_low dynatemp_high sampler_priority truncation_length max_* "
                "auto_max_new_tokens add_bos_token skip_special_tokens ban_eos_token_* prompt_lookup_num_tokens static_cache stream"},
    {"llama.cpp", .member = "ini", .defaults = true, .rule = ini_rule},
    {NULL},
};
// clang-format on
