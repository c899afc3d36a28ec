// SPDX-License-Identifier: MIT
// mlx-lm: requests to mlx_lm.server with the keys of its penalties.
#include "programs/openai.h"

#include <math.h>

// clang-format off
static const struct engine mlx = {
    "mlx", .as_of = "commit d78bf58, 0.32.0, August 22, 2026",
    .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 0}, {"min-p", 0}, {"repeat-last-n", 20}},
    .ranges = {{"top-k", 0, INFINITY, false, "0 and above"}, {"min-p", 0, 1, false, "0 to 1"}},
    .options = "temp,top-k,top-p,min-p,repeat-penalty,presence-penalty,frequency-penalty,repeat-last-n,logit-bias,"
               "grammar-first",
    .first_options = ENGINE_GRAMMAR, .not_replayed = "MLX",
    .stage = {{&sampler_logit_bias}, {&sampler_penalties_window}, {&sampler_log_softmax},
              {&sampler_greedy, ENGINE_COLD}, {&sampler_top_p_log, ENGINE_HOT}, {&sampler_min_p_log, ENGINE_HOT},
              {&sampler_top_k_id, ENGINE_HOT}, {&sampler_scale_wide, ENGINE_HOT}, {&sampler_dist, ENGINE_HOT}}};
// clang-format on

static const struct field_row fields[] = {
    {OPENAI_OTHERS "adapters draft_model num_draft_tokens role_mapping chat_template*", .form = FIELD_OTHER},
    {"ignore_eos", "ignore-eos", FIELD_EOS},
    {"repetition_context_size", "repeat-last-n"},
    OPENAI_FIELDS,
    {"presence_context_size frequency_context_size", NULL, OFF_AT(0)},
    {NULL},
};

// The engine has one window for all three penalties, so that another one is refused, and no xtc, which the server has.
static bool read_key(struct file_view *v, const cJSON *item)
{
    if (v->engine->options && is_key(item, "xtc_probability") && view_is_on(item))
        view_unsupported(v, item);
    if (v->engine->options && (is_key(item, "xtc_probability") || is_key(item, "xtc_threshold")))
        return true;
    const double size = view_number(v, "repetition_context_size", 20.0);
    const bool other = is_key(item, "presence_context_size") || is_key(item, "frequency_context_size");
    return (other && view_number(v, item->string, NAN) == size) || openai_key(v, item);
}

const struct program program_mlx_lm = {
    .name = "mlx_lm",
    .reads = "request",
    .as_of = "0.32.0, 2026-08",
    .source = "mlx_lm/server.py",
    .engines = {&mlx},
    .runs = &mlx,
    .marks = {{"repetition_context_size"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers Ollama SGLang vLLM",
    .fields = fields,
    .any_case = true,
    .absent = "temp=0 repeat-last-n=20",
    .order = "penalties;top_p;min_p;top_k;temperature",
    .key = read_key,
};
