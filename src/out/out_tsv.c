// SPDX-License-Identifier: MIT
// Tab-separated values; the first line has the names of the columns.
#include "out/fields.h"

#include <inttypes.h>
#include <math.h>

static void named_cell(const struct output *out, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    putc('\t', out->f);
    for (size_t i = 0; i < n; i++)
        fprintf(out->f, "%s%s=%s", i ? " " : "", x[i].name, named_text(&x[i], text));
}

static void empty_cells(struct output *out, int n)
{
    for (; n; n--)
        field_text(out, "", NULL, true);
}

// Writes the line of a candidate that is left after stage t, or after the chain (t is NULL).
static void candidate_line(struct output *out, const struct record *r, const struct trace_line *t,
                           const struct ranked *c, size_t rank, double sum)
{
    static const char *const of_stages[] = {"params",     "before",    "after",   "mass",
                                            "top_before", "top_after", "removed", "notes"};
    field_int(out, "row", (int64_t)r->row);
    field_int(out, "rank", (int64_t)rank);
    field_int(out, "id", r->error ? -1 : (int64_t)c->id);
    field_float(out, "logit", c->logit);
    field_float(out, "prob", c->p);
    field_float(out, "cum", (float)sum);
    field_int(out, "chosen", c->id == r->chosen);
    field_token(out, "text", c->id);
    field_double(out, "entropy", t ? t->entropy : r->error ? NAN : r->entropy);
    if (out->accepts)
        field_int(out, "accepted", c->id == r->accepted);
    if (out->traces)
        field_text(out, "stage", t ? t->name : "", true);
    for (size_t i = 0; out->traces && i < sizeof of_stages / sizeof *of_stages; i++)
        field_text(out, of_stages[i], NULL, true);
    fields_end_row(out, r);
}

// Writes the line of a stage. The cells of a candidate are empty.
static void stage_line(struct output *out, const struct record *r, const struct trace_line *t)
{
    field_int(out, "row", (int64_t)r->row);
    empty_cells(out, out->vocab ? 7 : 6);
    if (t->enabled)
        field_double(out, "entropy", t->entropy);
    empty_cells(out, !t->enabled + out->accepts);
    field_text(out, "stage", t->name, true);
    if (t->enabled) {
        named_cell(out, t->param, t->n_params);
        field_int(out, "before", (int64_t)t->before);
        field_int(out, "after", (int64_t)t->after);
        field_double(out, "mass", t->mass);
        field_int(out, "top_before", t->top_before);
        field_int(out, "top_after", t->top_after);
        field_int(out, "removed", (int64_t)t->n_removed);
        named_cell(out, t->note, t->n_notes);
    } else {
        field_text(out, "params", "off", true);
        empty_cells(out, 7);
    }
    fields_end_row(out, r);
}

static void candidate_lines(struct output *out, const struct record *r, const struct trace_line *t,
                            const struct ranked *ranked, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += ranked[i].p;
        candidate_line(out, r, t, &ranked[i], i + 1, sum);
    }
}

static void dump(struct output *out, const struct record *r)
{
    for (size_t i = 0; i < r->n_trace; i++) {
        stage_line(out, r, &r->trace[i]);
        candidate_lines(out, r, &r->trace[i], r->trace[i].best, r->trace[i].n_best);
    }
    if (out->lists)
        candidate_lines(out, r, NULL, r->ranked, r->shown);
}

static const char *value_name(const struct output *out)
{
    return out->emit == EMIT_PROBS ? "prob" : out->emit == EMIT_LOGITS ? "logit" : "logprob";
}

static void values(struct output *out, const struct record *r)
{
    if (out->emit == EMIT_SCORE)
        fields_value(out, r, value_name(out), r->scored, *r->values);
    // field_int and field_float would make the loop 25 % slower
    for (size_t i = 0; out->emit != EMIT_SCORE && i < r->n_vocab; i++) {
        fprintf(out->f, "%" PRIu64 "\t%zu", r->row, i);
        output_float(out, "\t", r->values[i]);
        putc_unlocked('\n', out->f);
    }
}

static void bad(struct output *out, const struct record *r)
{
    static const struct ranked none = {UINT32_MAX, NAN, NAN, NAN};
    if (out->emit == EMIT_STATS)
        fields_stats(out, r);
    else if (out->dump)
        candidate_line(out, r, NULL, &none, 0, NAN);
    else if (out->emit == EMIT_IDS || out->emit == EMIT_TEXT)
        fields_id(out, r);
    else
        fields_value(out, r, value_name(out), -1, NAN);
}

static void candidates(struct output *out, const struct chains *all)
{
    char text[NUMBER_TEXT];
    for (size_t k = 0; k < all->n_tokens; k++) {
        const struct united *const t = &all->token[k];
        field_int(out, "row", (int64_t)all->chain->result->record.row);
        field_int(out, "id", t->best.id);
        for (size_t i = 0; i < all->n; i++)
            if (t->p[i] < 0.0f)
                field_text(out, "", chain_removed_by(&all->chain[i], t->best.id, text), true);
            else
                field_float(out, "", t->p[i]);
        field_token(out, "text", t->best.id);
        fields_end(out, "\n");
    }
}

// Writes the names of the columns: those of a bad row's cells.
static void begin(struct output *out)
{
    static const struct record none = {.error = ""};
    out->heading = !out->goes_on;
    if (out->heading && out->compared == COMPARED_CHOICES)
        fields_choice(out, out->chains->chain);
    if (out->heading && out->compared == COMPARED_CANDIDATES) {
        fputs("row\tid", out->f);
        for (size_t i = 0; i < out->chains->n; i++) {
            putc('\t', out->f);
            text_write(out->f, text_piece(out->chains->chain[i].name), 0);
        }
        fputs(out->vocab ? "\ttext\n" : "\n", out->f);
    }
    if (out->heading && !out->compared)
        bad(out, &none);
    out->heading = false;
}

const struct output_format output_tsv = {.name = "tsv",
                                         .cells = true,
                                         .begin = begin,
                                         .id = fields_id,
                                         .dump = dump,
                                         .stats = fields_stats,
                                         .values = values,
                                         .bad = bad,
                                         .chains = {[COMPARED_IDS] = output_chain_ids,
                                                    [COMPARED_CHOICES] = fields_choices,
                                                    [COMPARED_CANDIDATES] = candidates,
                                                    [COMPARED_TABLE] = fields_table}};
