// SPDX-License-Identifier: MIT
// KoboldCpp and KoboldAI: presets and requests to /api/v1/generate.
#include "programs/program.h"

#include <math.h>

static const struct field_row fields[] = {
    {"sampler_order prompt memory max_length max_context_length n quiet genkey genamt images streaming_kobold "
     "single_line trim_stop render_special bypass_eos stop_sequence use_default_badwordsids use_* using_* stream* "
     "logprobs replace_* preset description grammar_retain_state",
     .form = FIELD_OTHER},
    {"temp temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical typical_p typ_p", "typical"},
    {"rep_pen", "repeat-penalty", OFF_AT(1)},
    {"rep_pen_range repeat_last_n", "repeat-last-n"},
    {"rep_pen_slope", "repeat-penalty-slope", OFF_AT(1)},
    {"frequency_penalty freq_pen", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty presence_pen", "presence-penalty", OFF_AT(0)},
    {"nsigma top_n_sigma", "top-nsigma"},
    {"tfs", "tfs"},
    {"smoothing_curve", "smoothing-curve"},
    {"mirostat mirostat_mode", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"dynatemp_exponent", "dynatemp-exp"},
    {"adaptive_target", "adaptive-target", OFF_UP_TO(0)},
    {"sampler_seed seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"ban_eos_token ignore_eos", "ignore-eos", FIELD_EOS},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"grammar grammar_string", "grammar", FIELD_GRAMMAR},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {"custom_token_bans", "bad-word-tokens", FIELD_BANS},
    {"rep_pen_decay banned_*", NULL, OFF_AT(0)},
    {"guidance_scale", NULL, OFF_AT(1)},
    {"*", .form = FIELD_SAMPLER},
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

// The largest of three names of the repetition penalty counts. A range of 0 is that of one token for the penalties, and
// the whole context for DRY. Seed 0 is a random one. A rep_pen_slope from 0 to 1 acts.
static bool read_key(struct file_view *v, const cJSON *item)
{
    double x;
    const bool is = view_is_number(item, &x);
    if (is_key(item, "repetition_penalty") || is_key(item, "repeat_penalty")) {
        const double other =
            view_number(v, is_key(item, "repeat_penalty") ? "repetition_penalty" : "repeat_penalty", 1.0);
        if (is && x > view_number(v, "rep_pen", 1.0) && (x > other || (x == other && is_key(item, "repeat_penalty"))))
            view_read(v, "rep_pen", item);
    } else if (is_key(item, "rep_pen")) {
        return is && (view_number(v, "repetition_penalty", 1.0) > x || view_number(v, "repeat_penalty", 1.0) > x);
    } else if (is_key(item, "rep_pen_range") && is && x == 0.0) {
        view_set(v, "repeat-last-n", "1");
    } else if (is_key(item, "dry_penalty_last_n") && is && x <= 0.0) {
        view_set(v, "dry-penalty-last-n", "-1");
    } else if (is_key(item, "sampler_seed")) {
        return is && x == 0.0;
    } else if (is_key(item, "grammar") && cJSON_IsString(item) && is_schema(item->valuestring)) {
        view_set(v, "json-schema", item->valuestring);
    } else {
        return is_key(item, "rep_pen_slope") && is && (x <= 0.0 || x > 1.0);
    }
    return true;
}

// A grammar masks the best 3000 tokens before the other samplers. use_default_badwordsids bans the end of a text,
// unless ban_eos_token says otherwise. adaptive_p without a cut gets a min_p.
static void add_rest(struct file_view *v)
{
    const char *const grammar = cJSON_GetStringValue(json_member(v->settings, "grammar"));
    if (grammar && *grammar && !v->engine->options) {
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
    const cJSON *const order = json_array(v->settings, "sampler_order");
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
    .as_of = "1.113",
    .source = "gpttype_adapter.cpp, koboldcpp.py",
    .marks = {{"sampler_order"}, {"rep_pen", "typical"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=320 dry-penalty-last-n=320 xtc-threshold=0.2",
    .order_text = "dry;top_k=3000, the samplers of sampler_order (6, 0, 1, 3, 4, 2, 5 if it is absent), xtc",
    .key = read_key,
    .finish = finish,
};
