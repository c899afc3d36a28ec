// SPDX-License-Identifier: MIT
// SGLang: requests to /generate.
#include "programs/openai.h"

#include <math.h>

// A temperature below 1e-6 is greedy, and so is top-k 1.
static void adjust_sglang(const struct catalog *c, double *value)
{
    double *const temp = &value[c->temp];
    if (*temp < 1e-6 || value[catalog_find(c, "top-k")] == 1.0)
        *temp = 0.0;
}

// clang-format off
static const struct engine sglang = {
    "sglang", .as_of = "commit d315eb72, August 22, 2026",
    .defaults = {{"temp", 1}, {"top-k", -1}, {"top-p", 1}, {"min-p", 0}},
    .ranges = {{"temp", 0, INFINITY, false, "0 and above"}, {"top-k", -1, INFINITY, true, "-1, or 1 and above"},
               {"top-p", 0, 1, true, "above 0, up to 1"}, {"min-p", 0, 1, false, "0 to 1"},
               {"presence-penalty", -2, 2, false, "-2 to 2"}, {"frequency-penalty", -2, 2, false, "-2 to 2"},
               {"repeat-penalty", 0, 2, true, "above 0, up to 2"}},
    .options = "temp,top-k,top-p,min-p,repeat-penalty,presence-penalty,frequency-penalty,logit-bias,min-tokens,"
               "eog-tokens,grammar-first",
    .first_options = ENGINE_GRAMMAR, .adjust = adjust_sglang, .greedy_at_1 = "top-k", .wide_seed = true,
    .stage = {{&sampler_penalties_output}, {&sampler_bans_output}, {&sampler_logit_bias},
              {&sampler_greedy, ENGINE_COLD}, {&sampler_temperature, ENGINE_HOT}, {&sampler_softmax_cut, ENGINE_HOT},
              {&sampler_gumbel_murmur, ENGINE_HOT}}};
// clang-format on

// With ignore_eos, SGLang goes on behind the end of a text, and bans no token. It fails at keys that it does not know.
static const struct field_row fields[] = {
    {"ignore_eos max_new_tokens n stop* no_stop_trim *_special_tokens stream_interval custom_params",
     .form = FIELD_OTHER},
    {"regex ebnf structural_tag", NULL, OFF_AT(0)},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"min_new_tokens", "min-tokens", OFF_UP_TO(0)},
    {"sampling_seed seed", "seed", FIELD_SEED}, // seed: as its OpenAI requests call it
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {NULL},
};

static bool read_key(struct file_view *v, const cJSON *item)
{
    const bool schema = is_key(item, "json_schema") && view_is_on(item);
    if (schema && item != v->made)
        openai_schema_first(v, item);
    return schema;
}

// Adds the tokens that end a text, and a note on penalties of llama's chain.
static void finish(struct file_view *v)
{
    view_end_tokens(v, "stop_token_ids");
    openai_note_history(v);
    if (!v->engine->options && (v->with_prompt || view_active(v, "repeat-penalty")))
        v->with_prompt = "penalties look back on the prompt, too; with --engine sglang only on generated tokens";
}

const struct program program_sglang = {
    .name = "SGLang",
    .reads = "request",
    .as_of = "d315eb72, 2026-08",
    .source = "python/sglang/srt/sampling/sampling_params.py",
    .engines = {&sglang},
    .runs = &sglang,
    .member = "sampling_params",
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers Ollama",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=-1",
    .order = OPENAI_ORDER,
    .key = read_key,
    .finish = finish,
};
