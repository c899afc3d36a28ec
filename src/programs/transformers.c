// SPDX-License-Identifier: MIT
// transformers: generation_config.json.
#include "programs/program.h"

#include <math.h>

// clang-format off
static const struct engine transformers = {
    "transformers", .as_of = "commit c49429ed, August 16, 2026",
    .defaults = {{"temp", 1}, {"top-k", 50}, {"top-p", 1}, {"min-p", 0}, {"repeat-last-n", -1}},
    .ranges = {{"temp", 0, INFINITY, false, "0 and above"}, {"top-k", 0, INFINITY, false, "0 and above"},
               {"top-p", 0, 1, false, "0 to 1"}, {"min-p", 0, 1, false, "0 to 1"},
               {"typical", 0, 1, true, "above 0, up to 1"}},
    .options = "temp,top-k,top-p,min-p,typical,top-h,epsilon-cutoff,eta-cutoff,repeat-penalty,encoder-repeat-penalty,"
               "no-repeat-ngram,logit-bias,bad-word-tokens,min-tokens,eog-tokens,grammar-first",
    .first_options = ENGINE_GRAMMAR, .wide_seed = true, .not_replayed = "CUDA",
    .stage = {{&sampler_logit_bias}, {&sampler_encoder_penalty_wide}, {&sampler_penalties},
              {&sampler_no_repeat_ngram_any}, {&sampler_bans_bad_words}, {&sampler_greedy, ENGINE_COLD},
              {&sampler_temperature, ENGINE_HOT}, {&sampler_top_h_ties, ENGINE_HOT}, {&sampler_top_k_ties, ENGINE_HOT},
              {&sampler_top_p_rising, ENGINE_HOT}, {&sampler_min_p_prob, ENGINE_HOT},
              {&sampler_typ_p_ties, ENGINE_HOT}, {&sampler_epsilon_ties, ENGINE_HOT}, {&sampler_eta_ties, ENGINE_HOT},
              {&sampler_draw_exp, ENGINE_HOT}}};
// clang-format on

static const struct field_row fields[] = {
    {"do_sample transformers_version _from_model_config *_token_id max_* cache_* use_cache return_* output_* "
     "num_return_sequences early_stopping length_penalty stop_strings num_assistant_tokens* assistant_* is_assistant "
     "prompt_lookup* chat_format renormalize_logits remove_invalid_values low_memory token_healing trust_remote_code "
     "target_lookbehind speculation_type compile_config disable_compile prefill_chunk_size _commit_hash "
     "continuous_batching_config",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical_p", "typical"},
    {"repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"encoder_repetition_penalty", "encoder-repeat-penalty"},
    {"no_repeat_ngram_size", "no-repeat-ngram"},
    {"min_new_tokens", "min-tokens", OFF_UP_TO(0)},
    {"seed", "seed", FIELD_SEED},
    {"bad_words_ids", "bad-word-tokens", FIELD_SEQUENCES},
    {"suppress_tokens", "bad-word-tokens", FIELD_BANS},
    {"penalty_alpha min_length diversity_penalty begin_suppress_tokens sequence_bias force_words_ids "
     "exponential_decay_length_penalty watermarking_config dola_layers forced_decoder_ids constraints "
     "encoder_no_repeat_ngram_size",
     NULL, OFF_AT(0)},
    {"guidance_scale num_beams num_beam_groups", NULL, OFF_AT(1)},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

// Returns true if vLLM or SGLang reads the file. They take no notice of do_sample, and have ranges of their own.
static bool is_of_server(const struct file_view *v)
{
    return !strncmp(v->engine->name, "vllm", strlen("vllm")) || !strcmp(v->engine->name, "sglang");
}

// Returns true if transformers takes the likeliest token.
static bool is_greedy(const struct file_view *v) { return !view_is_true(v, "do_sample") && !is_of_server(v); }

// Ignores the samplers that transformers does not run without do_sample: all but the penalties.
static bool read_key(struct file_view *v, const cJSON *item)
{
    static const char drawn[] = "temperature top_k top_p min_p typical_p top_h epsilon_cutoff eta_cutoff";
    const double x = view_number(v, item->string, 1.0);
    if (is_key(item, "top_k") && x < 0.0 && !is_of_server(v))
        view_refuse(v, "top_k is below 0, which transformers refuses");
    if ((is_key(item, "temperature") || is_key(item, "top_h")) && x <= 0.0 && !is_greedy(v) && !is_of_server(v))
        view_refuse(v, "%s is not above 0, which transformers refuses", item->string);
    const bool ignored = is_greedy(v) && name_find(drawn, NAME_EXACT, item->string, strlen(item->string)) >= 0;
    if (ignored)
        view_name(&v->ignored, item->string);
    return ignored;
}

static void finish(struct file_view *v)
{
    view_end_tokens(v, "eos_token_id");
    if (view_is_on(json_member(v->settings, "forced_bos_token_id")) ||
        view_is_on(json_member(v->settings, "forced_eos_token_id")))
        view_note(v, "forced_bos_token_id and forced_eos_token_id choose the first and the last token; here the chain "
                     "chooses them");
    if (v->ignored.n)
        view_note(v, "without do_sample the likeliest token is chosen");
    if (is_greedy(v)) {
        view_chain(v, "encoder_penalty;penalties;no_repeat_ngram;temperature");
        view_set(v, "temp", "0");
    } else {
        view_chain(v, "encoder_penalty;penalties;no_repeat_ngram;temperature;top_h;top_k;top_p;min_p;typ_p;"
                      "epsilon_cutoff;eta_cutoff");
    }
}

const struct program program_transformers = {
    .name = "transformers",
    .reads = "generation_config.json",
    .as_of = "5.16, 2026-08",
    .source = "src/transformers/generation/",
    .engines = {&transformers},
    .runs = &transformers,
    .marks = {{"transformers_version"}, {"_from_model_config"}, {"do_sample"}, {"eos_token_id", "top_p"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp text-generation-webui",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=-1 top-k=50",
    .order_text = "penalties;temperature;top_k;top_p;min_p;typ_p",
    .key = read_key,
    .finish = finish,
};
