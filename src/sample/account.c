// SPDX-License-Identifier: MIT
#include "sample/account.h"

#include "base/mem.h"
#include "base/number.h"
#include "kern/expf.h"
#include "sample/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 3, DIGITS_MOST = 17 };

void account_number(struct account *a, double x)
{
    char text[NUMBER_TEXT];
    builder_string(a->words, number_short(x, DIGITS, text));
}

void account_compare(struct account *a, const char *first, double x, const char *does, double limit)
{
    char one[NUMBER_TEXT], other[NUMBER_TEXT];
    int digits = DIGITS;
    do {
        number_short(x, digits, one);
        number_short(limit, digits, other);
    } while (digits++ < DIGITS_MOST && x != limit && !strcmp(one, other));
    account_say(a, "%s%s%s%s", first, one, does, other);
}

double account_note(const struct account *a, const char *name)
{
    for (size_t i = 0; i < a->n_notes; i++)
        if (!strcmp(a->note[i].name, name))
            return a->note[i].value;
    return NAN;
}

// ---- tokens of the history

// The place of a token in a list of rising ids; n if it is not there.
static size_t place(const uint32_t *id, size_t n, uint32_t token)
{
    const uint32_t *const found = bsearch(&token, id, n, sizeof *id, order_u32);
    return found ? (size_t)(found - id) : n;
}

bool account_change(const struct account *a, uint32_t token, float *change)
{
    const size_t from = place(a->before.id, a->before.n, token), to = place(a->after.id, a->after.n, token);
    if (from == a->before.n)
        return false;
    *change = to == a->after.n ? -INFINITY : a->after.logit[to] - a->before.logit[from];
    return *change != 0.0f;
}

bool account_find(struct account *a, struct finding found)
{
    struct finding *const list = a->finding;
    size_t at = a->n_findings;
    if (!account_change(a, found.token, &found.change))
        return false;
    while (at && (fabsf(list[at - 1].change) < fabsf(found.change) ||
                  (fabsf(list[at - 1].change) == fabsf(found.change) && list[at - 1].token > found.token)))
        at--;
    if (at == FINDINGS_MOST)
        return true;
    a->n_findings += a->n_findings < FINDINGS_MOST;
    memmove(list + at + 1, list + at, (a->n_findings - at - 1) * sizeof *list);
    list[at] = found;
    return true;
}

void account_none(struct account *a, const uint32_t *id, size_t n, const char *kind)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += place(a->before.id, a->before.n, id[i]) < a->before.n;
    if (found)
        account_say(a, "changed no logit: %zu %s token%s as before", found, kind, found == 1 ? " stays" : "s stay");
    else if (n == 1)
        account_say(a, "did not act: the %s token {%" PRIu32 "} is no candidate", kind, *id);
    else
        account_say(a, "did not act: none of the %zu %s tokens is a candidate", n, kind);
}

// ---- filters

bool account_few(struct account *a, size_t least)
{
    if (!a->unchanged || !a->whole || a->before.n >= least)
        return false;
    account_say(a, "kept all: %zu candidate%s, fewer than %zu", a->before.n, a->before.n == 1 ? "" : "s", least);
    return true;
}

bool account_min_keep(struct account *a, double least)
{
    const struct param *row = a->stage->sampler->params;
    while (row && row->flag && strcmp(row->flag, "min-keep") != 0)
        row++;
    const double min_keep = row && row->flag ? param_load(row, a->stage->params) : 0.0;
    if (!a->unchanged || !a->whole || !(min_keep > 1.0 && min_keep >= least))
        return false;
    account_say(a, "kept all: min-keep is %.0f", min_keep);
    return true;
}

// Says that all candidates were kept: because of --min-keep, or of their number, or as they are equally likely, or for
// no known reason.
static void kept_least(struct account *a)
{
    if (!a->unchanged || account_few(a, 2) || account_min_keep(a, (double)a->before.n))
        return;
    account_say(a, "kept all");
    if (a->whole && a->of.own == a->of.softmax->max)
        account_say(a, ": they are equally likely");
}

void account_kept(struct account *a, const char *first, double x, const char *does, double limit)
{
    if (!a->unchanged || !a->whole || !(x >= limit && x < INFINITY)) {
        kept_least(a);
        return;
    }
    account_say(a, "kept all");
    account_compare(a, first, x, does, limit);
}

// Returns the probability of the least likely candidate.
static double least(const struct account *a) { return softmax_prob(a->of.softmax, a->of.own); }

void account_rank(struct account *a, size_t k)
{
    if (!a->unchanged)
        return;
    account_say(a, "kept all");
    if (a->whole && a->before.n <= k)
        account_say(a, ": %zu candidate%s, at most %zu", a->before.n, a->before.n == 1 ? "" : "s", k);
}

void account_prob(struct account *a, double limit)
{
    account_kept(a, ": the least probability is ", least(a), ", at least ", limit);
}

void account_ratio(struct account *a, double limit)
{
    const double ratio = kern_exp((double)a->of.own - a->of.softmax->max);
    account_kept(a, ": the least likely has ", ratio, " of the largest probability, at least ", limit);
}

// Says so of the sum of all but one candidate.
static void kept_sum(struct account *a, double without, const char *last, double limit, bool past)
{
    if (!a->unchanged || a->before.n < 2 || !a->whole || !(without < limit)) {
        kept_least(a);
        return;
    }
    account_say(a, "kept all: without the %s they have ", last);
    account_compare(a, "", without, past ? ", not above " : ", below ", limit);
}

void account_sum(struct account *a, double limit, bool past) { kept_sum(a, 1.0 - least(a), "last", limit, past); }

void explain_rank(struct account *a) { account_rank(a, (size_t)stage_first(a->stage)); }
void explain_prob(struct account *a) { account_prob(a, stage_first(a->stage)); }
void explain_ratio(struct account *a) { account_ratio(a, stage_first(a->stage)); }
void explain_sum(struct account *a) { account_sum(a, stage_first(a->stage), false); }
void explain_sum_past(struct account *a) { account_sum(a, stage_first(a->stage), true); }

void explain_eta(struct account *a)
{
    const double eta = stage_first(a->stage);
    account_prob(a, fmin(eta, sqrt(eta) * kern_exp(-softmax_entropy(a->of.softmax))));
}

void explain_terms(struct account *a)
{
    if (account_few(a, 2))
        return;
    if (a->unchanged && a->whole && stage_first(a->stage) >= 1.0)
        account_say(a, "kept all: %zu candidate%s, and the limit is all of their entropy", a->before.n,
                    a->before.n == 1 ? "" : "s");
    else
        kept_least(a);
}

void explain_typical(struct account *a)
{
    const struct softmax *const s = a->of.softmax;
    const double typical = s->max + s->log_sum - softmax_entropy(s);
    float last = a->of.own;
    for (size_t i = 0; i < a->of.n; i++)
        if (fabs(a->of.logit[i] - typical) > fabs(last - typical))
            last = a->of.logit[i];
    kept_sum(a, 1.0 - softmax_prob(s, last), "least typical", stage_first(a->stage), true);
}

// ---- all samplers

// Says how far the last candidate is from a limit that only the sampler's distance knows.
static void kept_by_distance(struct account *a)
{
    const double distance = a->whole && a->of.n > 1 ? a->stage->sampler->distance(a->stage, &a->of) : INFINITY;
    account_say(a, "kept all");
    if (distance < INFINITY) {
        account_say(a, ": the last is within the limit by ");
        account_number(a, 100.0 * distance);
        account_say(a, " %% of it");
    }
}

// Says why a division changed nothing.
static void divided_none(struct account *a)
{
    const double by = a->stage->sampler->temperature(a->stage);
    float most = 0.0f;
    for (size_t i = 0; i < a->before.n; i++)
        most = fmaxf(most, fabsf(a->before.logit[i]));
    account_say(a, "changed no logit");
    if (most == 0.0f)
        account_say(a, ": %s 0", a->before.n == 1 ? "it is" : "each is");
    else if (by > 0.0) { // not NaN
        account_say(a, ": the temperature is ");
        account_number(a, by);
    }
}

void account_take(struct account *a)
{
    const struct sampler *const s = a->stage->sampler;
    if (a->unchanged && a->alone && s->needs_two && !s->selector) {
        account_say(a, "did not act: 1 candidate");
        return;
    }
    const size_t before = a->words->len;
    if (s->explain)
        s->explain(a);
    if (a->words->len > before || !a->unchanged || s->selector || hands_softmax(s->hands))
        return;
    if (s->distance)
        kept_by_distance(a);
    else if (s->temperature)
        divided_none(a);
    else
        account_say(a, "changed no logit");
}
