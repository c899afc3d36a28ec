// SPDX-License-Identifier: MIT
// temperature: logit /= temp; 0 leaves only the first largest. With a range ("dynatemp") the temperature follows the entropy of the
// row between temp - range and temp + range.
#include "sample/sampler.h"

#include <math.h>

static bool enabled(const struct params *p)
{
    return p->dynatemp_range > 0.0f || p->temp != 1.0f;
}

static struct fault divide(struct cand *c, float temp)
{
    if (temp <= 0.0f)
        return cand_mask_all_but_max(c);
    const struct fault fault = cand_list(c);
    if (!fault.code)
        c->kern->divide(c->logit, c->n, temp);
    if (temp < INFINITY)
        return fault;
    for (size_t i = 0; !fault.code && i < c->n;
         i++) // a negative exponent of dynatemp: all are equal now, and what was masked is NaN
        if (isnan(c->logit[i]))
            c->logit[i] = -INFINITY;
    return fault;
}

// The temperature for this row's entropy. c is sorted and softmaxed.
static float temp_of_entropy(const struct cand *c, const struct params *p)
{
    const float temp = p->temp < 0.0f ? 0.0f : p->temp;
    const float low = fmaxf(0.0f, temp - p->dynatemp_range), high = temp + p->dynatemp_range;
    const float max_entropy = -logf(1.0f / (float)c->n);
    float entropy = 0.0f;
    for (size_t i = 0; i < c->n; i++)
        if (c->p[i] > 0.0f)
            entropy -= c->p[i] * logf(c->p[i]);
    return low + (high - low) * powf(entropy / max_entropy, p->dynatemp_exp);
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    (void)self, (void)h;
    if (!(p->dynatemp_range > 0.0f))
        return divide(c, p->temp);
    if (c->n < 2)
        return fault_none();
    struct fault fault = cand_softmax(c, true);
    return fault.code ? fault : divide(c, temp_of_entropy(c, p));
}

const struct sampler sampler_temperature = {.enabled = enabled, .apply = apply};
