// SPDX-License-Identifier: MIT
// JSON, one object a line, with llama-server's field names.
#include "out/output.h"

#include <inttypes.h>
#include <math.h>

// ,"NAME":text
static void text(struct output *out, const char *name, uint32_t token)
{
    if (!out->vocab)
        return;
    fprintf(out->f, ",\"%s\":", name);
    output_string(out, out->f, vocab_text(out->vocab, token));
}

// ,"token":text,"bytes":[...]
static void token(struct output *out, uint32_t token)
{
    if (!out->vocab)
        return;
    const struct piece bytes = vocab_text(out->vocab, token);
    text(out, "token", token);
    fputs(",\"bytes\":[", out->f);
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(out->f, "%s%u", i ? "," : "", (unsigned)bytes.p[i]);
    putc(']', out->f);
}

static void head(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"id\":%" PRIu32, r->row, r->chosen);
    token(out, r->chosen);
    fprintf(out->f, ",\"prob\":%s,\"n\":%zu", number_text(r->chosen_p, p), r->kept);
}

// Texts that not every record has.
static void put_member(struct output *out, const char *name, const char *value)
{
    if (!value)
        return;
    fprintf(out->f, ",\"%s\":", name);
    output_string(out, out->f, text_piece(value));
}

// The last members, and the end of the line.
static void finish_file(struct output *out, const struct record *r)
{
    put_member(out, "file", r->file);
    if (r->file)
        fprintf(out->f, ",\"file_row\":%" PRIu64, r->file_row);
    fputs("}\n", out->f);
}

static void finish(struct output *out, const struct record *r)
{
    put_member(out, "seq", r->seq);
    finish_file(out, r);
}

static void id(struct output *out, const struct record *r)
{
    head(out, r);
    finish(out, r);
}

// A double; JSON has neither NaN nor infinities.
static const char *wide(double x, char text[NUMBER_TEXT])
{
    return isfinite(x) ? number_text_wide(x, text) : "null";
}

static void stats(struct output *out, const struct record *r)
{
    char x[NUMBER_TEXT];
    fprintf(out->f, "{\"row\":%" PRIu64, r->row);
    put_member(out, "seq", r->seq);
    fprintf(out->f, ",\"id\":%" PRIu32, r->chosen);
    for (enum statistic i = 0; i < record_stats(out); i++)
        fprintf(out->f, ",\"%s\":%s", statistic_name(i), wide(r->stat[i], x));
    put_member(out, "variant", r->variant);
    finish_file(out, r);
}

// JSON has no -inf; our reader takes null for it.
static const char *json_text(float x, char text[NUMBER_TEXT])
{
    return x > -INFINITY ? number_text(x, text) : "null";
}

// "NAME":{...}, hyphens being underscores.
static void named(FILE *f, const char *name, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    fprintf(f, ",\"%s\":{", name);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\"" : "\"", f);
        for (const char *at = x[i].name; *at; at++)
            putc(*at == '-' ? '_' : *at, f);
        fprintf(f, "\":%s", isfinite(x[i].value) ? named_text(&x[i], text) : "null");
    }
    putc('}', f);
}

// ,"top_probs":[...]
static void list(struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool raw)
{
    char p[NUMBER_TEXT];
    double sum = 0.0;
    fputs(",\"top_probs\":[", out->f);
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        fprintf(out->f, "%s{\"id\":%" PRIu32, i ? "," : "", c->id);
        token(out, c->id);
        fprintf(out->f, ",\"prob\":%s", number_text(c->p, p));
        fprintf(out->f, ",\"logit\":%s", number_text(c->logit, p));
        if (raw)
            fprintf(out->f, ",\"raw_prob\":%s", number_text(c->raw_p, p));
        fprintf(out->f, ",\"cum\":%s", number_text((float)sum, p));
        fputs(c->id == r->accepted ? ",\"accepted\":true}" : "}", out->f);
    }
    putc(']', out->f);
}

static void stage(struct output *out, const struct record *r, const struct trace_line *t)
{
    FILE *const f = out->f;
    char mass[NUMBER_TEXT], entropy[NUMBER_TEXT], p[NUMBER_TEXT];
    fprintf(f, "{\"name\":\"%s\",\"enabled\":%s", t->name, t->enabled ? "true" : "false");
    if (t->enabled) {
        fprintf(f, ",\"before\":%zu,\"after\":%zu,\"mass\":%s,\"entropy\":%s,\"top_before\":%" PRIu32, t->before,
                t->after, number_text_wide(t->mass, mass), number_text_wide(t->entropy, entropy), t->top_before);
        text(out, "token_before", t->top_before);
        fprintf(f, ",\"top_after\":%" PRIu32, t->top_after);
        text(out, "token_after", t->top_after);
        fprintf(f, ",\"removed\":%zu,\"likeliest_removed\":[", t->n_removed);
        for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
            fprintf(f, "%s{\"id\":%" PRIu32, k ? "," : "", t->removed[k].id);
            text(out, "token", t->removed[k].id);
            fprintf(f, ",\"prob\":%s}", number_text(t->removed[k].p, p));
        }
        putc(']', f);
        named(f, "params", t->param, t->n_params);
        named(f, "notes", t->note, t->n_notes);
        if (t->n_best)
            list(out, r, t->best, t->n_best, false);
    }
    putc('}', f);
}

static void dump(struct output *out, const struct record *r)
{
    char entropy[NUMBER_TEXT];
    head(out, r);
    if (out->lists)
        list(out, r, r->ranked, r->shown, true);
    if (out->traces)
        fputs(",\"stages\":[", out->f);
    for (size_t i = 0; i < r->n_trace; i++) {
        fputs(i ? "," : "", out->f);
        stage(out, r, &r->trace[i]);
    }
    fprintf(out->f, "%s,\"v\":1,\"entropy\":%s", out->traces ? "]" : "", wide(r->entropy, entropy));
    finish(out, r);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    char x[NUMBER_TEXT];
    (void)e;
    fprintf(out->f, "{\"row\":%" PRIu64, r->row);
    if (out->emit == EMIT_SCORE) {
        fprintf(out->f, ",\"id\":%" PRIu32 ",\"logprob\":%s", r->scored, json_text(*r->values, x));
        finish(out, r);
        return true;
    }
    fprintf(out->f, ",\"%s\":[", emit_name(out->emit));
    for (size_t i = 0; i < r->n_vocab; i++) {
        if (i)
            putc_unlocked(',', out->f);
        output_short(out, json_text(r->values[i], x));
    }
    fputs("]}\n", out->f);
    return true;
}

// An empty distribution, so that the next sampl finds the row bad, too, and no more than that.
static void bad(struct output *out, const struct record *r)
{
    const char *const value = out->emit == EMIT_SCORE ? "\"logprob\":null" : "\"id\":null";
    fprintf(out->f, "{\"row\":%" PRIu64 ",", r->row);
    if (emit_distribution(out->emit))
        fprintf(out->f, "\"%s\":[]", emit_name(out->emit));
    else
        fputs(value, out->f);
    fputs(",\"error\":", out->f);
    output_string(out, out->f, text_piece(r->error));
    put_member(out, "variant", r->variant);
    if (emit_distribution(out->emit))
        fputs("}\n", out->f);
    else
        finish(out, r);
}

const struct output_format output_json = {
    .name = "json", .id = id, .dump = dump, .stats = stats, .values = values, .bad = bad};
