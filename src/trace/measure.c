// SPDX-License-Identifier: MIT
#include "trace/measure.h"

#include "base/mem.h"
#include "kern/libm.h"
#include "sample/cand_private.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct stat_column stat_columns[STAT_COLUMNS] = {
    {"prob", "probability of the chosen token after the chain", STAT_MEANS, STAT_ALWAYS, STAT_PROB},
    {"raw_prob", "raw probability of the chosen token", STAT_MEANS, STAT_ALWAYS, STAT_RAW_PROB},
    {"raw_rank", "raw rank of the chosen token, from 1; the lower id first on a tie", STAT_MEANS, STAT_ALWAYS,
     STAT_RAW_RANK},
    {"n", "number of candidates after the chain that are not masked", STAT_MEANS, STAT_ALWAYS, STAT_N},
    {"entropy_raw", "raw entropy in nats", STAT_MEANS, STAT_ALWAYS, STAT_ENTROPY_RAW},
    {"entropy", "entropy after the chain in nats", STAT_MEANS, STAT_ALWAYS, STAT_ENTROPY},
    {"kl_raw", "KL(after || raw) in nats; infinite where a stage unmasked a token", STAT_MEANS, STAT_ALWAYS,
     STAT_KL_RAW},
    {"draw", "uniform number that the selector drew", STAT_CHOICE, STAT_ALWAYS, STAT_DRAW},
    {"accepted", "token that follows the row", STAT_CHOICE, STAT_ACCEPTS, STAT_ACCEPTED},
    {"accepted_prob", "probability of the accepted token after the chain", STAT_CHOICE, STAT_ACCEPTS,
     STAT_ACCEPTED_PROB},
    {"mass", "raw probability of the kept candidates together", STAT_EXPECTATION, STAT_ALWAYS, STAT_MASS},
    {"e_prob", "expected probability, after the chain, of a token that the chain draws: sum p^2", STAT_EXPECTATION,
     STAT_ALWAYS, STAT_E_PROB},
    {"e_raw_prob", "expected raw probability of a token that the chain draws: sum p q", STAT_EXPECTATION, STAT_ALWAYS,
     STAT_E_RAW_PROB},
    {"e_greedy", "probability after the chain of the likeliest raw token (the lowest id on a tie)", STAT_EXPECTATION,
     STAT_ALWAYS, STAT_E_GREEDY},
    {"eps_nll", "-ln of the accepted token's probability, with 0.0001 of the uniform distribution mixed in",
     STAT_EXPECTATION, STAT_ACCEPTS, STAT_EPS_NLL},
    {"kl", "KL(base || row) in nats; infinite where the base keeps a token that this chain removes", STAT_PAIR,
     STAT_AGAINST, PAIR_KL},
    {"top1", "1: the likeliest tokens of both rows agree; else 0", STAT_PAIR, STAT_AGAINST, PAIR_TOP1},
    {"gap", "largest raw logit minus the next; near 0, another kernel may choose the other token greedily", STAT_ROW,
     STAT_ALWAYS, STAT_GAP},
};

void raw_free(struct raw *raw) { free(raw->block_max); }

float raw_logit(const struct raw *raw, size_t place)
{
    return place < raw->row->n ? row_logit(raw->row, place) : -INFINITY;
}

// The largest logit of the row less the next. NaN if the row has one candidate, or if an unlisted token may be the
// next.
static double raw_gap(const struct raw *raw, const struct cand *c)
{
    const struct row *const row = raw->row;
    const size_t own = raw->best / KERN_BLOCK;
    float next = -INFINITY;
    for (size_t at = 0; at < row->n; at += KERN_BLOCK) {
        const size_t len = row->n - at < KERN_BLOCK ? row->n - at : KERN_BLOCK;
        float logit[KERN_BLOCK], max = raw->block_max[at / KERN_BLOCK];
        if (at / KERN_BLOCK == own) {
            row_logits(c->kern, row, at, len, logit);
            logit[raw->best - at] = -INFINITY;
            max = c->kern->max(logit, len);
        }
        next = max > next ? max : next;
    }
    const bool known = next > -INFINITY && (!row->unlisted.partial || next >= row->unlisted.ceiling);
    return known ? (double)raw_logit(raw, raw->best) - next : NAN;
}

bool raw_measure(struct raw *raw, const struct row *row, const struct cand *c)
{
    const float max = cand_max(c);
    double sum[16] = {0};
    if (!mem_grow(&raw->block_max, &raw->block_cap, cand_blocks(c), sizeof *raw->block_max))
        return false;
    raw->row = row;
    for (size_t b = 0; b < cand_blocks(c); b++) {
        float tmp[KERN_BLOCK];
        size_t len;
        const float *const x = cand_masked_block(c, b, tmp, &len);
        raw->block_max[b] = c->dense ? c->store->block_max[b] : c->kern->max(x, len);
        c->kern->softmax_sums(sum, x, max, NULL, 0.0f, len);
    }
    raw->softmax = softmax_from(max, sum);
    if (row->unlisted.partial && row->unlisted.sum != -INFINITY) // NaN: not known
        softmax_add(&raw->softmax, row->unlisted.sum, row->unlisted.mean);
    raw->best = 0;
    while (raw->block_max[raw->best / KERN_BLOCK] < max)
        raw->best += KERN_BLOCK;
    while (row_logit(row, raw->best) < max)
        raw->best++;
    raw->gap = raw_gap(raw, c);
    return true;
}

size_t rank_of(const struct kern *kern, const float *logit, size_t n, size_t place)
{
    const float x = logit[place];
    return 1 + kern->count(logit, place, x) + kern->count(logit + place, n - place, nextafterf(x, INFINITY));
}

// The rank in the raw row of the logit at a place; NaN if unlisted tokens rank before it, unless the list tells. Blocks
// whose maximum is smaller than the logit hold nothing that ranks before it and are skipped.
static double raw_rank(const struct raw *raw, const struct cand *c, size_t place)
{
    const float x = raw_logit(raw, place), above = nextafterf(x, INFINITY);
    const struct row_unlisted *const unlisted = &raw->row->unlisted;
    const size_t n = raw->row->n;
    size_t rank = 1;
    if (unlisted->extra_token && raw->row->ids && (size_t)raw->row->ids[place] + 1 == unlisted->extra_token)
        return unlisted->extra_rank ? (double)unlisted->extra_rank : NAN;
    if (unlisted->partial && x < unlisted->ceiling)
        return NAN;
    for (size_t at = 0; at < n; at += KERN_BLOCK) {
        const size_t len = n - at < KERN_BLOCK ? n - at : KERN_BLOCK;
        float logit[KERN_BLOCK];
        if (raw->block_max[at / KERN_BLOCK] < x)
            continue;
        row_logits(c->kern, raw->row, at, len, logit);
        if (at <= place && place < at + len)
            rank += rank_of(c->kern, logit, len, place - at) - 1;
        else
            rank += c->kern->count(logit, len, at < place ? x : above);
    }
    return (double)rank;
}

void after_free(struct after *after) { free(after->dense); }

bool after_measure(struct after *after, const struct cand *c)
{
    assert(c->n && c->n <= c->n_row + 1);
    if (c->dense && !mem_grow(&after->dense, &after->dense_cap, c->n, sizeof *after->dense))
        return false;
    if (c->dense)
        cand_snapshot(c, after->dense);
    after->c = c;
    after->logit = c->dense ? after->dense : c->logit;
    after->softmax = softmax_of(c->kern, after->logit, c->n);
    return true;
}

float after_logit(const struct after *after, uint32_t token)
{
    const struct cand *const c = after->c;
    size_t at = c->dense ? token : 0;
    while (!c->dense && at < c->n && c->id[at] != token)
        at++;
    return at < c->n ? after->logit[at] : -INFINITY;
}

// Returns whether the candidates are those of a list, with its logits, and its unlisted tokens are as they were: no
// bias, ban or grammar changed them.
static bool is_unchanged(const struct after *after, const struct row *row)
{
    const struct row_unlisted *const before = &row->unlisted;
    const struct cand *const c = after->c;
    const struct unlisted *const now = &c->unlisted;
    size_t masked = 0;
    if (before->partial && (now->ceiling != before->ceiling || now->low != before->low || now->high != before->high))
        return false;
    for (size_t i = 0; i < row->n; i++)
        masked += row_logit(row, i) == -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        const size_t place = cand_row_place(c, cand_id(c, i));
        if (place >= row->n || after->logit[i] != row_logit(row, place))
            return false;
    }
    return c->n == row->n || c->n + masked == row->n;
}

double after_logprob(const struct after *after, const struct certainty *of, uint32_t token)
{
    const struct row *const whole = of->whole;
    const double logit = (double)after_logit(after, token);
    struct softmax s = after->softmax;
    if (whole && (whole->unlisted.partial || whole->unlisted.scale == SCALE_LOGPROBS) && is_unchanged(after, whole)) {
        if (unlisted_may_hold(after->c, token))
            return NAN;
        if (whole->unlisted.scale == SCALE_LOGPROBS)
            return logit;
        softmax_add(&s, whole->unlisted.sum, whole->unlisted.mean); // NaN: not known
    } else if (!of->exact) {
        return NAN;
    }
    return logit - s.max - s.log_sum;
}

double selector_draw(const struct cand *c)
{
    for (size_t i = 0; i < c->n_notes; i++)
        if (!strcmp(c->note[i].name, "draw"))
            return c->note[i].value;
    return NAN;
}

struct interval share_of(const struct cand *c, uint32_t token, uint32_t without)
{
    struct interval share = {0.0, 0.0};
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t id = cand_id(c, i);
        const double p = id == without ? 0.0 : c->p[i];
        if (id == token)
            share = (struct interval){sum, sum + p};
        sum += p;
    }
    return (struct interval){share.low / sum, share.high / sum};
}

uint32_t after_best(const struct after *after)
{
    const struct cand *const c = after->c;
    if (c->dense)
        return (uint32_t)c->kern->argmax(after->logit, c->n);
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < c->n; i++)
        if (after->logit[i] == after->softmax.max && c->id[i] < best)
            best = c->id[i];
    return best;
}

// NaN, for what a list does not tell, stays.
static double at_most_1(double p) { return p > 1.0 ? 1.0 : p; }

// Fills in the statistics that compare the distribution after the chain with the raw one: mass, e_prob, e_raw_prob, and
// KL(after || raw) in nats, not negative. KL is infinite if the chain left a token that the row masks.
static void measure_against_raw(const struct raw *raw, const struct after *after, double stat[STAT_COUNT])
{
    enum { BLOCK = 64 * KERN_LANES };
    const struct cand *const c = after->c;
    double sum[2 * KERN_LANES] = {0}; // with the differences of the logits, each less its largest
    double mass[KERN_LANES] = {0}, prob[KERN_LANES] = {0}, raw_prob[KERN_LANES] = {0}, p[BLOCK], q[BLOCK];
    float y[BLOCK];
    for (size_t at = 0, len; at < c->n; at += len) {
        len = c->n - at < BLOCK ? c->n - at : BLOCK;
        if (c->dense)
            row_logits(c->kern, raw->row, at, len, y);
        for (size_t i = 0; !c->dense && i < len; i++)
            y[i] = raw_logit(raw, cand_row_place(c, c->id[at + i]));
        c->kern->softmax_sums(sum, after->logit + at, after->softmax.max, y, raw->softmax.max, len);
        c->kern->shares(p, after->logit + at, after->softmax.max, after->softmax.sum, len);
        c->kern->shares(q, y, raw->softmax.max, raw->softmax.sum, len);
        for (size_t i = 0; i < len; i++) {
            mass[i % KERN_LANES] += after->logit[at + i] > -INFINITY ? q[i] : 0.0;
            prob[i % KERN_LANES] += p[i] * p[i];
            raw_prob[i % KERN_LANES] += p[i] * q[i];
        }
    }
    const double kl =
        kern_lanes_total(sum + KERN_LANES) / after->softmax.sum - after->softmax.log_sum + raw->softmax.log_sum;
    stat[STAT_KL_RAW] = kl <= 0.0 ? 0.0 : kl;
    stat[STAT_MASS] = at_most_1(kern_lanes_total(mass));
    stat[STAT_E_PROB] = at_most_1(kern_lanes_total(prob));
    stat[STAT_E_RAW_PROB] = at_most_1(kern_lanes_total(raw_prob));
}

// Returns -ln of a probability that is mixed with the uniform distribution over a vocabulary. NaN without an accepted
// token, or if the size of the vocabulary is not known.
static double eps_nll(double p, size_t n_vocab)
{
    return n_vocab ? -libm_log_quick((1.0 - EPS_SHARE) * p + EPS_SHARE / (double)n_vocab) : NAN;
}

// Returns whether the row has a logit of the accepted token. *place: in the row.
static bool find_accepted(const struct raw *raw, const struct cand *c, int64_t accepted, size_t *place)
{
    *place = accepted < 0 ? SIZE_MAX : cand_row_place(c, (uint32_t)accepted);
    return accepted >= 0 && (*place < raw->row->n || !raw->row->unlisted.partial);
}

void measure_accepted(const struct raw *raw, const struct cand *c, int64_t accepted, double stat[STAT_COUNT])
{
    size_t place;
    stat[STAT_ACCEPTED_RAW_RANK] = find_accepted(raw, c, accepted, &place) ? raw_rank(raw, c, place) : NAN;
}

// Leaves only what is known of a row without a list: what is said of its recorded token.
static void forget_others(double stat[STAT_COUNT])
{
    static const enum statistic known[] = {STAT_ACCEPTED, STAT_ACCEPTED_PROB, STAT_ACCEPTED_RAW_PROB, STAT_EPS_NLL,
                                           STAT_NLL};
    enum { N = sizeof known / sizeof *known };
    double kept[N];
    for (size_t i = 0; i < N; i++)
        kept[i] = stat[known[i]];
    for (size_t i = 0; i < STAT_COUNT; i++)
        stat[i] = NAN;
    for (size_t i = 0; i < N; i++)
        stat[known[i]] = kept[i];
    stat[STAT_LOST] = isnan(stat[STAT_NLL]) ? NAN : isinf(stat[STAT_NLL]);
}

void measure(const struct raw *raw, const struct after *after, const struct certainty *of, int64_t accepted,
             double stat[STAT_COUNT])
{
    const struct cand *const c = after->c;
    const struct softmax *const s = &after->softmax;
    const size_t place = cand_row_place(c, c->chosen);
    size_t at;
    const bool known = find_accepted(raw, c, accepted, &at);
    stat[STAT_ACCEPTED_RAW_PROB] = known ? softmax_prob(&raw->softmax, raw_logit(raw, at)) : NAN;
    stat[STAT_PROB] = softmax_prob(s, after_logit(after, c->chosen));
    stat[STAT_RAW_PROB] = softmax_prob(&raw->softmax, raw_logit(raw, place));
    stat[STAT_RAW_RANK] = raw_rank(raw, c, place);
    stat[STAT_N] = (double)c->kern->count(after->logit, c->n, -FLT_MAX);
    stat[STAT_ENTROPY_RAW] = softmax_entropy(&raw->softmax);
    stat[STAT_ENTROPY] = softmax_entropy(s);
    stat[STAT_DRAW] = selector_draw(c);
    stat[STAT_ACCEPTED] = accepted < 0 ? NAN : (double)accepted;
    const double logprob = accepted < 0 ? NAN : after_logprob(after, of, (uint32_t)accepted);
    const bool told = accepted >= 0 && !unlisted_may_hold(c, (uint32_t)accepted);
    stat[STAT_NLL] = -logprob;
    stat[STAT_LOST] = told ? after_logit(after, (uint32_t)accepted) == -INFINITY : NAN;
    stat[STAT_ACCEPTED_PROB] =
        of->exact && !isnan(logprob) ? softmax_prob(s, after_logit(after, (uint32_t)accepted)) : libm_exp(logprob);
    measure_against_raw(raw, after, stat);
    stat[STAT_E_GREEDY] = softmax_prob(s, after_logit(after, cand_row_id(c, raw->best)));
    for (size_t i = 0; i < MEASURES_MOST; i++)
        stat[STAT_MEASURED + i] = c->measure ? c->measure[i] : NAN;
    stat[STAT_GAP] = raw->gap;
    stat[STAT_EPS_NLL] = accepted < 0 ? NAN : eps_nll(stat[STAT_ACCEPTED_PROB], row_vocab(raw->row));
    if (raw->row->unlisted.alone)
        forget_others(stat);
}
