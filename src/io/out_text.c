// SPDX-License-Identifier: MIT
// Text for people and shell scripts: ids, one a line; dumps as an aligned table.
#include "io/output.h"

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

static void trace(FILE *f, const struct record *r)
{
    fprintf(f, "%-12s %8s    %8s %9s %8s  %s\n", "stage", "before", "after", "mass", "entropy", "top; removed");
    for (size_t i = 0; i < r->n_trace; i++) {
        const struct trace_line *const t = &r->trace[i];
        if (!t->enabled) {
            fprintf(f, "%-12s %8s\n", t->name, "off");
            continue;
        }
        fprintf(f, "%-12s %8zu -> %8zu %9.6f %8.3f  %" PRIu32, t->name, t->before, t->after, t->mass, t->entropy, t->top_before);
        if (t->top_after != t->top_before)
            fprintf(f, " -> %" PRIu32, t->top_after);
        if (t->n_removed)
            fprintf(f, "; %zu removed:", t->n_removed);
        for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++)
            fprintf(f, " %" PRIu32 " (%.6f)", t->removed[k].id, (double)t->removed[k].p);
        fputs(t->n_removed > TRACE_REMOVED ? " ...\n" : "\n", f);
    }
}

static void dump(struct output *out, const struct record *r)
{
    double sum = 0.0;
    fprintf(out->f, "row %" PRIu64 "  chosen %" PRIu32 " (%.4f)  kept %zu/%zu  entropy %.3f\n", r->row, r->chosen,
            (double)r->chosen_p, r->kept, r->n_row, r->entropy);
    if (r->trace)
        trace(out->f, r);
    fprintf(out->f, "%6s %8s %12s %10s %10s\n", "rank", "id", "logit", "prob", "cum");
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        const bool chosen = c->id == r->chosen;
        sum += c->p;
        if (chosen && out->color)
            fputs("\033[1m", out->f);
        fprintf(out->f, "%c%5zu %8" PRIu32 " %12.6f %10.6f %10.6f", chosen ? '>' : ' ', i + 1, c->id, (double)c->logit,
                (double)c->p, sum);
        if (out->terminal)
            bar(out->f, c->p);
        fputs(chosen && out->color ? "\033[0m\n" : "\n", out->f);
    }
}

const struct output_format output_text = {.name = "text", .id = id, .dump = dump};
