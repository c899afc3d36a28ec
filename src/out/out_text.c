// SPDX-License-Identifier: MIT
// Text for people and shell scripts: ids, one a line; dumps as an aligned table.
#include "out/output.h"

#include <inttypes.h>

static void id(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu32 "\n", r->chosen);
}

// A bar of at most 24 cells, in eighths.
static void bar(FILE *f, float p)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int cells = (int)(p * (24 * 8) + 0.5f);
    fputs("  ", f);
    for (int i = 0; i < cells / 8; i++)
        fputs("█", f);
    fputs(eighth[cells % 8], f);
}

// NAME or, with a main parameter, NAME=VALUE.
static void stage_name(struct output *out, const struct trace_line *t)
{
    char text[NUMBER_TEXT];
    const int len = fprintf(out->f, t->enabled && t->n_params ? "%s=%s" : "%s", t->name, named_text(t->param, text));
    fprintf(out->f, "%*s", len < 16 ? 16 - len : 0, "");
}

static void stage(struct output *out, const struct trace_line *t)
{
    FILE *const f = out->f;
    char text[NUMBER_TEXT];
    stage_name(out, t);
    if (!t->enabled) {
        fprintf(f, " %8s\n", "off");
        return;
    }
    fprintf(f, " %8zu -> %8zu %9.6f %8.3f  ", t->before, t->after, t->mass, t->entropy);
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
        fprintf(f, " (%.6f)", (double)t->removed[k].p);
    }
    if (t->n_removed > TRACE_REMOVED)
        fputs(" ...", f);
    for (size_t k = 1, n = 0; k < t->n_params; k++)
        if (!t->param[k].usual)
            fprintf(f, "%s%s=%s", n++ ? " " : "; ", t->param[k].name, named_text(&t->param[k], text));
    for (size_t k = 0; k < t->n_notes; k++)
        fprintf(f, "%s%s %.6g", k ? ", " : "; ", t->note[k].name, t->note[k].value);
    putc('\n', f);
}

enum { TEXT_MOST = 40 }; // columns up to which texts are aligned

// How wide the column of texts is, a blank and the texts; 0: there is none.
static int text_column(const struct output *out, const struct ranked *ranked, size_t n)
{
    size_t most = 4;
    for (size_t i = 0; out->vocab && i < n; i++) {
        const size_t columns = text_put(NULL, vocab_text(out->vocab, ranked[i].id), '"');
        if (columns <= TEXT_MOST && columns > most)
            most = columns;
    }
    return out->vocab ? 1 + (int)most : 0;
}

static void put_text(struct output *out, uint32_t token, int column)
{
    putc(' ', out->f);
    const size_t columns = 1 + text_put(out->f, vocab_text(out->vocab, token), '"');
    fprintf(out->f, "%*s", columns < (size_t)column ? column - (int)columns : 0, "");
}

// Candidates, a line each. The chosen one is marked, and the accepted one, if it is another.
static void list(struct output *out, const struct record *r, const struct ranked *ranked, size_t n)
{
    double sum = 0.0;
    const int column = text_column(out, ranked, n);
    fprintf(out->f, "%6s %8s%-*s %12s %10s %10s\n", "rank", "id", column, column ? " text" : "", "logit", "prob", "cum");
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        const bool chosen = c->id == r->chosen;
        sum += c->p;
        if (chosen && out->color)
            fputs("\033[1m", out->f);
        fprintf(out->f, "%c%5zu %8" PRIu32, chosen ? '>' : c->id == r->accepted ? '+' : ' ', i + 1, c->id);
        if (column)
            put_text(out, c->id, column);
        fprintf(out->f, " %12.6f %10.6f %10.6f", (double)c->logit, (double)c->p, sum);
        if (out->terminal)
            bar(out->f, c->p);
        fputs(chosen && out->color ? "\033[0m\n" : "\n", out->f);
    }
}

static void dump(struct output *out, const struct record *r)
{
    fprintf(out->f, "row %" PRIu64 "  chosen ", r->row);
    output_name(out, r->chosen);
    fprintf(out->f, " (%.4f)  kept %zu/%zu  entropy %.3f\n", (double)r->chosen_p, r->kept, r->n_vocab, r->entropy);
    if (r->n_trace)
        fprintf(out->f, "%-16s %8s    %8s %9s %8s  %s\n", "stage", "before", "after", "mass", "entropy", "top; removed");
    for (size_t i = 0; i < r->n_trace; i++) {
        stage(out, &r->trace[i]);
        if (r->trace[i].n_best)
            list(out, r, r->trace[i].best, r->trace[i].n_best);
    }
    if (out->lists)
        list(out, r, r->ranked, r->shown);
}

static void token(struct output *out, const struct record *r)
{
    const struct piece text = vocab_output(out->vocab, r->chosen);
    fwrite(text.p, 1, text.len, out->f);
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    char x[NUMBER_TEXT];
    (void)e;
    for (size_t i = 0; i < record_width(out, r); i++) {
        if (i)
            putc_unlocked(' ', out->f);
        output_short(out, number_text(r->values[i], x));
    }
    putc_unlocked('\n', out->f);
    return true;
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

const struct output_format output_text = {.name = "text", .id = id, .dump = dump, .token = token, .values = values, .bad = bad};
