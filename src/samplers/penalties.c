// SPDX-License-Identifier: MIT
// penalties: tokens among the last accepted ones become less likely, by a factor (Keskar et al. 2019, arXiv 1909.05858)
// and by amounts for each occurrence and for occurring at all. With a slope (KoboldCpp's rep_pen_slope) the factor is
// less for tokens that only the older half of the window has.
//
// Engines differ in the tokens that they look at, in the order of the two kinds, and in how a factor is rounded:
// repeat_each (akunu) applies the factor only, but once for each occurrence; penalties_vllm (vllm, vllm-v2),
// penalties_output (sglang) and penalties_window (mlx). Formulas: sampl-spec(7).
#include "sample/sampler.h"

#include <inttypes.h>
#include <stdlib.h>

struct penalties_params {
    float repeat, frequency, presence, slope;
    int32_t last_n; // -1: the whole history
};

enum { WHOLE_HISTORY = 1 }; // the variants without --repeat-last-n

static const struct param params[] = {
    {"repeat-penalty", "divide the logit of a repeated token by X; multiply a negative one; 1: off",
     FLOAT_AT(penalties_params, repeat), RANGE(1.0 / FLT_MAX, FLT_MAX), .common = true, .def = 1,
     SLIDER(0.8, 1.5, 0.01)},
    {"repeat-last-n", "how many tokens the penalties look back; 0: off, -1: all", INT_AT(penalties_params, last_n),
     RANGE(-1, INT32_MAX), .def = 64, REFUSED(0, INFINITY), SLIDER(-1, 512, 1)},
    {"frequency-penalty", "subtract X from a token's logit for each time it occurred",
     FLOAT_AT(penalties_params, frequency), FINITE, SLIDER(-1, 2, 0.05)},
    {"presence-penalty", "subtract X from a repeated token's logit; once", FLOAT_AT(penalties_params, presence), FINITE,
     SLIDER(-1, 2, 0.05)},
    {"repeat-penalty-slope",
     "share of the repeat penalty for tokens only in the older half of the window; 1: all of it",
     FLOAT_AT(penalties_params, slope), RANGE(0x1p-149, 1), .def = 1, .server = "rep_pen_slope", SLIDER(0.01, 1, 0.01)},
    {NULL},
};

// Rows of engines. Members of the struct that have no row are 0, and have no effect.
static const struct param each_params[] = {
    {"repeat-penalty", FLOAT_AT(penalties_params, repeat)},
    {"repeat-last-n", INT_AT(penalties_params, last_n)},
    {NULL},
};
static const struct param whole_params[] = {
    {"repeat-penalty", FLOAT_AT(penalties_params, repeat)},
    {"frequency-penalty", FLOAT_AT(penalties_params, frequency)},
    {"presence-penalty", FLOAT_AT(penalties_params, presence)},
    {NULL},
};
static const struct param window_params[] = {
    {"repeat-penalty", FLOAT_AT(penalties_params, repeat)},
    {"frequency-penalty", FLOAT_AT(penalties_params, frequency)},
    {"presence-penalty", FLOAT_AT(penalties_params, presence)},
    {"repeat-last-n", INT_AT(penalties_params, last_n)},
    {NULL},
};

static size_t window(const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    return stage->sampler->variant == WHOLE_HISTORY ? HISTORY_ALL : window_of(p->last_n);
}

static bool enabled(const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    return window(stage) && (p->repeat != 1.0f || p->frequency != 0.0f || p->presence != 0.0f);
}

struct penalties_state {
    struct tally seen; // the tokens that are penalised
    struct tally part; // the newer half of them, or those behind the prompt, where these are told apart
};

// ---- edits of the logit of token number j of a tally. A tally also has tokens that have left its window, with a count
// of 0; the edits leave these as they are.

struct penalties_job {
    const struct penalties_params *p;
    const struct tally *seen;
    const struct tally *part; // NULL: all that are seen
};

// Returns how often a token occurs in job->part.
static uint32_t count_in_part(const struct penalties_job *job, size_t j)
{
    const size_t at = idmap_find(&job->part->tokens, job->seen->tokens.id[j]);
    return at == IDMAP_NONE ? 0 : job->part->count[at];
}

static float penalise(float logit, size_t j, const void *arg)
{
    const struct penalties_job *const job = arg;
    const struct penalties_params *const p = job->p;
    const uint32_t count = job->seen->count[j];
    if (!count)
        return logit;
    const float by = job->part && !count_in_part(job, j) ? 1.0f + (p->repeat - 1.0f) * p->slope : p->repeat;
    if (logit <= 0.0f)
        logit *= by;
    else
        logit /= by;
    return logit - ((float)count * p->frequency + 1.0f * p->presence);
}

static float penalise_each(float logit, size_t j, const void *arg)
{
    const struct penalties_job *const job = arg;
    const float by = job->p->repeat;
    float last = NAN; // many equal tokens come to a standstill sooner or later
    for (uint32_t left = job->seen->count[j]; left && logit != last; left--) {
        last = logit;
        logit = logit > 0 ? logit / by : logit * by;
    }
    return logit;
}

// The factor for every token so far, as a product with its reciprocal; then the amounts for the output, in two
// subtractions.
static float penalise_vllm(float logit, size_t j, const void *arg)
{
    const struct penalties_job *const job = arg;
    const uint32_t count = count_in_part(job, j);
    logit *= logit > 0.0f ? 1.0f / job->p->repeat : job->p->repeat;
    if (count)
        logit = (logit - job->p->frequency * (float)count) - job->p->presence;
    return logit;
}

// The amounts first, then the factor, all for the output.
static float penalise_output(float logit, size_t j, const void *arg)
{
    const struct penalties_job *const job = arg;
    const uint32_t count = job->seen->count[j];
    float sum = 0.0f, before = NAN;
    for (uint32_t left = count; left && sum != before; left--) { // sums of many come to a standstill
        before = sum;
        sum += job->p->frequency;
    }
    if (!count)
        return logit;
    logit += (0.0f - sum) - job->p->presence;
    return logit < 0.0f ? logit * job->p->repeat : logit / job->p->repeat;
}

// The factor, the amount for occurring, the amount for each occurrence.
static float penalise_window(float logit, size_t j, const void *arg)
{
    const struct penalties_job *const job = arg;
    uint32_t left = job->seen->count[j];
    if (!left)
        return logit;
    logit = (logit < 0.0f ? logit * job->p->repeat : logit / job->p->repeat) - job->p->presence;
    for (float before = NAN; left && logit != before; left--) {
        before = logit;
        logit -= job->p->frequency;
    }
    return logit;
}

// ---- stages

// Edits the `seen` newest tokens, whose logits are multiplied or divided `by` a factor. The edit tells apart the `part`
// newest of them; HISTORY_ALL: it does not.
static void edit_seen(struct penalties_state *s, struct cand *c, const struct stage *stage, size_t seen, size_t part,
                      cand_edit_fn *f, double by)
{
    const bool whole = part == HISTORY_ALL;
    const struct penalties_job job = {stage->params, &s->seen, whole ? NULL : &s->part};
    if (tally_update(&s->seen, c->history, seen) && (whole || tally_update(&s->part, c->history, part))) {
        unlisted_multiply(c, &s->seen.tokens, s->seen.count, by);
        cand_edit(c, &s->seen.tokens, f, &job);
    } else {
        cand_fail(c, FAULT_MEMORY, 0);
    }
}

static size_t output_len(const struct history *h) { return h->total - h->n_prompt; }

static void penalties(void *self, struct cand *c, const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    const size_t last_n = p->last_n < 0 ? c->history->total : (size_t)p->last_n;
    const bool slope = p->slope != 1.0f && p->repeat > 1.0f;
    edit_seen(self, c, stage, window(stage), slope ? last_n - last_n / 2 : HISTORY_ALL, penalise, p->repeat);
}

static void repeat_each(void *self, struct cand *c, const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    edit_seen(self, c, stage, window(stage), HISTORY_ALL, penalise_each, p->repeat > 1.0f ? INFINITY : p->repeat);
}

static void penalties_vllm(void *self, struct cand *c, const struct stage *stage)
{
    edit_seen(self, c, stage, HISTORY_ALL, output_len(c->history), penalise_vllm, stage_first(stage));
}

// A negative amount raises a logit before the factor: a negative one by more than f(0), by which cand_edit bounds the
// unlisted tokens. A factor below 1 states that unlisted tokens may rise.
static void penalties_output(void *self, struct cand *c, const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    const bool raises = p->repeat != 1.0f && (p->frequency < 0.0f || p->presence < 0.0f);
    edit_seen(self, c, stage, output_len(c->history), HISTORY_ALL, penalise_output, raises ? 0.0 : (double)p->repeat);
}

// mlx sees only the last token of the prompt.
static void penalties_window(void *self, struct cand *c, const struct stage *stage)
{
    const size_t seen = output_len(c->history) + (c->history->n_prompt > 0), most = window(stage);
    edit_seen(self, c, stage, seen < most ? seen : most, HISTORY_ALL, penalise_window, stage_first(stage));
}

// Names the tokens whose logits changed most.
static void explain(struct account *a)
{
    const struct penalties_state *const s = a->state;
    struct tally const *const seen = &s->seen;
    size_t counted = 0, changed = 0;
    uint32_t *const id = malloc((seen->tokens.n + 1) * sizeof *id);
    for (size_t j = 0; id && j < seen->tokens.n; j++) {
        const size_t count = seen->count[j];
        if (!count)
            continue;
        id[counted++] = seen->tokens.id[j];
        changed += account_find(a, (struct finding){.token = seen->tokens.id[j], .count = count});
    }
    if (!changed && counted)
        account_none(a, id, counted, "repeated");
    else if (!changed)
        account_say(a, "did not act: no token was accepted before");
    free(id);
    for (size_t i = 0; i < a->n_findings; i++) {
        const struct finding *const f = &a->finding[i];
        if (!i)
            account_say(a, changed > a->n_findings ? "%zu repeated, most: " : "%zu repeated: ", changed);
        account_say(a, "%s{%" PRIu32 "} x%zu ", i ? ", " : "", f->token, f->count);
        account_number(a, (double)f->change);
    }
}

static void release(void *self)
{
    struct penalties_state *const s = self;
    tally_free(&s->seen);
    tally_free(&s->part);
}

#define PENALTIES(NAME, LETTER, ROWS, APPLY, VARIANT)                                                                  \
    {                                                                                                                  \
        .name = (NAME), .letter = (LETTER), .any_enables = true, .variant = (VARIANT), PARAMS(ROWS, penalties_params), \
        .size = sizeof(struct penalties_state), .enabled = enabled, .window = window, .apply = (APPLY),                \
        .explain = explain, .partial = {apply_partial}, .release = release                                             \
    }

const struct sampler sampler_penalties = PENALTIES("penalties", 'e', params, penalties, 0);
const struct sampler sampler_repeat_each = PENALTIES("repeat_each", 0, each_params, repeat_each, 0);
const struct sampler sampler_penalties_vllm =
    PENALTIES("penalties_vllm", 0, whole_params, penalties_vllm, WHOLE_HISTORY);
const struct sampler sampler_penalties_output =
    PENALTIES("penalties_output", 0, whole_params, penalties_output, WHOLE_HISTORY);
const struct sampler sampler_penalties_window = PENALTIES("penalties_window", 0, window_params, penalties_window, 0);
