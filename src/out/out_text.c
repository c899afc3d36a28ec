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

static void trace(struct output *out, const struct record *r)
{
    FILE *const f = out->f;
    fprintf(f, "%-12s %8s    %8s %9s %8s  %s\n", "stage", "before", "after", "mass", "entropy", "top; removed");
    for (size_t i = 0; i < r->n_trace; i++) {
        const struct trace_line *const t = &r->trace[i];
        if (!t->enabled) {
            fprintf(f, "%-12s %8s\n", t->name, "off");
            continue;
        }
        fprintf(f, "%-12s %8zu -> %8zu %9.6f %8.3f  ", t->name, t->before, t->after, t->mass, t->entropy);
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
        fputs(t->n_removed > TRACE_REMOVED ? " ...\n" : "\n", f);
    }
}

enum { TEXT_MOST = 40 }; // columns up to which texts are aligned

// How wide the column of texts is, a blank and the texts; 0: there is none.
static int text_column(const struct output *out, const struct record *r)
{
    size_t most = 4;
    for (size_t i = 0; out->vocab && i < r->shown; i++) {
        const size_t columns = text_put(NULL, vocab_text(out->vocab, r->ranked[i].id), '"');
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

static void dump(struct output *out, const struct record *r)
{
    double sum = 0.0;
    const int column = text_column(out, r);
    fprintf(out->f, "row %" PRIu64 "  chosen ", r->row);
    output_name(out, r->chosen);
    fprintf(out->f, " (%.4f)  kept %zu/%zu  entropy %.3f\n", (double)r->chosen_p, r->kept, r->n_vocab, r->entropy);
    if (r->trace)
        trace(out, r);
    fprintf(out->f, "%6s %8s%-*s %12s %10s %10s\n", "rank", "id", column, column ? " text" : "", "logit", "prob", "cum");
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        const bool chosen = c->id == r->chosen;
        sum += c->p;
        if (chosen && out->color)
            fputs("\033[1m", out->f);
        fprintf(out->f, "%c%5zu %8" PRIu32, chosen ? '>' : ' ', i + 1, c->id);
        if (column)
            put_text(out, c->id, column);
        fprintf(out->f, " %12.6f %10.6f %10.6f", (double)c->logit, (double)c->p, sum);
        if (out->terminal)
            bar(out->f, c->p);
        fputs(chosen && out->color ? "\033[0m\n" : "\n", out->f);
    }
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
