// SPDX-License-Identifier: MIT
// The programs whose presets are read; sampl-presets(5) has a table for each, which pages.bats compares.
#include "cli/dialects.h"
#include "base/number.h"
#include "out/message.h"
#include "settings/setting.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_true(const struct foreign *f, const char *key) { return cJSON_IsTrue(json_member(f->settings, key)); }

// Adds the samplers in the order of a setting, or in the usual order if there is no such setting; then the samplers
// `last`.
static void add_order(struct foreign *f, const char *key, const char *usual, const char *last)
{
    const cJSON *const item = json_member(f->settings, key);
    const char *const text = cJSON_GetStringValue(item);
    char *const list = cJSON_IsArray(item) ? foreign_check_text(f, cJSON_PrintUnformatted(item)) : NULL;
    foreign_chain(f, list ? list : text && *text ? text : usual);
    foreign_chain(f, last);
    cJSON_free(list);
}

// Adds a dynamic temperature between the settings low and high, if the setting `on` is true. The plain temperature then
// has no effect.
static void add_dynamic_temp(struct foreign *f, const char *on, const char *low, const char *high)
{
    const double from = foreign_number(f, low, 1.0), to = foreign_number(f, high, 1.0);
    char text[NUMBER_TEXT];
    if (!is_true(f, on))
        return;
    foreign_set(f, "temp", number_text((float)((from + to) / 2.0), text));
    foreign_set(f, "dynatemp-range", number_text((float)((to - from) / 2.0), text));
}

// Reads the cut-offs that SillyTavern and text-generation-webui write in units of 1e-4. False if the item is no such
// cut-off, or is no number.
static bool cutoff_key(struct foreign *f, const cJSON *item)
{
    char text[32];
    cJSON scaled = {.type = cJSON_Raw, .valuestring = text, .string = item->string};
    const double v = foreign_number(f, item->string, NAN);
    if (isnan(v) || (!is_key(item, "epsilon_cutoff") && !is_key(item, "eta_cutoff")))
        return false;
    snprintf(text, sizeof text, "%.9g", v * 1e-4);
    foreign_setting(f, &scaled);
    return true;
}

// ---- SillyTavern

enum { SILLY_MOST = 64 }; // samplers of a list

// Adds the samplers of a list, completed in the way of SillyTavern's script: the k-th sampler of its default order is
// inserted at index k if the list lacks it. llama.cpp knows typ_p and not typical_p, its former name, which the
// completed list has beside it. adaptive_p is the last wherever it stands.
static void add_completed(struct foreign *f, const cJSON *list)
{
    static const char *const usual[] = {"penalties", "dry",   "top_n_sigma", "top_k",       "typ_p",
                                        "top_p",     "min_p", "xtc",         "temperature", "adaptive_p"};
    enum { USUAL = sizeof usual / sizeof *usual };
    const char *name[SILLY_MOST + USUAL];
    size_t n = 0;
    for (const cJSON *item = list->child; item && n < SILLY_MOST; item = item->next)
        if (cJSON_IsString(item))
            name[n++] = item->valuestring;
    for (size_t k = 0; k < USUAL; k++) {
        size_t at = 0;
        while (at < n && strcmp(name[at], usual[k]) != 0)
            at++;
        if (at < n)
            continue;
        memmove(name + k + 1, name + k, (n++ - k) * sizeof *name);
        name[k] = usual[k];
    }
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(name[i], "tfs_z") && foreign_active(f, "tfs") && !f->engine->options)
            foreign_note(f, "tfs runs, which llama.cpp would skip");
        if (strcmp(name[i], "typical_p") != 0 && strcmp(name[i], "adaptive_p") != 0)
            foreign_chain(f, name[i]);
    }
    foreign_chain(f, "adaptive_p");
}

static void silly_finish(struct foreign *f)
{
    add_dynamic_temp(f, "dynatemp", "min_temp", "max_temp");
    if (json_array(f->settings, "samplers"))
        add_completed(f, json_array(f->settings, "samplers"));
    else if (has_key(f->settings, "samplers") || foreign_active(f, "adaptive-target"))
        add_order(f, "samplers",
                  "penalties;encoder_penalty;dry;no_repeat_ngram;top_n_sigma;top_k;top_a;tfs;typ_p;top_p;"
                  "epsilon_cutoff;eta_cutoff;min_p;xtc;temperature;smoothing;skew",
                  "adaptive_p");
    if (has_key(f->settings, "samplers"))
        foreign_note_idle(f);
}

// ---- KoboldAI, KoboldCpp

// Settings of KoboldCpp that do not concern sampling. Unknown ones that are no numbers do not, either.
static const char kobold_others[] =
    "prompt memory max_length max_context_length n quiet genkey genamt images streaming_kobold single_line trim_stop "
    "render_special bypass_eos stop_sequence use_* using_* stream* logprobs replace_* preset description "
    "grammar_retain_state";

static bool kobold_key(struct foreign *f, const cJSON *item)
{
    const double v = foreign_number(f, item->string, NAN);
    const bool unknown = isnan(v) && !foreign_knows(f, item->string) && strncmp(item->string, "banned_", 7) != 0;
    if (unknown || name_find(kobold_others, NAME_PATTERN, item->string, 0) >= 0) {
        if (foreign_is_on(item))
            builder_format(&f->note, "%s%s", f->note.len ? ", " : "ignored: ", item->string);
    } else if (is_key(item, "rep_pen_range") && v == 0.0) {
        foreign_set(f, "repeat-last-n", "1");
    } else {
        return is_key(item, "rep_pen_slope") && (v <= 0.0 || v > 1.0);
    }
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
            f->failed = !err_set(f->e, STATUS_USAGE, "sampler_order is not a list of numbers from 0 to 6");
            break;
        }
        foreign_chain(f, stages[*number - '0']);
        if (*number == '5' && foreign_active(f, "top-nsigma"))
            foreign_chain(f, "top_n_sigma");
    }
    foreign_chain(f, "xtc;adaptive_p");
    if (foreign_active(f, "dry-multiplier") && !has_key(f->settings, "dry_sequence_breakers"))
        foreign_set(f, "dry-sequence-breaker", "none");
    if (!f->engine->options && foreign_active(f, "mirostat") &&
        (foreign_active(f, "repeat-penalty") || foreign_active(f, "dry-multiplier")))
        message_warn("--preset: %s: KoboldCpp penalises before mirostat, which here runs alone", f->path);
    if (!has_key(f->settings, "temp")) // a request: these are the defaults of the server
        foreign_absent(f, "temp=0.75 top-k=100 top-p=0.92");
}

// ---- text-generation-webui

// Reads a range, which is that of DRY, too; 0 is the whole text.
static bool webui_key(struct foreign *f, const cJSON *item)
{
    char all[] = "-1", name[] = "dry_penalty_last_n";
    cJSON range = *item;
    if (!is_key(item, "repetition_penalty_range"))
        return cutoff_key(f, item);
    if (foreign_number(f, item->string, 1.0) == 0.0)
        range.valuestring = all;
    foreign_setting(f, &range);
    range.string = name;
    if (!f->failed)
        foreign_setting(f, &range);
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
        foreign_set(f, "temp", "0");
    } else {
        add_order(f, "sampler_priority", temp_last ? last : first,
                  temp_last ? "temperature;smoothing;encoder_penalty;no_repeat_ngram;adaptive_p"
                            : "encoder_penalty;no_repeat_ngram;adaptive_p");
    }
}

// ---- transformers

// Ignores the samplers that transformers does not run without do_sample: all but the penalties.
static bool hf_key(struct foreign *f, const cJSON *item)
{
    static const char drawn[] = "temperature top_k top_p min_p typical_p top_h epsilon_cutoff eta_cutoff";
    if (is_key(item, "top_k") && foreign_number(f, "top_k", 0.0) < 0.0)
        f->failed = !err_set(f->e, STATUS_USAGE, "top_k is below 0, which transformers refuses");
    return !is_true(f, "do_sample") && name_find(drawn, NAME_EXACT, item->string, strlen(item->string)) >= 0;
}

static void hf_finish(struct foreign *f)
{
    foreign_end_tokens(f, "eos_token_id");
    if (is_true(f, "do_sample")) {
        foreign_chain(f, "encoder_penalty;penalties;no_repeat_ngram;temperature;top_h;top_k;top_p;min_p;typ_p;"
                         "epsilon_cutoff;eta_cutoff");
        foreign_absent(f, "top-k=50");
    } else {
        foreign_chain(f, "encoder_penalty;penalties;no_repeat_ngram;temperature");
        foreign_set(f, "temp", "0");
    }
}

// ---- Ollama

static bool ollama_identify(struct foreign *f)
{
    const cJSON *const options = json_member(f->root, "options");
    f->settings = options ? options : f->root;
    return cJSON_IsObject(options) || has_key(f->root, "num_predict") || has_key(f->root, "num_ctx");
}

// Ollama sends no typical_p of 0. Options that it reads no more are noted if they would act.
static bool ollama_key(struct foreign *f, const cJSON *item)
{
    const double v = foreign_number(f, item->string, NAN);
    const bool mirostat = is_key(item, "mirostat"), tfs = is_key(item, "tfs_z");
    if (mirostat && v > 0.0)
        foreign_note(f, "mirostat: set, but Ollama ignores it");
    if (tfs && v > 0.0 && v < 1.0)
        foreign_note(f, "tfs_z: set, but Ollama ignores it");
    return mirostat || tfs || (is_key(item, "typical_p") && v == 0.0);
}

// Ollama sends its options to llama-server, without an order of samplers. A format that is an object is a schema.
static void ollama_finish(struct foreign *f)
{
    const cJSON *const format = json_member(f->root, "format");
    if (f->settings != f->root && cJSON_IsObject(format))
        foreign_set_json(f, "json-schema", format);
    else if (f->settings != f->root && foreign_is_on(format))
        foreign_unsupported(f, format);
    if (!f->typed)
        foreign_note(f, "Ollama before 0.30 sampled by itself: --engine ollama");
}

// ---- LM Studio

// Makes one object of the fields of predictions. A field whose box is not checked becomes false.
static bool studio_identify(struct foreign *f)
{
    static const char prefix[] = "llm.prediction.", llama[] = "llama.";
    static const char *const mirostat[][2] = {
        {"version", "mirostat"}, {"learningRate", "mirostat_eta"}, {"targetEntropy", "mirostat_tau"}};
    const cJSON *fields = json_array(json_member(f->root, "operation"), "fields");
    fields = fields ? fields : json_array(f->root, "fields");
    if (!fields)
        return false;
    cJSON *const settings = cJSON_AddObjectToObject(f->root, "settings of LM Studio");
    bool whole = settings;
    for (const cJSON *field = fields->child; field; field = field->next) {
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
    f->settings = settings;
    f->failed = !whole && !err_from_fault(f->e, fault_memory());
    return true;
}

static bool studio_key(struct foreign *f, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    return is_key(item, "structured") && (!type || !strcmp(type, "none"));
}

// ---- llama-server, and what talks to it

// Finds the settings that a reply echoes, or those that /props shows.
static bool echo_identify(struct foreign *f)
{
    const cJSON *const props = json_member(f->root, "default_generation_settings");
    const cJSON *const of_reply = json_member(f->root, "generation_settings");
    const cJSON *const params = json_member(props, "params");
    f->settings = of_reply ? of_reply : params ? params : props;
    return f->settings;
}

// Reads the tags and the message of a reasoning budget. Without a budget, tags and message are ignored. False if the
// item is not one of them.
static bool read_budget_tags(struct foreign *f, const cJSON *item)
{
    static const char prefix[] = "reasoning_budget_";
    const struct setting *const s = setting_of_request(item->string);
    if (strncmp(item->string, prefix, sizeof prefix - 1) != 0)
        return false;
    if (foreign_number(f, "reasoning_budget_tokens", -1.0) < 0.0)
        return true;
    if (!s || (s->form != SETTING_TEXT && s->form != SETTING_TAGS))
        return false;
    if (foreign_is_on(item))
        setting_texts(item, foreign_list(f, s->list));
    return true;
}

// If a reply echoes the settings, the biases include the bans of ignore_eos, so that ignore_eos is ignored. A schema
// without members allows any object. server_finish reads the order of samplers.
static bool server_key(struct foreign *f, const cJSON *item)
{
    if (read_budget_tags(f, item))
        return true;
    if (is_key(item, "json_schema") && cJSON_IsObject(item) && !item->child)
        foreign_set(f, "json-schema", "{\"type\":\"object\"}");
    else if (!is_key(item, "samplers"))
        return is_key(item, "ignore_eos") && f->settings != f->root && has_key(f->settings, "logit_bias");
    return true;
}

static void server_finish(struct foreign *f)
{
    const cJSON *const names = json_member(f->settings, "samplers");
    if (cJSON_IsString(names))
        foreign_set(f, "sampler-seq", names->valuestring);
    else if (names)
        add_order(f, "samplers", "", "");
}

// ---- llama.cpp's config.ini, and presets of --models-preset

// Reads the name of an option without its dashes, or of its environment variable. Options that do not concern sampling
// are ignored.
static bool ini_key(struct foreign *f, const cJSON *item)
{
    static const char variable[] = "LLAMA_ARG_";
    char name[80];
    const bool is_variable = !strncmp(item->string, variable, sizeof variable - 1);
    snprintf(name, sizeof name, "%s", item->string + (is_variable ? sizeof variable - 1 : 0));
    for (char *c = name; is_variable && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const struct option_row *const row = foreign_row(f, name);
    if (row && row->group == GROUP_CHAIN && !row->recipe)
        foreign_unsupported(f, item);
    else if (row && row->recipe)
        foreign_set(f, row->name, item->valuestring);
    return true;
}

// ---- the table

#define TEXT_PARTS                                                                                          \
    "model prompt messages system template stream stream_options raw keep_alive suffix images think tools " \
    "tool_choice user n stop max_tokens max_completion_tokens logprobs top_logprobs echo store metadata "

#define SERVER_CHAIN "penalties;temperature;min_p;top_k;top_p"

// With ignore_eos, vLLM and SGLang go on behind the end of a text, and ban no token.
// clang-format off
const struct dialect dialects[] = {
    {"sampl", .identify = printed_identify, .defaults = true, .whole = true,
     .read_key = printed_key, .finish = printed_finish},
    {"llama-server", .identify = echo_identify, .defaults = true,
     .read_key = server_key, .finish = server_finish, .ignored = setting_server_ignores},
    {"LM Studio", .identify = studio_identify, .read_key = studio_key,
     .absent = "temp=0.8 top-k=40 repeat-penalty=1.1 min-p=0.05 top-p=0.95",
     .ignored = "max*Tokens stop* system* context* prompt* tool* speculative* cpu* reasoning* llama.* promptTemplate"},
    {"SillyTavern", {{"rep_pen", "typical_p"}, {"rep_pen", "temperature_last"}},
     .read_key = cutoff_key, .finish = silly_finish,
     .ignored = "temperature_last min_temp max_temp dynatemp streaming n negative_prompt length_penalty early_stopping "
                "do_sample add_bos_token skip_special_tokens spaces_between_special_tokens speculative_ngram "
                "include_reasoning sampler* rep_pen_size genamt max_length max_context* truncation_length extensions "
                "*_send_banned_tokens send_banned_tokens"},
    {"KoboldCpp", {{"sampler_order"}, {"rep_pen", "typical"}}, .read_key = kobold_key, .finish = kobold_finish,
     .absent = "repeat-last-n=320 dry-penalty-last-n=320 xtc-threshold=0.2", .ignored = "sampler_order"},
    {"transformers", {{"transformers_version"}, {"_from_model_config"}, {"do_sample"}, {"eos_token_id", "top_p"}},
     .engine = "transformers", .read_key = hf_key, .finish = hf_finish, .absent = "repeat-last-n=-1",
     .ignored = "do_sample transformers_version _from_model_config *_token_id max_* cache_* use_cache return_* "
                "output_* num_return_sequences early_stopping length_penalty stop_strings num_assistant_tokens* "
                "assistant_* is_assistant prompt_lookup* chat_format renormalize_logits remove_invalid_values "
                "low_memory token_healing trust_remote_code"},
    {"Ollama", .identify = ollama_identify, .read_key = ollama_key, .finish = ollama_finish,
     .absent = "temp=0.8 top-k=40 top-p=0.9 repeat-last-n=64",
     .ignored = TEXT_PARTS "options format num_* stop mirostat_* penalize_newline low_vram f16_kv use_m* main_gpu "
                "logits_all vocab_only embedding_only rope_* draft_*"},
    {"llama-server", {{"n_predict"}, {"samplers"}, {"repeat_penalty"}, {"cache_prompt"}}, .defaults = true,
     .read_key = server_key, .finish = server_finish, .ignored = setting_server_ignores},
    {"SGLang", .member = "sampling_params", .engine = "sglang", .read_key = sglang_key, .finish = ends_finish,
     .chain = SERVER_CHAIN, .absent = "repeat-last-n=-1",
     .ignored = "ignore_eos max_new_tokens n stop* no_stop_trim *_special_tokens stream_interval custom_params"},
    {"vLLM", {{"structured_outputs"}, {"bad_words", "stop_token_ids"}}, .engine = "vllm", .read_key = vllm_key,
     .finish = ends_finish, .chain = SERVER_CHAIN, .absent = "repeat-last-n=-1",
     .ignored = TEXT_PARTS "stop_token_ids include_* *_special_tokens truncate_prompt_tokens prompt_logprobs add_* "
                "ignore_eos continue_final_message chat_template* documents priority request_id return_* detokenize "
                "parallel_tool_calls service_tier cache_salt vllm_xargs kv_transfer_params mm_processor_kwargs"},
    {"mlx_lm", {{"repetition_context_size"}}, .engine = "mlx", .read_key = mlx_key,
     .chain = "penalties;top_p;min_p;top_k;temperature", .absent = "temp=0 repeat-last-n=20",
     .ignored = TEXT_PARTS "adapters draft_model num_draft_tokens role_mapping chat_template*"},
    {"OpenAI", {{"model", "messages"}, {"model", "prompt"}}, .read_key = openai_key, .finish = openai_finish,
     .chain = SERVER_CHAIN, .absent = "repeat-last-n=-1", .ignored = TEXT_PARTS},
    {"text-generation-webui", .member = "yaml", .tfs = "tfs_tg", .read_key = webui_key, .finish = webui_finish,
     .absent = "repeat-last-n=1024 dry-penalty-last-n=1024",
     .ignored = "do_sample dynamic_temperature temperature_last dynatemp_low dynatemp_high sampler_priority "
                "truncation_length max_* auto_max_new_tokens add_bos_token skip_special_tokens ban_eos_token_* "
                "prompt_lookup_num_tokens static_cache stream"},
    {"llama.cpp", .member = "ini", .defaults = true, .read_key = ini_key},
    {NULL},
};
// clang-format on
