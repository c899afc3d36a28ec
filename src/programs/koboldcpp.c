// SPDX-License-Identifier: MIT
// KoboldCpp and KoboldAI: presets and requests to /api/v1/generate.
#include "programs/openai.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>

static const struct field_row fields[] = {
    {"sampler_order prompt memory max_length max_context_length n quiet genkey genamt images audio streaming_kobold "
     "single_line trim_stop render_special bypass_eos stop_sequence use_default_badwordsids use_* using_* stream* "
     "logprobs replace_* preset description grammar_retain_state adapter messages max_tokens max_completion_tokens "
     "stop tools tool_choice model user",
     .form = FIELD_OTHER},
    {"temp temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical", "typical"},
    {"rep_pen", "repeat-penalty", OFF_AT(1)},
    {"rep_pen_range", "repeat-last-n"},
    {"rep_pen_slope", "repeat-penalty-slope", OFF_AT(1)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"nsigma", "top-nsigma"},
    {"tfs", "tfs"},
    {"top_a", "top-a"},
    {"smoothing_factor", "smoothing-factor"},
    {"smoothing_curve", "smoothing-curve"},
    {"mirostat", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"dynatemp_range", "dynatemp-range"},
    {"dynatemp_exponent", "dynatemp-exp"},
    {"dry_multiplier", "dry-multiplier"},
    {"dry_base", "dry-base"},
    {"dry_allowed_length", "dry-allowed-length"},
    {"dry_penalty_last_n", "dry-penalty-last-n"},
    {"xtc_threshold", "xtc-threshold"},
    {"xtc_probability", "xtc-probability"},
    {"adaptive_target", "adaptive-target", OFF_UP_TO(0)},
    {"adaptive_decay", "adaptive-decay"},
    {"sampler_seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"ban_eos_token", "ignore-eos", FIELD_EOS},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"grammar", "grammar", FIELD_GRAMMAR},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {"custom_token_bans", "bad-word-tokens", FIELD_BANS},
    {"banned_*", NULL, OFF_AT(0)},
    {"guidance_scale", NULL, OFF_AT(1)},
    {NULL},
};

// Returns true if a text is a JSON object, which KoboldCpp takes for a schema in place of a grammar.
static bool is_schema(const char *text)
{
    struct err ignored;
    cJSON *const tree = *text == '{' ? json_parse(text, strlen(text), JSON_EXACT, &ignored) : NULL;
    cJSON_Delete(tree);
    return tree;
}

// The server keeps biases between -100 and 100.
static double bias_of(double x) { return fmin(fmax(x, -100.0), 100.0); }

static void set_bias(struct file_view *v, long id, double x)
{
    char number[NUMBER_TEXT];
    struct builder b = {0};
    number_text((float)bias_of(x), number);
    builder_format(&b, "%ld%s%s", id, *number == '-' ? "" : "+", number);
    if (view_check_text(v, b.failed ? NULL : b.text))
        view_set(v, "logit-bias", b.text);
    builder_free(&b);
}

// Reads an object of biases by id. The server skips other keys, and takes no list.
static void read_biases(struct file_view *v, const cJSON *item)
{
    if (!cJSON_IsObject(item))
        view_name(&v->ignored, item->string);
    for (const cJSON *bias = cJSON_IsObject(item) ? item->child : NULL; bias; bias = bias->next) {
        char *end;
        double x;
        const long id = strtol(bias->string, &end, 10);
        if (end == bias->string || *end || id < 0 || id > INT32_MAX || !view_is_number(bias, &x))
            view_name(&v->ignored, bias->string);
        else
            set_bias(v, id, x);
    }
}

// Reads a text of ids, each of which gets the least bias. What is no id is skipped.
static void read_bans(struct file_view *v, const char *text)
{
    while (*text) {
        const size_t len = strcspn(text, ","), blanks = strspn(text, " \t\n");
        const size_t digits = strspn(text + blanks, "0123456789"), behind = blanks + digits;
        if (digits && digits < 10 && behind + strspn(text + behind, " \t\n") == len)
            set_bias(v, strtol(text, NULL, 10), -INFINITY);
        text += len + (text[len] == ',');
    }
}

// Returns true if a request is one to the endpoints of OpenAI's shape, which have some keys of their own.
static bool is_openai(const struct file_view *v)
{
    return has_key(v->settings, "messages") || has_key(v->settings, "max_tokens") ||
           has_key(v->settings, "max_completion_tokens");
}

// Reads the keys of OpenAI's shape, in place of KoboldCpp's. A frequency penalty is a presence penalty there.
static bool read_openai_key(struct file_view *v, const cJSON *item)
{
    static const char own[] = "seed mirostat_mode frequency_penalty json_schema response_format",
                      replaced[] = "sampler_seed mirostat";
    const bool is_own = name_find(own, NAME_EXACT, item->string, strlen(item->string)) >= 0;
    if (!is_openai(v)) {
        if (is_own)
            view_name(&v->unknown, item->string);
        return is_own;
    }
    if (name_find(replaced, NAME_EXACT, item->string, strlen(item->string)) >= 0)
        view_name(&v->ignored, item->string);
    else if (is_key(item, "seed"))
        view_read(v, "sampler_seed", item);
    else if (is_key(item, "mirostat_mode"))
        view_read(v, "mirostat", item);
    else if (is_key(item, "frequency_penalty") && !has_key(v->settings, "presence_penalty"))
        view_read(v, "presence_penalty", item);
    else if (is_key(item, "frequency_penalty"))
        view_name(&v->ignored, item->string);
    else if (is_key(item, "response_format"))
        openai_key(v, item);
    else
        return false;
    return true;
}

// The largest of three names of the repetition penalty counts.
static bool read_penalty(struct file_view *v, const cJSON *item, double x)
{
    if (is_key(item, "rep_pen"))
        return view_number(v, "repetition_penalty", 1.0) > x || view_number(v, "repeat_penalty", 1.0) > x;
    const double other = view_number(v, is_key(item, "repeat_penalty") ? "repetition_penalty" : "repeat_penalty", 1.0);
    if (x > view_number(v, "rep_pen", 1.0) && (x > other || (x == other && is_key(item, "repeat_penalty"))))
        view_read(v, "rep_pen", item);
    return true;
}

// Reads a number as the server does: a range of 0 is that of one token for the penalties, and the whole context for
// DRY; seed 0 is a random one; a rep_pen_slope from 0 to 1 acts, and so do mirostat 1 and 2.
static bool read_number(struct file_view *v, const cJSON *item, double x)
{
    if (name_find("rep_pen repetition_penalty repeat_penalty", NAME_EXACT, item->string, strlen(item->string)) >= 0)
        return read_penalty(v, item, x);
    if (is_key(item, "rep_pen_range") && x < 1.0)
        view_set(v, "repeat-last-n", "1");
    else if (is_key(item, "dry_penalty_last_n") && x <= 0.0)
        view_set(v, "dry-penalty-last-n", "-1");
    else if (is_key(item, "adaptive_decay"))
        view_set_number(v, "adaptive-decay", fmin(fmax(x, 0.01), 0.99));
    else if (is_key(item, "mirostat"))
        return x != 1.0 && x != 2.0;
    else if (is_key(item, "sampler_seed"))
        return x == 0.0;
    else
        return is_key(item, "rep_pen_slope") && (x <= 0.0 || x > 1.0);
    return true;
}

static bool read_key(struct file_view *v, const cJSON *item)
{
    const char *const text = cJSON_GetStringValue(item);
    double x;
    if (read_openai_key(v, item))
        return true;
    if (is_key(item, "logit_bias") && (cJSON_IsObject(item) || cJSON_IsArray(item)))
        read_biases(v, item);
    else if (is_key(item, "custom_token_bans") && text)
        read_bans(v, text);
    else if (is_key(item, "grammar") && text && is_schema(text))
        view_set(v, "json-schema", text);
    else if (is_key(item, "reasoning_effort") && text &&
             name_find("none minimal low medium", NAME_ANY_CASE, text, strlen(text)) >= 0)
        view_unsupported(v, item); // a budget of the answer's length
    else if (is_key(item, "reasoning_effort"))
        return true;
    else
        return view_is_number(item, &x) && read_number(v, item, x);
    return true;
}

// A grammar masks the best 3000 tokens before the other samplers. use_default_badwordsids bans the end of a text,
// unless ban_eos_token says otherwise. adaptive_p without a cut gets a min_p.
static void add_rest(struct file_view *v)
{
    const char *const grammar = cJSON_GetStringValue(json_member(v->settings, "grammar"));
    const char *const format = cJSON_GetStringValue(json_member(json_member(v->settings, "response_format"), "type"));
    const bool schema =
        is_openai(v) && (has_key(v->settings, "json_schema") || (format && !strncmp(format, "json", strlen("json"))));
    if (((grammar && *grammar) || schema) && !v->engine->options) {
        view_set(v, "grammar-first", NULL);
        view_note(v, "KoboldCpp's grammar chooses among the best 3000 tokens, sampl's among all");
    }
    if (view_is_true(v, "use_default_badwordsids") && !cJSON_HasObjectItem(v->settings, "ban_eos_token"))
        view_set(v, "ignore-eos", NULL);
    if (view_active(v, "adaptive-target") && view_number(v, "min_p", 0.0) == 0.0 &&
        view_number(v, "top_p", 0.92) == 1.0)
        view_set(v, "min-p", "0.002");
}

static void finish(struct file_view *v)
{
    static const char *const stages[] = {"top_k",    "top_a", "top_p;min_p", "tfs", "typ_p", "temperature;smoothing",
                                         "penalties"};
    static const char usual[] = "6013425";
    const cJSON *const list = json_array(v->settings, "sampler_order"), *const order =
                                                                            list && list->child &&
                                                                                    cJSON_GetArraySize(list) <= 7
                                                                                ? list
                                                                                : NULL;
    const int n = order ? cJSON_GetArraySize(order) : (int)strlen(usual);
    view_chain(v, "dry;top_k=3000");
    for (int i = 0; i < n && !v->failed; i++) {
        const char plain[] = {usual[order ? 0 : i], '\0'};
        const char *const number = order ? cJSON_GetArrayItem(order, i)->valuestring : plain;
        if (!number || *number < '0' || *number > '6' || number[1]) {
            view_refuse(v, "sampler_order is not a list of numbers from 0 to 6");
            break;
        }
        view_chain(v, stages[*number - '0']);
        if (*number == '5' && view_active(v, "top-nsigma"))
            view_chain(v, "top_n_sigma");
    }
    view_chain(v, "xtc;adaptive_p");
    if (view_active(v, "dry-multiplier") && !has_key(v->settings, "dry_sequence_breakers"))
        view_set(v, "dry-sequence-breaker", "none");
    if (!v->engine->options && view_active(v, "mirostat") &&
        (view_active(v, "repeat-penalty") || view_active(v, "dry-multiplier")))
        v->warning = "KoboldCpp applies penalties before mirostat; here mirostat runs alone";
    add_rest(v);
    if (!has_key(v->settings, "temp")) // a request: these are the defaults of the server
        view_absent(v, "temp=0.75 top-k=100 top-p=0.92");
}

const struct program program_koboldcpp = {
    .name = "KoboldCpp",
    .reads = "request",
    .as_of = "1.113.1",
    .source = "gpttype_adapter.cpp, koboldcpp.py",
    .marks = {{"sampler_order"}, {"rep_pen", "typical"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=320 dry-penalty-last-n=320 xtc-threshold=0.2",
    .order_text = "dry;top_k=3000, the samplers of sampler_order (6, 0, 1, 3, 4, 2, 5 if it has none, or over 7), xtc",
    .key = read_key,
    .finish = finish,
};
