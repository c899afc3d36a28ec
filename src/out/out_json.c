// SPDX-License-Identifier: MIT
// JSON, one object a line, with llama-server's field names.
#include "out/output.h"

#include <inttypes.h>
#include <math.h>

void output_json_number(const struct output *out, const char *before, double x)
{
    if (isfinite(x))
        output_double(out, before, x);
    else
        fprintf(out->f, "%snull", before);
}

// Our reader takes null for the -inf that JSON lacks.
static void float_or_null(const struct output *out, const char *before, float x)
{
    if (x > -INFINITY)
        output_float(out, before, x);
    else
        fprintf(out->f, "%snull", before);
}

// A member that not every record has.
static void text_member(const struct output *out, const char *before, const char *value)
{
    if (value)
        output_string(out, before, text_piece(value));
}

// An id and, with a vocabulary, the token's text.
static void id_members(const struct output *out, const char *before_id, const char *before_text, uint32_t id)
{
    fprintf(out->f, "%s%" PRIu32, before_id, id);
    if (out->vocab)
        output_string(out, before_text, vocab_text(out->vocab, id));
}

// An id and, with a vocabulary, the token's text and bytes.
static void token_members(const struct output *out, const char *before, uint32_t id)
{
    const struct piece bytes = output_token(out, id);
    id_members(out, before, ",\"token\":", id);
    if (!out->vocab)
        return;
    fputs(",\"bytes\":[", out->f);
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(out->f, "%s%u", i ? "," : "", (unsigned)bytes.p[i]);
    putc(']', out->f);
}

static void record_start(const struct output *out, const struct record *r)
{
    fprintf(out->f, "{\"row\":%" PRIu64, r->row);
    token_members(out, ",\"id\":", r->chosen);
    output_float(out, ",\"prob\":", r->chosen_p);
    fprintf(out->f, ",\"n\":%zu", r->kept);
}

static void record_end(const struct output *out, const struct record *r)
{
    text_member(out, ",\"file\":", r->file);
    if (r->file)
        fprintf(out->f, ",\"file_row\":%" PRIu64, r->file_row);
    fputs("}\n", out->f);
}

static void id(struct output *out, const struct record *r)
{
    record_start(out, r);
    text_member(out, ",\"seq\":", r->seq);
    record_end(out, r);
}

void output_json_stats(const struct output *out, const struct record *r)
{
    for (enum statistic i = 0; i < record_stats(out); i++) {
        fprintf(out->f, "%s\"%s\"", i ? "," : "", statistic_name(i));
        output_json_number(out, ":", r->stat[i]);
    }
}

static void stats(struct output *out, const struct record *r)
{
    fprintf(out->f, "{\"row\":%" PRIu64, r->row);
    text_member(out, ",\"seq\":", r->seq);
    fprintf(out->f, ",\"id\":%" PRIu32 ",", r->chosen);
    output_json_stats(out, r);
    text_member(out, ",\"variant\":", r->variant);
    record_end(out, r);
}

// NAME:{...}, hyphens being underscores.
static void named_members(const struct output *out, const char *before, const struct named *x, size_t n)
{
    char text[NUMBER_TEXT];
    fputs(before, out->f);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\"" : "\"", out->f);
        for (const char *at = x[i].name; *at; at++)
            putc(*at == '-' ? '_' : *at, out->f);
        fprintf(out->f, "\":%s", isfinite(x[i].value) ? named_text(&x[i], text) : "null");
    }
    putc('}', out->f);
}

static void candidate_list(struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool raw)
{
    double sum = 0.0;
    fputs(",\"top_probs\":[", out->f);
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        token_members(out, i ? ",{\"id\":" : "{\"id\":", c->id);
        output_float(out, ",\"prob\":", c->p);
        output_float(out, ",\"logit\":", c->logit);
        if (raw)
            output_float(out, ",\"raw_prob\":", c->raw_p);
        output_float(out, ",\"cum\":", (float)sum);
        fputs(c->id == r->accepted ? ",\"accepted\":true}" : "}", out->f);
    }
    putc(']', out->f);
}

static void stage(struct output *out, const struct record *r, const struct trace_line *t)
{
    fprintf(out->f, "{\"name\":\"%s\",\"enabled\":%s", t->name, t->enabled ? "true" : "false");
    if (t->enabled) {
        fprintf(out->f, ",\"before\":%zu,\"after\":%zu", t->before, t->after);
        output_double(out, ",\"mass\":", t->mass);
        output_double(out, ",\"entropy\":", t->entropy);
        id_members(out, ",\"top_before\":", ",\"token_before\":", t->top_before);
        id_members(out, ",\"top_after\":", ",\"token_after\":", t->top_after);
        fprintf(out->f, ",\"removed\":%zu,\"likeliest_removed\":[", t->n_removed);
        for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
            id_members(out, k ? ",{\"id\":" : "{\"id\":", ",\"token\":", t->removed[k].id);
            output_float(out, ",\"prob\":", t->removed[k].p);
            putc('}', out->f);
        }
        named_members(out, "],\"params\":{", t->param, t->n_params);
        named_members(out, ",\"notes\":{", t->note, t->n_notes);
        if (t->n_best)
            candidate_list(out, r, t->best, t->n_best, false);
    }
    putc('}', out->f);
}

static void dump(struct output *out, const struct record *r)
{
    record_start(out, r);
    if (out->lists)
        candidate_list(out, r, r->ranked, r->shown, true);
    if (out->traces)
        fputs(",\"stages\":[", out->f);
    for (size_t i = 0; i < r->n_trace; i++) {
        fputs(i ? "," : "", out->f);
        stage(out, r, &r->trace[i]);
    }
    output_json_number(out, out->traces ? "],\"v\":1,\"entropy\":" : ",\"v\":1,\"entropy\":", r->entropy);
    text_member(out, ",\"seq\":", r->seq);
    record_end(out, r);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    (void)e;
    fprintf(out->f, "{\"row\":%" PRIu64, r->row);
    if (out->emit == EMIT_SCORE) {
        fprintf(out->f, ",\"id\":%" PRIu32, r->scored);
        float_or_null(out, ",\"logprob\":", *r->values);
        text_member(out, ",\"seq\":", r->seq);
        record_end(out, r);
        return true;
    }
    fprintf(out->f, ",\"%s\":[", emit_name(out->emit));
    for (size_t i = 0; i < r->n_vocab; i++)
        float_or_null(out, i ? "," : "", r->values[i]);
    fputs("]}\n", out->f);
    return true;
}

// An empty distribution, so that the next sampl finds the row bad, too, and no more than that.
static void bad(struct output *out, const struct record *r)
{
    fprintf(out->f, "{\"row\":%" PRIu64, r->row);
    if (emit_distribution(out->emit))
        fprintf(out->f, ",\"%s\":[]", emit_name(out->emit));
    else
        fputs(out->emit == EMIT_SCORE ? ",\"logprob\":null" : ",\"id\":null", out->f);
    text_member(out, ",\"error\":", r->error);
    text_member(out, ",\"variant\":", r->variant);
    if (emit_distribution(out->emit)) {
        fputs("}\n", out->f);
        return;
    }
    text_member(out, ",\"seq\":", r->seq);
    record_end(out, r);
}

// ---- several chains

static void removal(const struct output *out, const char *before, const char *by)
{
    fprintf(out->f, *by == '-' ? "%snull" : "%s\"%s\"", before, by);
}

static void choices(struct output *out, const struct chains_record *r)
{
    const struct record *const base = r->of[0];
    for (size_t k = 0; k < r->n_choices; k++) {
        const struct choice_beside *const c = &r->choice[k];
        const struct record *const of = r->of[c->chain];
        fprintf(out->f, "{\"row\":%" PRIu64, of->row);
        text_member(out, ",\"variant\":", out->chain[c->chain].name);
        fprintf(out->f, ",\"base_id\":%" PRIu32, base->chosen);
        output_float(out, ",\"base_prob\":", base->chosen_p);
        fprintf(out->f, ",\"id\":%" PRIu32, of->chosen);
        output_float(out, ",\"prob\":", of->chosen_p);
        output_float(out, ",\"prob_in_base\":", c->base_p);
        fprintf(out->f, c->base_rank ? ",\"rank_in_base\":%zu" : ",\"rank_in_base\":null", c->base_rank);
        removal(out, ",\"removed_in_base\":", c->removed_in_base);
        removal(out, ",\"base_removed\":", c->base_removed);
        output_double(out, ",\"overlap\":", of->overlap);
        if (out->vocab) {
            output_string(out, ",\"base_token\":", vocab_text(out->vocab, base->chosen));
            output_string(out, ",\"token\":", vocab_text(out->vocab, of->chosen));
        }
        fputs("}\n", out->f);
    }
}

// A token's probability in a chain, or the name of what removed it there.
static void candidates(struct output *out, const struct chains_record *r)
{
    char text[NUMBER_TEXT];
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"ids\":{", r->of[0]->row);
    for (size_t i = 0; i < out->n_chains; i++) {
        text_member(out, i ? "," : "", out->chain[i].name);
        fprintf(out->f, ":%" PRId64, record_id(r->of[i]));
    }
    fputs("},\"top_probs\":[", out->f);
    for (size_t k = 0; k < r->n_tokens; k++) {
        const struct united *const t = &r->token[k];
        id_members(out, k ? ",{\"id\":" : "{\"id\":", ",\"token\":", t->id);
        fputs(",\"probs\":{", out->f);
        for (size_t i = 0; i < out->n_chains; i++) {
            text_member(out, i ? "," : "", out->chain[i].name);
            if (t->p[i] < 0.0f)
                fprintf(out->f, ":\"%s\"", r->removed_by(r->results, i, t->id, text));
            else
                output_float(out, ":", t->p[i]);
        }
        fputs("}}", out->f);
    }
    fputs("]}\n", out->f);
}

static void table(struct output *out, const struct table *t)
{
    const char *const between = out->page ? ",\n" : "\n";
    for (size_t i = 0; i < out->n_chains; i++) {
        const struct chain_label *const chain = &out->chain[i];
        fputs(i ? between : "", out->f);
        text_member(out, "{\"name\":", chain->name);
        text_member(out, ",\"options\":", chain->options);
        fputs(",\"swept\":{", out->f);
        for (size_t k = 0; chain->swept && k < out->n_swept; k++) {
            const struct swept_value *const x = &chain->swept[k];
            fprintf(out->f, "%s\"%s\":%s", k ? "," : "", out->swept[k], x->number ? x->number : "");
            text_member(out, "", x->number ? NULL : x->text);
        }
        putc('}', out->f);
        for (size_t k = 0; k < t->n_columns; k++) {
            fprintf(out->f, ",\"%s\"", t->column[k].name);
            output_json_number(out, ":", t->cell[i][k].value);
        }
        putc('}', out->f);
    }
    fputs(out->page ? "" : "\n", out->f);
}

const struct output_format output_json = {.name = "json",
                                          .raw_p = true,
                                          .id = id,
                                          .dump = dump,
                                          .stats = stats,
                                          .values = values,
                                          .bad = bad,
                                          .choices = choices,
                                          .candidates = candidates,
                                          .table = table};
