// SPDX-License-Identifier: MIT
// An object of sampling keys and nothing else: vLLM's --override-generation-config, llama-swap's setParams, Open
// WebUI's params, a model card. It sets them over the defaults of the engine that runs.
#include "programs/program.h"

// The spellings of llama-server, of vLLM and of LM Studio's SDK.
static const struct field_row fields[] = {
    {"max_tokens max_new_tokens max_completion_tokens n_predict num_predict num_ctx maxTokens stop stopStrings stream",
     .form = FIELD_OTHER},
    {"temperature temp", "temp", OFF_AT(1)},
    {"top_k topKSampling", "top-k"},
    {"top_p topPSampling", "top-p"},
    {"min_p minPSampling", "min-p"},
    {"typical_p", "typical"},
    {"repetition_penalty repeat_penalty repeatPenalty", "repeat-penalty", OFF_AT(1)},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"min_tokens", "min-tokens", OFF_UP_TO(0)},
    {"xtcProbability", "xtc-probability", OFF_UP_TO(0)},
    {"xtcThreshold", "xtc-threshold"},
    {"seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

extern const struct program program_bare;

// Every key must be known, and one must set something.
static bool find_settings(struct file_view *v)
{
    bool known = true, sets = false;
    for (const cJSON *item = v->root->child; item && known; item = item->next) {
        size_t number;
        const struct field_row *const f = program_field(&program_bare, v->catalog, item->string, &number);
        known = f;
        sets = sets || (f && !field_is_other(f));
    }
    return known && sets;
}

const struct program program_bare = {
    .name = "bare",
    .reads = "an object of sampling keys over the defaults of the engine",
    .as_of = "2026-08",
    .source = "llama-server, vLLM, LM Studio's SDK",
    .find = find_settings,
    .marks_text = "no other keys than those below, and one that sets an option",
    .yields = "*",
    .fields = fields,
    .unset = UNSET_DEFAULTS,
};
