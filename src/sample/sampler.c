// SPDX-License-Identifier: MIT
#include "sample/sampler.h"

#include "sample/distribution.h"

#include <math.h>

double param_load(const struct param *row, const void *params)
{
    const void *const at = (const char *)params + row->at;
    if (row->type == PARAM_INT)
        return *(const int32_t *)at;
    if (row->type == PARAM_DOUBLE)
        return *(const double *)at;
    return row->type == PARAM_FLOAT ? (double)*(const float *)at : *(const bool *)at;
}

double stage_first(const struct stage *stage) { return param_load(stage->sampler->params, stage->params); }

double param_rounded(const struct param *row, double value)
{
    return row->type == PARAM_FLOAT ? (double)(float)value : value;
}

bool sampler_runs_with(const struct sampler *s, double first)
{
    const double bound = s->runs.bound;
    return s->runs.first == ABOVE   ? first > bound
           : s->runs.first == BELOW ? first < bound
                                    : s->runs.first == ALWAYS || first != bound;
}

bool stage_enabled(const struct stage *stage)
{
    const struct sampler *const s = stage->sampler;
    const double first = s->params ? stage_first(stage) : 0.0;
    return sampler_runs_with(s, first) && (!s->enabled || s->enabled(stage));
}

bool stage_is_greedy(const struct stage *stage)
{
    const struct sampler *const s = stage->sampler;
    return stage_enabled(stage) && ((s->temperature && s->temperature(stage) == 0.0) ||
                                    (s->limits == LIMITS_RANK && stage_first(stage) == 1.0));
}

bool stage_always(const struct stage *stage) { return true; }

void reset_rng(void *self, const struct stage *stage, uint64_t seed) { rng_seed(self, (uint32_t)seed); }

void release_rng(void *self) { rng_free(self); }

void apply_partial(void *self, struct cand *c, const struct stage *stage) { stage->sampler->apply(self, c, stage); }

void keep_best_partial(void *self, struct cand *c, const struct stage *stage)
{
    const size_t best = stage->sampler->partial.best;
    // with more than one candidate left, the numbers decide what the stage does to them
    unlisted_remove(c, full_best_known(c, best) && (best == 1 || !list_is_coarse(&c->unlisted)));
    stage->sampler->apply(self, c, stage);
}

void divide_partial(void *self, struct cand *c, const struct stage *stage)
{
    unlisted_divide(c, (float)stage_first(stage));
    stage->sampler->apply(self, c, stage);
}
