// SPDX-License-Identifier: MIT
// What requests to OpenAI, vLLM, SGLang and mlx_lm.server have in common.
#ifndef SAMPL_PROGRAMS_OPENAI_H
#define SAMPL_PROGRAMS_OPENAI_H

#include "programs/program.h"

// The chain of llama's samplers that is nearest to these servers'.
#define OPENAI_ORDER "penalties;temperature;min_p;top_k;top_p"

// clang-format off
// Keys that do not bear on the choice of a token.
#define OPENAI_OTHERS \
    "model prompt messages system template stream stream_options raw keep_alive suffix images think tools " \
    "tool_choice user n stop max_tokens max_completion_tokens logprobs top_logprobs echo store metadata " \
    "input instructions max_output_tokens previous_response_id reasoning include truncation "

// Keys that set samplers.
#define OPENAI_FIELDS \
    {"temperature", "temp", OFF_AT(1)}, \
    {"top_k", "top-k"}, \
    {"top_p", "top-p"}, \
    {"min_p", "min-p"}, \
    {"typical_p typ_p", "typical"}, \
    {"repetition_penalty repeat_penalty", "repeat-penalty", OFF_AT(1)}, \
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)}, \
    {"presence_penalty", "presence-penalty", OFF_AT(0)}, \
    {"min_tokens min_new_tokens", "min-tokens", OFF_UP_TO(0)}, \
    {"mirostat mirostat_mode", "mirostat", OFF_AT(0)}, \
    {"mirostat_tau", "mirostat-ent"}, \
    {"mirostat_eta", "mirostat-lr"}, \
    {"seed sampling_seed", "seed", FIELD_SEED}, \
    {"logit_bias", "logit-bias", FIELD_BIASES}, \
    {"bad_words_ids", "bad-word-tokens", FIELD_SEQUENCES}, \
    {"custom_token_bans", "bad-word-tokens", FIELD_BANS}, \
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS}, \
    {"grammar", "grammar", FIELD_GRAMMAR}, \
    {"json_schema", "json-schema", FIELD_SCHEMA}, \
    {"*", .form = FIELD_SAMPLER}
// clang-format on

// Reads the format of the answer. True for it, and for a repetition_penalty of 0, with which mlx_lm.server has none.
bool openai_key(struct file_view *v, const cJSON *item);

// Adds an item that is a schema. The server masks the row by it before its chain runs.
void openai_schema_first(struct file_view *v, const cJSON *item);

// Notes that penalties of llama's chain count the tokens of a prompt, too, if the file sets amounts.
void openai_note_history(struct file_view *v);

#endif
