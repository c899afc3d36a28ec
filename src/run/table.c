// SPDX-License-Identifier: MIT
#include "run/table.h"

#include "kern/libm.h"

#include <math.h>
#include <string.h>

enum table_kind { STATISTIC, PAIR, FINITE_PAIR, INFINITE_PAIR, NLL, LOST, UNLISTED, MEASURE, EXACT, ROWS };
enum table_when { IN_ALL, ACCEPTS, AGAINST, MEASURES, PARTIAL, PARTIAL_ACCEPTS };

// All columns, in their order. at: enum statistic, enum pair_stat, or a place in the job's measures, which
// name the column. If `exp` is set, the value is the exponential of
// the mean.
static const struct table_source {
    const char *name;
    enum column_kind shown;
    enum table_kind kind;
    int at;
    enum table_when when;
    bool exp;
} sources[] = {
    {"kept", COLUMN_MEAN, STATISTIC, STAT_N},
    {"entropy", COLUMN_MEAN, STATISTIC, STAT_ENTROPY},
    {"prob", COLUMN_MEAN, STATISTIC, STAT_E_PROB},
    {"raw_prob", COLUMN_MEAN, STATISTIC, STAT_E_RAW_PROB},
    {"greedy", COLUMN_MEAN, STATISTIC, STAT_E_GREEDY},
    {"kl_raw", COLUMN_MEAN, STATISTIC, STAT_KL_RAW},
    {"same", COLUMN_SHARE, PAIR, PAIR_SAME},
    {"overlap", COLUMN_MEAN, PAIR, PAIR_OVERLAP},
    {"js", COLUMN_MEAN, PAIR, PAIR_JS},
    {"kl", COLUMN_MEAN, FINITE_PAIR, PAIR_KL, AGAINST},
    {"nll", COLUMN_MEAN, NLL, 0, ACCEPTS},
    {"ppl", COLUMN_MEAN, NLL, 0, ACCEPTS, true},
    {"lost", COLUMN_SHARE, LOST, 0, ACCEPTS},
    {"unlisted", COLUMN_SHARE, UNLISTED, 0, PARTIAL_ACCEPTS},
    {"mass", COLUMN_MEAN, STATISTIC, STAT_MASS},
    {"eps_ppl", COLUMN_MEAN, STATISTIC, STAT_EPS_NLL, ACCEPTS, true},
    {"kl_inf", COLUMN_COUNT, INFINITE_PAIR, PAIR_KL, AGAINST},
    {"top1", COLUMN_SHARE, PAIR, PAIR_TOP1, AGAINST},
    {NULL, COLUMN_SHARE, MEASURE, 0, MEASURES},
    {NULL, COLUMN_MEAN, MEASURE, 1, MEASURES},
    {NULL, COLUMN_MEAN, MEASURE, 2, MEASURES},
    {NULL, COLUMN_MEAN, MEASURE, 3, MEASURES},
    {NULL, COLUMN_MEAN, MEASURE, 4, MEASURES},
    {"exact", COLUMN_SHARE, EXACT, 0, PARTIAL},
    {"rows", COLUMN_COUNT, ROWS},
};
enum { SOURCES = sizeof sources / sizeof *sources };
_Static_assert((int)SOURCES == (int)TABLE_COLUMNS, "a cell for each column");

// ---- a row

static bool is_paired(const struct table_source *s)
{
    return s->kind == STATISTIC || s->kind == NLL || s->kind == LOST || s->kind == MEASURE;
}

// Sets the value of a row in a column. Returns false if the row has none. pairs: the base has a result of the row.
static bool row_value(const struct table_source *s, const struct result *res, bool pairs, double *x)
{
    const double accepted = res->stat[STAT_ACCEPTED_PROB];
    switch (s->kind) {
    case STATISTIC:
        *x = res->stat[s->at];
        return true;
    case PAIR:
        *x = res->pair[s->at];
        return pairs;
    case FINITE_PAIR:
        *x = res->pair[s->at];
        return pairs && isfinite(*x);
    case INFINITE_PAIR:
        *x = isinf(res->pair[s->at]);
        return pairs;
    case NLL:
        *x = accepted > 0.0 ? -libm_log_quick(accepted) : NAN;
        return accepted > 0.0;
    case LOST:
        *x = accepted == 0.0;
        return !isnan(accepted);
    case UNLISTED:
        *x = isnan(accepted);
        return res->record.partial && !isnan(res->stat[STAT_ACCEPTED]);
    case MEASURE:
        *x = res->stat[STAT_MEASURED + s->at];
        return !isnan(*x);
    case EXACT:
        *x = res->record.exact;
        return res->record.partial;
    case ROWS:
        break;
    }
    return false;
}

static void moments_add(struct moments *m, double x)
{
    const double d = x - m->mean;
    m->n++;
    m->sum += x;
    m->mean += d / (double)m->n;
    m->m2 += d * (x - m->mean);
}

void table_add(struct table_sums *t, const struct result *res, const struct result *base)
{
    t->rows++;
    for (size_t i = 0; i < SOURCES; i++) {
        struct column_sums *const c = &t->column[i];
        double x, y;
        if (!row_value(&sources[i], res, base, &x))
            continue;
        moments_add(&c->all, x);
        if (!base || res == base || !is_paired(&sources[i]) || !row_value(&sources[i], base, true, &y))
            continue;
        moments_add(&c->own, x);
        moments_add(&c->of_base, y);
        moments_add(&c->difference, x - y);
    }
}

// ---- the end

// Has some chain a value in a column?
static bool any_value(const struct job *j, const struct table_sums *sums, size_t column)
{
    size_t i = 0;
    while (i < j->n_variants && !sums[i].column[column].all.n)
        i++;
    return i < j->n_variants;
}

void table_columns(const struct job *j, const struct table_sums *sums, struct chains *all)
{
    const struct args *const a = j->args;
    const bool accepts = a->accept || a->accept_recorded;
    size_t measures = 0;
    while (j->measures && j->measures[measures])
        measures++;
    all->n_columns = 0;
    for (size_t i = 0; i < SOURCES; i++) {
        const struct table_source *const s = &sources[i];
        const bool measure = s->kind == MEASURE && j->measures && (size_t)s->at < measures;
        const char *const name = measure ? j->measures[s->at] : s->name;
        const bool partial = (s->when == PARTIAL || s->when == PARTIAL_ACCEPTS) && any_value(j, sums, i);
        if (name && (s->when == IN_ALL || partial || (s->when == AGAINST && a->against) ||
                     (s->when == ACCEPTS && accepts) || measure))
            all->column[all->n_columns++] = (struct table_column){name, s->shown, is_paired(s), i};
    }
}

static double mean_of(const struct moments *m) { return m->n ? m->sum / (double)m->n : NAN; }

// Returns the square of the mean's standard error.
static double mean_variance(const struct moments *m)
{
    return m->n > 1 ? m->m2 / (double)(m->n - 1) / (double)m->n : NAN;
}

// The difference of two exponentials of means a and b moves with both means: by e^a da - e^b db. Its variance is
// e^2a var a + e^2b var b - 2 e^(a+b) cov, and 2 cov = var a + var b - var (a - b). The form below subtracts no large
// numbers when a is close to b.
static void set_exp_difference(struct table_cell *cell, const struct column_sums *c)
{
    const double own = libm_exp(mean_of(&c->own)), base = libm_exp(mean_of(&c->of_base));
    const double variance = (own - base) * (own * mean_variance(&c->own) - base * mean_variance(&c->of_base)) +
                            own * base * mean_variance(&c->difference);
    cell->difference = own - base;
    cell->difference_error = sqrt(variance < 0.0 ? 0.0 : variance);
}

static struct table_cell cell_of(const struct table_source *s, const struct table_sums *t, const struct column_sums *c)
{
    const double mean = mean_of(&c->all), error = sqrt(mean_variance(&c->all));
    struct table_cell cell = {mean, error, mean_of(&c->difference), sqrt(mean_variance(&c->difference))};
    if (s->exp) {
        cell.value = libm_exp(mean);
        cell.error = cell.value * error;
        set_exp_difference(&cell, c);
    }
    if (s->shown == COLUMN_COUNT)
        cell = (struct table_cell){s->kind == ROWS ? (double)t->rows : c->all.sum, NAN, NAN, NAN};
    return cell;
}

void table_cells(const struct table_sums *t, const struct chains *all, struct compared_chain *c)
{
    for (size_t k = 0; k < all->n_columns; k++)
        c->cell[k] = cell_of(&sources[all->column[k].source], t, &t->column[all->column[k].source]);
}
