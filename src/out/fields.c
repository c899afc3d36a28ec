// SPDX-License-Identifier: MIT
#include "out/fields.h"

#include <inttypes.h>
#include <math.h>

// Begins a field. False: its value is not wanted, only the name.
static bool begin_field(struct output *out, const char *name)
{
    const bool first = !out->fields++;
    if (out->format->cells) {
        output_short(out, first ? "" : "\t");
        output_short(out, out->heading ? name : "");
    } else {
        output_short(out, first ? "{\"" : ",\"");
        output_short(out, name);
        output_short(out, "\":");
    }
    return !out->heading;
}

void field_int(struct output *out, const char *name, int64_t x)
{
    if (begin_field(out, name))
        fprintf(out->f, "%" PRId64, x);
}

void field_float(struct output *out, const char *name, float x)
{
    char text[NUMBER_TEXT];
    if (begin_field(out, name))
        output_short(out, x > -INFINITY || out->format->cells ? number_text(x, text) : "null");
}

void field_double(struct output *out, const char *name, double x)
{
    char text[NUMBER_TEXT];
    if (begin_field(out, name))
        output_short(out, isfinite(x) || out->format->cells ? number_text_wide(x, text) : "null");
}

static void piece_field(struct output *out, const char *name, struct piece text)
{
    if (!begin_field(out, name))
        return;
    if (out->format->cells)
        text_put(out->f, text, 0);
    else
        text_put_json(out->f, text, out->page);
}

void field_text(struct output *out, const char *name, const char *text, bool column)
{
    if (out->format->cells ? column : text != NULL)
        piece_field(out, name, text_piece(text ? text : ""));
}

void field_token(struct output *out, const char *name, uint32_t id)
{
    if (out->vocab)
        piece_field(out, name, vocab_text(out->vocab, id));
}

void fields_end(struct output *out, const char *tail)
{
    fprintf(out->f, out->format->cells ? "%s" : "}%s", tail);
    out->fields = 0;
}

void fields_end_row(struct output *out, const struct record *r)
{
    if (out->emit != EMIT_STATS) // statistics begin with it
        field_text(out, "seq", r->seq, out->sequences);
    field_text(out, "file", r->file, out->files);
    if (out->files)
        field_int(out, "file_row", (int64_t)r->file_row);
    fields_end(out, "\n");
}

// ---- rows

void fields_of_token(struct output *out, uint32_t id)
{
    field_int(out, "id", id);
    if (!out->vocab)
        return;
    const struct piece bytes = vocab_text(out->vocab, id);
    piece_field(out, "token", bytes);
    begin_field(out, "bytes");
    putc('[', out->f);
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(out->f, "%s%u", i ? "," : "", (unsigned)bytes.p[i]);
    putc(']', out->f);
}

void fields_of_id(struct output *out, const struct record *r)
{
    field_int(out, "row", (int64_t)r->row);
    if (out->format->cells)
        field_int(out, "id", record_id(r));
    else
        fields_of_token(out, r->chosen);
    field_float(out, "prob", r->error ? NAN : r->chosen_p);
    field_int(out, "n", (int64_t)r->kept);
    if (out->format->cells)
        field_token(out, "text", r->error ? UINT32_MAX : r->chosen);
}

void fields_id(struct output *out, const struct record *r)
{
    fields_of_id(out, r);
    fields_end_row(out, r);
}

void fields_statistics(struct output *out, const struct record *r)
{
    for (enum statistic i = 0; i < record_stats(out); i++)
        field_double(out, statistic_name(i), r->error ? NAN : r->stat[i]);
}

void fields_stats(struct output *out, const struct record *r)
{
    field_int(out, "row", (int64_t)r->row);
    field_text(out, "seq", r->seq, out->sequences);
    field_int(out, "id", record_id(r));
    fields_statistics(out, r);
    field_text(out, "variant", r->variant, out->n_chains > 1);
    fields_end_row(out, r);
}

void fields_value(struct output *out, const struct record *r, const char *name, int64_t id, float x)
{
    field_int(out, "row", (int64_t)r->row);
    field_int(out, "id", id);
    field_float(out, name, x);
    if (emit_distribution(out->emit))
        fields_end(out, "\n");
    else
        fields_end_row(out, r);
}

// ---- several chains

// Writes the name of the stage that removed a token; "-", for none, is null in JSON.
static void removal(struct output *out, const char *name, const char *by)
{
    if (*by != '-' || out->format->cells)
        field_text(out, name, by, true);
    else
        field_double(out, name, NAN);
}

void fields_choice(struct output *out, const struct compared_chain *c)
{
    const struct record *const base = out->chain->record, *const r = c->record;
    field_int(out, "row", (int64_t)r->row);
    field_text(out, "variant", c->name, true);
    field_int(out, "base_id", base->chosen);
    field_float(out, "base_prob", base->chosen_p);
    field_int(out, "id", r->chosen);
    field_float(out, "prob", r->chosen_p);
    field_float(out, "prob_in_base", c->base_p);
    if (c->base_rank)
        field_int(out, "rank_in_base", (int64_t)c->base_rank);
    else
        removal(out, "rank_in_base", "-");
    removal(out, "removed_in_base", c->removed_in_base);
    removal(out, "base_removed", c->base_removed);
    field_double(out, "overlap", r->overlap);
    field_token(out, out->format->cells ? "base_text" : "base_token", base->chosen);
    field_token(out, out->format->cells ? "text" : "token", r->chosen);
    fields_end(out, "\n");
}

void fields_choices(struct output *out, const struct chains_record *r)
{
    for (size_t i = 0; r->n_shown && i < out->n_chains; i++)
        if (out->chain[i].shown)
            fields_choice(out, &out->chain[i]);
}

// The swept options: in JSON an object of numbers, and of texts where a value is none.
static void swept_fields(struct output *out, const struct compared_chain *chain)
{
    for (size_t k = 0; out->format->cells && k < out->n_swept; k++)
        field_text(out, out->swept[k], chain->swept ? chain->swept[k].text : "-", true);
    if (out->format->cells)
        return;
    fputs(",\"swept\":{", out->f);
    for (size_t k = 0; chain->swept && k < out->n_swept; k++) {
        fprintf(out->f, "%s\"%s\":", k ? "," : "", out->swept[k]);
        if (chain->swept[k].number)
            fputs(chain->swept[k].number, out->f);
        else
            output_string(out, "", text_piece(chain->swept[k].text));
    }
    putc('}', out->f);
}

static void chain_fields(struct output *out, const struct chains_record *r, size_t i, const char *tail)
{
    field_text(out, "name", out->chain[i].name, true);
    field_text(out, "options", out->chain[i].options, true);
    swept_fields(out, &out->chain[i]);
    for (size_t k = 0; k < r->n_columns; k++)
        field_double(out, r->column[k].name, out->chain[i].cell[k].value);
    fields_end(out, tail);
}

void fields_table(struct output *out, const struct chains_record *r)
{
    out->heading = out->format->cells;
    if (out->heading)
        chain_fields(out, r, 0, "\n");
    out->heading = false;
    for (size_t i = 0; i < out->n_chains; i++)
        chain_fields(out, r, i, !out->page ? "\n" : i + 1 < out->n_chains ? ",\n" : "");
}
