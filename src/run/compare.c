// SPDX-License-Identifier: MIT
#include "run/compare.h"

#include "kern/libm.h"
#include "out/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Sums over the rows of a variant, in their order.
struct comparison {
    uint64_t rows;         // good ones
    uint64_t pairs;        // of them, those where the base was good, too
    uint64_t scored, lost; // with a token to accept that survived, and that did not
    double stat[STAT_MEANS], beside[BESIDE_COUNT], greedy, nll;
};

static void begin_page(const struct compare *cmp)
{
    html_begin(cmp->out);
    fprintf(cmp->out->f, "<p class=\"chain\">%zu chains on the same rows</p>\n</header>\n<main class=\"beside\">\n",
            cmp->job->n_variants);
    if (cmp->job->lists)
        html_text_begin(cmp->out);
}

bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e)
{
    *cmp = (struct compare){.job = j, .out = out};
    if (j->side_by_side)
        diff_begin(&cmp->diff, j, out);
    if (j->args->emit == EMIT_TEXT)
        cmp->text = calloc(j->n_variants, sizeof *cmp->text);
    else
        cmp->tally = calloc(j->n_variants, sizeof *cmp->tally);
    if (j->page)
        out->page = html_page();
    if ((!cmp->text && !cmp->tally) || (j->page && !out->page))
        return err_from_fault(e, fault_memory());
    if (j->page)
        begin_page(cmp);
    return true;
}

void compare_free(struct compare *cmp)
{
    for (size_t i = 0; cmp->text && i < cmp->job->n_variants; i++)
        builder_free(&cmp->text[i]);
    diff_free(&cmp->diff);
    free(cmp->text);
    free(cmp->tally);
}

// ---- a row

static bool put_ids(struct compare *cmp, const struct result *res, struct err *e)
{
    for (size_t i = 0; i < cmp->job->n_variants; i++)
        fprintf(cmp->out->f, "%s%" PRId64, i ? "\t" : "", res[i].ok ? (int64_t)res[i].record.chosen : -1);
    putc('\n', cmp->out->f);
    return output_wrote(cmp->out, e);
}

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

static void add_row(struct comparison *t, const struct result *res, bool base_ok)
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

// The base's token, and behind it what -O json would print of the row and a few numbers of each variant.
static bool put_page_row(struct compare *cmp, const struct result *res, struct err *e)
{
    FILE *const f = cmp->out->f;
    html_text_token(cmp->out, &res->record, res->ok ? res->stat[STAT_RAW_PROB] : 0.0);
    fputs("<script type=\"application/json\">\n{\"record\":", f);
    if (!diff_row(&cmp->diff, res, e))
        return false;
    fputs(",\"of\":[", f);
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        const double *const stat = res[i].stat, overlap = res->ok && res[i].ok ? res[i].beside[BESIDE_OVERLAP] : 0.0;
        fputs(i ? "," : "", f);
        if (!res[i].ok) {
            fputs("null", f);
            continue;
        }
        fprintf(f, "[%.5g,%.0f,%.5g,%.5g,%" PRIu32 ",", stat[STAT_PROB], stat[STAT_N], stat[STAT_ENTROPY], overlap,
                res[i].record.chosen);
        output_string(cmp->out, f,
                      cmp->out->vocab ? vocab_text(cmp->out->vocab, res[i].record.chosen) : (struct piece){0});
        putc(']', f);
    }
    fputs("]}\n</script>", f);
    return output_wrote(cmp->out, e);
}

bool compare_row(struct compare *cmp, const struct result *res, struct err *e)
{
    if (cmp->job->page && cmp->job->lists && cmp->rows++ < PAGE_ROWS && !put_page_row(cmp, res, e))
        return false;
    if (cmp->job->side_by_side && !cmp->job->page)
        return diff_row(&cmp->diff, res, e);
    if (cmp->text)
        return add_texts(cmp, res, e);
    if (!cmp->job->compares)
        return put_ids(cmp, res, e);
    for (size_t i = 0; i < cmp->job->n_variants; i++)
        if (res[i].ok)
            add_row(&cmp->tally[i], &res[i], res[0].ok);
    return true;
}

// ---- the table

enum { COLUMNS_MOST = 13, WIDTH = 8, SHARE_WIDTH = 13, NAME_MOST = 48, CELL_TEXT = 40 };

struct cell {
    const char *name;
    enum cell_kind { CELL_MEAN, CELL_SHARE, CELL_COUNT } kind;
    double value; // NAN: there is none
    uint64_t n;   // rows that it is of
};

static struct cell cell_of(const char *name, enum cell_kind kind, double sum, uint64_t n)
{
    return (struct cell){name, kind, n ? sum / (double)n : NAN, n};
}

// The columns of a variant; returns how many.
static size_t columns(const struct compare *cmp, const struct comparison *t, struct cell cell[COLUMNS_MOST])
{
    const struct args *const a = cmp->job->args;
    size_t n = 0;
    cell[n++] = cell_of("kept", CELL_MEAN, t->stat[STAT_N], t->rows);
    cell[n++] = cell_of("entropy", CELL_MEAN, t->stat[STAT_ENTROPY], t->rows);
    cell[n++] = cell_of("prob", CELL_MEAN, t->stat[STAT_PROB], t->rows);
    cell[n++] = cell_of("raw_prob", CELL_MEAN, t->stat[STAT_RAW_PROB], t->rows);
    cell[n++] = cell_of("greedy", CELL_SHARE, t->greedy, t->rows);
    cell[n++] = cell_of("kl_raw", CELL_MEAN, t->stat[STAT_KL_RAW], t->rows);
    cell[n++] = cell_of("same", CELL_SHARE, t->beside[BESIDE_SAME], t->pairs);
    cell[n++] = cell_of("overlap", CELL_MEAN, t->beside[BESIDE_OVERLAP], t->pairs);
    cell[n++] = cell_of("js", CELL_MEAN, t->beside[BESIDE_JS], t->pairs);
    if (a->against)
        cell[n++] = cell_of("kl", CELL_MEAN, t->beside[BESIDE_KL], t->pairs);
    if (!a->accept && !a->accept_recorded)
        return n;
    const struct cell nll = cell_of("nll", CELL_MEAN, t->nll, t->scored);
    cell[n++] = nll;
    cell[n++] = (struct cell){"ppl", CELL_MEAN, libm_exp(nll.value), t->scored};
    cell[n++] = (struct cell){"lost", CELL_COUNT, (double)t->lost, t->rows};
    return n;
}

static int cell_width(const struct cell *c)
{
    return c->kind == CELL_SHARE ? SHARE_WIDTH : WIDTH;
}

// For people: few digits, and of a share its standard error.
static void cell_text(const struct cell *c, char text[CELL_TEXT])
{
    const double x = c->value;
    if (isnan(x))
        strcpy(text, "-");
    else if (c->kind == CELL_SHARE)
        snprintf(text, CELL_TEXT, "%.3f (%.3f)", x, sqrt(x * (1.0 - x) / (double)c->n));
    else if (c->kind == CELL_COUNT || isinf(x))
        snprintf(text, CELL_TEXT, "%.0f", x);
    else
        snprintf(text, CELL_TEXT, x > 0.0 && x < 0.001 ? "%.2e" : x < 100.0 ? "%.4f" : x < 1e7 ? "%.1f" : "%.2e", x);
}

// The columns from `first` on of every variant, as many as fit beside the names; returns where the next block begins.
static size_t put_block(const struct compare *cmp, size_t first, size_t n, size_t width, size_t most)
{
    FILE *const f = cmp->out->f;
    const size_t window = cmp->out->screen.columns ? (size_t)cmp->out->screen.columns : SIZE_MAX;
    struct cell cell[COLUMNS_MOST];
    columns(cmp, cmp->tally, cell);
    size_t last = first, taken = width;
    for (; last < n && (last == first || taken + 1 + (size_t)cell_width(&cell[last]) <= window); last++)
        taken += 1 + (size_t)cell_width(&cell[last]);
    fprintf(f, "%-*s", (int)width, "name");
    for (size_t k = first; k < last; k++)
        fprintf(f, " %*s", cell_width(&cell[k]), cell[k].name);
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        putc('\n', f);
        text_cell(f, text_piece(cmp->job->named[i].name), 0, width, most);
        columns(cmp, &cmp->tally[i], cell);
        for (size_t k = first; k < last; k++) {
            char text[CELL_TEXT];
            cell_text(&cell[k], text);
            fprintf(f, " %*s", cell_width(&cell[k]), text);
        }
    }
    putc('\n', f);
    return last;
}

// What is too wide for the window goes on below, with the names again.
static void put_for_people(const struct compare *cmp)
{
    const size_t most = cmp->out->screen.columns ? (size_t)cmp->out->screen.columns / 2 : SIZE_MAX;
    struct cell cell[COLUMNS_MOST];
    const size_t n = columns(cmp, cmp->tally, cell), width = names_width(cmp->job, most, NAME_MOST);
    for (size_t first = 0; first < n;) {
        fputs(first ? "\n" : "", cmp->out->f);
        first = put_block(cmp, first, n, width, most);
    }
}

static void put_tsv(const struct compare *cmp)
{
    const struct variant *const named = cmp->job->named;
    FILE *const f = cmp->out->f;
    struct cell cell[COLUMNS_MOST];
    const size_t n_swept = cmp->job->n_swept, n = columns(cmp, cmp->tally, cell);
    fputs("name\toptions", f);
    for (size_t k = 0; k < n_swept; k++)
        fprintf(f, "\t%s", named[1].swept[k].row->name); // the base's alone has none
    for (size_t k = 0; k < n; k++)
        fprintf(f, "\t%s", cell[k].name);
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        putc('\n', f);
        text_put(f, text_piece(named[i].name), 0);
        putc('\t', f);
        text_put(f, text_piece(named[i].options), 0);
        for (size_t k = 0; k < n_swept; k++) {
            putc('\t', f);
            text_put(f, text_piece(named[i].swept ? named[i].swept[k].value : "-"), 0);
        }
        columns(cmp, &cmp->tally[i], cell);
        for (size_t k = 0; k < n; k++) {
            char text[NUMBER_TEXT];
            fprintf(f, "\t%s", number_text_wide(cell[k].value, text));
        }
    }
    putc('\n', f);
}

// A swept value: a number where it is one, a flag's true or false, else a text.
static void put_swept(const struct output *out, const struct swept *s)
{
    FILE *const f = out->f;
    const struct option_row *const row = s->row;
    char text[NUMBER_TEXT];
    struct err e;
    double value;
    int64_t whole;
    fprintf(f, "\"%s\":", row->name);
    if (row->param && value_parse(row->param, s->value, &value, &e))
        fputs(value_text(row->param, value, text), f);
    else if (row->flag || (!strcmp(row->name, "seed") && whole_number(s->value, NULL, INT64_MIN, INT64_MAX, &whole)))
        fputs(s->value, f);
    else
        output_string(out, f, text_piece(s->value));
}

// between: two objects.
static void put_json(const struct compare *cmp, const char *between)
{
    FILE *const f = cmp->out->f;
    struct cell cell[COLUMNS_MOST];
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        const struct variant *const x = &cmp->job->named[i];
        fprintf(f, "%s{\"name\":", i ? between : "");
        output_string(cmp->out, f, text_piece(x->name));
        fputs(",\"options\":", f);
        output_string(cmp->out, f, text_piece(x->options));
        fputs(",\"swept\":{", f);
        for (size_t k = 0; x->swept && k < cmp->job->n_swept; k++) {
            fputs(k ? "," : "", f);
            put_swept(cmp->out, &x->swept[k]);
        }
        putc('}', f);
        const size_t n = columns(cmp, &cmp->tally[i], cell);
        for (size_t k = 0; k < n; k++) {
            char text[NUMBER_TEXT];
            fprintf(f, ",\"%s\":%s", cell[k].name,
                    isfinite(cell[k].value) ? number_text_wide(cell[k].value, text) : "null");
        }
        putc('}', f);
    }
}

static void end_page(const struct compare *cmp)
{
    FILE *const f = cmp->out->f;
    struct cell cell[COLUMNS_MOST];
    const size_t n = columns(cmp, cmp->tally, cell);
    if (cmp->job->lists)
        html_text_end(cmp->out, cmp->rows);
    fputs(
        "<section id=\"means\" aria-labelledby=\"means-head\">\n<h2 id=\"means-head\">Means over the rows</h2>\n"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The table\"><table>\n<thead><tr><th scope=\"col\">chain</th>",
        f);
    for (size_t k = 0; k < n; k++)
        fprintf(f, "<th scope=\"col\">%s</th>", cell[k].name);
    fputs("</tr></thead>\n<tbody>\n", f);
    for (size_t i = 0; i < cmp->job->n_variants; i++) {
        fputs("<tr><th scope=\"row\">", f);
        text_put_html(f, text_piece(cmp->job->named[i].name), false);
        fputs("</th>", f);
        columns(cmp, &cmp->tally[i], cell);
        for (size_t k = 0; k < n; k++) {
            char text[CELL_TEXT];
            cell_text(&cell[k], text);
            fprintf(f, "<td>%s</td>", text);
        }
        fputs("</tr>\n", f);
    }
    fputs("</tbody>\n</table></div>\n</section>\n<script type=\"application/json\" id=\"variants\">\n[", f);
    put_json(cmp, ",\n");
    fputs("]\n</script>\n", f);
    html_end(cmp->out);
}

bool compare_end(struct compare *cmp, struct err *e)
{
    const struct job *const j = cmp->job;
    if (j->side_by_side && !j->page)
        return diff_end(&cmp->diff, e);
    const char *const format = j->args->output_format ? j->args->output_format : "text";
    for (size_t i = 0; cmp->text && i < j->n_variants; i++) {
        text_put(cmp->out->f, text_piece(j->named[i].name), 0);
        putc('\t', cmp->out->f);
        text_put_json(cmp->out->f, (struct piece){(const unsigned char *)cmp->text[i].text, cmp->text[i].len});
        putc('\n', cmp->out->f);
    }
    if (j->page) {
        end_page(cmp);
    } else if (j->compares && !strcmp(format, "json")) {
        put_json(cmp, "\n");
        putc('\n', cmp->out->f);
    } else if (j->compares) {
        (!strcmp(format, "tsv") ? put_tsv : put_for_people)(cmp);
    }
    return output_wrote(cmp->out, e);
}

bool compare_waits(const struct job *j)
{
    return j->side_by_side ? j->args->diff_most > 0 : j->compares || j->args->emit == EMIT_TEXT;
}
