// SPDX-License-Identifier: MIT
// What requests to llama-server, its replies and the parameters of a row have in common.
#ifndef SAMPL_PROGRAMS_LLAMA_H
#define SAMPL_PROGRAMS_LLAMA_H

#include "programs/program.h"

#include <string.h>

// clang-format off
// Members that do not bear on the choice of a token: of requests, and settings that replies repeat.
#define LLAMA_OTHERS \
    "add_generation_prompt backend_sampling cache_prompt chat_format chat_parser chat_template_kwargs " \
    "continue_final_message echo generation_prompt grammar_type id_slot ignore_eos_default input_extra input_prefix " \
    "input_suffix logprobs lora max_completion_tokens max_tokens message_delimiters messages model n n_cache_reuse " \
    "n_cmpl n_discard n_indent n_keep n_predict n_probs parse_tool_calls post_sampling_probs preserved_tokens prompt " \
    "reasoning_control reasoning_effort reasoning_format reasoning_in_content response_fields return_progress " \
    "return_tokens sse_ping_interval stop stream stream_options t_max_predict_ms t_max_prompt_ms " \
    "thinking_budget_tokens thinking_forced_open timings_per_token top_logprobs user verbose speculative*"

// Members that are no parameters of samplers.
#define LLAMA_FIELDS \
    {"logit_bias", "logit-bias", FIELD_BIASES}, \
    {"ignore_eos", "ignore-eos", FIELD_EOS}, \
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS}, \
    {"dry_breaker_tokens", "dry-breaker-tokens", FIELD_SEQUENCES}, \
    {"bad_words_ids", "bad-word-tokens", FIELD_SEQUENCES}, \
    {"custom_token_bans", "bad-word-tokens", FIELD_BANS}, \
    {"grammar", "grammar", FIELD_GRAMMAR}, \
    {"json_schema", "json-schema", FIELD_SCHEMA}, \
    {"grammar_lazy", .form = FIELD_FALSE}, \
    {"grammar_triggers", .form = FIELD_EMPTY}, \
    {"reasoning_budget_tokens", "reasoning-budget", OFF_AT(-1)}, \
    {"reasoning_budget_start_tag", "reasoning-start", FIELD_TEXT}, \
    {"reasoning_budget_end_tag", "reasoning-end", FIELD_TAGS}, \
    {"reasoning_budget_end_tags", "reasoning-end", FIELD_TAGS}, \
    {"reasoning_budget_message", "reasoning-budget-message", FIELD_TEXT}

// Names that presets of many programs have for parameters of samplers.
#define PRESET_FIELDS \
    {"temp temperature", "temp", OFF_AT(1)}, \
    {"top_k topKSampling", "top-k"}, \
    {"top_p topPSampling", "top-p"}, \
    {"min_p minPSampling", "min-p"}, \
    {"typical_p typical typ_p locallyTypicalSampling", "typical"}, \
    {"rep_pen rep_penalty repetition_penalty repeat_penalty repeatPenalty penalty_repeat", "repeat-penalty", \
     OFF_AT(1)}, \
    {"rep_pen_range repetition_penalty_range repeat_last_n penalty_last_n", "repeat-last-n"}, \
    {"freq_pen frequency_penalty frequencyPenalty", "frequency-penalty", OFF_AT(0)}, \
    {"presence_pen presence_penalty presencePenalty", "presence-penalty", OFF_AT(0)}, \
    {"nsigma top_n_sigma", "top-nsigma"}, \
    {"xtcProbability", "xtc-probability", OFF_UP_TO(0)}, \
    {"xtcThreshold", "xtc-threshold"}, \
    {"mirostat mirostat_mode", "mirostat", OFF_AT(0)}, \
    {"mirostat_tau", "mirostat-ent"}, \
    {"mirostat_eta", "mirostat-lr"}, \
    {"dynatemp_exponent", "dynatemp-exp"}, \
    {"adaptive_target", "adaptive-target", OFF_UP_TO(0)}, \
    {"tfs tfs_z tailFreeSampling", "tfs"}, \
    {"smoothing_curve", "smoothing-curve"}, \
    {"no_repeat_ngram_size", "no-repeat-ngram"}, \
    {"encoder_rep_pen encoder_repetition_penalty", "encoder-repeat-penalty"}, \
    {"rep_pen_slope", "repeat-penalty-slope", OFF_AT(1)}, \
    {"min_tokens min_new_tokens", "min-tokens", OFF_UP_TO(0)}
// clang-format on

// An option of llama.cpp.
struct llama_option {
    const char *names, *negative; // without dashes, separated by spaces, and the variables
    enum {
        LLAMA_NONE,    // a flag
        LLAMA_WHOLE,   // read with std::stoi
        LLAMA_NUMBER,  // read with std::stof
        LLAMA_TEXT,    // or read in another way
        LLAMA_REMOVED, // any is an error
    } value;
};

enum llama_option_count {
#define OPTION(names, negative, value) 1 +
    LLAMA_OPTIONS =
#include "programs/llama_options.def"
        0
#undef OPTION
};

extern const struct llama_option llama_options[LLAMA_OPTIONS];

static inline bool llama_has_name(const char *names, const char *key)
{
    return name_find(names, NAME_EXACT, key, strlen(key)) >= 0;
}

static inline bool llama_is_text(const cJSON *item, const char *text)
{
    return cJSON_IsString(item) && !strcmp(item->valuestring, text);
}

// Returns the index of the option of a name; LLAMA_OPTIONS: there is none.
size_t llama_option(const char *name);

// Returns the option of sampl that one of the names stands for; "": presets have no such option. NULL: there is none.
const char *llama_own_option(const struct file_view *v, const char *names);

// Refuses a value that is not the number that the option, an index, reads, and any of an option that the release has
// removed. key: as messages name the option.
void llama_check_value(struct file_view *v, size_t option, const char *key, const char *value);

// Sets an option of sampl to a value, as llama.cpp reads it. key: as messages name the option.
void llama_apply_value(struct file_view *v, const char *option, const char *key, const char *value);

// Refuses a request, v->settings, whose members that do not choose a token are not as llama-server wants them.
void llama_check_request(struct file_view *v, bool chat);

// Names of samplers that llama.cpp knows, and scatter of its fork.
#define LLAMA_SAMPLERS                                                                                           \
    "dry top_k top-k topk top_p top-p topp top_n_sigma top-n-sigma topnsigma typ_p typ-p typp min_p min-p minp " \
    "temperature xtc infill penalties adaptive_p adaptive-p adaptivep nucleus temp typ scatter"

#endif
