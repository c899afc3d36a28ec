// SPDX-License-Identifier: MIT
// Text for people and shell scripts: a line for each id; dumps as an aligned table or, in a window, with bars.
#include "base/utf8.h"
#include "out/fields.h"
#include "out/text_bars.h"

#include <inttypes.h>
#include <math.h>

static void id(struct output *out, const struct record *r) { fprintf(out->f, "%" PRIu32 "\n", r->chosen); }

// Writes NAME or, if the stage has a main parameter, NAME=VALUE, with blanks up to 16 columns.
static void padded_name(struct output *out, const struct trace_line *t)
{
    char text[NUMBER_TEXT];
    const int len = fprintf(out->f, t->enabled && t->n_params ? "%s=%s" : "%s", t->name, named_text(t->param, text));
    fprintf(out->f, "%*s", len < 16 ? 16 - len : 0, "");
}

// The numbers are shorter in a window, so that more removed tokens fit.
#define STAGE_FILE   " %8zu -> %8zu %9.6f %8.3f  "
#define STAGE_WINDOW " %7zu -> %7zu %6.4f %7.3f  "

static void stage(struct output *out, const struct trace_line *t)
{
    FILE *const f = out->f;
    char text[NUMBER_TEXT];
    const bool window = out->screen.columns;
    padded_name(out, t);
    if (!t->enabled) {
        fprintf(f, " %8s\n", "off");
        return;
    }
    fprintf(f, window ? STAGE_WINDOW : STAGE_FILE, t->before, t->after, t->mass, t->entropy);
    output_name(out, t->top_before);
    if (t->top_after != t->top_before) {
        fputs(" -> ", f);
        output_name(out, t->top_after);
    }
    if (t->n_removed)
        fprintf(f, "; %zu removed:", t->n_removed);
    for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
        putc(' ', f);
        output_name(out, t->removed[k].id);
        if (window)
            fprintf(f, " (%s)", text_share(t->removed[k].p, text));
        else
            fprintf(f, " (%.6f)", (double)t->removed[k].p);
    }
    if (t->n_removed > TRACE_REMOVED)
        fputs(" ...", f);
    if (t->rest)
        fprintf(f, "; rest %s", t->rest);
    for (size_t k = 1, n = 0; k < t->n_params; k++)
        if (!t->param[k].usual)
            fprintf(f, "%s%s=%s", n++ ? " " : "; ", t->param[k].name, named_text(&t->param[k], text));
    for (size_t k = 0; k < t->n_notes; k++)
        fprintf(f, "%s%s %.6g", k ? ", " : "; ", t->note[k].name, t->note[k].value);
    putc('\n', f);
}

// Writes a line for each candidate, or in a window bars. Marks the chosen and the accepted candidate.
static void candidate_lines_text(const struct output *out, const struct record *r, const struct ranked *ranked,
                                 size_t n, bool noisy, bool last)
{
    double sum = 0.0;
    size_t width = 4;
    if (out->screen.columns) {
        text_bars(out, r, ranked, n, last);
        return;
    }
    for (size_t i = 0; i < n; i++)
        width = text_width(out, width, ranked[i].id);
    fprintf(out->f, "%6s %8s", "rank", "id");
    if (out->vocab)
        fprintf(out->f, " %-*s", (int)width, "text");
    fprintf(out->f, " %12s %10s %10s", "logit", "prob", "cum");
    if (noisy)
        fprintf(out->f, " %12s %12s", "noise", "value");
    putc('\n', out->f);
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        fprintf(out->f, "%c%5zu %8" PRIu32, text_mark(r, c->id), i + 1, c->id);
        text_of_token(out, c->id, width);
        fprintf(out->f, " %12.6f %10.6f %10.6f", (double)c->logit, (double)c->p, sum);
        if (noisy)
            fprintf(out->f, " %12.6f %12.6f", c->noised.noise, c->noised.value);
        putc('\n', out->f);
    }
}

static void dump(struct output *out, const struct record *r)
{
    fprintf(out->f, "row %" PRIu64 "  chosen ", r->row);
    output_name(out, r->chosen);
    fprintf(out->f, " (%.4f)  kept %zu/%zu%s  entropy %.3f\n", (double)r->chosen_p, r->kept, r->n_vocab,
            r->partial ? "+" : "", r->entropy);
    if (r->n_trace)
        fprintf(out->f, out->screen.columns ? "%-16s %7s    %7s %6s %7s  %s\n" : "%-16s %8s    %8s %9s %8s  %s\n",
                "stage", "before", "after", "mass", "entropy", out->screen.columns ? "top" : "top; removed");
    for (size_t i = 0; i < r->n_trace; i++) {
        stage(out, &r->trace[i]);
        if (r->trace[i].n_best)
            candidate_lines_text(out, r, r->trace[i].best, r->trace[i].n_best, r->trace[i].noisy, false);
    }
    if (out->lists)
        candidate_lines_text(out, r, r->ranked, r->shown, r->noisy, true);
    if (out->lists && r->partial)
        fprintf(out->f, "outside the list  %.4f%s\n", r->rest, r->exact ? "" : "  (not exact)");
}

// Returns the style of a token by its raw probability. The styles differ in more than colour.
static const char *tint_of(double p)
{
    return p < 0.001  ? COLOR_ORANGE "\033[1;7m"
           : p < 0.01 ? COLOR_ORANGE "\033[1;4m"
           : p < 0.1  ? COLOR_BLUE "\033[4m"
                      : "";
}

// Returns the number of bytes that the last character of a text lacks.
static size_t missing_bytes(struct piece text)
{
    size_t last = text.len;
    while (last && text.len - last < 4 && (text.p[last - 1] & 0xc0) == 0x80)
        last--;
    const size_t length = last ? utf8_length(text.p[last - 1]) : 0, have = text.len - last + 1;
    return length > have ? length - have : 0;
}

static void end_tint(struct output *out)
{
    fputs(out->tinted ? "\033[0m" : "", out->f);
    out->tinted = false;
}

// Writes the text of a token in its style; blanks at its beginning have no style. The bytes of a character may belong
// to several tokens. A terminal cannot show a character if the style changes between its bytes, so the style of its
// first token holds up to its last byte.
static void tinted_text(struct output *out, struct piece text, const char *tint)
{
    size_t at = 0;
    for (; at < text.len && out->missing && (text.p[at] & 0xc0) == 0x80; at++)
        out->missing--;
    fwrite(text.p, 1, at, out->f);
    if (at < text.len || !out->missing)
        end_tint(out);
    if (at == text.len)
        return;
    for (; at < text.len && text.p[at] <= ' '; at++)
        putc(text.p[at], out->f);
    text = (struct piece){text.p + at, text.len - at};
    out->missing = missing_bytes(text);
    out->tinted = text.len && *tint;
    fputs(out->tinted ? tint : "", out->f);
    fwrite(text.p, 1, text.len, out->f);
    if (!out->missing)
        end_tint(out);
}

static void token(struct output *out, const struct record *r)
{
    const struct piece text = vocab_output(out->vocab, r->chosen);
    if (out->screen.color)
        tinted_text(out, text, tint_of(r->stat[STAT_RAW_PROB]));
    else
        fwrite(text.p, 1, text.len, out->f);
}

static bool finish(struct output *out, bool whole, struct err *e)
{
    (void)whole;
    (void)e;
    end_tint(out);
    return true;
}

static void values(struct output *out, const struct record *r)
{
    for (size_t i = 0; i < record_width(out, r); i++)
        output_float(out, i ? " " : "", r->values[i]);
    putc_unlocked('\n', out->f);
}

static void bad(struct output *out, const struct record *r)
{
    if (out->dump)
        fprintf(out->f, "row %" PRIu64 "  chosen -1  kept 0/%zu  error: %s\n", r->row, r->n_vocab, r->error);
    else if (out->emit == EMIT_IDS)
        fputs("-1\n", out->f);
    else if (out->emit != EMIT_TEXT)
        for (size_t i = 0, n = record_width(out, r) ? record_width(out, r) : 1; i < n; i++)
            fputs(i + 1 < n ? "nan " : "nan\n", out->f);
}

// ---- several chains

// Returns the number of columns of the window; SIZE_MAX if there is no window.
static size_t window_columns(const struct output *out)
{
    return out->screen.columns ? (size_t)out->screen.columns : SIZE_MAX;
}

// Returns the width of a column with the names of the chains, each cut to `most` columns. Names wider than `limit` do
// not count, and stick out.
static size_t names_width(const struct chains *all, size_t most, size_t limit)
{
    size_t width = 4;
    for (size_t i = 0; i < all->n; i++) {
        const size_t wide = text_clip(NULL, text_piece(all->chain[i].name), 0, most);
        width = wide > width && wide <= limit ? wide : width;
    }
    return width;
}

// Returns the width of a column: of the table if there is one, else of a chain's probabilities.
static size_t column_width(const struct output *out, const struct chains *all, size_t column)
{
    enum { CHAIN = 12, MEAN = 8, SHARE = 13, WITH_ERROR = 17 };
    if (all->n_columns) {
        const enum column_kind kind = all->column[column].kind;
        return kind == COLUMN_SHARE ? SHARE : kind == COLUMN_MEAN && out->errors ? WITH_ERROR : MEAN;
    }
    const size_t wide = text_clip(NULL, text_piece(all->chain[column].name), 0, window_columns(out) / 3);
    return wide > CHAIN ? wide : CHAIN;
}

// Returns the end of the columns from `first` on that fit in the window, of which `used` columns are used; at least one
// column fits. The next columns stand below, in another block.
static size_t block_end(const struct output *out, const struct chains *all, size_t first, size_t used)
{
    const size_t n = all->n_columns ? all->n_columns : all->n, window = window_columns(out);
    size_t last = first;
    do
        used += 1 + column_width(out, all, last++);
    while (last < n && used + 1 + column_width(out, all, last) <= window);
    return last;
}

static void texts(struct output *out, const struct chains *all)
{
    for (size_t i = 0; i < all->n; i++) {
        text_write(out->f, text_piece(all->chain[i].name), 0);
        output_string(out, "\t", all->chain[i].text);
        putc('\n', out->f);
    }
}

static void choices(struct output *out, const struct chains *all)
{
    enum { NAME_MOST = 40 };
    const struct record *const base = &all->chain->result->record;
    const size_t most = window_columns(out) / 3, width = all->n_shown ? names_width(all, most, NAME_MOST) : 0;
    if (!all->n_shown)
        return;
    fprintf(out->f, "row %" PRIu64 "  base ", base->row);
    output_name(out, base->chosen);
    fprintf(out->f, " (%.4f)\n", (double)base->chosen_p);
    for (const struct compared_chain *c = all->chain; c < all->chain + all->n; c++) {
        if (!c->shown)
            continue;
        fputs("  ", out->f);
        text_cell(out->f, text_piece(c->name), 0, width, most);
        putc(' ', out->f);
        output_name(out, c->result->record.chosen);
        fprintf(out->f, " (%.4f)  in the base ", (double)c->result->record.chosen_p);
        if (c->base_rank)
            fprintf(out->f, "%.4f, rank %zu", (double)c->base_p, c->base_rank);
        else
            fprintf(out->f, "removed by %s", c->removed_in_base);
        if (*c->base_removed != '-')
            fprintf(out->f, "; %" PRIu32 " removed by %s", base->chosen, c->base_removed);
        fprintf(out->f, "  overlap %.4f\n", c->result->record.overlap);
    }
}

// Writes the columns of chains first to last - 1. In a window the texts stand in front, with `width` columns; else they
// stand behind.
static void candidate_block(const struct output *out, const struct chains *all, size_t first, size_t last, size_t width)
{
    FILE *const f = out->f;
    char text[NUMBER_TEXT];
    const bool before = out->vocab && out->screen.columns, behind = out->vocab && !before;
    fprintf(f, "%8s", "id");
    if (before)
        fprintf(f, " %-*s", (int)width, "text");
    for (size_t i = first; i < last; i++) {
        const struct piece name = text_piece(all->chain[i].name);
        const size_t most = window_columns(out) / 3, free = column_width(out, all, i) - text_clip(NULL, name, 0, most);
        fprintf(f, " %*s", (int)free, "");
        text_clip(f, name, 0, most);
    }
    fputs(behind ? "  text\n" : "\n", f);
    for (size_t k = 0; k < all->n_tokens; k++) {
        const struct united *const t = &all->token[k];
        fprintf(f, "%8" PRIu32, t->best.id);
        if (before)
            text_of_token(out, t->best.id, width);
        for (size_t i = first; i < last; i++) {
            const struct compared_chain *const c = &all->chain[i];
            snprintf(text, sizeof text, "%s%.6f", t->best.id == c->result->record.chosen ? "*" : "", (double)t->p[i]);
            fprintf(f, " %*s", (int)column_width(out, all, i),
                    t->p[i] < 0.0f ? chain_removed_by(c, t->best.id, text) : text);
        }
        fputs(behind ? "  " : "", f);
        if (behind)
            text_write(f, vocab_text(out->vocab, t->best.id), '"');
        putc('\n', f);
    }
}

static void candidates(struct output *out, const struct chains *all)
{
    size_t width = 4;
    for (size_t k = 0; out->screen.columns && k < all->n_tokens; k++)
        width = text_width(out, width, all->token[k].best.id);
    fprintf(out->f, "row %" PRIu64 "\n", all->chain->result->record.row);
    for (size_t first = 0, last; first < all->n; first = last) {
        last = block_end(out, all, first, 8 + (out->vocab ? 1 + width : 0));
        candidate_block(out, all, first, last, width);
    }
}

static void table(struct output *out, const struct chains *all)
{
    enum { NAME_MOST = 48 };
    char text[CELL_TEXT];
    const size_t most = window_columns(out) / 2, width = names_width(all, most, NAME_MOST);
    out->errors = true;
    out->errors = block_end(out, all, 0, width) == all->n_columns;
    for (size_t first = 0, last; first < all->n_columns; first = last) {
        last = block_end(out, all, first, width);
        fprintf(out->f, first ? "\n%-*s" : "%-*s", (int)width, "name");
        for (size_t k = first; k < last; k++)
            fprintf(out->f, " %*s", (int)column_width(out, all, k), all->column[k].name);
        putc('\n', out->f);
        for (size_t i = 0; i < all->n; i++) {
            text_cell(out->f, text_piece(all->chain[i].name), 0, width, most);
            for (size_t k = first; k < last; k++)
                fprintf(out->f, " %*s", (int)column_width(out, all, k),
                        output_cell_text(&all->chain[i].cell[k], all->column[k].kind, out->errors, text));
            fputs(last == all->n_columns && all->chain[i].by_chance ? "  of the draw\n" : "\n", out->f);
        }
    }
}

const struct output_format output_text = {.name = "text",
                                          .id = id,
                                          .dump = dump,
                                          .token = token,
                                          .values = values,
                                          .bad = bad,
                                          .chains = {[COMPARED_IDS] = output_chain_ids,
                                                     [COMPARED_CHOICES] = choices,
                                                     [COMPARED_CANDIDATES] = candidates,
                                                     [COMPARED_TEXTS] = texts,
                                                     [COMPARED_TABLE] = table,
                                                     [COMPARED_REPORT] = report_text},
                                          .finish = finish};
