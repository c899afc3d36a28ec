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
        fprintf(out->f, "row\tid\t%s\n", value[out->emit]);
        return;
    }
    if (out->emit == EMIT_STATS) {
        fputs(out->sequences ? "row\tseq\tid" : "row\tid", out->f);
        for (enum statistic i = 0; i < record_stats(out); i++)
            fprintf(out->f, "\t%s", statistic_name(i));
        putc('\n', out->f);
        return;
    }
    fputs(out->dump ? "row\trank\tid\tlogit\tprob\tcum\tchosen" : "row\tid\tprob\tn", out->f);
    fputs(out->vocab ? "\ttext\n" : "\n", out->f);
}

// The last column, if there is a vocabulary, and the end of the line.
static void finish(struct output *out, uint32_t token)
{
    if (out->vocab) {
        putc('\t', out->f);
        text_put(out->f, vocab_text(out->vocab, token), 0);
    }
    putc('\n', out->f);
}

static void id(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    fprintf(out->f, "%" PRIu64 "\t%" PRIu32 "\t%s\t%zu", r->row, r->chosen, number_text(r->chosen_p, p), r->kept);
    finish(out, r->chosen);
}

static void dump(struct output *out, const struct record *r)
{
    char logit[NUMBER_TEXT], p[NUMBER_TEXT], cum[NUMBER_TEXT];
    double sum = 0.0;
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        sum += c->p;
        fprintf(out->f, "%" PRIu64 "\t%zu\t%" PRIu32 "\t%s\t%s\t%s\t%d", r->row, i + 1, c->id, number_text(c->logit, logit),
                number_text(c->p, p), number_text((float)sum, cum), c->id == r->chosen);
        finish(out, c->id);
    }
}

// The row's number and its sequence.
static void head(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu64, r->row);
    if (!out->sequences)
        return;
    putc('\t', out->f);
    if (r->seq)
        text_put(out->f, text_piece(r->seq), 0);
}

static void stats(struct output *out, const struct record *r)
{
    char x[NUMBER_TEXT];
    head(out, r);
    if (r->error)
        fputs("\t-1", out->f);
    else
        fprintf(out->f, "\t%" PRIu32, r->chosen);
    for (enum statistic i = 0; i < record_stats(out); i++)
        fprintf(out->f, "\t%s", number_text_wide(r->error ? NAN : r->stat[i], x));
    putc('\n', out->f);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    char x[NUMBER_TEXT];
    (void)e;
    for (size_t i = 0; i < record_width(out, r); i++)
        fprintf(out->f, "%" PRIu64 "\t%zu\t%s\n", r->row, out->emit == EMIT_SCORE ? r->scored : i, number_text(r->values[i], x));
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
    fputs(ids && out->vocab ? "\t\n" : "\n", out->f); // a row of as many columns as the others
}

const struct output_format output_tsv = {
    .name = "tsv", .begin = begin, .id = id, .dump = dump, .stats = stats, .values = values, .bad = bad};
