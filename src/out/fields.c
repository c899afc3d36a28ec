// SPDX-License-Identifier: MIT
#include "out/fields.h"

#include <inttypes.h>
#include <math.h>

// Begins a field. Returns false if only the name is wanted, and no value.
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

void output_double(const struct output *out, double x)
{
    char text[NUMBER_TEXT];
    output_short(out, isfinite(x) ? number_text_wide(x, text) : "null");
}

static void piece_field(struct output *out, const char *name, struct piece text)
{
    if (!begin_field(out, name))
        return;
    if (out->format->cells)
        text_write(out->f, text, 0);
    else
        text_write_json(out->f, text, out->format->page);
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

static void file_fields(struct output *out, const struct record *r)
{
    field_text(out, "file", r->file, out->files);
    if (out->files)
        field_int(out, "file_row", (int64_t)r->file_row);
}

// Writes the members of a partial row. Cells have these columns if the first record is of a partial row.
static void fields_rest(struct output *out, const struct record *r)
{
    if (out->format->cells ? !out->rests : !r->partial || r->error)
        return;
    field_double(out, "rest", r->error ? NAN : r->partial ? r->rest : 0.0);
    if (begin_field(out, "exact"))
        output_short(out, r->error ? "" : !r->partial || r->exact ? "true" : "false");
}

void fields_end_row(struct output *out, const struct record *r)
{
    if (!emit_distribution(out->emit)) {
        if (out->emit != EMIT_STATS) // statistics begin with the sequence
            field_text(out, "seq", r->seq, out->sequences);
        file_fields(out, r);
        fields_rest(out, r);
    }
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
    for (enum statistic i = 0; i < (out->accepts ? STAT_EXPECTED : STAT_ACCEPTED); i++)
        field_double(out, statistic_name(i), r->error ? NAN : r->stat[i]);
}

// Writes the statistics that do not depend on the chosen token.
static void fields_expected(struct output *out, const struct record *r)
{
    for (enum statistic i = STAT_EXPECTED; i < (out->accepts ? STAT_NAMED : STAT_EPS_NLL); i++)
        field_double(out, statistic_name(i), r->error ? NAN : r->stat[i]);
    for (size_t i = 0; out->measures && out->measures[i]; i++)
        field_double(out, out->measures[i], r->error ? NAN : r->stat[STAT_MEASURED + i]);
    for (enum pair_stat i = PAIR_KL; out->pairs && i < PAIR_COUNT; i++)
        field_double(out, pair_name(i), r->error || !r->pair ? NAN : r->pair[i]);
}

void fields_stats(struct output *out, const struct record *r)
{
    field_int(out, "row", (int64_t)r->row);
    field_text(out, "seq", r->seq, out->sequences);
    field_int(out, "id", record_id(r));
    fields_statistics(out, r);
    field_text(out, "variant", r->variant, out->variants);
    file_fields(out, r);
    fields_expected(out, r);
    fields_rest(out, r);
    fields_end(out, "\n");
}

void fields_value(struct output *out, const struct record *r, const char *name, int64_t id, float x)
{
    field_int(out, "row", (int64_t)r->row);
    field_int(out, "id", id);
    field_float(out, name, x);
    fields_end_row(out, r);
}

// ---- several chains

// Writes what removed a token. "-", which stands for nothing, is null in JSON.
static void removal(struct output *out, const char *name, const char *by)
{
    if (*by != '-' || out->format->cells)
        field_text(out, name, by, true);
    else
        field_double(out, name, NAN);
}

void output_chain_ids(struct output *out, const struct chains *all)
{
    for (size_t i = 0; i < all->n; i++)
        fprintf(out->f, "%s%" PRId64, i ? "\t" : "", record_id(&all->chain[i].result->record));
    putc('\n', out->f);
}

void fields_choice(struct output *out, const struct compared_chain *c)
{
    const struct record *const base = &out->chains->chain->result->record, *const r = &c->result->record;
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

void fields_choices(struct output *out, const struct chains *all)
{
    for (size_t i = 0; all->n_shown && i < all->n; i++)
        if (all->chain[i].shown)
            fields_choice(out, &all->chain[i]);
}

// Writes the swept options. JSON has an object of numbers; values that are no numbers are strings.
static void swept_fields(struct output *out, const struct swept_value *swept, size_t n)
{
    fputs(out->format->cells ? "" : ",\"swept\":{", out->f);
    for (size_t k = 0; k < n; k++)
        if (out->format->cells)
            field_text(out, swept[k].name, swept[k].text ? swept[k].text : "-", true);
        else if (swept[k].number)
            fprintf(out->f, "%s\"%s\":%s", k ? "," : "", swept[k].name, swept[k].number);
        else if (swept[k].text) {
            fprintf(out->f, "%s\"%s\":", k ? "," : "", swept[k].name);
            output_string(out, "", text_piece(swept[k].text));
        }
    fputs(out->format->cells ? "" : "}", out->f);
}

static void suffixed_field(struct output *out, const char *name, const char *suffix, double x)
{
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%s%s", name, suffix);
    field_double(out, text, x);
}

// Writes the columns of a chain: the values, their errors, the differences to the base, and last the number of rows.
static void table_fields(struct output *out, const struct chains *all, const struct compared_chain *c)
{
    const size_t n = all->n_columns - 1;
    for (size_t k = 0; k < n; k++)
        field_double(out, all->column[k].name, c->cell[k].value);
    for (size_t k = 0; k < n; k++)
        if (all->column[k].kind != COLUMN_COUNT)
            suffixed_field(out, all->column[k].name, "_se", c->cell[k].error);
    for (size_t k = 0; k < n; k++)
        if (all->column[k].paired) {
            suffixed_field(out, all->column[k].name, "_diff", c->cell[k].difference);
            suffixed_field(out, all->column[k].name, "_diff_se", c->cell[k].difference_error);
        }
    if (begin_field(out, "of_the_draw"))
        output_short(out, c->by_chance ? "true" : "false");
    field_double(out, all->column[n].name, c->cell[n].value);
}

static void chain_fields(struct output *out, const struct chains *all, const struct compared_chain *c, const char *tail)
{
    field_text(out, "name", c->name, true);
    field_text(out, "options", c->options, true);
    swept_fields(out, c->swept, all->n_swept);
    table_fields(out, all, c);
    fields_end(out, tail);
}

void fields_table(struct output *out, const struct chains *all)
{
    out->heading = out->format->cells;
    if (out->heading)
        chain_fields(out, all, all->chain, "\n");
    out->heading = false;
    for (size_t i = 0; i < all->n; i++)
        chain_fields(out, all, &all->chain[i], !out->format->page ? "\n" : i + 1 < all->n ? ",\n" : "");
}
