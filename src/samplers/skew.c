// SPDX-License-Identifier: MIT
// skew (turboderp, ExLlamaV2): raises the cumulative distribution to a power. Above 0 it favours the unlikely, below 0 the likely.
#include "kern/libm.h"
#include "sample/sampler.h"

struct skew_params {
    float s;
};

static const struct param params[] = {
    {"skew", "above 0 favour the unlikely, below 0 the likely; 0: off", FLOAT_AT(skew_params, s), FINITE, .metavar = "S"},
    {NULL},
};

// pow(share, power) for shares of which most are nearly 1. There it is the first terms of (1 - d)^power, in units in which pow, which is not far
// from rounded correctly, gives a whole number: unless that is a near thing, it is the nearest.
struct raise {
    double power, near, factor[5];
};

static struct raise raise_to(double power)
{
    return (struct raise){
        power, 0x1p-8 / fmax(power, 1.0), {(power - 1) / 2, (power - 2) / 3, (power - 3) / 4, (power - 4) / 5, (power - 5) / 6}};
}

static double raised(double share, const struct raise *to)
{
    const double d = 1.0 - share, *const f = to->factor;
    if (d < to->near) {
        const double less =
            0x1p53 * (d * to->power * (1 - d * f[0] * (1 - d * f[1] * (1 - d * f[2] * (1 - d * f[3] * (1 - d * f[4]))))));
        const double whole = (less + 0x1.8p52) - 0x1.8p52;
        if (fabs(less - whole) < 0.45)
            return 1.0 - whole * 0x1p-53;
    }
    return libm_pow(share, to->power);
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct skew_params *const p = stage->params;
    if (c->n < 2)
        return;
    cand_softmax(c, true);
    const double total = c->kern->sum_wide(c->p, c->n, 0.0);
    const struct raise to = raise_to(libm_exp((double)p->s));
    double sum = 0.0, share = 0.0, skewed = 0.0;
    for (size_t i = 0; !c->fault.code && i < c->n; i++) {
        const double share_before = share, skewed_before = skewed;
        sum += (double)c->p[i];
        share = i + 1 < c->n ? sum / total : 1.0;
        if (share != share_before)
            skewed = raised(share, &to);
        c->p[i] = (float)(skewed - skewed_before);
        c->logit[i] = c->p[i] > 0.0f ? c->p[i] : 0.0f;
    }
    c->kern->log(c->logit, c->logit, c->n);
    c->order = CAND_UNSORTED;
}

const struct sampler sampler_skew = {
    .name = "skew", .letter = 'w', .foreign = true, PARAMS(params, skew_params), .runs = {OTHER_THAN, 0}, .apply = apply};
