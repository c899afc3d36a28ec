// SPDX-License-Identifier: MIT
#include "trace/audit.h"

#include "kern/libm.h"
#include "sample/cand_load.h"
#include "trace/trace.h"

#include <assert.h>

// ---- temperatures

// The largest difference of two candidates' logits in a step.
static double spread_of(const struct log *l, const struct log_step *step)
{
    const float *const logit = l->logit + step->at;
    float low = logit[0], high = logit[0];
    for (size_t i = 1; i < step->n; i++) {
        low = fminf(low, logit[i]);
        high = fmaxf(high, logit[i]);
    }
    return (double)high - low;
}

// Returns the number by which a step's stage has divided the logits; 1 if it has not.
static double divisor_of(const struct log *l, const struct log_step *step)
{
    const struct stage *const stage = step->stage;
    const double t = stage && stage->sampler->temperature ? stage->sampler->temperature(stage) : 1.0;
    if (!isnan(t))
        return t > 0.0 ? t : 1.0;
    const double before = spread_of(l, step - 1), after = spread_of(l, step);
    return before > 0.0 && after > 0.0 ? before / after : 1.0;
}

// Returns the product of these numbers of the steps before `end`.
static double temperature_before(const struct log *l, const struct log_step *end)
{
    double t = 1.0;
    for (const struct log_step *step = l->step + 1; step < end; step++)
        t *= divisor_of(l, step);
    return t;
}

// ---- inside: how near the selector was

static double logit_of(double x) { return libm_log(x) - libm_log(1.0 - x); }

// ln of a share of 0 to 1, and the logit of one, whose ends are infinite.
static double ln(double x) { return x > 0.0 ? libm_log(x) : -INFINITY; }
static double share_logit(double x) { return x <= 0.0 ? -INFINITY : x >= 1.0 ? INFINITY : logit_of(x); }

static bool is_sorted(const struct cand *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (c->p[i] > c->p[i - 1])
            return false;
    return c->order != CAND_BY_ID;
}

// The margin of a draw, in units of ln p.
static double drawn_margin(const struct cand *c, size_t at, double u)
{
    const bool sorted = is_sorted(c);
    const double of = ln((double)c->p[at]), target = share_logit(u);
    double sum = 0.0, before = 0.0, least = INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        before = i == at ? sum : before;
        sum += (double)c->p[i];
    }
    if (u > (before + c->p[at]) / sum)
        for (size_t i = at; i < c->n && (i == at || sorted); before += c->p[i++]) {
            const double down = i == at ? 0.0 : of - ln((double)c->p[i]),
                         rise = i + 1 == c->n ? 0.0 : target - share_logit((before + c->p[i]) / sum);
            least = fmin(least, fmax(down, rise));
        }
    else if (u <= before / sum)
        for (size_t i = at + 1; i-- && (i == at || sorted);) {
            const double up = i == at ? 0.0 : ln((double)c->p[i]) - of;
            least = fmin(least, fmax(up, i ? share_logit(before / sum) - target : 0.0));
            before -= i ? (double)c->p[i - 1] : 0.0;
        }
    else
        least = 0.0; // only rounding has chosen another token
    return fmax(least, 0.0);
}

// The margin of scores, in units of the scores.
static double noisy_margin(const struct cand *c, enum selection selects, uint32_t id)
{
    const struct noise *const noise = cand_noise(c);
    struct noised chosen, own;
    if (!cand_noise_of(c, id, &own) || !cand_noise_of(c, c->chosen, &chosen))
        return NAN;
    if (selects == SELECTS_QUOTIENT)
        return ln(chosen.value) - ln(own.value);
    if (selects != SELECTS_PLACE || noise->by_id)
        return chosen.value - own.value;
    const double of = own.value - own.noise; // ln p
    double least = INFINITY;
    for (size_t i = 0; i < noise->n; i++) {
        const struct noised at = noise->of(noise, i);
        least = fmin(least, fmax(fabs(at.value - at.noise - of), chosen.value - of - at.noise));
    }
    return least;
}

static double margin_of(const struct log *l, const struct cand *c, size_t at)
{
    const struct log_step *const end = l->step + l->n_steps;
    const enum selection selects = end[-1].stage ? end[-1].stage->sampler->selects : SELECTS_OTHERWISE;
    const double t = temperature_before(l, end), u = selector_draw(c);
    double margin = NAN;
    if (cand_noise(c))
        margin = noisy_margin(c, selects, cand_id(c, at));
    else if (!isnan(u) && c->state == CAND_PROBABILITIES && c->unlisted.state != UNLISTED_LIVE)
        margin = drawn_margin(c, at, u);
    return selects == SELECTS_LOGIT ? margin : t * margin;
}

// ---- outside: how far below the kept tokens

// Returns the step that removed the token, or NULL: the row does not have it.
static const struct log_step *removal_of(const struct log *l, const struct log_step *end, uint32_t id)
{
    const struct log_step *step = l->step;
    if (log_find(l, step, id) == SIZE_MAX)
        return NULL;
    while (step <= end && log_find(l, step, id) != SIZE_MAX)
        step++;
    return step <= end ? step : NULL;
}

// `last`: the step that has left the kept tokens.
static double below_of(const struct log *l, const struct log_step *last, uint32_t id)
{
    const struct log_step *const removal = removal_of(l, last, id);
    if (!removal || removal->mask)
        return NAN;
    const struct log_step *const before = removal - 1;
    float least = INFINITY;
    for (size_t i = 0; i < last->n; i++)
        least = fminf(least, l->logit[before->at + log_find(l, before, l->id[last->at + i])]);
    return temperature_before(l, removal) * ((double)least - l->logit[before->at + log_find(l, before, id)]);
}

// ---- the row

static double greedy_margin(const struct log *l, const struct log_step *handed, size_t at)
{
    const float *const logit = l->logit + handed->at;
    float best = logit[0];
    for (size_t i = 1; i < handed->n; i++)
        best = fmaxf(best, logit[i]);
    return temperature_before(l, handed + 1) * ((double)best - logit[at]);
}

void trace_audited(const struct log *l, const struct cand *c, struct audited *x)
{
    const struct log_step *const end = l->step + l->n_steps - 1, *last = l->step + 1;
    double sum = 0.0, squares = 0.0;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < c->n; i++) {
        at = cand_id(c, i) == x->id ? i : at;
        sum += (double)c->p[i];
        squares += (double)c->p[i] * c->p[i];
    }
    *x = (struct audited){.id = x->id, .match = c->chosen == x->id, .margin = NAN, .below = NAN, .prob = NAN};
    x->chance = squares / (sum * sum);
    while (last <= end && !(last->stage && stage_is_greedy(last->stage)))
        last++;
    const bool greedy = last <= end;
    last = greedy ? last - 1 : end;
    const size_t handed = log_find(l, last, x->id);
    if (handed == SIZE_MAX && unlisted_may_hold(c, x->id))
        return;
    x->place = handed != SIZE_MAX ? PLACE_INSIDE : PLACE_OUTSIDE;
    x->prob = at == SIZE_MAX ? 0.0 : c->p[at] / sum;
    if (x->place == PLACE_OUTSIDE)
        x->below = below_of(l, last, x->id);
    else if (x->match)
        x->margin = 0.0;
    else
        x->margin = greedy ? greedy_margin(l, last, handed) : at == SIZE_MAX ? NAN : margin_of(l, c, at);
}

void audited_forget(struct audited *x)
{
    x->place = PLACE_UNKNOWN;
    x->prob = x->margin = x->below = NAN;
}

double audited_clipped(const struct audited *x, double clip)
{
    if (x->place == PLACE_OUTSIDE)
        return clip;
    return isnan(x->margin) ? NAN : fmin(x->margin, clip);
}
