// SPDX-License-Identifier: MIT
#include "run/compare.h"

#include "base/mem.h"
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
    struct builder text; // what the tokens say; a row costs its bytes
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

bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e)
{
    static const struct record none = {0};
    const size_t n = j->n_variants, n_swept = j->n_swept;
    *cmp = (struct compare){.job = j,
                            .out = out,
                            .chain = calloc(n, sizeof *cmp->chain),
                            .value = calloc(n * n_swept + 1, sizeof *cmp->value),
                            .swept = calloc(n_swept + 1, sizeof *cmp->swept),
                            .sums = calloc(n, sizeof *cmp->sums)};
    if (!cmp->chain || !cmp->value || !cmp->swept || !cmp->sums)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++) {
        const struct variant *const v = &j->named[i];
        struct swept_value *const value = v->swept ? cmp->value + i * n_swept : NULL;
        cmp->chain[i] =
            (struct compared_chain){.name = v->name, .options = v->options, .swept = value, .record = &none};
        for (size_t k = 0; value && k < n_swept; k++) {
            cmp->swept[k] = v->swept[k].row->name;
            value_of(&v->swept[k], &value[k]);
        }
    }
    out->chain = cmp->chain;
    out->swept = cmp->swept;
    out->n_swept = n_swept;
    return true;
}

void compare_free(struct compare *cmp)
{
    for (size_t i = 0; cmp->sums && i < cmp->job->n_variants; i++)
        builder_free(&cmp->sums[i].text);
    for (size_t i = 0; i < cmp->n_worst; i++)
        free(cmp->worst[i].text.text);
    free(cmp->worst);
    idmap_free(&cmp->ids);
    free(cmp->token);
    free(cmp->p);
    free(cmp->chain);
    free(cmp->value);
    free(cmp->swept);
    free(cmp->sums);
}

// ---- a row

static bool append_text(struct sums *t, struct piece text, struct err *e)
{
    builder_bytes(&t->text, text.p, text.len);
    return !t->text.failed || err_from_fault(e, fault_memory());
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

// The rank of a token among the kept, from 1; 0 if it is not among them.
static size_t kept_rank(const struct record *r, uint32_t id)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == id)
            return i + 1;
    return 0;
}

// Holds what a variant chose against the base's choice.
static void hold_choice(struct compared_chain *c, const struct result *base, const struct result *res)
{
    const struct record *const b = &base->record, *const r = &res->record;
    c->base_rank = kept_rank(b, r->chosen);
    c->base_p = c->base_rank ? b->ranked[c->base_rank - 1].p : 0.0f;
    strcpy(c->removed_in_base, "-");
    strcpy(c->base_removed, "-");
    if (!c->base_rank)
        result_removed_by(base, r->chosen, c->removed_in_base);
    if (!kept_rank(r, b->chosen))
        result_removed_by(res, b->chosen, c->base_removed);
}

// Keeps the row if it is among those with the least overlap.
static bool keep_worst(struct compare *cmp, const struct chains_record *r, double overlap, struct err *e)
{
    const size_t most = (size_t)cmp->job->args->diff_most;
    size_t at = cmp->n_worst;
    while (at && cmp->worst[at - 1].overlap > overlap)
        at--;
    if (at == most)
        return output_chains(cmp->out, COMPARED_CHOICES, &(struct chains_record){0}, NULL, e);
    struct worst w = {.overlap = overlap};
    if (!output_chains(cmp->out, COMPARED_CHOICES, r, &w.text, e) ||
        !mem_grow(&cmp->worst, &cmp->worst_cap, cmp->n_worst + 1, sizeof *cmp->worst)) {
        free(w.text.text);
        return err_from_fault(e, fault_memory());
    }
    if (cmp->n_worst == most)
        free(cmp->worst[--cmp->n_worst].text.text);
    memmove(cmp->worst + at + 1, cmp->worst + at, (cmp->n_worst - at) * sizeof *cmp->worst);
    cmp->worst[at] = w;
    cmp->n_worst++;
    return true;
}

// Writes the variants that chose otherwise than the base, or keeps the row for the end.
static bool compare_choices(struct compare *cmp, const struct result *res, struct err *e)
{
    const bool keeps = cmp->job->args->diff_most;
    struct chains_record r = {0};
    double least = 2.0; // above what a sum of shares may be rounded to
    for (size_t i = 1; i < cmp->job->n_variants; i++) {
        struct compared_chain *const c = &cmp->chain[i];
        c->shown = res->ok && res[i].ok && (keeps || res[i].record.chosen != res->record.chosen);
        if (!c->shown)
            continue;
        r.n_shown++;
        hold_choice(c, res, &res[i]);
        least = res[i].record.overlap < least ? res[i].record.overlap : least;
    }
    if (keeps && least <= 1.0)
        return keep_worst(cmp, &r, least, e);
    r.n_shown = keeps ? 0 : r.n_shown;
    return output_chains(cmp->out, COMPARED_CHOICES, &r, NULL, e);
}

static int by_most(const void *a, const void *b)
{
    const struct united *const x = a, *const y = b;
    if (x->most != y->most)
        return x->most < y->most ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Fills in the candidates that are among the best of any variant. They hold until the next call. False when memory is
// short.
static bool unite(struct compare *cmp, const struct result *res, struct chains_record *r)
{
    const size_t variants = cmp->job->n_variants;
    idmap_clear(&cmp->ids);
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.shown; k++)
            if (idmap_add(&cmp->ids, res[i].record.ranked[k].id) == IDMAP_NONE)
                return false;
    const size_t n = cmp->ids.n;
    if (!mem_grow(&cmp->token, &cmp->token_cap, n + 1, sizeof *cmp->token) ||
        !mem_grow(&cmp->p, &cmp->p_cap, n * variants + 1, sizeof *cmp->p))
        return false;
    for (size_t k = 0; k < n * variants; k++)
        cmp->p[k] = -1.0f; // removed
    for (size_t k = 0; k < n; k++)
        cmp->token[k] = (struct united){.id = cmp->ids.id[k], .p = cmp->p + k * variants};
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.kept; k++) {
            const struct ranked *const c = &res[i].record.ranked[k];
            const size_t at = idmap_find(&cmp->ids, c->id);
            if (at == IDMAP_NONE)
                continue;
            cmp->p[at * variants + i] = c->p;
            cmp->token[at].most = c->p > cmp->token[at].most ? c->p : cmp->token[at].most;
        }
    qsort(cmp->token, n, sizeof *cmp->token, by_most);
    r->token = cmp->token;
    r->n_tokens = n;
    return true;
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
    const enum compared compared = out->compared;
    struct chains_record r = {.removed_by = removed_by, .results = res};
    for (size_t i = 0; i < j->n_variants; i++) {
        res[i].record.overlap = res[i].beside[BESIDE_OVERLAP];
        cmp->chain[i].record = &res[i].record;
        if (res[i].ok && compared == COMPARED_TABLE)
            add_row(&cmp->sums[i], &res[i], res[0].ok);
        if (res[i].ok && compared == COMPARED_TEXTS &&
            !append_text(&cmp->sums[i], vocab_output(out->vocab, res[i].record.chosen), e))
            return false;
    }
    if (compared == COMPARED_CHOICES)
        return compare_choices(cmp, res, e);
    if (compared == COMPARED_TEXTS || (compared == COMPARED_TABLE && !(j->page && j->lists)))
        return true;
    if (compared == COMPARED_IDS)
        return output_chains(out, COMPARED_IDS, &r, NULL, e);
    if (!output_full(out) && !unite(cmp, res, &r))
        return err_from_fault(e, fault_memory());
    return output_chains(out, COMPARED_CANDIDATES, &r, NULL, e);
}

// ---- the table

struct table {
    struct chains_record r;
    struct compared_chain *chain; // at hand
};

static void add_cell(struct table *t, const char *name, enum column_kind kind, double sum, uint64_t n)
{
    t->r.column[t->r.n_columns] = (struct table_column){name, kind};
    t->chain->cell[t->r.n_columns++] = (struct table_cell){n ? sum / (double)n : NAN, n};
}

static void add_cells(const struct args *a, struct table *table, const struct sums *t)
{
    static const struct stat_column {
        const char *name;
        enum statistic of;
    } before[] = {{"kept", STAT_N}, {"entropy", STAT_ENTROPY}, {"prob", STAT_PROB}, {"raw_prob", STAT_RAW_PROB}};
    table->r.n_columns = 0;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        add_cell(table, before[i].name, COLUMN_MEAN, t->stat[before[i].of], t->rows);
    add_cell(table, "greedy", COLUMN_SHARE, t->greedy, t->rows);
    add_cell(table, "kl_raw", COLUMN_MEAN, t->stat[STAT_KL_RAW], t->rows);
    add_cell(table, "same", COLUMN_SHARE, t->beside[BESIDE_SAME], t->pairs);
    add_cell(table, "overlap", COLUMN_MEAN, t->beside[BESIDE_OVERLAP], t->pairs);
    add_cell(table, "js", COLUMN_MEAN, t->beside[BESIDE_JS], t->pairs);
    if (a->against)
        add_cell(table, "kl", COLUMN_MEAN, t->beside[BESIDE_KL], t->pairs);
    if (!a->accept && !a->accept_recorded)
        return;
    const double nll = t->scored ? t->nll / (double)t->scored : NAN;
    add_cell(table, "nll", COLUMN_MEAN, nll, 1);
    add_cell(table, "ppl", COLUMN_MEAN, libm_exp(nll), 1);
    add_cell(table, "lost", COLUMN_COUNT, (double)t->lost, 1);
}

bool compare_end(struct compare *cmp, struct err *e)
{
    const enum compared compared = cmp->out->compared;
    struct table t = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < cmp->n_worst; i++)
        ok = output_kept(cmp->out, &cmp->worst[i].text, e);
    if (compared < COMPARED_TEXTS)
        return ok;
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        const struct sums *const sums = &cmp->sums[i];
        t.chain = &cmp->chain[i];
        t.chain->text = (struct piece){(const unsigned char *)sums->text.text, sums->text.len};
        add_cells(cmp->job->args, &t, sums);
    }
    return output_chains(cmp->out, compared, &t.r, NULL, e);
}
