// SPDX-License-Identifier: MIT
// penalties: tokens among the last accepted ones become less likely, by a factor (Keskar et al. 2019, arXiv 1909.05858)
// and by amounts for each occurrence and for occurring at all. With a slope (KoboldCpp's rep_pen_slope) the factor is
// less for tokens that only the older half of the window has. repeat_each (the engine akunu): by the factor only, but
// once for each occurrence.
#include "sample/sampler.h"

struct penalties_params {
    float repeat, frequency, presence, slope;
    int32_t last_n; // -1: the whole history
};

static const struct param params[] = {
    {"repeat-penalty", "divide the logit of a repeated token by X; multiply a negative one; 1: off",
     FLOAT_AT(penalties_params, repeat), RANGE(1.0 / FLT_MAX, FLT_MAX), .common = true, .def = 1,
     SLIDER(0.8, 1.5, 0.01)},
    {"repeat-last-n", "tokens that the penalties look back on; 0: off, -1: all", INT_AT(penalties_params, last_n),
     RANGE(-1, INT32_MAX), .def = 64, REFUSED(0, INFINITY), SLIDER(-1, 512, 1)},
    {"frequency-penalty", "subtract X for each occurrence", FLOAT_AT(penalties_params, frequency), FINITE,
     SLIDER(-1, 2, 0.05)},
    {"presence-penalty", "subtract X from a repeated token's logit", FLOAT_AT(penalties_params, presence), FINITE,
     SLIDER(-1, 2, 0.05)},
    {"repeat-penalty-slope", "fraction of the repeat penalty above 1 for the older half of the window; 1: all",
     FLOAT_AT(penalties_params, slope), RANGE(0x1p-149, 1), .def = 1, .server = "rep_pen_slope", SLIDER(0.01, 1, 0.01)},
    {NULL},
};

// The struct's other members are 0 for repeat_each, and have no effect.
static const struct param each_params[] = {
    {"repeat-penalty", FLOAT_AT(penalties_params, repeat)},
    {"repeat-last-n", INT_AT(penalties_params, last_n)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    return p->last_n != 0 && (p->repeat != 1.0f || p->frequency != 0.0f || p->presence != 0.0f);
}

static size_t window(const struct stage *stage)
{
    return window_of(((const struct penalties_params *)stage->params)->last_n);
}

struct penalties_state {
    struct tally recent; // the window
    struct tally newest; // its newer half, where that is told apart
};

struct penalties_job {
    const struct penalties_params *p;
    const struct tally *recent;
    const struct tally *newest; // NULL: all tokens get the whole factor
    float reduced;              // the factor of the others
};

static bool is_new(const struct tally *newest, uint32_t id)
{
    const size_t at = idmap_find(&newest->tokens, id);
    return at != IDMAP_NONE && newest->count[at];
}

static float penalise(float logit, size_t j, const void *arg)
{
    const struct penalties_job *const job = arg;
    const struct penalties_params *const p = job->p;
    const uint32_t count = job->recent->count[j];
    if (!count)
        return logit;
    const float by = job->newest && !is_new(job->newest, job->recent->tokens.id[j]) ? job->reduced : p->repeat;
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
    for (uint32_t left = job->recent->count[j]; left && logit != last; left--) {
        last = logit;
        logit = logit > 0 ? logit / by : logit * by;
    }
    return logit;
}

// The tally also has tokens that have left the window, with a count of 0; the edits leave these as they are.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct penalties_params *const p = stage->params;
    struct penalties_state *const s = self;
    const bool each = stage->sampler->params == each_params, slope = !each && p->slope != 1.0f && p->repeat > 1.0f;
    const size_t last_n = p->last_n < 0 ? c->history->total : (size_t)p->last_n;
    const struct penalties_job job = {p, &s->recent, slope ? &s->newest : NULL, 1.0f + (p->repeat - 1.0f) * p->slope};
    if (tally_update(&s->recent, c->history, window_of(p->last_n)) &&
        (!slope || tally_update(&s->newest, c->history, last_n - last_n / 2))) {
        rest_multiply(c, &s->recent.tokens, s->recent.count, each && p->repeat > 1.0f ? INFINITY : p->repeat);
        cand_edit(c, &s->recent.tokens, each ? penalise_each : penalise, &job);
    } else {
        cand_fail(c, FAULT_MEMORY, 0);
    }
}

static void release(void *self)
{
    struct penalties_state *const s = self;
    tally_free(&s->recent);
    tally_free(&s->newest);
}

#define PENALTIES(NAME, LETTER, ROWS)                                                                               \
    {                                                                                                               \
        .name = (NAME), .letter = (LETTER), PARAMS(ROWS, penalties_params), .size = sizeof(struct penalties_state), \
        .enabled = enabled, .window = window, .apply = apply, .rest = {apply_with_rest}, .release = release         \
    }

const struct sampler sampler_penalties = PENALTIES("penalties", 'e', params);
const struct sampler sampler_repeat_each = PENALTIES("repeat_each", 0, each_params);
