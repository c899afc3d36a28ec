// SPDX-License-Identifier: MIT
// The penalties of the engines vllm and vllm-v2, sglang and mlx. They differ in the tokens they look at, in the order
// of the two kinds, and in how a factor is rounded. Formulas: sampl-spec(7).
#include "sample/sampler.h"

struct engine_penalties_params {
    float repeat, frequency, presence;
    int32_t last_n;
};

static const struct param params[] = {{"repeat-penalty", FLOAT_AT(engine_penalties_params, repeat)},
                                      {"frequency-penalty", FLOAT_AT(engine_penalties_params, frequency)},
                                      {"presence-penalty", FLOAT_AT(engine_penalties_params, presence)},
                                      {NULL}};
static const struct param window_params[] = {{"repeat-penalty", FLOAT_AT(engine_penalties_params, repeat)},
                                             {"frequency-penalty", FLOAT_AT(engine_penalties_params, frequency)},
                                             {"presence-penalty", FLOAT_AT(engine_penalties_params, presence)},
                                             {"repeat-last-n", INT_AT(engine_penalties_params, last_n)},
                                             {NULL}};

struct engine_penalties_state {
    struct tally all;    // the prompt and the output
    struct tally output; // the tokens behind the prompt; mlx: its window
};

struct penalty_job {
    const struct engine_penalties_params *p;
    const struct tally *all, *output;
};

static bool enabled(const struct stage *stage)
{
    const struct engine_penalties_params *const p = stage->params;
    return p->repeat != 1.0f || p->frequency != 0.0f || p->presence != 0.0f;
}

static bool enabled_window(const struct stage *stage)
{
    return enabled(stage) && ((const struct engine_penalties_params *)stage->params)->last_n != 0;
}

static size_t window_all(const struct stage *stage) { return HISTORY_ALL; }

static size_t window_last(const struct stage *stage)
{
    return window_of(((const struct engine_penalties_params *)stage->params)->last_n);
}

// vllm: the factor for every token so far, as a product with its reciprocal; then the amounts for the output, in two
// subtractions.
static float penalise_vllm(float logit, size_t j, const void *arg)
{
    const struct penalty_job *const job = arg;
    const size_t at = idmap_find(&job->output->tokens, job->all->tokens.id[j]);
    const uint32_t count = at == IDMAP_NONE ? 0 : job->output->count[at];
    logit *= logit > 0.0f ? 1.0f / job->p->repeat : job->p->repeat;
    if (count)
        logit = (logit - job->p->frequency * (float)count) - job->p->presence;
    return logit;
}

// sglang: the amounts first, then the factor, all for the output.
static float penalise_output(float logit, size_t j, const void *arg)
{
    const struct penalty_job *const job = arg;
    const uint32_t count = job->output->count[j];
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

// mlx: the factor, the amount for occurring, the amount for each occurrence.
static float penalise_window(float logit, size_t j, const void *arg)
{
    const struct penalty_job *const job = arg;
    uint32_t left = job->output->count[j];
    if (!left)
        return logit;
    logit = (logit < 0.0f ? logit * job->p->repeat : logit / job->p->repeat) - job->p->presence;
    for (float before = NAN; left && logit != before; left--) {
        before = logit;
        logit -= job->p->frequency;
    }
    return logit;
}

static size_t output_len(const struct history *h) { return h->total - h->n_prompt; }

// Edits the tokens of a tally, whose logits are multiplied or divided `by` a factor.
static void penalise(struct cand *c, const struct tally *t, cand_edit_fn *f, const struct penalty_job *job, double by)
{
    rest_multiply(c, &t->tokens, t->count, by);
    cand_edit(c, &t->tokens, f, job);
}

static void penalties_vllm(void *self, struct cand *c, const struct stage *stage)
{
    struct engine_penalties_state *const s = self;
    const struct penalty_job job = {stage->params, &s->all, &s->output};
    if (tally_update(&s->all, c->history, HISTORY_ALL) && tally_update(&s->output, c->history, output_len(c->history)))
        penalise(c, &s->all, penalise_vllm, &job, (double)job.p->repeat);
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

// A negative amount raises a logit before the factor: a negative one by more than f(0), by which cand_edit bounds the
// rest. A factor below 1 states that unlisted tokens may rise.
static void penalties_output(void *self, struct cand *c, const struct stage *stage)
{
    struct engine_penalties_state *const s = self;
    const struct penalty_job job = {stage->params, NULL, &s->output};
    const bool raises = job.p->repeat != 1.0f && (job.p->frequency < 0.0f || job.p->presence < 0.0f);
    if (tally_update(&s->output, c->history, output_len(c->history)))
        penalise(c, &s->output, penalise_output, &job, raises ? 0.0 : (double)job.p->repeat);
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

// Of the prompt, mlx sees the last token only.
static void penalties_window(void *self, struct cand *c, const struct stage *stage)
{
    struct engine_penalties_state *const s = self;
    const struct penalty_job job = {stage->params, NULL, &s->output};
    const size_t seen = output_len(c->history) + (c->history->n_prompt > 0), most = window_last(stage);
    if (tally_update(&s->output, c->history, seen < most ? seen : most))
        penalise(c, &s->output, penalise_window, &job, (double)job.p->repeat);
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

static void release(void *self)
{
    struct engine_penalties_state *const s = self;
    tally_free(&s->all);
    tally_free(&s->output);
}

#define PENALTIES(label, table, is_enabled, sees, f)                                                          \
    {                                                                                                         \
        .name = label, PARAMS(table, engine_penalties_params), .size = sizeof(struct engine_penalties_state), \
        .enabled = is_enabled, .window = sees, .apply = f, .rest = {apply_with_rest}, .release = release      \
    }

const struct sampler sampler_penalties_vllm = PENALTIES("penalties_vllm", params, enabled, window_all, penalties_vllm);
const struct sampler sampler_penalties_output =
    PENALTIES("penalties_output", params, enabled, window_all, penalties_output);
const struct sampler sampler_penalties_window =
    PENALTIES("penalties_window", window_params, enabled_window, window_last, penalties_window);
