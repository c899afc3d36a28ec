// SPDX-License-Identifier: MIT
// Tab-separated values with a line of names on top.
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

// The cells of what a stage did. t is NULL: the chain has run; there is a candidate: they are empty but for the name.
static void stage_cells(struct output *out, const struct trace_line *t, bool candidate)
{
    if (out->heading) {
        fputs("\tstage\tparams\tbefore\tafter\tmass\ttop_before\ttop_after\tremoved\tnotes", out->f);
    } else if (candidate) {
        fprintf(out->f, "\t%s\t\t\t\t\t\t\t\t", t ? t->name : "");
    } else if (!t->enabled) {
        fprintf(out->f, "\t%s\toff\t\t\t\t\t\t\t", t->name);
    } else {
        fprintf(out->f, "\t%s", t->name);
        named_cell(out, t->param, t->n_params);
        fprintf(out->f, "\t%zu\t%zu", t->before, t->after);
        output_double(out, "\t", t->mass);
        fprintf(out->f, "\t%" PRIu32 "\t%" PRIu32 "\t%zu", t->top_before, t->top_after, t->n_removed);
        named_cell(out, t->note, t->n_notes);
    }
}

// A line of a dump: of a candidate that stage t left, or the chain (t is NULL); or of the stage (c is NULL).
static void dump_line(struct output *out, const struct record *r, const struct trace_line *t, const struct ranked *c,
                      size_t rank, double sum)
{
    field_int(out, "row", (int64_t)r->row);
    if (c) {
        field_int(out, "rank", (int64_t)rank);
        field_int(out, "id", r->error ? -1 : (int64_t)c->id);
        field_float(out, "logit", c->logit);
        field_float(out, "prob", c->p);
        field_float(out, "cum", (float)sum);
        field_int(out, "chosen", c->id == r->chosen);
        field_token(out, "text", c->id);
    } else {
        fputs(out->vocab ? "\t\t\t\t\t\t" : "\t\t\t\t\t", out->f);
        putc('\t', out->f);
    }
    if (c || t->enabled)
        field_double(out, "entropy", t ? t->entropy : r->error ? NAN : r->entropy);
    else
        field_text(out, "", NULL, true);
    if (c && out->accepts)
        field_int(out, "accepted", c->id == r->accepted);
    else
        field_text(out, "", NULL, out->accepts);
    if (out->traces)
        stage_cells(out, t, c);
    fields_end_row(out, r);
}

static void candidate_lines(struct output *out, const struct record *r, const struct trace_line *t,
                            const struct ranked *ranked, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += ranked[i].p;
        dump_line(out, r, t, &ranked[i], i + 1, sum);
    }
}

static void dump(struct output *out, const struct record *r)
{
    for (size_t i = 0; i < r->n_trace; i++) {
        dump_line(out, r, &r->trace[i], NULL, 0, 0.0);
        candidate_lines(out, r, &r->trace[i], r->trace[i].best, r->trace[i].n_best);
    }
    if (out->lists)
        candidate_lines(out, r, NULL, r->ranked, r->shown);
}

static const char *value_name(const struct output *out)
{
    return out->emit == EMIT_PROBS ? "prob" : out->emit == EMIT_LOGITS ? "logit" : "logprob";
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    (void)e;
    if (out->emit == EMIT_SCORE)
        fields_value(out, r, value_name(out), r->scored, *r->values);
    for (size_t i = 0; out->emit != EMIT_SCORE && i < r->n_vocab; i++) { // fields cost a fourth more
        fprintf(out->f, "%" PRIu64 "\t%zu", r->row, i);
        output_float(out, "\t", r->values[i]);
        putc_unlocked('\n', out->f);
    }
    return true;
}

static void bad(struct output *out, const struct record *r)
{
    static const struct ranked none = {UINT32_MAX, NAN, NAN, NAN};
    if (out->emit == EMIT_STATS)
        fields_stats(out, r);
    else if (out->dump)
        dump_line(out, r, NULL, &none, 0, NAN);
    else if (out->emit == EMIT_IDS || out->emit == EMIT_TEXT)
        fields_id(out, r);
    else
        fields_value(out, r, value_name(out), -1, NAN);
}

static void candidates(struct output *out, const struct chains_record *r)
{
    char text[NUMBER_TEXT];
    for (size_t k = 0; k < r->n_tokens; k++) {
        const struct united *const t = &r->token[k];
        field_int(out, "row", (int64_t)out->chain[0].record->row);
        field_int(out, "id", t->id);
        for (size_t i = 0; i < out->n_chains; i++)
            if (t->p[i] < 0.0f)
                field_text(out, "", r->removed_by(r->results, i, t->id, text), true);
            else
                field_float(out, "", t->p[i]);
        field_token(out, "text", t->id);
        fields_end(out, "\n");
    }
}

// The names above the cells, which are those of a bad row.
static void begin(struct output *out)
{
    static const struct record none = {.error = ""};
    out->heading = !out->goes_on;
    if (out->heading && out->compared == COMPARED_CHOICES)
        fields_choice(out, out->chain);
    if (out->heading && out->compared == COMPARED_CANDIDATES) {
        fputs("row\tid", out->f);
        for (size_t i = 0; i < out->n_chains; i++) {
            putc('\t', out->f);
            text_put(out->f, text_piece(out->chain[i].name), 0);
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
