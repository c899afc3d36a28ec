// SPDX-License-Identifier: MIT
#include "run/compare.h"

#include "kern/libm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Sums over the rows of a variant, in their order.
struct sums {
    uint64_t rows;         // good ones
    uint64_t pairs;        // of them, those where the base was good, too
    uint64_t scored, lost; // with a token to accept that survived, and that did not
    double stat[STAT_MEANS], beside[BESIDE_COUNT], greedy, nll;
};

enum compared compared_of(const struct job *j)
{
    if (j->n_variants == 1 || j->args->emit == EMIT_STATS)
        return COMPARED_NOT;
    if (j->args->diff)
        return COMPARED_CHOICES;
    if (j->side_by_side && !j->page)
        return COMPARED_CANDIDATES;
    return j->compares ? COMPARED_TABLE : j->args->emit == EMIT_TEXT ? COMPARED_TEXTS : COMPARED_IDS;
}

bool compare_waits(const struct job *j)
{
    const enum compared compared = compared_of(j);
    return compared == COMPARED_CHOICES ? j->args->diff_most > 0
                                        : compared == COMPARED_TABLE || compared == COMPARED_TEXTS;
}

// A swept value: JSON has a number where it is one, and a flag's true or false.
static void value_of(const struct swept *s, struct swept_value *x)
{
    const struct option_row *const row = s->row;
    struct err e;
    double value;
    int64_t whole;
    x->text = s->value;
    if (row->param && value_parse(row->param, s->value, &value, &e))
        x->number = value_text(row->param, value, x->room);
    else if (row->flag || (!strcmp(row->name, "seed") && whole_number(s->value, NULL, INT64_MIN, INT64_MAX, &whole)))
        x->number = s->value;
}

static void label_variants(struct compare *cmp)
{
    const struct variant *const named = cmp->job->named;
    const size_t n_swept = cmp->job->n_swept;
    for (size_t k = 0; k < n_swept; k++)
        cmp->swept[k] = named[1].swept[k].row->name; // the base's alone has none
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        struct swept_value *const value = named[i].swept ? cmp->value + i * n_swept : NULL;
        cmp->label[i] = (struct chain_label){named[i].name, named[i].options, value};
        for (size_t k = 0; value && k < n_swept; k++)
            value_of(&named[i].swept[k], &value[k]);
    }
}

bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e)
{
    const size_t n = j->n_variants;
    *cmp = (struct compare){.job = j,
                            .out = out,
                            .diff = {.job = j, .out = out},
                            .record = calloc(n, sizeof *cmp->record),
                            .sums = calloc(n, sizeof *cmp->sums),
                            .text = calloc(n, sizeof *cmp->text),
                            .label = calloc(n, sizeof *cmp->label),
                            .value = calloc(n * j->n_swept + 1, sizeof *cmp->value),
                            .swept = calloc(j->n_swept + 1, sizeof *cmp->swept)};
    if (!cmp->record || !cmp->sums || !cmp->text || !cmp->label || !cmp->value || !cmp->swept)
        return err_from_fault(e, fault_memory());
    label_variants(cmp);
    out->chain = cmp->label;
    out->swept = cmp->swept;
    out->n_swept = j->n_swept;
    return true;
}

void compare_free(struct compare *cmp)
{
    for (size_t i = 0; cmp->text && i < cmp->job->n_variants; i++)
        builder_free(&cmp->text[i]);
    diff_free(&cmp->diff);
    free(cmp->record);
    free(cmp->sums);
    free(cmp->text);
    free(cmp->label);
    free(cmp->value);
    free(cmp->swept);
}

// ---- a row

static bool add_texts(struct compare *cmp, const struct result *res, struct err *e)
{
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        const struct piece text = res[i].ok ? vocab_output(cmp->out->vocab, res[i].record.chosen) : (struct piece){0};
        builder_bytes(&cmp->text[i], text.p, text.len);
        if (cmp->text[i].failed)
            return err_from_fault(e, fault_memory());
    }
    return true;
}

static void add_row(struct sums *t, const struct result *res, bool base_ok)
{
    t->rows++;
    for (size_t i = 0; i < STAT_MEANS; i++)
        t->stat[i] += res->stat[i];
    t->greedy += res->stat[STAT_RAW_RANK] == 1.0;
    if (res->stat[STAT_ACCEPTED_PROB] > 0.0) {
        t->scored++;
        t->nll -= libm_log_quick(res->stat[STAT_ACCEPTED_PROB]);
    } else if (res->stat[STAT_ACCEPTED_PROB] == 0.0) {
        t->lost++;
    }
    t->pairs += base_ok;
    for (size_t i = 0; base_ok && i < BESIDE_COUNT; i++)
        t->beside[i] += res->beside[i];
}

static const char *removed_by(const void *results, size_t variant, uint32_t id, char text[NUMBER_TEXT])
{
    const struct result *const res = (const struct result *)results + variant;
    return res->ok ? result_removed_by(res, id, text) : "-";
}

bool compare_row(struct compare *cmp, struct result *res, struct err *e)
{
    const struct job *const j = cmp->job;
    struct output *const out = cmp->out;
    struct chains_record r = {.of = cmp->record, .removed_by = removed_by, .results = res};
    for (size_t i = 0; i < j->n_variants; i++) {
        res[i].record.overlap = res[i].beside[BESIDE_OVERLAP];
        cmp->record[i] = &res[i].record;
        if (res[i].ok && out->compared == COMPARED_TABLE)
            add_row(&cmp->sums[i], &res[i], res[0].ok);
    }
    if (out->compared == COMPARED_TEXTS)
        return add_texts(cmp, res, e);
    if (out->compared == COMPARED_CHOICES)
        return diff_choices(&cmp->diff, res, &r, e);
    if (out->compared == COMPARED_TABLE && !(j->page && j->lists))
        return true;
    if (out->compared != COMPARED_IDS && !output_full(out) && !diff_unite(&cmp->diff, res, &r))
        return err_from_fault(e, fault_memory());
    return output_chains(out, &r, NULL, e);
}

// ---- the table

static void add_cell(struct table *t, size_t variant, const char *name, enum column_kind kind, double sum, uint64_t n)
{
    t->column[t->n_columns] = (struct table_column){name, kind};
    t->cell[variant][t->n_columns++] = (struct table_cell){n ? sum / (double)n : NAN, n};
}

static void add_cells(const struct args *a, struct table *table, size_t variant, const struct sums *t)
{
    static const struct stat_column {
        const char *name;
        enum statistic of;
    } before[] = {{"kept", STAT_N}, {"entropy", STAT_ENTROPY}, {"prob", STAT_PROB}, {"raw_prob", STAT_RAW_PROB}};
    table->n_columns = 0;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        add_cell(table, variant, before[i].name, COLUMN_MEAN, t->stat[before[i].of], t->rows);
    add_cell(table, variant, "greedy", COLUMN_SHARE, t->greedy, t->rows);
    add_cell(table, variant, "kl_raw", COLUMN_MEAN, t->stat[STAT_KL_RAW], t->rows);
    add_cell(table, variant, "same", COLUMN_SHARE, t->beside[BESIDE_SAME], t->pairs);
    add_cell(table, variant, "overlap", COLUMN_MEAN, t->beside[BESIDE_OVERLAP], t->pairs);
    add_cell(table, variant, "js", COLUMN_MEAN, t->beside[BESIDE_JS], t->pairs);
    if (a->against)
        add_cell(table, variant, "kl", COLUMN_MEAN, t->beside[BESIDE_KL], t->pairs);
    if (!a->accept && !a->accept_recorded)
        return;
    const double nll = t->scored ? t->nll / (double)t->scored : NAN;
    add_cell(table, variant, "nll", COLUMN_MEAN, nll, 1);
    add_cell(table, variant, "ppl", COLUMN_MEAN, libm_exp(nll), 1);
    add_cell(table, variant, "lost", COLUMN_COUNT, (double)t->lost, 1);
}

static bool end_table(struct compare *cmp, struct err *e)
{
    const size_t n = cmp->job->n_variants;
    struct table t = {.cell = calloc(n, sizeof *t.cell)};
    if (!t.cell)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++)
        add_cells(cmp->job->args, &t, i, &cmp->sums[i]);
    const bool ok = output_table(cmp->out, &t, e);
    free(t.cell);
    return ok;
}

static bool end_texts(struct compare *cmp, struct err *e)
{
    const size_t n = cmp->job->n_variants;
    struct piece *const text = calloc(n, sizeof *text);
    if (!text)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++)
        text[i] = (struct piece){(const unsigned char *)cmp->text[i].text, cmp->text[i].len};
    const bool ok = output_texts(cmp->out, text, e);
    free(text);
    return ok;
}

bool compare_end(struct compare *cmp, struct err *e)
{
    switch (cmp->out->compared) {
    case COMPARED_TEXTS:
        return end_texts(cmp, e);
    case COMPARED_TABLE:
        return end_table(cmp, e);
    default:
        return diff_end(&cmp->diff, e);
    }
}
