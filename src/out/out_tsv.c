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

static void dump(struct output *out, const struct record *r)
{
    char logit[NUMBER_TEXT], p[NUMBER_TEXT], cum[NUMBER_TEXT];
    double sum = 0.0;
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        sum += c->p;
        fprintf(out->f, "%" PRIu64 "\t%zu\t%" PRIu32 "\t%s\t%s\t%s\t%d", r->row, i + 1, c->id, number_text(c->logit, logit),
                number_text(c->p, p), number_text((float)sum, cum), c->id == r->chosen);
        put_token(out, c->id);
        finish(out, r);
    }
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
        fprintf(out->f, "%" PRIu64 "\t%zu\t%s", r->row, out->emit == EMIT_SCORE ? r->scored : i, number_text(r->values[i], x));
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
    fputs(ids && out->vocab ? "\t" : "", out->f); // a row of as many columns as the others
    if (emit_distribution(out->emit))
        putc('\n', out->f);
    else
        finish(out, r);
}

const struct output_format output_tsv = {
    .name = "tsv", .begin = begin, .id = id, .dump = dump, .stats = stats, .values = values, .bad = bad};
