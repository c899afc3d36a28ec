// SPDX-License-Identifier: MIT
// JSON, one object a line, with llama-server's field names.
#include "out/fields.h"

#include <inttypes.h>
#include <math.h>

// Writes an object of parameters or notes. Underscores replace hyphens in names.
static void named_object(struct output *out, const char *before, const struct named *x, size_t n)
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

// Begins an object within a list.
static void begin_item(struct output *out, size_t i)
{
    out->fields = 0;
    fputs(i ? "," : "", out->f);
}

static void candidates_json(struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool raw,
                            bool noisy)
{
    double sum = 0.0;
    fputs(",\"top_probs\":[", out->f);
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        begin_item(out, i);
        fields_of_token(out, c->id);
        field_float(out, "prob", c->p);
        field_float(out, "logit", c->logit);
        if (raw)
            field_float(out, "raw_prob", c->raw_p);
        field_float(out, "cum", (float)sum);
        fputs(c->id == r->accepted ? ",\"accepted\":true" : "", out->f);
        if (noisy) {
            field_double(out, "noise", c->noised.noise);
            field_double(out, "value", c->noised.value);
        }
        putc('}', out->f);
    }
    putc(']', out->f);
}

static void stage(struct output *out, const struct record *r, const struct trace_line *t)
{
    field_text(out, "name", t->name, true);
    fprintf(out->f, ",\"enabled\":%s", t->enabled ? "true" : "false");
    if (t->enabled) {
        field_int(out, "before", (int64_t)t->before);
        field_int(out, "after", (int64_t)t->after);
        field_double(out, "mass", t->mass);
        field_double(out, "entropy", t->entropy);
        field_int(out, "top_before", t->top_before);
        field_token(out, "token_before", t->top_before);
        field_int(out, "top_after", t->top_after);
        field_token(out, "token_after", t->top_after);
        field_int(out, "removed", (int64_t)t->n_removed);
        fputs(",\"likeliest_removed\":[", out->f);
        for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
            begin_item(out, k);
            field_int(out, "id", t->removed[k].id);
            field_token(out, "token", t->removed[k].id);
            field_float(out, "prob", t->removed[k].p);
            putc('}', out->f);
        }
        named_object(out, "],\"params\":{", t->param, t->n_params);
        named_object(out, ",\"notes\":{", t->note, t->n_notes);
        field_text(out, "rest", t->rest, false);
        if (t->n_best)
            candidates_json(out, r, t->best, t->n_best, false, t->noisy);
    }
    putc('}', out->f);
}

static void dump(struct output *out, const struct record *r)
{
    fields_of_id(out, r);
    if (out->lists)
        candidates_json(out, r, r->ranked, r->shown, true, r->noisy);
    if (out->traces)
        fputs(",\"stages\":[", out->f);
    for (size_t i = 0; i < r->n_trace; i++) {
        begin_item(out, i);
        stage(out, r, &r->trace[i]);
    }
    fputs(out->traces ? "],\"v\":1" : ",\"v\":1", out->f);
    out->fields = 1; // the lists have reset the number; a comma precedes the next field
    field_double(out, "entropy", r->entropy);
    fields_end_row(out, r);
}

static void values(struct output *out, const struct record *r)
{
    if (out->emit == EMIT_SCORE) {
        fields_value(out, r, "logprob", r->scored, *r->values);
        return;
    }
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"%s\":[", r->row, emit_name(out->emit));
    for (size_t i = 0; i < r->n_vocab; i++)
        if (r->values[i] > -INFINITY)
            output_float(out, i ? "," : "", r->values[i]);
        else
            output_short(out, i ? ",null" : "null"); // readers take null for masked
    fputs("]}\n", out->f);
}

// Writes a row with an error. Its distribution is empty, so that a sampl that reads the output finds this row bad, too.
static void bad(struct output *out, const struct record *r)
{
    field_int(out, "row", (int64_t)r->row);
    if (emit_distribution(out->emit))
        fprintf(out->f, ",\"%s\":[]", emit_name(out->emit));
    else
        field_double(out, out->emit == EMIT_SCORE ? "logprob" : "id", NAN);
    field_text(out, "error", r->error, true);
    field_text(out, "variant", r->variant, true);
    fields_end_row(out, r);
}

// Writes each token's probability in each chain, or the name of what removed the token there.
static void candidates(struct output *out, const struct chains *all)
{
    char text[NUMBER_TEXT];
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"ids\":{", all->chain->result->record.row);
    for (size_t i = 0; i < all->n; i++) {
        output_string(out, i ? "," : "", text_piece(all->chain[i].name));
        fprintf(out->f, ":%" PRId64, record_id(&all->chain[i].result->record));
    }
    fputs("},\"top_probs\":[", out->f);
    for (size_t k = 0; k < all->n_tokens; k++) {
        const struct united *const t = &all->token[k];
        begin_item(out, k);
        field_int(out, "id", t->best.id);
        field_token(out, "token", t->best.id);
        fputs(",\"probs\":{", out->f);
        for (size_t i = 0; i < all->n; i++) {
            output_string(out, i ? "," : "", text_piece(all->chain[i].name));
            if (t->p[i] < 0.0f)
                fprintf(out->f, ":\"%s\"", chain_removed_by(&all->chain[i], t->best.id, text));
            else
                output_float(out, ":", t->p[i]);
        }
        fputs("}}", out->f);
    }
    out->fields = 0;
    fputs("]}\n", out->f);
}

const struct output_format output_json = {.name = "json",
                                          .inputs = "json pairs",
                                          .id = fields_id,
                                          .dump = dump,
                                          .stats = fields_stats,
                                          .values = values,
                                          .bad = bad,
                                          .chains = {[COMPARED_CHOICES] = fields_choices,
                                                     [COMPARED_CANDIDATES] = candidates,
                                                     [COMPARED_TABLE] = fields_table,
                                                     [COMPARED_REPORT] = report_json}};
