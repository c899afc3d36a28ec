// SPDX-License-Identifier: MIT
#include "out/text.h"

#include <inttypes.h>
#include <math.h>

// The columns of the window; SIZE_MAX: there is none.
static size_t window_columns(const struct output *out)
{
    return out->screen.columns ? (size_t)out->screen.columns : SIZE_MAX;
}

// How wide a column of the chains' names is, each cut to `most`: as the widest up to `limit`; wider names stick out.
static size_t names_width(const struct output *out, size_t most, size_t limit)
{
    size_t width = 4;
    for (size_t i = 0; i < out->n_chains; i++) {
        const size_t wide = text_clip(NULL, text_piece(out->chain[i].name), 0, most);
        width = wide > width && wide <= limit ? wide : width;
    }
    return width;
}

// How wide a column of the table is, or without a table the column of a chain.
static size_t column_width(const struct output *out, const struct chains_record *r, size_t column)
{
    enum { CHAIN = 12, MEAN = 8, SHARE = 13 };
    if (r)
        return r->column[column].kind == COLUMN_SHARE ? SHARE : MEAN;
    const size_t wide = text_clip(NULL, text_piece(out->chain[column].name), 0, window_columns(out) / 3);
    return wide > CHAIN ? wide : CHAIN;
}

// The end of the columns, from `first` on, that the window has room for beside `taken` cells; there is at least one.
// The columns behind go on below, in a block of their own.
static size_t block_end(const struct output *out, const struct chains_record *r, size_t first, size_t taken)
{
    const size_t n = r ? r->n_columns : out->n_chains, window = window_columns(out);
    size_t last = first;
    do
        taken += 1 + column_width(out, r, last++);
    while (last < n && taken + 1 + column_width(out, r, last) <= window);
    return last;
}

void output_chain_ids(struct output *out, const struct chains_record *r)
{
    for (size_t i = 0; i < out->n_chains; i++)
        fprintf(out->f, "%s%" PRId64, i ? "\t" : "", record_id(out->chain[i].record));
    putc('\n', out->f);
}

void text_texts(struct output *out, const struct chains_record *r)
{
    for (size_t i = 0; i < out->n_chains; i++) {
        text_put(out->f, text_piece(out->chain[i].name), 0);
        output_string(out, "\t", out->chain[i].text);
        putc('\n', out->f);
    }
}

void text_choices(struct output *out, const struct chains_record *r)
{
    enum { NAME_MOST = 40 };
    const struct record *const base = out->chain->record;
    const size_t most = window_columns(out) / 3, width = r->n_shown ? names_width(out, most, NAME_MOST) : 0;
    if (!r->n_shown)
        return;
    fprintf(out->f, "row %" PRIu64 "  base ", base->row);
    output_name(out, base->chosen);
    fprintf(out->f, " (%.4f)\n", (double)base->chosen_p);
    for (const struct compared_chain *c = out->chain; c < out->chain + out->n_chains; c++) {
        if (!c->shown)
            continue;
        fputs("  ", out->f);
        text_cell(out->f, text_piece(c->name), 0, width, most);
        putc(' ', out->f);
        output_name(out, c->record->chosen);
        fprintf(out->f, " (%.4f)  in the base ", (double)c->record->chosen_p);
        if (c->base_rank)
            fprintf(out->f, "%.4f, rank %zu", (double)c->base_p, c->base_rank);
        else
            fprintf(out->f, "removed by %s", c->removed_in_base);
        if (*c->base_removed != '-')
            fprintf(out->f, "; %" PRIu32 " removed by %s", base->chosen, c->base_removed);
        fprintf(out->f, "  overlap %.4f\n", c->record->overlap);
    }
}

// The columns of some chains. In a window the texts come first, in so many columns.
static void candidate_block(const struct output *out, const struct chains_record *r, size_t first, size_t last,
                            size_t texts)
{
    FILE *const f = out->f;
    char text[NUMBER_TEXT];
    const bool before = out->vocab && out->screen.columns, behind = out->vocab && !before;
    fprintf(f, "%8s", "id");
    if (before)
        fprintf(f, " %-*s", (int)texts, "text");
    for (size_t i = first; i < last; i++) {
        const struct piece name = text_piece(out->chain[i].name);
        const size_t most = window_columns(out) / 3, width = column_width(out, NULL, i);
        fprintf(f, " %*s", (int)(width - text_clip(NULL, name, 0, most)), "");
        text_clip(f, name, 0, most);
    }
    fputs(behind ? "  text\n" : "\n", f);
    for (size_t k = 0; k < r->n_tokens; k++) {
        const struct united *const t = &r->token[k];
        fprintf(f, "%8" PRIu32, t->id);
        if (before)
            text_of_token(out, t->id, texts);
        for (size_t i = first; i < last; i++) {
            snprintf(text, sizeof text, "%s%.6f", t->id == out->chain[i].record->chosen ? "*" : "", (double)t->p[i]);
            fprintf(f, " %*s", (int)column_width(out, NULL, i),
                    t->p[i] < 0.0f ? r->removed_by(r->results, i, t->id, text) : text);
        }
        fputs(behind ? "  " : "", f);
        if (behind)
            text_put(f, vocab_text(out->vocab, t->id), '"');
        putc('\n', f);
    }
}

void text_candidates(struct output *out, const struct chains_record *r)
{
    size_t texts = 4;
    for (size_t k = 0; out->screen.columns && k < r->n_tokens; k++)
        texts = text_width(out, texts, r->token[k].id);
    fprintf(out->f, "row %" PRIu64 "\n", out->chain[0].record->row);
    for (size_t first = 0, last; first < out->n_chains; first = last) {
        last = block_end(out, NULL, first, 8 + (out->vocab ? 1 + texts : 0));
        candidate_block(out, r, first, last, texts);
    }
}

// ---- the table

const char *output_cell_text(const struct table_cell *c, enum column_kind kind, char text[CELL_TEXT])
{
    const double x = c->value;
    if (isnan(x))
        return "-";
    if (kind == COLUMN_SHARE)
        snprintf(text, CELL_TEXT, "%.3f (%.3f)", x, sqrt(x * (1.0 - x) / (double)c->rows));
    else if (kind == COLUMN_COUNT || isinf(x))
        snprintf(text, CELL_TEXT, "%.0f", x);
    else
        snprintf(text, CELL_TEXT, x > 0.0 && x < 0.001 ? "%.2e" : x < 100.0 ? "%.4f" : x < 1e7 ? "%.1f" : "%.2e", x);
    return text;
}

void text_table(struct output *out, const struct chains_record *r)
{
    enum { NAME_MOST = 48 };
    char text[CELL_TEXT];
    const size_t most = window_columns(out) / 2, width = names_width(out, most, NAME_MOST);
    for (size_t first = 0, last; first < r->n_columns; first = last) {
        last = block_end(out, r, first, width);
        fprintf(out->f, first ? "\n%-*s" : "%-*s", (int)width, "name");
        for (size_t k = first; k < last; k++)
            fprintf(out->f, " %*s", (int)column_width(out, r, k), r->column[k].name);
        putc('\n', out->f);
        for (size_t i = 0; i < out->n_chains; i++) {
            text_cell(out->f, text_piece(out->chain[i].name), 0, width, most);
            for (size_t k = first; k < last; k++)
                fprintf(out->f, " %*s", (int)column_width(out, r, k),
                        output_cell_text(&out->chain[i].cell[k], r->column[k].kind, text));
            putc('\n', out->f);
        }
    }
}
