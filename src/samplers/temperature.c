// SPDX-License-Identifier: MIT
// temperature: logit /= temp; 0 leaves only the first largest. With a range ("dynatemp") the temperature follows the
// entropy of the row between temp - range and temp + range.
#include "kern/libm.h"
#include "sample/compared.h"
#include "sample/sampler.h"

struct temperature_params {
    float temp, range, exponent; // range, exponent: of dynatemp
};

static const struct param params[] = {
    {"temp", "temperature; 0 or less: the likeliest token", FLOAT_AT(temperature_params, temp), FINITE, .common = true,
     .def = 0.8f, .metavar = "T", .also = "temperature", .server = "temperature", CLAMPED(0, INFINITY),
     SLIDER(0, 2, 0.05)},
    {"dynatemp-range", "let the temperature follow the entropy within temp +- X; 0: off",
     FLOAT_AT(temperature_params, range), FINITE, SLIDER(0, 2, 0.05)},
    {"dynatemp-exp", "exponent for --dynatemp-range", FLOAT_AT(temperature_params, exponent), FINITE, .def = 1,
     .server = "dynatemp_exponent", SLIDER(0.1, 5, 0.1)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct temperature_params *const p = stage->params;
    return p->range > 0.0f || p->temp != 1.0f;
}

static double temperature(const struct stage *stage)
{
    const struct temperature_params *const p = stage->params;
    if (p->range > 0.0f)
        return NAN;
    return p->temp > 0.0f ? (double)p->temp : 0.0;
}

// A negative exponent of dynatemp can make the temperature infinite. All quotients are then equal, but -inf becomes
// NaN.
static void divide_all(const struct kern *kern, float *x, size_t n, const void *temp)
{
    const float t = *(const float *)temp;
    kern->divide(x, n, t);
    for (size_t i = 0; !(t < INFINITY) && i < n; i++)
        x[i] = isnan(x[i]) ? -INFINITY : x[i];
}

// A logit of a full row, divided by a temperature below this, may overflow where a log-probability of a list does not.
#define LEAST_OF_LISTS 1e-30f

static void apply_temperature(struct cand *c, float temp)
{
    if (temp > 0.0f && temp < LEAST_OF_LISTS && c->unlisted.scale == SCALE_LOGPROBS)
        unlisted_mask(c, false);
    if (temp <= 0.0f) {
        cand_mask_all_but_max(c);
        return;
    }
    list_stretch(c, 1.0 / (double)temp);
    cand_map(c, divide_all, &temp);
}

// The temperature for this row's entropy.
static float temp_of_entropy(struct cand *c, const struct temperature_params *p)
{
    const float temp = p->temp < 0.0f ? 0.0f : p->temp;
    const float low = fmaxf(0.0f, temp - p->range), high = temp + p->range;
    float *const log = cand_scratch(c, c->n, sizeof *log);
    const float max_entropy = -libm_logf(1.0f / (float)c->n), entropy = cand_rank_entropy(c, cand_rank_sum(c), log);
    return low + (high - low) * libm_powf(entropy / max_entropy, p->exponent);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct temperature_params *const p = stage->params;
    if (!(p->range > 0.0f)) {
        if (!c->pending_sort || !cand_defer(c, p->temp))
            apply_temperature(c, p->temp);
        return;
    }
    if (c->n < 2)
        return;
    unlisted_needs_count(c);
    const float temp = temp_of_entropy(c, p);
    list_stretch(c, INFINITY);
    if (c->fault.code || cand_defer(c, temp))
        return;
    cand_sort(c);
    apply_temperature(c, temp);
}

static bool ends_partial(const struct stage *stage)
{
    const struct temperature_params *const p = stage->params;
    return p->temp <= 0.0f && !(p->range > 0.0f);
}

static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct temperature_params *const p = stage->params;
    if (p->range > 0.0f)
        unlisted_remove(c, false);
    else if (p->temp <= 0.0f)
        unlisted_mask(c, full_best_known(c, 1));
    else
        unlisted_divide(c, p->temp);
    apply(self, c, stage);
}

// Only temperature 0 decides between candidates.
static double distance(const struct stage *stage, const struct compared *of)
{
    return ends_partial(stage) ? compares_best(stage, of) : INFINITY;
}

static void explain(struct account *a)
{
    const struct temperature_params *const p = a->stage->params;
    if (!a->unchanged || !a->whole)
        return;
    if (a->before.n == 1)
        account_say(a,
                    p->temp <= 0.0f && !(p->range > 0.0f) ? "kept all: 1 candidate" : "changed no logit: 1 candidate");
}

const struct sampler sampler_temperature = {.name = "temperature",
                                            .aliases = "temp",
                                            .letter = 't',
                                            PARAMS(params, temperature_params),
                                            .takes_deferred = true,
                                            .enabled = enabled,
                                            .temperature = temperature,
                                            .apply = apply,
                                            .distance = distance,
                                            .explain = explain,
                                            .partial = {partial, ends_partial}};
