// SPDX-License-Identifier: MIT
#include "sample/compared.h"

#include "kern/expf.h"
#include "kern/libm.h"
#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int falling(const void *a, const void *b)
{
    const float *const x = a, *const y = b;
    return (*x < *y) - (*x > *y);
}

float *compared_ranked(const struct compared *of)
{
    float *const x = malloc(of->n * sizeof *x);
    if (!x)
        return NULL;
    memcpy(x, of->logit, of->n * sizeof *x);
    qsort(x, of->n, sizeof *x, falling);
    return x;
}

double distance_between(double number, double limit) { return fabs(number - limit) / limit; }

double distance_of_prob(const struct compared *of, double limit)
{
    return distance_between(softmax_prob(of->softmax, of->own), limit);
}

double compares_eta(const struct stage *stage, const struct compared *of)
{
    const double eta = stage_first(stage);
    return distance_of_prob(of, fmin(eta, sqrt(eta) * kern_exp(-softmax_entropy(of->softmax))));
}

double compares_ratio(const struct stage *stage, const struct compared *of)
{
    return distance_between(kern_exp((double)of->own - of->softmax->max), stage_first(stage));
}

double distance_of_sum(const struct compared *of, double limit)
{
    double before = 0.0;
    for (size_t i = 0; i < of->n; i++)
        if (of->logit[i] > of->own)
            before += softmax_prob(of->softmax, of->logit[i]);
    return distance_between(before, limit);
}

double compares_typical(const struct stage *stage, const struct compared *of)
{
    const struct softmax *const s = of->softmax;
    const double typical = s->max + s->log_sum - softmax_entropy(s), own = fabs(of->own - typical);
    double before = 0.0;
    for (size_t i = 0; i < of->n; i++)
        if (fabs(of->logit[i] - typical) < own)
            before += softmax_prob(s, of->logit[i]);
    return distance_between(before, stage_first(stage));
}

double compares_terms(const struct stage *stage, const struct compared *of)
{
    enum { BEST = 100 };
    const size_t n = of->n < BEST ? of->n : BEST;
    float *const x = compared_ranked(of);
    double sum = 0.0, all = 0.0, down_to = 0.0;
    if (!x)
        return INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += softmax_prob(of->softmax, x[i]);
    for (size_t i = 0; i < n; i++) {
        const double p = softmax_prob(of->softmax, x[i]) / sum, term = p > 0.0 ? -p * libm_log(p) : 0.0;
        all += term;
        if (x[i] >= of->own)
            down_to = all;
    }
    const bool best = of->own >= x[n - 1];
    free(x);
    return best ? distance_between(down_to, stage_first(stage) * all) : INFINITY;
}

double distance_of_rank(const struct compared *of, size_t k)
{
    float *const x = compared_ranked(of);
    size_t before = 0;
    while (x && before < of->n && x[before] > of->own)
        before++;
    const double distance = !x || k >= of->n ? INFINITY : fabs((double)of->own - x[before < k ? k : k - 1]);
    free(x);
    return distance;
}

double compares_rank(const struct stage *stage, const struct compared *of)
{
    return distance_of_rank(of, (size_t)stage_first(stage));
}

double compares_best(const struct stage *stage, const struct compared *of) { return distance_of_rank(of, 1); }

double compares_prob(const struct stage *stage, const struct compared *of)
{
    return distance_of_prob(of, stage_first(stage));
}

double compares_sum(const struct stage *stage, const struct compared *of)
{
    return distance_of_sum(of, stage_first(stage));
}
