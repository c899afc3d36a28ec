// SPDX-License-Identifier: MIT
// p_less (Tan et al. 2025, arXiv 2509.23234): the candidates at least as likely as two draws are to agree, which needs
// no parameter. p_less_norm: the same less the chance to disagree, shared among the others: lower, so that more stay.
#include "kern/libm.h"
#include "sample/listed.h"
#include "sample/sampler.h"

enum { NORM = 1 }; // the variant with the normalised bound

static const struct param params[] = {MIN_KEEP, {NULL}};
static const struct param norm_params[] = {MIN_KEEP, {NULL}};

// Returns the bound on the candidates' probabilities from their sum and the sum of their squares; or, from sums of
// weights, the bound on weights.
static double agreement_bound(double sum, double squares, double alive, bool norm)
{
    const double agree = squares / (sum * sum);
    return (norm ? (alive * agree - 1.0) / (alive - 1.0) : agree) * sum;
}

// The bound is computed in f64 and rounded once, so that it is not above the probabilities of a flat row.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const bool norm = stage->sampler->variant == NORM;
    const size_t alive = norm ? cand_alive(c, c->n) : 0, least = (size_t)p->min_keep;
    if (norm && alive < 2)
        return;
    const struct mass m = cand_mass(c, NULL, true);
    const double t = agreement_bound(m.sum, m.squares, (double)alive, norm),
                 slack = (4 * m.error + 0x1p-20) * (t + m.squares / m.sum);
    if (cand_keep_by_weight(c, t - slack, fmin(t + slack, 1.0), least)) // it is not above the largest, which weighs 1
        return;
    cand_softmax(c);
    const double sum = c->kern->sum_wide(c->p, c->n, 0.0);
    double squares = 0.0;
    for (size_t i = 0; i < c->n; i++)
        squares += (double)c->p[i] * c->p[i];
    cand_keep_likely(c, (float)agreement_bound(sum, squares, (double)alive, norm), least);
}

// The squares of the unlisted weights add up to the least if all are equal, and to the most if all are at the ceiling.
static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct value_params *const p = stage->params;
    const struct unlisted_sum s = unlisted_sum(c);
    const double most = c->unlisted.most > 0.0 ? c->unlisted.most : 1.0;
    double certain_low = 0.0, certain_high = 0.0, doubtful = 0.0; // squares
    for (size_t i = 0; i < c->n; i++) {
        const double x = (double)cand_logit(c, i), off = listed_off(c, i);
        const bool sure = !(c->unlisted.low_unsure && x - off < (double)c->unlisted.ceiling);
        certain_low += sure ? libm_exp(2.0 * (x - s.max - off)) : 0.0;
        *(sure ? &certain_high : &doubtful) += libm_exp(2.0 * (x - s.max + off));
    }
    const double least = fmax(s.low, 0.0), low = certain_low + least * least / most,
                 high = certain_high + doubtful + s.high * libm_exp((double)c->unlisted.ceiling - s.max);
    if (!unlisted_cut_between(c, low / (s.listed + s.high), high / (s.listed + s.low), (size_t)p->min_keep))
        apply(self, c, stage);
}

// The bound on the probability of a candidate.
static double limit_of(const struct stage *stage, const struct compared *of)
{
    double squares = 0.0;
    for (size_t i = 0; i < of->n; i++)
        squares += libm_exp(2.0 * ((double)of->logit[i] - of->softmax->max));
    const bool norm = stage->sampler->variant == NORM;
    return agreement_bound(of->softmax->sum, squares, (double)of->n, norm) / of->softmax->sum;
}

static double distance(const struct stage *stage, const struct compared *of)
{
    return distance_of_prob(of, limit_of(stage, of));
}

static void explain(struct account *a) { account_prob(a, limit_of(a->stage, &a->of)); }

const struct sampler sampler_p_less = {.name = "p_less",
                                       .letter = 'l',
                                       FOREIGN,
                                       PARAMS(params, value_params),
                                       .apply = apply,
                                       .distance = distance,
                                       .explain = explain,
                                       .partial = {partial, stage_always}};
const struct sampler sampler_p_less_norm = {.name = "p_less_norm",
                                            .variant = NORM,
                                            .letter = 'z',
                                            FOREIGN,
                                            PARAMS(norm_params, value_params),
                                            .apply = apply,
                                            .distance = distance,
                                            .explain = explain};
