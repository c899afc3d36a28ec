// SPDX-License-Identifier: MIT
// encoder_penalty (Hugging Face, text-generation-webui): tokens of the prompt become likelier, by a factor; below 1
// less likely.
#include "sample/sampler.h"

static const struct param params[] = {
    {"encoder-repeat-penalty", "make tokens of the prompt likelier by a factor; 1: off", FLOAT_AT(value_params, value),
     RANGE(1.0 / FLT_MAX, FLT_MAX), .def = 1, .server = "encoder_repetition_penalty", SLIDER(0.8, 1.5, 0.01)},
    {NULL},
};

static float favour(float logit, size_t j, const void *arg)
{
    const float by = *(const float *)arg;
    return logit < 0.0f ? logit * by : logit / by;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const float by = 1.0f / ((const struct value_params *)stage->params)->value;
    rest_multiply(c, &c->history->prompt, NULL, (double)by);
    cand_edit(c, &c->history->prompt, favour, &by);
}

const struct sampler sampler_encoder_penalty = {.name = "encoder_penalty",
                                                .letter = 'v',
                                                .foreign = true,
                                                .reads_prompt = true,
                                                PARAMS(params, value_params),
                                                .runs = {OTHER_THAN, 1},
                                                .apply = apply,
                                                .rest = {apply_with_rest}};
