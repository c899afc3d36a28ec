// SPDX-License-Identifier: MIT
// Stages of the engine mlx. log_softmax: from there on logits are log-probabilities. top_k_id: the k best, by id; of
// tied ones the lower ids.
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

static const struct param top_k[] = {{"top-k", INT_AT(count_params, count)}, {NULL}};

static void take_logs(const struct kern *kern, float *logit, size_t n, const void *normaliser)
{
    const struct normaliser *const z = normaliser;
    kern->log_shares(logit, logit, n, z->max, z->log);
}

static void log_softmax(void *self, struct cand *c, const struct stage *stage)
{
    const struct normaliser z = cand_normaliser_wide(c);
    if (!c->fault.code)
        cand_map(c, take_logs, &z);
    unlisted_writes_logs(c);
}

static void log_softmax_partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct normaliser z = cand_normaliser_wide(c);
    float ceiling = c->unlisted.ceiling;
    if (c->fault.code)
        return;
    take_logs(c->kern, &ceiling, 1, &z);
    unlisted_shift(c, (double)z.max + z.log, ceiling);
    cand_map(c, take_logs, &z);
}

static void top_k_id(void *self, struct cand *c, const struct stage *stage)
{
    const size_t k = (size_t)((const struct count_params *)stage->params)->count;
    const size_t width = c->unlisted.state == UNLISTED_NONE ? c->n_row : c->n_vocab; // 0: unknown
    if (width && k >= width)
        cand_fail(c, FAULT_TOP_K, width);
    cand_top_k(c, k < c->n ? k : c->n);
    cand_list_by_id(c);
}

static void top_k_id_partial(void *self, struct cand *c, const struct stage *stage)
{
    const size_t k = (size_t)((const struct count_params *)stage->params)->count;
    unlisted_top_k(c, k);
    if (c->unlisted.state != UNLISTED_LIVE || k < c->n)
        top_k_id(self, c, stage);
}

const struct sampler sampler_log_softmax = {
    .name = "log_softmax", .scale = WRITES_LOGPROBS, .apply = log_softmax, .partial = {log_softmax_partial}};
const struct sampler sampler_top_k_id = {.name = "top_k_id",
                                         .limits = LIMITS_OTHERWISE,
                                         PARAMS(top_k, count_params),
                                         .runs = {ABOVE, 0},
                                         .apply = top_k_id,
                                         .distance = compares_rank,
                                         .explain = explain_rank,
                                         .partial = {top_k_id_partial, stage_always}};
