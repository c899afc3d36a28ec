// SPDX-License-Identifier: MIT
// skew (turboderp, ExLlamaV2): raises the cumulative distribution to a power. Above 0 it favours the unlikely, below 0
// the likely.
#include "kern/libm.h"
#include "sample/sampler.h"

static const struct param params[] = {
    {"skew", "favour the unlikely tokens; below 0 the likely ones; 0: off", FLOAT_AT(value_params, value), FINITE,
     .metavar = "S", SLIDER(-1, 1, 0.05)},
    {NULL},
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    cand_sort(c);
    cand_softmax(c);
    if (c->fault.code)
        return;
    const double total = c->kern->sum_wide(c->p, c->n, 0.0), power = libm_exp((double)p->value);
    double sum = 0.0, share[1 + KERN_BLOCK] = {0}; // of all up to a candidate; before them that of those before
    for (size_t i = 0, len; i < c->n; i += len) {
        len = c->n - i < KERN_BLOCK ? c->n - i : KERN_BLOCK;
        for (size_t j = 0; j < len; j++)
            share[j + 1] = sum += (double)c->p[i + j];
        c->kern->pow_shares(share + 1, len, total, power);
        for (size_t j = 0; j < len; j++) {
            c->p[i + j] = (float)(share[j + 1] - share[j]);
            c->logit[i + j] = c->p[i + j] > 0.0f ? c->p[i + j] : 0.0f;
        }
        share[0] = share[len];
    }
    c->kern->log(c->logit, c->logit, c->n);
    c->order = CAND_UNSORTED;
    unlisted_check_order(c, NULL); // equal logits differ by what the sums are rounded
    unlisted_writes_logs(c);
}

static void explain(struct account *a)
{
    if (!a->unchanged)
        return;
    account_say(a, "changed no logit: the power is ");
    account_number(a, libm_exp(stage_first(a->stage)));
}

const struct sampler sampler_skew = {.name = "skew",
                                     .letter = 'w',
                                     FOREIGN,
                                     .joins_default = true,
                                     .scale = WRITES_LOGPROBS,
                                     PARAMS(params, value_params),
                                     .runs = {OTHER_THAN, 0},
                                     .apply = apply,
                                     .explain = explain};
