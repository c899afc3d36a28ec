// SPDX-License-Identifier: MIT
// The token that --expect names: the stage that removed it, or its share in the draw, and how near the decision was.
#include "samplers/list.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

#define NEAR 0.01 // a stage whose last kept candidate is nearer to the limit counts as its edge in place of others

// The candidate of a step with the lowest rank.
static uint32_t last_kept(const struct log *l, const struct log_step *step)
{
    const float *const logit = l->logit + step->at;
    size_t last = 0;
    for (size_t i = 1; i < step->n; i++)
        last = logit[i] <= logit[last] ? i : last;
    return l->id[step->at + last];
}

// The sum of the probabilities of the candidates that rank before the one at a place.
static double mass_before(const struct softmax *s, const float *logit, size_t n, size_t place)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        if (logit[i] > logit[place] || (i < place && logit[i] == logit[place]))
            sum += softmax_prob(s, logit[i]);
    return sum;
}

// Returns whether a step removed no candidate that ranks before this one, which it removed. Unlisted candidates may
// rank before it.
static bool removed_best(const struct log *l, const struct log_step *step, uint32_t id, size_t rank)
{
    const struct log_step *const before = step - 1;
    const float *const logit = l->logit + before->at;
    const size_t at = log_find(l, before, id);
    if (rank > before->n)
        return false;
    for (size_t i = 0; i < before->n; i++)
        if ((logit[i] > logit[at] || (i < at && logit[i] == logit[at])) &&
            log_find(l, step, l->id[before->at + i]) == SIZE_MAX)
            return false;
    return true;
}

// The distance of a logit from the other side of the cut. If the token is removed: from the lowest kept logit; if it is
// the last that is kept: from the best removed one.
static double distance_from_cut(const struct log *l, const struct log_step *step, uint32_t id)
{
    const struct log_step *const before = step - 1;
    const float x = l->logit[before->at + log_find(l, before, id)];
    float best = -INFINITY;
    const size_t last = log_find(l, before, last_kept(l, step));
    if (log_find(l, step, id) == SIZE_MAX)
        return last == SIZE_MAX ? INFINITY : (double)l->logit[before->at + last] - x;
    for (size_t i = before->at, k = step->at; i < before->at + before->n; i++) { // both by rising id
        while (k < step->at + step->n && l->id[k] < l->id[i])
            k++;
        if (k == step->at + step->n || l->id[k] != l->id[i])
            best = fmaxf(best, l->logit[i]);
    }
    return (double)x - best;
}

// Measures a candidate of the step before `step`, whose stage compared the candidate with its limit.
static void measure_limit(const struct log *l, const struct kern *kern, const struct log_step *step, uint32_t id,
                          struct expected *x)
{
    const struct log_step *const before = step - 1;
    const float *const logit = l->logit + before->at;
    const size_t at = log_find(l, before, id);
    struct compared of = {.logit = logit, .n = before->n, .own = logit[at]};
    struct softmax s = log_compared(l, kern, step, &of);
    of.softmax = &s;
    const enum limit_kind kind = step->stage ? step->stage->sampler->limits : LIMITS_NOTHING;
    if (step->stage && step->n)
        x->gap = distance_from_cut(l, step, id);
    if (step->stage && step->stage->sampler->distance && !(before->weight > -INFINITY))
        x->margin = step->stage->sampler->distance(step->stage, &of);
    if (kind == LIMITS_RANK)
        x->margin = x->gap;
    if (kind == LIMITS_RATIO) {
        x->reached = softmax_prob(&s, logit[at]) * s.sum;
        x->margin = fabs(x->reached - x->limit.value);
    }
    if (kind == LIMITS_SUM) {
        const size_t last = log_find(l, before, last_kept(l, step));
        x->last = step->n;
        const bool known = !isnan(before->weight); // else shares of the listed tokens are no probabilities
        x->reached = known ? mass_before(&s, logit, before->n, last) + softmax_prob(&s, logit[last]) : NAN;
        x->margin = known ? fabs(mass_before(&s, logit, before->n, at) - x->limit.value) : INFINITY;
    }
}

static bool has_limit(const struct log_step *step)
{
    return step->stage && (step->stage->sampler->limits || step->stage->sampler->distance);
}

// Finds the step that removed the token, or NULL; and the last step with a limit that set the end of what is left.
static const struct log_step *follow(const struct log *l, const struct kern *kern, const struct log_step *end,
                                     struct expected *x, const struct log_step **edge)
{
    const struct log_step *removal = NULL;
    const uint32_t last = last_kept(l, end);
    *edge = NULL;
    for (const struct log_step *step = l->step; step <= end; step++) {
        const bool before = x->kept;
        const size_t at = log_find(l, step, x->id);
        x->kept = at != SIZE_MAX;
        if (x->kept)
            x->rank = step_rank(l, kern, step, at);
        else if (before)
            removal = step;
        if (has_limit(step) && last_kept(l, step) == last && last_kept(l, step - 1) != last)
            *edge = step;
    }
    return removal;
}

// Names the stage of a step and its limit.
static void name_stage(const struct log *l, const struct log_step *step, struct expected *x)
{
    const struct stage *const stage = step->stage;
    stage_name(stage->sampler, recipe_stage_nth(l->recipe, (size_t)(stage - l->recipe->stage)), x->stage);
    x->limits = stage->sampler->limits;
    if (x->limits)
        x->limit = named_param(stage->sampler->params, stage->params);
}

// Compares the values that a selector chooses by, if it adds noise.
static void measure_noise(const struct cand *c, struct expected *x)
{
    struct noised wanted, chosen;
    x->noisy = x->kept && cand_noise_of(c, x->id, &wanted) && cand_noise_of(c, c->chosen, &chosen);
    if (!x->noisy)
        return;
    x->wanted_value = wanted.value;
    x->chosen_value = chosen.value;
    x->margin = fmin(x->margin, x->chosen_value - x->wanted_value);
}

// Fills in what removed the token up to a step. Returns the last step with a limit that set the end of what is left.
static const struct log_step *find_removal(const struct log *l, const struct cand *c, const struct log_step *end,
                                           struct expected *x)
{
    *x = (struct expected){.id = x->id, .margin = INFINITY, .gap = INFINITY, .draw = NAN};
    const struct log_step *edge, *removal = follow(l, c->kern, end, x, &edge);
    x->next = removal && x->rank && removed_best(l, removal, x->id, x->rank);
    x->listed = cand_listed(c, x->id);
    if (!x->listed)
        removal = log_unlisted_removal(l);
    if (removal) {
        x->removed_by = removal->stage ? x->stage : removal->mask;
        if (removal->stage)
            name_stage(l, removal, x);
        if (x->listed)
            measure_limit(l, c->kern, removal, x->id, x);
    }
    return edge;
}

// Measures how near the stage that set the end of what is left was to removing a candidate.
static void measure_edge(const struct log *l, const struct kern *kern, const struct log_step *edge, uint32_t id,
                         struct expected *x)
{
    x->edge_of = x->stage;
    name_stage(l, edge, x);
    measure_limit(l, kern, edge, id, x);
}

double expected_distance(const struct expected *x)
{
    const bool measured = x->limits == LIMITS_SUM || x->limits == LIMITS_RATIO;
    return measured ? x->margin / x->limit.value : x->margin;
}

// Measures a kept candidate by the stage that was nearest to removing it: also one that removed no other candidate.
// edge: the stage that counts if no other was nearer than `least`, or NULL.
static void measure_nearest(const struct log *l, const struct kern *kern, const struct log_step *end,
                            const struct log_step *edge, uint32_t id, double least, struct expected *x)
{
    const struct log_step *nearest = edge;
    for (const struct log_step *step = l->step + 1; step <= end; step++) {
        struct expected other = {.margin = INFINITY};
        if (!has_limit(step) || log_find(l, step - 1, id) == SIZE_MAX)
            continue;
        measure_edge(l, kern, step, id, &other);
        if (expected_distance(&other) < least) {
            nearest = step;
            least = expected_distance(&other);
        }
    }
    if (nearest)
        measure_edge(l, kern, nearest, id, x);
}

void trace_kept(const struct log *l, const struct cand *c, const struct log_step *end, struct expected *x)
{
    const struct log_step *const edge = find_removal(l, c, end, x);
    x->edge = last_kept(l, end);
    if (x->kept)
        measure_nearest(l, c->kern, end, edge, x->id, INFINITY, x);
}

void trace_expected(const struct log *l, const struct cand *c, struct expected *x)
{
    const struct log_step *const end = &l->step[l->n_steps - 1], *const edge = find_removal(l, c, end, x);
    const uint32_t last = last_kept(l, end);
    x->draw = c->state == CAND_PROBABILITIES ? selector_draw(c) : NAN;
    if (!isnan(x->draw)) {
        x->chosen = share_of(c, c->chosen, UINT32_MAX);
        x->wanted = share_of(c, x->id, UINT32_MAX);
    }
    measure_noise(c, x);
    if (!x->kept || isnan(x->draw))
        return;
    // A port may not keep the last candidate, and this token may then be the chosen one.
    const struct interval then = share_of(c, x->id, last);
    x->edge = last;
    if (then.low < x->draw && x->draw <= then.high)
        measure_nearest(l, c->kern, end, edge, last, NEAR, x);
    x->margin = fmin(x->margin, fmin(fabs(x->draw - x->wanted.low), fabs(x->draw - x->wanted.high)));
}
