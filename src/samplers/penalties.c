// SPDX-License-Identifier: MIT
// penalties: tokens among the last accepted ones become less likely, by a factor (Keskar et al. 2019, arXiv 1909.05858) and by
// amounts for each occurrence and for occurring at all.
// repeat_each (the engine akunu): by the factor only, but once for each occurrence.
#include "sample/sampler.h"

#include <math.h>

static bool enabled(const struct params *p)
{
    return p->repeat_last_n != 0 && (p->repeat_penalty != 1.0f || p->frequency_penalty != 0.0f || p->presence_penalty != 0.0f);
}

static struct fault init(void *self, const struct params *p, struct history *h)
{
    struct tally *const recent = self;
    recent->window = window_of(p->repeat_last_n);
    tally_attach(recent, h);
    return fault_none();
}

struct job {
    const struct params *p;
    const struct tally *recent;
};

static float penalise(float logit, size_t j, const void *arg)
{
    const struct job *const job = arg;
    const struct params *const p = job->p;
    const uint32_t count = job->recent->count[j];
    if (!count)
        return logit;
    if (logit <= 0.0f)
        logit *= p->repeat_penalty;
    else
        logit /= p->repeat_penalty;
    return logit - ((float)count * p->frequency_penalty + 1.0f * p->presence_penalty);
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    const struct tally *const recent = self;
    (void)h;
    return cand_edit(c, recent->tokens.id, recent->tokens.n, penalise, &(struct job){p, recent});
}

static bool each_enabled(const struct params *p)
{
    return p->repeat_last_n != 0 && p->repeat_penalty != 1.0f;
}

static float penalise_each(float logit, size_t j, const void *arg)
{
    const struct job *const job = arg;
    const float by = job->p->repeat_penalty;
    float last = NAN; // many equal tokens come to a standstill sooner or later
    for (uint32_t left = job->recent->count[j]; left && logit != last; left--) {
        last = logit;
        logit = logit > 0 ? logit / by : logit * by;
    }
    return logit;
}

static struct fault apply_each(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    const struct tally *const recent = self;
    (void)h;
    return cand_edit(c, recent->tokens.id, recent->tokens.n, penalise_each, &(struct job){p, recent});
}

static struct fault accept(void *self, uint32_t token, const struct params *p, const struct history *h)
{
    (void)token, (void)p;
    return tally_update(self, h);
}

static void reset(void *self, const struct params *p)
{
    (void)p;
    tally_clear(self);
}

static void release(void *self)
{
    tally_free(self);
}

static enum carry carry(const struct params *p)
{
    (void)p;
    return CARRY_TOKENS;
}

const struct sampler sampler_penalties = {.carry = carry,
                                          .size = sizeof(struct tally),
                                          .enabled = enabled,
                                          .init = init,
                                          .apply = apply,
                                          .accept = accept,
                                          .reset = reset,
                                          .release = release};
const struct sampler sampler_repeat_each = {.carry = carry,
                                            .size = sizeof(struct tally),
                                            .enabled = each_enabled,
                                            .init = init,
                                            .apply = apply_each,
                                            .accept = accept,
                                            .reset = reset,
                                            .release = release};
