// SPDX-License-Identifier: MIT
// Tab-separated values with a line of names on top.
#include "out/output.h"

#include <inttypes.h>
#include <math.h>

static void begin(struct output *out)
{
    static const char *const value[EMIT_COUNT] = {
        [EMIT_SCORE] = "logprob", [EMIT_PROBS] = "prob", [EMIT_LOGPROBS] = "logprob", [EMIT_LOGITS] = "logit"};
    if (out->goes_on)
        return;
    if (value[out->emit]) {
        fprintf(out->f, "row\tid\t%s", value[out->emit]);
    } else if (out->emit == EMIT_STATS) {
        fputs(out->sequences ? "row\tseq\tid" : "row\tid", out->f);
        for (enum statistic i = 0; i < record_stats(out); i++)
            fprintf(out->f, "\t%s", statistic_name(i));
        fputs(out->variants ? "\tvariant" : "", out->f);
    } else {
        fputs(out->dump ? "row\trank\tid\tlogit\tprob\tcum\tchosen" : "row\tid\tprob\tn", out->f);
        fputs(out->vocab ? "\ttext" : "", out->f);
        fputs(out->dump ? "\tentropy" : "", out->f);
        fputs(out->dump && out->accepts ? "\taccepted" : "", out->f);
        fputs(out->traces ? "\tstage\tparams\tbefore\tafter\tmass\ttop_before\ttop_after\tremoved\tnotes" : "", out->f);
    }
    if (emit_distribution(out->emit)) {
        putc('\n', out->f);
        return;
    }
    fputs(out->sequences && out->emit != EMIT_STATS ? "\tseq" : "", out->f);
    fputs(out->files ? "\tfile\tfile_row\n" : "\n", out->f);
}

// The token's text, if there is a vocabulary.
static void put_token(struct output *out, uint32_t token)
{
    if (!out->vocab)
        return;
    putc('\t', out->f);
    text_put(out->f, vocab_text(out->vocab, token), 0);
}

static void put_sequence(struct output *out, const struct record *r)
{
    if (!out->sequences)
        return;
    putc('\t', out->f);
    if (r->seq)
        text_put(out->f, text_piece(r->seq), 0);
}

// The last columns, those that not all input has, and the end of the line.
static void finish_file(struct output *out, const struct record *r)
{
    if (r->file) {
        putc('\t', out->f);
        text_put(out->f, text_piece(r->file), 0);
        fprintf(out->f, "\t%" PRIu64, r->file_row);
    }
    putc('\n', out->f);
}

static void finish(struct output *out, const struct record *r)
{
    put_sequence(out, r);
    finish_file(out, r);
}

static void id(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    fprintf(out->f, "%" PRIu64 "\t%" PRIu32 "\t%s\t%zu", r->row, r->chosen, number_text(r->chosen_p, p), r->kept);
    put_token(out, r->chosen);
    finish(out, r);
}

// A candidate, of what a stage left or in the end (NULL).
static void candidate(struct output *out, const struct record *r, const struct trace_line *t, size_t rank, double sum)
{
    char logit[NUMBER_TEXT], p[NUMBER_TEXT], text[NUMBER_TEXT];
    const struct ranked *const c = &(t ? t->best : r->ranked)[rank];
    fprintf(out->f, "%" PRIu64 "\t%zu\t%" PRIu32 "\t%s\t%s\t%s\t%d", r->row, rank + 1, c->id,
            number_text(c->logit, logit), number_text(c->p, p), number_text((float)sum, text), c->id == r->chosen);
    put_token(out, c->id);
    fprintf(out->f, "\t%s", number_text_wide(t ? t->entropy : r->entropy, text));
    if (out->accepts)
        fprintf(out->f, "\t%d", c->id == r->accepted);
    if (out->traces)
        fprintf(out->f, "\t%s\t\t\t\t\t\t\t\t", t ? t->name : "");
    finish(out, r);
}

static void named(FILE *f, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    putc('\t', f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%s=%s", i ? " " : "", x[i].name, named_text(&x[i], text));
}

static void stage(struct output *out, const struct record *r, const struct trace_line *t)
{
    FILE *const f = out->f;
    char mass[NUMBER_TEXT], entropy[NUMBER_TEXT];
    fprintf(f, "%" PRIu64 "\t\t\t\t\t\t%s\t%s%s\t%s", r->row, out->vocab ? "\t" : "",
            t->enabled ? number_text_wide(t->entropy, entropy) : "", out->accepts ? "\t" : "", t->name);
    if (t->enabled) {
        named(f, t->param, t->n_params);
        fprintf(f, "\t%zu\t%zu\t%s\t%" PRIu32 "\t%" PRIu32 "\t%zu", t->before, t->after,
                number_text_wide(t->mass, mass), t->top_before, t->top_after, t->n_removed);
        named(f, t->note, t->n_notes);
    } else {
        fputs("\toff\t\t\t\t\t\t\t", f);
    }
    finish(out, r);
}

static void list(struct output *out, const struct record *r, const struct trace_line *t)
{
    double sum = 0.0;
    for (size_t i = 0; i < (t ? t->n_best : r->shown); i++) {
        sum += (t ? t->best : r->ranked)[i].p;
        candidate(out, r, t, i, sum);
    }
}

static void dump(struct output *out, const struct record *r)
{
    for (size_t i = 0; i < r->n_trace; i++) {
        stage(out, r, &r->trace[i]);
        list(out, r, &r->trace[i]);
    }
    if (out->lists)
        list(out, r, NULL);
}

static void stats(struct output *out, const struct record *r)
{
    char x[NUMBER_TEXT];
    fprintf(out->f, "%" PRIu64, r->row);
    put_sequence(out, r);
    if (r->error)
        fputs("\t-1", out->f);
    else
        fprintf(out->f, "\t%" PRIu32, r->chosen);
    for (enum statistic i = 0; i < record_stats(out); i++)
        fprintf(out->f, "\t%s", number_text_wide(r->error ? NAN : r->stat[i], x));
    if (r->variant) {
        putc('\t', out->f);
        text_put(out->f, text_piece(r->variant), 0);
    }
    finish_file(out, r);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    char x[NUMBER_TEXT];
    (void)e;
    for (size_t i = 0; i < record_width(out, r); i++) {
        fprintf(out->f, "%" PRIu64 "\t%zu\t%s", r->row, out->emit == EMIT_SCORE ? r->scored : i,
                number_text(r->values[i], x));
        if (emit_distribution(out->emit))
            putc('\n', out->f);
        else
            finish(out, r);
    }
    return true;
}

static void bad(struct output *out, const struct record *r)
{
    if (out->emit == EMIT_STATS) {
        stats(out, r);
        return;
    }
    const bool ids = out->emit == EMIT_IDS || out->emit == EMIT_TEXT;
    fprintf(out->f, "%" PRIu64, r->row);
    if (out->dump)
        fputs("\t0\t-1\tnan\tnan\tnan\t0", out->f);
    else
        fputs(ids ? "\t-1\tnan\t0" : "\t-1\tnan", out->f);
    const bool text = ids && out->vocab; // of as many columns as the others
    fputs(text ? "\t" : "", out->f);
    fputs(out->dump ? "\tnan" : "", out->f);
    fputs(out->dump && out->accepts ? "\t0" : "", out->f);
    fputs(out->traces ? "\t\t\t\t\t\t\t\t\t" : "", out->f);
    if (emit_distribution(out->emit))
        putc('\n', out->f);
    else
        finish(out, r);
}

const struct output_format output_tsv = {
    .name = "tsv", .begin = begin, .id = id, .dump = dump, .stats = stats, .values = values, .bad = bad};
