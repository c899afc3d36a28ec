// SPDX-License-Identifier: MIT
#include "trace/tail.h"

#include "base/mem.h"
#include "kern/expf.h"
#include "sample/distribution.h"
#include "trace/measure.h"

#include <float.h>
#include <math.h>

struct fault tail_measure(struct cand *c, float *logit, size_t most, int64_t token, struct result *res)
{
    const struct kern *const kern = c->kern;
    const size_t width = c->n_vocab;
    struct tail_size *const t = &res->record.tail;
    const struct fault fault = cand_load(c, &(struct row){DTYPE_F32, logit, width});
    if (fault.code)
        return fault;
    const size_t alive = kern->count(logit, width, -FLT_MAX), n = most < alive ? most : alive;
    struct ranked *const list = mem_grow(&res->memory, &res->memory_cap, n * sizeof *list, 1) ? res->memory : NULL;
    if (!list)
        return fault_memory();
    *t = (struct tail_size){.n = alive - n, .masked = width - alive, .max = -INFINITY, .lse = -INFINITY};
    t->sum = cand_exp_sum(c);
    const float mean = kern->sum(logit, width, 0.0f) / (float)alive;
    t->sd = sqrtf(kern->sum_squares(logit, width, mean, 0.0f) / (float)alive); // the bits of cand_deviation
    t->xmean = -INFINITY;
    if (token >= 0 && (size_t)token < width) {
        t->logit = logit[token];
        t->rank = rank_of(kern, logit, width, (size_t)token);
    }
    const struct ranks best = cand_rank(c, n + (t->n > 0)); // the list, and the largest logit of the tail
    if (t->n)
        t->max = logit[cand_id(c, best.at ? best.at[n] : n)];
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = cand_id(c, best.at ? best.at[i] : i);
        list[i] = (struct ranked){.id = id, .logit = logit[id]};
        logit[id] = -INFINITY;
    }
    double listed = 0.0, unlisted = 0.0, sum[2 * KERN_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        listed += kern_exp((double)list[i].logit - list[0].logit);
    if (t->n) {
        kern->softmax_sums(sum, logit, t->max, NULL, 0.0f, width);
        const struct softmax s = softmax_from(t->max, sum);
        t->lse = s.max + s.log_sum;
        t->xmean = s.max + s.sum_d / s.sum;
        unlisted = kern_exp(t->lse - list[0].logit); // at most the width of the row
    }
    t->share = listed / (listed + unlisted);
    res->record.ranked = list;
    res->record.shown = n;
    return c->fault;
}
