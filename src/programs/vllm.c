// SPDX-License-Identifier: MIT
// vLLM: requests with its own keys, and the pipelines of its model runners v1 and v2.
#include "programs/openai.h"

#include <math.h>

// A temperature below 1e-5 is greedy; one up to 0.01 is 0.01.
static void adjust_vllm(const struct catalog *c, double *value)
{
    double *const temp = &value[c->temp];
    *temp = *temp < 1e-5 ? 0.0 : fmax(*temp, 0.01);
}

#define VLLM_RANGES                                                                                        \
    {                                                                                                      \
        {"temp", 0, 2, false, "0 to 2"}, {"top-p", 0, 1, true, "above 0, up to 1"},                        \
            {"top-k", -1, INFINITY, false, "-1 and above"}, {"min-p", 0, 1, false, "0 to 1"},              \
            {"presence-penalty", -2, 2, false, "-2 to 2"}, {"frequency-penalty", -2, 2, false, "-2 to 2"}, \
    }
#define VLLM_OPTIONS                                                                                                  \
    "temp,top-k,top-p,min-p,repeat-penalty,presence-penalty,frequency-penalty,logit-bias,bad-word-tokens,min-tokens," \
    "eog-tokens,grammar-first"

// clang-format off
static const struct engine vllm = {
    "vllm", .as_of = "commit 0055b8bf, August 2, 2026",
    .defaults = {{"temp", 1}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}}, .ranges = VLLM_RANGES,
    .options = VLLM_OPTIONS, .first_options = ENGINE_GRAMMAR, .adjust = adjust_vllm, .wide_seed = true,
    .not_replayed = "CUDA",
    .stage = {{&sampler_bans_output}, {&sampler_logit_bias}, {&sampler_penalties_vllm}, {&sampler_greedy, ENGINE_COLD},
              {&sampler_temperature, ENGINE_HOT}, {&sampler_min_p_prob, ENGINE_HOT}, {&sampler_top_k_ties, ENGINE_HOT},
              {&sampler_top_p_rising_f32, ENGINE_HOT}, {&sampler_draw_exp, ENGINE_HOT}}};

static const struct engine vllm_v2 = {
    "vllm-v2", .as_of = "commit 0055b8bf, August 2, 2026",
    .defaults = {{"temp", 1}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}}, .ranges = VLLM_RANGES,
    .options = VLLM_OPTIONS, .first_options = ENGINE_GRAMMAR, .adjust = adjust_vllm, .wide_seed = true,
    .stage = {{&sampler_logit_bias}, {&sampler_penalties_vllm}, {&sampler_bans_output}, {&sampler_greedy, ENGINE_COLD},
              {&sampler_temperature, ENGINE_HOT}, {&sampler_min_p, ENGINE_HOT}, {&sampler_top_k_ties, ENGINE_HOT},
              {&sampler_top_p_rising_f32, ENGINE_HOT}, {&sampler_gumbel_philox, ENGINE_HOT}}};
// clang-format on

// With ignore_eos, vLLM goes on behind the end of a text, and bans no token.
static const struct field_row fields[] = {
    {OPENAI_OTHERS "stop_token_ids include_* *_special_tokens truncate_prompt_tokens prompt_logprobs add_* ignore_eos "
                   "continue_final_message chat_template* documents priority request_id return_* detokenize "
                   "parallel_tool_calls service_tier cache_salt vllm_xargs kv_transfer_params mm_processor_kwargs "
                   "repetition_detection logprob_token_ids prompt_logprob_* stream_interval reasoning_effort "
                   "length_penalty truncation_side prompt_embeds ec_transfer_params media_io_kwargs",
     .form = FIELD_OTHER},
    OPENAI_FIELDS,
    {"guided_* bad_words allowed_token_ids logits_processors use_beam_search", NULL, OFF_AT(0)},
    {"thinking_token_budget", NULL, OFF_AT(-1)},
    {NULL},
};

// Reads biases of which some lie outside of -100 to 100, which vLLM cuts to these bounds. False: there are none, or not
// all are numbers.
static bool cut_biases(struct file_view *v, const cJSON *item)
{
    bool outside = false;
    double x;
    for (const cJSON *bias = item->child; bias; bias = bias->next) {
        if (!bias->string || !view_is_number(bias, &x))
            return false;
        outside = outside || fabs(x) > 100.0;
    }
    for (const cJSON *bias = item->child; bias && outside; bias = bias->next) {
        struct builder text = {0};
        const char *const number = view_is_number(bias, &x) && x > 100.0 ? "100"
                                   : x < -100.0                          ? "-100"
                                                                         : bias->valuestring;
        builder_format(&text, "%s%s%s", bias->string, *number == '-' ? "" : "+", number);
        view_set(v, "logit-bias", view_check_text(v, text.text));
        builder_free(&text);
    }
    return outside;
}

// Reads biases, and the constraints of structured outputs.
static bool read_key(struct file_view *v, const cJSON *item)
{
    double x;
    if (is_key(item, "logit_bias") && cut_biases(v, item))
        return true;
    if (is_key(item, "repetition_penalty") && view_is_number(item, &x) && x <= 0.0)
        return !view_refuse(v, "repetition_penalty is not above 0, and vLLM refuses the request");
    if (!is_key(item, "structured_outputs"))
        return openai_key(v, item);
    for (const cJSON *rule = item->child; rule; rule = rule->next) {
        if (rule->string && is_key(rule, "json") && view_is_on(rule))
            openai_schema_first(v, rule);
        else if (rule->string && view_is_on(rule))
            view_unsupported(v, rule);
    }
    return true;
}

static void finish(struct file_view *v)
{
    view_end_tokens(v, "stop_token_ids");
    openai_note_history(v);
}

const struct program program_vllm = {
    .name = "vLLM",
    .reads = "request",
    .as_of = "0055b8bf, 2026-08",
    .source = "vllm/sampling_params.py",
    .engines = {&vllm, &vllm_v2},
    .runs = &vllm,
    .marks = {{"structured_outputs"}, {"bad_words", "stop_token_ids"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers Ollama SGLang",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=-1",
    .order = OPENAI_ORDER,
    .key = read_key,
    .finish = finish,
};
