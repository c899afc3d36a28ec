// SPDX-License-Identifier: MIT
// encoder_penalty (Hugging Face, text-generation-webui): tokens of the prompt become likelier, by a factor; below 1
// less likely. encoder_penalty_wide (the engine transformers): the factor keeps its f64.
#include "sample/sampler.h"

struct encoder_params {
    float factor;
    double wide;
};

static const struct param params[] = {
    {"encoder-repeat-penalty", "make tokens of the prompt likelier by a factor; 1: off",
     FLOAT_AT(encoder_params, factor), RANGE(1.0 / FLT_MAX, FLT_MAX), .def = 1, .server = "encoder_repetition_penalty",
     SLIDER(0.8, 1.5, 0.01)},
    {NULL},
};
static const struct param wide_params[] = {{"encoder-repeat-penalty", DOUBLE_AT(encoder_params, wide)}, {NULL}};

static float favour(float logit, size_t j, const void *arg)
{
    const float by = *(const float *)arg;
    return logit < 0.0f ? logit * by : logit / by;
}

// The reciprocal of an f32 has the same bits if it is rounded to f64 first, since f64 has more than twice the digits.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const float by = (float)(1.0 / stage_first(stage));
    unlisted_multiply(c, &c->history->prompt, NULL, (double)by);
    cand_edit(c, &c->history->prompt, favour, &by);
}

static void explain(struct account *a)
{
    const struct idmap *const prompt = &a->history->prompt;
    if (a->unchanged && !prompt->n)
        account_say(a, "did not act: there is no prompt");
    else if (a->unchanged)
        account_none(a, prompt->id, prompt->n, "prompt's");
}

#define ENCODER_PENALTY(NAME, LETTER, ROWS)                                                                           \
    {                                                                                                                 \
        .name = (NAME), .letter = (LETTER), .in_llama = (LETTER) ? LLAMA_LACKS : LLAMA_HAS,                           \
        .needs_two = (LETTER) != 0, .joins_default = (LETTER) != 0, PARAMS(ROWS, encoder_params),                     \
        .reads_prompt = true, .runs = {OTHER_THAN, 1}, .partial = {apply_partial}, .explain = explain, .apply = apply \
    }

const struct sampler sampler_encoder_penalty = ENCODER_PENALTY("encoder_penalty", 'v', params);
const struct sampler sampler_encoder_penalty_wide = ENCODER_PENALTY("encoder_penalty_wide", 0, wide_params);
