// SPDX-License-Identifier: MIT
// Tab-separated values with a line of names on top.
#include "out/output.h"

#include <inttypes.h>
#include <math.h>

static void text_column(const struct output *out, struct piece text)
{
    putc('\t', out->f);
    text_put(out->f, text, 0);
}

static void token_column(const struct output *out, uint32_t id)
{
    if (out->vocab)
        text_column(out, vocab_text(out->vocab, id));
}

static void sequence_column(const struct output *out, const struct record *r)
{
    if (out->sequences)
        text_column(out, r->seq ? text_piece(r->seq) : (struct piece){0});
}

// The last columns, which not all input has, and the end of the line. With statistics, the sequence stands before the id.
static void line_end(const struct output *out, const struct record *r)
{
    if (out->emit != EMIT_STATS)
        sequence_column(out, r);
    if (r->file) {
        text_column(out, text_piece(r->file));
        fprintf(out->f, "\t%" PRIu64, r->file_row);
    }
    putc('\n', out->f);
}

// Writes, of the columns between the row and those of line_end, the names, or what a bad row has there.
static void columns(const struct output *out, bool bad)
{
    const bool ids = out->emit == EMIT_IDS || out->emit == EMIT_TEXT, dump = ids && out->dump;
    const struct column {
        const char *name, *bad;
        bool there;
    } all[] = {
        {"rank", "0", dump},
        {"id", "-1", true},
        {"logit", "nan", dump || out->emit == EMIT_LOGITS},
        {"prob", "nan", ids || out->emit == EMIT_PROBS},
        {"logprob", "nan", out->emit == EMIT_SCORE || out->emit == EMIT_LOGPROBS},
        {"cum", "nan", dump},
        {"chosen", "0", dump},
        {"n", "0", ids && !dump},
        {"text", "", ids && out->vocab},
        {"entropy", "nan", dump},
        {"accepted", "0", dump && out->accepts},
        {"stage\tparams\tbefore\tafter\tmass\ttop_before\ttop_after\tremoved\tnotes", "\t\t\t\t\t\t\t\t", out->traces},
    };
    for (const struct column *c = all; c < all + sizeof all / sizeof *all; c++)
        if (c->there)
            fprintf(out->f, "\t%s", bad ? c->bad : c->name);
}

static void begin(struct output *out)
{
    if (out->goes_on || out->compared == COMPARED_IDS || out->compared == COMPARED_TABLE)
        return;
    fputs("row", out->f);
    if (out->compared == COMPARED_CHOICES) {
        fputs("\tvariant\tbase_id\tbase_prob\tid\tprob\tprob_in_base\trank_in_base\tremoved_in_base\tbase_removed"
              "\toverlap",
              out->f);
        fputs(out->vocab ? "\tbase_text\ttext" : "", out->f);
    } else if (out->compared == COMPARED_CANDIDATES) {
        fputs("\tid", out->f);
        for (size_t i = 0; i < out->n_chains; i++)
            text_column(out, text_piece(out->chain[i].name));
        fputs(out->vocab ? "\ttext" : "", out->f);
    } else if (out->emit == EMIT_STATS) {
        fputs(out->sequences ? "\tseq\tid" : "\tid", out->f);
        for (enum statistic i = 0; i < record_stats(out); i++)
            fprintf(out->f, "\t%s", statistic_name(i));
        fputs(out->n_chains > 1 ? "\tvariant" : "", out->f);
    } else {
        columns(out, false);
    }
    if (!out->compared && !emit_distribution(out->emit)) {
        fputs(out->sequences && out->emit != EMIT_STATS ? "\tseq" : "", out->f);
        fputs(out->files ? "\tfile\tfile_row" : "", out->f);
    }
    putc('\n', out->f);
}

static void id(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu64 "\t%" PRIu32, r->row, r->chosen);
    output_float(out, "\t", r->chosen_p);
    fprintf(out->f, "\t%zu", r->kept);
    token_column(out, r->chosen);
    line_end(out, r);
}

static void named_column(const struct output *out, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    putc('\t', out->f);
    for (size_t i = 0; i < n; i++)
        fprintf(out->f, "%s%s=%s", i ? " " : "", x[i].name, named_text(&x[i], text));
}

static void stage(struct output *out, const struct record *r, const struct trace_line *t)
{
    fprintf(out->f, "%" PRIu64 "\t\t\t\t\t\t%s\t", r->row, out->vocab ? "\t" : "");
    if (t->enabled)
        output_double(out, "", t->entropy);
    fprintf(out->f, out->accepts ? "\t\t%s" : "\t%s", t->name);
    if (t->enabled) {
        named_column(out, t->param, t->n_params);
        fprintf(out->f, "\t%zu\t%zu", t->before, t->after);
        output_double(out, "\t", t->mass);
        fprintf(out->f, "\t%" PRIu32 "\t%" PRIu32 "\t%zu", t->top_before, t->top_after, t->n_removed);
        named_column(out, t->note, t->n_notes);
    } else {
        fputs("\toff\t\t\t\t\t\t\t", out->f);
    }
    line_end(out, r);
}

// The candidates that a stage left, or the chain (stage: "").
static void candidate_lines(struct output *out, const struct record *r, const struct ranked *ranked, size_t n,
                            double entropy, const char *stage)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        fprintf(out->f, "%" PRIu64 "\t%zu\t%" PRIu32, r->row, i + 1, c->id);
        output_float(out, "\t", c->logit);
        output_float(out, "\t", c->p);
        output_float(out, "\t", (float)sum);
        fputs(c->id == r->chosen ? "\t1" : "\t0", out->f);
        token_column(out, c->id);
        output_double(out, "\t", entropy);
        if (out->accepts)
            fputs(c->id == r->accepted ? "\t1" : "\t0", out->f);
        if (out->traces)
            fprintf(out->f, "\t%s\t\t\t\t\t\t\t\t", stage);
        line_end(out, r);
    }
}

static void dump(struct output *out, const struct record *r)
{
    for (size_t i = 0; i < r->n_trace; i++) {
        const struct trace_line *const t = &r->trace[i];
        stage(out, r, t);
        candidate_lines(out, r, t->best, t->n_best, t->entropy, t->name);
    }
    if (out->lists)
        candidate_lines(out, r, r->ranked, r->shown, r->entropy, "");
}

static void stats(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu64, r->row);
    sequence_column(out, r);
    fprintf(out->f, "\t%" PRId64, record_id(r));
    for (enum statistic i = 0; i < record_stats(out); i++)
        output_double(out, "\t", r->error ? NAN : r->stat[i]);
    if (r->variant)
        text_column(out, text_piece(r->variant));
    line_end(out, r);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    (void)e;
    for (size_t i = 0; i < record_width(out, r); i++) {
        fprintf(out->f, "%" PRIu64 "\t%zu", r->row, out->emit == EMIT_SCORE ? r->scored : i);
        output_float(out, "\t", r->values[i]);
        if (emit_distribution(out->emit))
            putc('\n', out->f);
        else
            line_end(out, r);
    }
    return true;
}

static void bad(struct output *out, const struct record *r)
{
    if (out->emit == EMIT_STATS) {
        stats(out, r);
        return;
    }
    fprintf(out->f, "%" PRIu64, r->row);
    columns(out, true);
    if (emit_distribution(out->emit))
        putc('\n', out->f);
    else
        line_end(out, r);
}

// ---- several chains

static void choices(struct output *out, const struct chains_record *r)
{
    const struct record *const base = r->of[0];
    for (size_t k = 0; k < r->n_choices; k++) {
        const struct choice_beside *const c = &r->choice[k];
        const struct record *const of = r->of[c->chain];
        fprintf(out->f, "%" PRIu64, of->row);
        text_column(out, text_piece(out->chain[c->chain].name));
        fprintf(out->f, "\t%" PRIu32, base->chosen);
        output_float(out, "\t", base->chosen_p);
        fprintf(out->f, "\t%" PRIu32, of->chosen);
        output_float(out, "\t", of->chosen_p);
        output_float(out, "\t", c->base_p);
        fprintf(out->f, c->base_rank ? "\t%zu" : "\t-", c->base_rank);
        fprintf(out->f, "\t%s\t%s", c->removed_in_base, c->base_removed);
        output_double(out, "\t", of->overlap);
        token_column(out, base->chosen);
        token_column(out, of->chosen);
        putc('\n', out->f);
    }
}

static void candidates(struct output *out, const struct chains_record *r)
{
    char text[NUMBER_TEXT];
    for (size_t k = 0; k < r->n_tokens; k++) {
        const struct united *const t = &r->token[k];
        fprintf(out->f, "%" PRIu64 "\t%" PRIu32, r->of[0]->row, t->id);
        for (size_t i = 0; i < out->n_chains; i++)
            if (t->p[i] < 0.0f)
                fprintf(out->f, "\t%s", r->removed_by(r->results, i, t->id, text));
            else
                output_float(out, "\t", t->p[i]);
        token_column(out, t->id);
        putc('\n', out->f);
    }
}

static void table(struct output *out, const struct table *t)
{
    fputs("name\toptions", out->f);
    for (size_t k = 0; k < out->n_swept; k++)
        fprintf(out->f, "\t%s", out->swept[k]);
    for (size_t k = 0; k < t->n_columns; k++)
        fprintf(out->f, "\t%s", t->column[k].name);
    putc('\n', out->f);
    for (size_t i = 0; i < out->n_chains; i++) {
        const struct chain_label *const chain = &out->chain[i];
        text_put(out->f, text_piece(chain->name), 0);
        text_column(out, text_piece(chain->options));
        for (size_t k = 0; k < out->n_swept; k++)
            text_column(out, text_piece(chain->swept ? chain->swept[k].text : "-"));
        for (size_t k = 0; k < t->n_columns; k++)
            output_double(out, "\t", t->cell[i][k].value);
        putc('\n', out->f);
    }
}

const struct output_format output_tsv = {.name = "tsv",
                                         .fixed = true,
                                         .begin = begin,
                                         .id = id,
                                         .dump = dump,
                                         .stats = stats,
                                         .values = values,
                                         .bad = bad,
                                         .ids = output_chain_ids,
                                         .choices = choices,
                                         .candidates = candidates,
                                         .table = table};
