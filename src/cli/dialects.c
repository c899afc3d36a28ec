// SPDX-License-Identifier: MIT
// The programs whose presets are read; sampl-formats(5) has the same table.
#include "base/number.h"
#include "chain/setting.h"
#include "cli/dialect.h"
#include "out/message.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_key(const cJSON *object, const char *key)
{
    return json_member(object, key);
}

static bool is_key(const cJSON *item, const char *key)
{
    return !strcmp(item->string, key);
}

static bool is_true(const struct foreign *f, const char *key)
{
    return cJSON_IsTrue(json_member(f->settings, key));
}

// Adds the order of samplers that a setting gives, or if it gives none, another order; then names that count only while
// their settings are active.
static void add_order(struct foreign *f, const char *key, const char *otherwise, const char *behind)
{
    const cJSON *const item = json_member(f->settings, key);
    const char *const text = cJSON_GetStringValue(item);
    char *const list = cJSON_IsArray(item) ? cJSON_PrintUnformatted(item) : NULL;
    f->chain.failed = f->chain.failed || (cJSON_IsArray(item) && !list);
    foreign_chain(f, list ? list : text && *text ? text : otherwise);
    foreign_chain(f, behind);
    cJSON_free(list);
}

static void add_number_option(struct foreign *f, const char *option, double value)
{
    char text[NUMBER_TEXT];
    foreign_option_text(f, option, number_text((float)value, text));
}

// Adds a dynamic temperature between two settings, if the setting `on` is true. The plain temperature has no effect
// then.
static void add_dynamic_temp(struct foreign *f, const char *on, const char *low, const char *high)
{
    const double from = foreign_number(f, low, 1.0), to = foreign_number(f, high, 1.0);
    if (!is_true(f, on))
        return;
    add_number_option(f, "temp", (from + to) / 2.0);
    add_number_option(f, "dynatemp-range", (to - from) / 2.0);
}

// Reads the cut-offs that SillyTavern and text-generation-webui write in units of 1e-4. False if the item is no such
// cut-off.
static bool scale_cutoff(struct foreign *f, const cJSON *item)
{
    char text[32];
    cJSON scaled = {.type = cJSON_Raw, .valuestring = text, .string = item->string};
    if (!is_key(item, "epsilon_cutoff") && !is_key(item, "eta_cutoff"))
        return false;
    snprintf(text, sizeof text, "%.9g", foreign_number(f, item->string, 0.0) * 1e-4);
    foreign_setting(f, &scaled);
    return true;
}

// ---- SillyTavern

static void silly_finish(struct foreign *f)
{
    add_dynamic_temp(f, "dynatemp", "min_temp", "max_temp");
    if (has_key(f->settings, "samplers") || foreign_active(f, "adaptive-target"))
        add_order(f, "samplers",
                  "penalties;encoder_penalty;dry;no_repeat_ngram;top_n_sigma;top_k;top_a;tfs;typ_p;top_p;"
                  "epsilon_cutoff;eta_cutoff;min_p;xtc;temperature;smoothing;skew",
                  "adaptive_p");
    if (has_key(f->settings, "samplers"))
        foreign_note_idle(f);
}

// ---- KoboldAI, KoboldCpp

static bool kobold_rule(struct foreign *f, const cJSON *item)
{
    const double v = foreign_number(f, item->string, NAN);
    if (is_key(item, "rep_pen_range") && v == 0.0)
        foreign_option_text(f, "repeat-last-n", "1");
    else
        return is_key(item, "rep_pen_slope") && (v <= 0.0 || v > 1.0);
    return true;
}

static void kobold_finish(struct foreign *f)
{
    static const char *const stages[] = {"top_k",    "top_a", "top_p;min_p", "tfs", "typ_p", "temperature;smoothing",
                                         "penalties"};
    static const char usual[] = "6013425";
    const cJSON *const order = json_array(f->settings, "sampler_order");
    const int n = order ? cJSON_GetArraySize(order) : (int)strlen(usual);
    foreign_chain(f, "dry;top_k=3000");
    for (int i = 0; i < n && !f->failed; i++) {
        const char plain[] = {usual[order ? 0 : i], '\0'};
        const char *const number = order ? cJSON_GetArrayItem(order, i)->valuestring : plain;
        if (!number || *number < '0' || *number > '6' || number[1]) {
            foreign_fail(f, "sampler_order is not a list of numbers from 0 to 6");
            break;
        }
        foreign_chain(f, stages[*number - '0']);
        if (*number == '5' && foreign_active(f, "top-nsigma"))
            foreign_chain(f, "top_n_sigma");
    }
    foreign_chain(f, "xtc;adaptive_p");
    if (foreign_active(f, "dry-multiplier") && !has_key(f->settings, "dry_sequence_breakers"))
        foreign_option_text(f, "dry-sequence-breaker", "none");
    if (foreign_active(f, "mirostat") && (foreign_active(f, "repeat-penalty") || foreign_active(f, "dry-multiplier")))
        message_warn("--preset: KoboldCpp penalises before mirostat, which here runs alone");
    if (!has_key(f->settings, "temp")) { // a request: these are the defaults of the server
        static const char *const requested[][3] = {
            {"temperature", "temp", "0.75"}, {"top_k", "top-k", "100"}, {"top_p", "top-p", "0.92"}};
        for (size_t i = 0; i < sizeof requested / sizeof *requested; i++)
            if (!has_key(f->settings, requested[i][0]))
                foreign_option_text(f, requested[i][1], requested[i][2]);
    }
}

// ---- text-generation-webui

static bool webui_rule(struct foreign *f, const cJSON *item)
{
    const char *const range = item->valuestring;
    if (!is_key(item, "repetition_penalty_range"))
        return scale_cutoff(f, item);
    const bool all = foreign_number(f, item->string, 1.0) == 0.0;
    foreign_option_text(f, "repeat-last-n", all ? "-1" : range);
    foreign_option_text(f, "dry-penalty-last-n", all ? "-1" : range);
    return true;
}

static void webui_finish(struct foreign *f)
{
    static const char last[] =
        "penalties;dry;top_n_sigma;top_k;top_p;typ_p;epsilon_cutoff;eta_cutoff;tfs;top_a;min_p;xtc";
    static const char first[] = "penalties;dry;top_n_sigma;temperature;smoothing;top_k;top_p;typ_p;"
                                "epsilon_cutoff;eta_cutoff;tfs;top_a;min_p;xtc";
    const bool temp_last = is_true(f, "temperature_last");
    add_dynamic_temp(f, "dynamic_temperature", "dynatemp_low", "dynatemp_high");
    if (cJSON_IsFalse(json_member(f->settings, "do_sample"))) {
        foreign_chain(f, "encoder_penalty;penalties;dry;no_repeat_ngram;temperature");
        foreign_option_text(f, "temp", "0");
    } else {
        add_order(f, "sampler_priority", temp_last ? last : first,
                  temp_last ? "temperature;smoothing;encoder_penalty;no_repeat_ngram;adaptive_p"
                            : "encoder_penalty;no_repeat_ngram;adaptive_p");
    }
}

// ---- transformers

// Passes over the samplers that transformers does not run without do_sample: all but the penalties.
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
        foreign_chain(f, "encoder_penalty;penalties;no_repeat_ngram;temperature;top_h;top_k;top_p;min_p;typ_p;"
                         "epsilon_cutoff;eta_cutoff");
        if (!has_key(f->settings, "top_k"))
            foreign_option_text(f, "top-k", "50");
    } else {
        foreign_chain(f, "encoder_penalty;penalties;no_repeat_ngram;temperature");
        foreign_option_text(f, "temp", "0");
    }
}

// ---- Ollama

static bool is_ollama(const cJSON *root)
{
    return cJSON_IsObject(json_member(root, "options")) || has_key(root, "num_predict") || has_key(root, "num_ctx");
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

// Makes one object of the fields of predictions. A field whose box is not checked becomes false. NULL if memory is
// short.
static cJSON *studio_settings(cJSON *root)
{
    static const char prefix[] = "llm.prediction.", llama[] = "llama.";
    static const char *const mirostat[][2] = {
        {"version", "mirostat"}, {"learningRate", "mirostat_eta"}, {"targetEntropy", "mirostat_tau"}};
    cJSON *const settings = cJSON_AddObjectToObject(root, "settings of LM Studio");
    bool whole = settings;
    for (const cJSON *field = studio_fields(root)->child; field; field = field->next) {
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
    return whole ? settings : NULL;
}

static bool studio_rule(struct foreign *f, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    return is_key(item, "structured") && (!type || !strcmp(type, "none"));
}

// ---- llama-server, and what talks to it

static cJSON *echo_settings(cJSON *root)
{
    cJSON *const of_reply = cJSON_GetObjectItemCaseSensitive(root, "generation_settings");
    cJSON *const of_props = cJSON_GetObjectItemCaseSensitive(root, "default_generation_settings");
    cJSON *const params = cJSON_GetObjectItemCaseSensitive(of_props, "params");
    return of_reply ? of_reply : params ? params : of_props;
}

// Reads the tags and the message of a reasoning budget. Without a budget they are passed over. False if the item is
// none of them.
static bool read_budget_tags(struct foreign *f, const cJSON *item)
{
    static const char prefix[] = "reasoning_budget_";
    const struct setting *const s = setting_of_request(item->string);
    if (strncmp(item->string, prefix, sizeof prefix - 1) != 0)
        return false;
    if (foreign_number(f, "reasoning_budget_tokens", -1.0) < 0.0)
        return true;
    if (!s || (s->form != SETTING_TAG && s->form != SETTING_TAGS))
        return false;
    for (const cJSON *text = cJSON_IsArray(item) ? item->child : item; text; text = text == item ? NULL : text->next)
        if (cJSON_IsString(text) && *text->valuestring)
            foreign_option_text(f, s->option, text->valuestring);
    return true;
}

// Settings that a reply echoes have the bans of ignore_eos among their biases, so that ignore_eos is passed over. A
// schema without members allows any object. The order of samplers is read at the end.
static bool server_rule(struct foreign *f, const cJSON *item)
{
    if (read_budget_tags(f, item))
        return true;
    if (is_key(item, "json_schema") && cJSON_IsObject(item) && !item->child)
        foreign_option_text(f, "json-schema", "{\"type\":\"object\"}");
    else if (!is_key(item, "samplers"))
        return is_key(item, "ignore_eos") && f->settings != f->root && has_key(f->settings, "logit_bias");
    return true;
}

static void server_finish(struct foreign *f)
{
    const cJSON *const names = json_member(f->settings, "samplers");
    if (cJSON_IsString(names))
        foreign_option_text(f, "sampler-seq", names->valuestring);
    else if (names)
        add_order(f, "samplers", "", "");
}

static bool openai_rule(struct foreign *f, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    return (is_key(item, "repetition_penalty") && !foreign_is_on(item)) || // mlx_lm.server's off
           (is_key(item, "response_format") && type && !strcmp(type, "text"));
}

// ---- sampl's own --print-chain=json

static bool is_own(const cJSON *root)
{
    return json_array(root, "chain");
}

// Adds a stage to the chain: its name and, as "=VALUE", the first of its parameters. All its parameters become options,
// too. Stages of other engines have no names in a chain.
static void add_own_stage(struct foreign *f, const cJSON *stage, bool engine)
{
    const char *const name = cJSON_GetStringValue(json_member(stage, "name"));
    const struct sampler *const s = name ? sampler_by_name(name, strlen(name)) : NULL;
    const cJSON *item;
    bool main = s && !engine;
    if (name && !strncmp(name, "mirostat", 8))
        foreign_option_text(f, "mirostat", name[8] ? "2" : "1");
    if (main)
        builder_format(&f->chain, "%s%s", f->chain.len ? ";" : "", s->name);
    cJSON_ArrayForEach(item, stage)
    {
        if (is_key(item, "name") || is_key(item, "enabled"))
            continue;
        if (main && cJSON_IsRaw(item))
            builder_format(&f->chain, "=%s", item->valuestring);
        const struct option_row *const row = option_by_name(f->options, item->string, strlen(item->string));
        if (is_key(item, "logit_bias"))
            foreign_setting(f, item);
        else if (!row || !row->param)
            foreign_fail(f, "%s has no parameter %s", name ? name : "a stage", item->string);
        else if (cJSON_IsRaw(item) || cJSON_IsBool(item))
            foreign_option_text(f, row->name,
                                cJSON_IsRaw(item)    ? item->valuestring
                                : cJSON_IsTrue(item) ? "true"
                                                     : "false");
        main = false;
    }
}

// Adds an option for each list of ids of an array, which may be NULL.
static void add_id_lists(struct foreign *f, const char *option, const cJSON *lists)
{
    for (const cJSON *ids = lists ? lists->child : NULL; ids; ids = ids->next)
        foreign_option_ids(f, option, ids);
}

static void own_finish(struct foreign *f)
{
    const char *const engine = cJSON_GetStringValue(json_member(f->root, "engine"));
    const cJSON *const reasoning = json_member(f->root, "reasoning"), *const tokens = json_member(reasoning, "tokens");
    const cJSON *item;
    for (item = json_array(f->root, "chain")->child; item; item = item->next)
        add_own_stage(f, item, engine);
    add_id_lists(f, "dry-breaker-tokens", json_array(f->root, "dry_breaker_tokens"));
    if (json_array(f->root, "eog_tokens"))
        foreign_option_ids(f, "eog-tokens", json_array(f->root, "eog_tokens"));
    if (cJSON_IsTrue(json_member(f->root, "grammar_first")))
        foreign_option(f, "grammar-first");
    if (tokens && cJSON_IsRaw(tokens) && *tokens->valuestring != '-') {
        foreign_option_text(f, "reasoning-budget", tokens->valuestring);
        foreign_option_ids(f, "reasoning-start", json_array(reasoning, "start"));
        add_id_lists(f, "reasoning-end", json_array(reasoning, "end"));
        if (foreign_is_on(json_member(reasoning, "message"))) // a text, of which only the ids are known
            foreign_lack(f, json_member(reasoning, "message"));
    }
    if (engine)
        foreign_option_text(f, "engine", engine);
}

// ---- llama.cpp's config.ini, and presets of --models-preset

// Reads an option without its dashes, or the name of its environment variable. Options that do not concern sampling are
// passed over.
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
        foreign_option_text(f, row->name, item->valuestring);
    return true;
}

// ---- the table

#define TEXT_PARTS                                                                                          \
    "model prompt messages system template stream stream_options raw keep_alive suffix images think tools " \
    "tool_choice user n stop max_tokens max_completion_tokens logprobs top_logprobs echo store metadata "

// clang-format off
const struct dialect dialects[] = {
    {"sampl", .is = is_own, .defaults = true,
     .ignored = "chain engine from dry_breaker_tokens eog_tokens reasoning grammar_first", .finish = own_finish},
    {"llama-server", "generation_settings default_generation_settings", .settings = echo_settings, .defaults = true,
     .rule = server_rule, .finish = server_finish, .ignored = setting_server_ignores},
    {"LM Studio", .is = is_studio, .settings = studio_settings, .rule = studio_rule,
     .absent = "temp=0.8 top-k=40 repeat-penalty=1.1 min-p=0.05 top-p=0.95",
     .ignored = "max*Tokens stop* system* context* prompt* tool* speculative* cpu* reasoning* llama.* promptTemplate"},
    {"SillyTavern", "rep_pen+typical_p rep_pen+temperature_last", .rule = scale_cutoff, .finish = silly_finish,
     .ignored = "temperature_last min_temp max_temp dynatemp streaming n negative_prompt length_penalty early_stopping "
                "do_sample add_bos_token skip_special_tokens spaces_between_special_tokens speculative_ngram "
                "include_reasoning sampler* rep_pen_size genamt max_length max_context* truncation_length extensions "
                "*_send_banned_tokens send_banned_tokens"},
    {"KoboldCpp", "sampler_order rep_pen+typical", .rule = kobold_rule, .finish = kobold_finish,
     .absent = "repeat-last-n=320 dry-penalty-last-n=320 xtc-threshold=0.2",
     .ignored = "sampler_order prompt memory max_length max_context_length n quiet genkey images streaming_kobold "
                "single_line trim_stop render_special bypass_eos stop_sequence use_* stream*"},
    {"transformers", "transformers_version _from_model_config do_sample eos_token_id+top_p",
     .rule = hf_rule, .finish = hf_finish, .absent = "repeat-last-n=-1",
     .ignored = "do_sample transformers_version _from_model_config *_token_id max_* cache_* use_cache return_* "
                "output_* num_return_sequences early_stopping length_penalty stop_strings num_assistant_tokens* "
                "assistant_* is_assistant prompt_lookup* chat_format renormalize_logits remove_invalid_values "
                "low_memory token_healing trust_remote_code"},
    {"Ollama", .is = is_ollama, .settings = ollama_settings, .finish = ollama_finish,
     .absent = "temp=0.8 top-k=40 top-p=0.9 repeat-last-n=64",
     .ignored = TEXT_PARTS "options format num_* stop mirostat* penalize_newline low_vram f16_kv use_m* main_gpu "
                "logits_all vocab_only embedding_only rope_* draft_*"},
    {"llama-server", "n_predict samplers repeat_penalty cache_prompt", .defaults = true,
     .rule = server_rule, .finish = server_finish, .ignored = setting_server_ignores},
    {"OpenAI", "model+messages model+prompt", .rule = openai_rule, .chain = "penalties;temperature;min_p;top_k;top_p",
     .absent = "repeat-last-n=-1", .ignored = TEXT_PARTS},
    {"text-generation-webui", .member = "yaml", .tfs = "tfs_tg", .rule = webui_rule, .finish = webui_finish,
     .absent = "repeat-last-n=1024 dry-penalty-last-n=1024",
     .ignored = "do_sample dynamic_temperature temperature_last dynatemp_low dynatemp_high sampler_priority "
                "truncation_length max_* auto_max_new_tokens add_bos_token skip_special_tokens ban_eos_token_* "
                "prompt_lookup_num_tokens static_cache stream"},
    {"llama.cpp", .member = "ini", .defaults = true, .rule = ini_rule},
    {NULL},
};
// clang-format on
