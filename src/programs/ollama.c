// SPDX-License-Identifier: MIT
// Ollama: requests, and the parameters of Modelfiles. Since 0.30 it sends its options to llama-server; before, it
// sampled by itself, as engine ollama does.
#include "programs/program.h"

#include <math.h>

// Clamps the parameter with this flag to [low, high].
static void clamp_param(const struct catalog *c, double *value, const char *flag, double low, double high)
{
    double *const v = &value[catalog_find(c, flag)];
    *v = fmin(fmax(*v, low), high);
}

static void adjust_ollama(const struct catalog *c, double *value)
{
    double *const temp = &value[c->temp];
    *temp = *temp > 0.0 ? fmax(*temp, (double)1e-7f) : 0.0;
    clamp_param(c, value, "top-p", 0.0, 1.0);
    clamp_param(c, value, "min-p", 0.0, 1.0);
}

// clang-format off
static const struct engine ollama = {
    "ollama", .as_of = "the last before v0.30.0, May 29, 2026",
    .defaults = {{"top-p", 0.9f}, {"min-p", 0}},
    .options = "temp,top-k,top-p,min-p,grammar-first," ENGINE_GRAMMAR,
    .adjust = adjust_ollama, .wide_seed = true,
    .stage = {{&sampler_greedy, ENGINE_COLD}, {&sampler_top_k, ENGINE_HOT}, {&sampler_sort, ENGINE_HOT},
              {&sampler_temperature, ENGINE_HOT}, {&sampler_softmax_rank, ENGINE_HOT},
              {&sampler_top_p_above, ENGINE_HOT}, {&sampler_min_p_cut, ENGINE_HOT}, {&sampler_draw_pcg, ENGINE_HOT}}};
// clang-format on

static const struct field_row fields[] = {
    {"model prompt messages system template stream stream_options raw keep_alive suffix images think tools "
     "tool_choice user n stop max_tokens max_completion_tokens logprobs top_logprobs echo store metadata options "
     "format num_* mirostat_* penalize_newline low_vram f16_kv use_m* main_gpu logits_all vocab_only embedding_only "
     "rope_* draft_*",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical_p", "typical"},
    {"repeat_penalty", "repeat-penalty", OFF_AT(1)},
    {"repeat_last_n", "repeat-last-n"},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"seed", "seed", FIELD_SEED},
    {NULL},
};

// The settings are the object "options", in a request with a model, and alone in a Modelfile's tree. Some files have
// the options without it.
static bool find_settings(struct file_view *v)
{
    const cJSON *const options = json_member(v->root, "options");
    const bool only = options == v->root->child && options && !options->next;
    v->settings = options ? options : v->root;
    return (cJSON_IsObject(options) && (only || has_key(v->root, "model"))) || has_key(v->root, "num_predict") ||
           has_key(v->root, "num_ctx") || has_key(options, "num_predict") || has_key(options, "num_ctx");
}

// Ollama sends no typical_p of 0. It cuts whole numbers, and takes no texts for numbers. Options that it reads no more
// are noted if they would act.
static bool read_key(struct file_view *v, const cJSON *item)
{
    const double x = view_number(v, item->string, NAN);
    const char *const whole = is_key(item, "top_k")           ? "top-k"
                              : is_key(item, "repeat_last_n") ? "repeat-last-n"
                              : is_key(item, "seed")          ? "seed"
                                                              : NULL;
    if (cJSON_IsString(item) && !isnan(x) && view_knows(v, item->string) && !is_key(item, "stop")) {
        view_refuse(v, "%s is a text, not a number", item->string);
        return true;
    }
    if (whole && cJSON_IsRaw(item) && x != trunc(x)) {
        view_set_number(v, whole, trunc(x));
        return true;
    }
    const bool mirostat = is_key(item, "mirostat"), tfs = is_key(item, "tfs_z");
    if (mirostat && x > 0.0)
        view_note(v, "mirostat: set, but Ollama ignores it");
    if (tfs && x > 0.0 && x < 1.0)
        view_note(v, "tfs_z: set, but Ollama ignores it");
    return mirostat || tfs || (is_key(item, "typical_p") && x == 0.0);
}

// Ollama sends its options to llama-server, without an order of samplers. A format that is an object is a schema.
static void finish(struct file_view *v)
{
    const cJSON *const format = json_member(v->root, "format");
    if (v->settings != v->root && cJSON_IsObject(format))
        view_set_json(v, "json-schema", format);
    else if (v->settings != v->root && cJSON_IsString(format) && !strcmp(format->valuestring, "json"))
        view_set(v, "json-schema", "{}"); // any JSON value
    else if (v->settings != v->root && view_is_on(format))
        view_unsupported(v, format);
    if (!v->engine_named)
        view_note(v, "Ollama before 0.30 sampled by itself: --engine ollama");
}

const struct program program_ollama = {
    .name = "Ollama",
    .reads = "options",
    .as_of = "0.32, 2026-08",
    .source = "llm/server.go, parser/parser.go",
    .engines = {&ollama},
    .find = find_settings,
    .marks_text = "an object options, alone or beside model; num_predict or num_ctx; or a Modelfile",
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers",
    .fields = fields,
    .any_case = true,
    .absent = "temp=0.8 top-k=40 top-p=0.9 repeat-last-n=64",
    .key = read_key,
    .finish = finish,
};
