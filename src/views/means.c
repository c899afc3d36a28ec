// SPDX-License-Identifier: MIT
#include "views/means.h"

#include "kern/libm.h"
#include "out/fields.h"
#include "out/message.h"
#include "out/token_text.h"
#include "views/moments.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAIN_STEP 0x1p-40 // above the rounding errors of a sum of probabilities, far below any share that counts

// Sums over the rows of one chain. A zeroed struct is empty.
struct table_sums {
    uint64_t rows;    // good rows
    bool own_history; // the history of some row has tokens that the chain chose
    struct column_sums {
        struct moments all;          // of the rows where the chain has a value
        struct moments own, of_base; // of the rows where the base has a value, too
        struct moments difference;   // the chain's value less the base's, on these rows
    } column[MEANS_COLUMNS];
};

enum table_kind { STATISTIC, PAIR, FINITE_PAIR, INFINITE_PAIR, NLL, LOST, GAIN, UNLISTED, MEASURE, EXACT, ROWS };
enum table_when { IN_ALL, ACCEPTS, AGAINST, PARTIAL, PARTIAL_ACCEPTS };

static const struct {
    const char *help, *option; // what --help says before the column; the option without which a run lacks it, or NULL
    bool partial;              // only runs with partial rows show the column, unless it is asked for
} conditions[] = {[IN_ALL] = {"", NULL, false},
                  [ACCEPTS] = {"(--accept) ", "--accept", false},
                  [AGAINST] = {"(--against) ", "--against", false},
                  [PARTIAL] = {"(top-k lists) ", NULL, true},
                  [PARTIAL_ACCEPTS] = {"(top-k lists, --accept) ", "--accept", true}};

// All columns, in the order that programs read. at: enum statistic, enum pair_stat, or a place in the job's measures,
// which name the column. If `exp` is set, the value is the exponential of the mean. A new column stands at the end:
// columns that programs read by number keep their places.
static const struct table_source {
    const char *name, *help;
    enum column_kind { COLUMN_MEAN, COLUMN_SHARE, COLUMN_COUNT } shown;
    enum table_kind kind;
    int at;
    enum table_when when;
    bool exp;
} sources[] = {
    {"kept", "number of tokens that the chain keeps", COLUMN_MEAN, STATISTIC, STAT_N},
    {"entropy", "entropy after the chain, in nats", COLUMN_MEAN, STATISTIC, STAT_ENTROPY},
    {"e_prob", "expected probability of the drawn token, after the chain: sum p^2", COLUMN_MEAN, STATISTIC,
     STAT_E_PROB},
    {"e_raw_prob", "expected raw probability of the drawn token: sum p q", COLUMN_MEAN, STATISTIC, STAT_E_RAW_PROB},
    {"e_greedy", "probability, after the chain, of the likeliest raw token (the lowest id on a tie)", COLUMN_MEAN,
     STATISTIC, STAT_E_GREEDY},
    {"kl_raw", "KL(after || raw), in nats; infinite if a stage unmasks a token", COLUMN_MEAN, STATISTIC, STAT_KL_RAW},
    {"same", "fraction of rows where both draw the same token with the same seed", COLUMN_SHARE, PAIR, PAIR_SAME},
    {"overlap", "1 minus half the sum of |p - p of the base|; 1 if the distributions are equal", COLUMN_MEAN, PAIR,
     PAIR_OVERLAP},
    {"js", "Jensen-Shannon divergence from the base, in nats", COLUMN_MEAN, PAIR, PAIR_JS},
    {"kl", "KL(base || variant), in nats, over the rows where it is finite", COLUMN_MEAN, FINITE_PAIR, PAIR_KL,
     AGAINST},
    {"nll", "-ln p of the accepted token, over the rows where the chain keeps it", COLUMN_MEAN, NLL, 0, ACCEPTS},
    {"ppl", "exp(nll); comparable only between chains of equal lost", COLUMN_MEAN, NLL, 0, ACCEPTS, true},
    {"lost", "fraction of rows whose accepted token the chain removes or the row masks", COLUMN_SHARE, LOST, 0,
     ACCEPTS},
    {"mass", "raw probability of all kept tokens together", COLUMN_MEAN, STATISTIC, STAT_MASS},
    {"eps_ppl", "perplexity over all rows in which a lost token counts as a very rare one", COLUMN_MEAN, STATISTIC,
     STAT_EPS_NLL, ACCEPTS, true},
    {"kl_inf", "number of rows where kl is infinite", COLUMN_COUNT, INFINITE_PAIR, PAIR_KL, AGAINST},
    {"top1", "fraction of rows where base and variant have the same likeliest token", COLUMN_SHARE, PAIR, PAIR_TOP1,
     AGAINST},
    {NULL, NULL, COLUMN_SHARE, MEASURE, 0},
    {NULL, NULL, COLUMN_MEAN, MEASURE, 1},
    {NULL, NULL, COLUMN_MEAN, MEASURE, 2},
    {NULL, NULL, COLUMN_MEAN, MEASURE, 3},
    {"exact", "fraction of rows whose result equals the full row's", COLUMN_SHARE, EXACT, 0, PARTIAL},
    {"rows", "number of rows without an error", COLUMN_COUNT, ROWS},
    {"gain", "fraction of the model's probability that the chain removes, minus lost: (1 - mass) - lost", COLUMN_SHARE,
     GAIN, 0, ACCEPTS},
    {"unlisted", "fraction of rows whose accepted token is unlisted and may be kept or removed", COLUMN_SHARE, UNLISTED,
     0, PARTIAL_ACCEPTS},
    {NULL, NULL, COLUMN_MEAN, MEASURE, 4},
};
enum { SOURCES = sizeof sources / sizeof *sources };
_Static_assert((int)SOURCES == (int)MEANS_COLUMNS, "sums for each column");

// ---- a row

static bool is_paired(const struct table_source *s)
{
    return s->kind == STATISTIC || s->kind == NLL || s->kind == LOST || s->kind == GAIN || s->kind == MEASURE;
}

// Sets the value of a row in a column. Returns false if the row has none. pairs: the base has a result of the row.
static bool row_value(const struct table_source *s, const struct result *res, bool pairs, double *x)
{
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
        *x = res->stat[STAT_NLL];
        return isfinite(*x);
    case LOST:
        *x = res->stat[STAT_LOST];
        return !isnan(*x);
    case GAIN: // of a list only if the chain keeps what it keeps of the whole row; in steps: rounding is no gain
        *x = floor((1.0 - res->stat[STAT_MASS]) / GAIN_STEP + 0.5) * GAIN_STEP - res->stat[STAT_LOST];
        return !isnan(res->stat[STAT_LOST]) && (!res->record.partial || res->record.exact);
    case UNLISTED:
        *x = isnan(res->stat[STAT_LOST]) && isnan(res->stat[STAT_ACCEPTED_RAW_PROB]);
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

static void table_add(const struct means *m, struct table_sums *t, const struct result *res, const struct result *base)
{
    t->rows++;
    t->own_history = t->own_history || res->record.own_history;
    for (size_t i = 0; i < SOURCES; i++) {
        const struct table_source *const s = &sources[i];
        struct column_sums *const c = &t->column[i];
        double x, y;
        if (!m->has[i] || !row_value(s, res, base, &x))
            continue;
        moments_add(&c->all, x);
        if (!base || res == base || !is_paired(s) || !row_value(s, base, true, &y))
            continue;
        moments_add(&c->own, x);
        moments_add(&c->of_base, y);
        moments_add(&c->difference, x - y);
    }
}

static const char *column_name(const struct means *m, size_t i)
{
    return sources[i].kind == MEASURE ? m->measure[sources[i].at] : sources[i].name;
}

// Returns whether a column may have values in this run.
static bool may_have(const struct means *m, size_t i)
{
    const char *const option = conditions[sources[i].when].option;
    return column_name(m, i) && (!option || args_given(m->job->args, option + 2));
}

static void add_field(struct means_list *l, size_t column, enum means_part part)
{
    l->field[l->n++] = (struct means_field){column, part};
}

const char *means_name(const struct means *m, struct means_field f, char text[CELL_TEXT])
{
    static const char *const suffix[] = {"", "_se", "_diff", "_diff_se"};
    snprintf(text, CELL_TEXT, "%s%s", column_name(m, f.column), suffix[f.part]);
    return text;
}

static bool has_part(const struct table_source *s, enum means_part part)
{
    return part == MEANS_VALUE || (part == MEANS_ERROR ? s->shown != COLUMN_COUNT : is_paired(s));
}

// Finds the field of a name [len]. any: also in a column that the run lacks. Returns false if there is none.
static bool find_field(const struct means *m, const char *name, size_t len, bool any, struct means_field *f)
{
    char text[CELL_TEXT];
    for (size_t k = 0; k < SOURCES; k++)
        for (enum means_part part = MEANS_VALUE; part <= MEANS_DIFFERENCE_ERROR; part++) {
            *f = (struct means_field){k, part};
            if ((any || m->has[k]) && column_name(m, k) && has_part(&sources[k], part) &&
                strlen(means_name(m, *f, text)) == len && !memcmp(text, name, len))
                return true;
        }
    return false;
}

static bool refuse_column(const struct means *m, const char *name, size_t len, struct err *e)
{
    struct means_field f;
    const char *const option = find_field(m, name, len, true, &f) ? conditions[sources[f.column].when].option : NULL;
    struct builder all = {.most = 400};
    if (option)
        return err_set(e, STATUS_USAGE, "--columns: '%.*s' needs %s", (int)len, name, option);
    for (size_t k = 0; k < SOURCES; k++)
        if (m->has[k])
            builder_format(&all, k ? ", %s" : "%s", column_name(m, k));
    err_set(e, STATUS_USAGE, "--columns: '%.*s' is not one of %s; nor one of these with _se, _diff or _diff_se",
            err_clip_part(name, len, 40), name, all.text ? all.text : "");
    builder_free(&all);
    return false;
}

// Lists the fields that --columns names, each once.
static bool choose_fields(struct means *m, const char *names, struct err *e)
{
    for (const char *at = names;; at++) {
        const size_t len = strcspn(at, ",");
        struct means_field f;
        if (!find_field(m, at, len, false, &f))
            return refuse_column(m, at, len, e);
        for (size_t i = 0; i < m->shown.n; i++)
            if (m->shown.field[i].column == f.column && m->shown.field[i].part == f.part)
                return err_set(e, STATUS_USAGE, "--columns: '%.*s' is given twice", (int)len, at);
        add_field(&m->shown, f.column, f.part);
        at += len;
        if (!*at)
            return true;
    }
}

bool means_open(struct means *m, const struct job *j, struct err *e)
{
    const struct row_measure *const measures = job_measures(j);
    *m = (struct means){.job = j, .sums = calloc(j->variants->n, sizeof *m->sums)};
    for (size_t i = 0; measures && measures[i].name; i++)
        m->measure[i] = measures[i].name;
    for (size_t i = 0; i < SOURCES; i++)
        m->has[i] = may_have(m, i);
    if (!m->sums)
        return err_from_fault(e, fault_memory());
    m->names = j->args->columns && strcmp(j->args->columns, "all") != 0;
    return !m->names || choose_fields(m, j->args->columns, e);
}

bool means_of_accepted(const char *columns)
{
    bool all = columns;
    for (const char *at = columns; all; at += strcspn(at, ",") + 1) {
        const size_t len = strcspn(at, ",");
        all = false;
        for (size_t k = 0; k < SOURCES && !all; k++) {
            const struct table_source *const s = &sources[k];
            const size_t own = s->name ? strlen(s->name) : 0;
            const bool accepted = s->kind == NLL || s->kind == LOST || s->kind == UNLISTED || s->kind == ROWS ||
                                  (s->kind == STATISTIC && s->at == STAT_EPS_NLL);
            all = accepted && s->name && own <= len && !memcmp(at, s->name, own) && (own == len || at[own] == '_');
        }
        if (!at[len])
            break;
    }
    return all;
}

bool means_help(size_t i, struct column_help *column)
{
    if (i >= SOURCES)
        return false;
    column->name = sources[i].name;
    if (column->name)
        snprintf(column->help, sizeof column->help, "%s%s", conditions[sources[i].when].help, sources[i].help);
    return true;
}

void means_free(struct means *m) { free(m->sums); }

void means_add(struct means *m, const struct result *res)
{
    for (size_t i = 0; i < m->job->variants->n; i++)
        if (res[i].ok)
            table_add(m, &m->sums[i], &res[i], res->ok ? res : NULL);
}

// ---- the end

// Returns whether some chain has a value in a column.
static bool any_value(const struct means *m, size_t source)
{
    size_t i = 0;
    while (i < m->job->variants->n && !m->sums[i].column[source].all.n)
        i++;
    return i < m->job->variants->n;
}

const char *means_by_chance(const struct means *m, size_t variant)
{
    return job_by_chance(m->job, variant, m->sums[variant].own_history);
}

// Notes which chains' distributions depend on draws.
static void note_chance(const struct means *m)
{
    for (size_t i = 0; i < m->job->variants->n; i++) {
        const char *const by = means_by_chance(m, i);
        if (!by)
            continue;
        message_note("the numbers of chains marked '*' depend on the seed: in '%.*s', "
                     "the outcome of %s depends on earlier draws",
                     VARIANT_NAME(&m->job->variants->of[i]), by);
        return;
    }
}

// Adds the fields of some columns as programs read them: the means, their errors, and the differences to the base.
static void add_fields(struct means *m, size_t first, size_t last)
{
    for (enum means_part part = MEANS_VALUE; part <= MEANS_DIFFERENCE; part++)
        for (size_t k = first; k < last; k++)
            if (m->has[k] && has_part(&sources[k], part)) {
                add_field(&m->all, k, part);
                if (part == MEANS_DIFFERENCE)
                    add_field(&m->all, k, MEANS_DIFFERENCE_ERROR);
            }
}

// Returns whether a column of lists tells a reader something: that tokens are unlisted, or that rows are not exact.
static bool tells(const struct means *m, size_t source)
{
    const double usual = sources[source].kind == EXACT ? 1.0 : 0.0;
    for (size_t i = 0; conditions[sources[source].when].partial && i < m->job->variants->n; i++)
        if (mean_of(&m->sums[i].column[source].all) != usual)
            return true;
    return false;
}

// Lists the columns for people: first those that tell which chain to take and, unless these are enough, all others.
static void show_fields(struct means *m)
{
    static const char *const first[] = {"lost", "gain", "gain_diff", "kept", "entropy"}, *const apart[] = {
                                                                                             "overlap", "same",
                                                                                             "kl",      "kept",
                                                                                             "entropy", "exact"};
    enum { FIRST = sizeof first / sizeof *first, APART = sizeof apart / sizeof *apart };
    const bool accepts = args_given(m->job->args, "accept"), chooses = accepts || !m->brief;
    const char *const *const names = chooses ? first : apart;
    bool done[MEANS_COLUMNS] = {false};
    struct means_field f;
    for (size_t i = 0; i < (chooses ? (size_t)FIRST : (size_t)APART); i++)
        if (find_field(m, names[i], strlen(names[i]), false, &f)) {
            add_field(&m->shown, f.column, f.part);
            done[f.column] = true;
        }
    for (size_t k = 0; k < SOURCES; k++)
        if (m->has[k] && !done[k] && (!m->brief || (accepts && tells(m, k))))
            add_field(&m->shown, k, MEANS_VALUE);
}

void means_end(struct means *m)
{
    const bool chosen = m->names;
    size_t rows = 0;
    for (size_t i = 0; i < SOURCES; i++)
        if (!chosen && conditions[sources[i].when].partial)
            m->has[i] = m->has[i] && any_value(m, i);
    while (sources[rows].kind != ROWS)
        rows++;
    m->brief = m->brief && !m->job->args->columns;
    add_fields(m, 0, rows);
    add_fields(m, rows, SOURCES);
    if (!chosen)
        show_fields(m);
    note_chance(m);
}

// The difference of two exponentials of means a and b moves with both means: by e^a da - e^b db. Its variance is
// e^2a var a + e^2b var b - 2 e^(a+b) cov, and 2 cov = var a + var b - var (a - b). The form below subtracts no large
// numbers when a is close to b.
static struct means_cell exp_difference(const struct column_sums *c)
{
    const double own = libm_exp(mean_of(&c->own)), base = libm_exp(mean_of(&c->of_base));
    const double variance = (own - base) * (own * mean_variance(&c->own) - base * mean_variance(&c->of_base)) +
                            own * base * mean_variance(&c->difference);
    return (struct means_cell){own - base, sqrt(variance < 0.0 ? 0.0 : variance)};
}

struct means_cell means_cell(const struct means *m, size_t variant, struct means_field f)
{
    const struct table_source *const s = &sources[f.column];
    const struct column_sums *const c = &m->sums[variant].column[f.column];
    const double mean = mean_of(&c->all), error = sqrt(mean_variance(&c->all));
    struct means_cell own = {mean, error}, apart = {mean_of(&c->difference), sqrt(mean_variance(&c->difference))};
    if (s->exp) {
        own = (struct means_cell){libm_exp(mean), libm_exp(mean) * error};
        apart = exp_difference(c);
    }
    if (s->shown == COLUMN_COUNT)
        own = (struct means_cell){s->kind == ROWS ? (double)m->sums[variant].rows : c->all.sum, NAN};
    const struct means_cell part[] = {own, {own.error, NAN}, apart, {apart.error, NAN}}; // in the order of the enum
    return part[f.part];
}

// The decimals of an error: two digits if those are 35 at most, else one. May be negative.
static int decimals_of(double error)
{
    char text[CELL_TEXT];
    snprintf(text, sizeof text, "%.1e", error); // d.de-dd
    const int tenths = (text[0] - '0') * 10 + (text[2] - '0'), power = atoi(strchr(text, 'e') + 1);
    return (tenths <= 35 ? 1 : 0) - power;
}

const char *rounded_to(double x, double error, char text[CELL_TEXT])
{
    const int decimals = error > 0.0 && error < INFINITY ? decimals_of(error) : 0;
    if (isnan(x))
        snprintf(text, CELL_TEXT, "-");
    else if (!(error > 0.0 && error < INFINITY) || isinf(x))
        snprintf(text, CELL_TEXT, "%.4g", x == 0.0 ? 0.0 : x);
    else if (decimals <= 0)
        snprintf(text, CELL_TEXT, "%.0f", x);
    else
        snprintf(text, CELL_TEXT, "%.*f", decimals < 12 ? decimals : 12, x);
    return text;
}

// Returns whether the text of a field has its error.
static bool with_error(struct means_field f, bool errors)
{
    const enum column_kind kind = sources[f.column].shown;
    return (f.part == MEANS_VALUE || f.part == MEANS_DIFFERENCE) && kind != COLUMN_COUNT &&
           (kind == COLUMN_SHARE || errors);
}

const char *means_cell_text(const struct means *m, size_t variant, struct means_field f, bool errors, bool utf8,
                            char text[CELL_TEXT])
{
    const struct means_cell c = means_cell(m, variant, f);
    if (sources[f.column].shown == COLUMN_COUNT && f.part == MEANS_VALUE && !isnan(c.value)) {
        snprintf(text, CELL_TEXT, "%.0f", c.value);
        return text;
    }
    rounded_to(c.value, c.error, text);
    if (!isfinite(c.value) || !(c.error > 0.0 && c.error < INFINITY) || !with_error(f, errors))
        return text;
    char error[CELL_TEXT];
    const size_t len = strlen(text);
    snprintf(text + len, CELL_TEXT - len, " %s%s", utf8 ? "±" : "+-", rounded_to(c.error, c.error, error));
    return text;
}
