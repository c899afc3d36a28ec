// SPDX-License-Identifier: MIT
#include "views/dump_text.h"

#include "out/text_bars.h"
#include "out/token_text.h"

#include <inttypes.h>

// Writes NAME or, if the stage has a main parameter, NAME=VALUE, with blanks up to 16 columns.
static void padded_name(struct dest *d, const struct trace_line *t)
{
    char text[NUMBER_TEXT];
    const size_t begin = d->text.len;
    builder_format(&d->text, t->enabled && t->n_params ? "%s=%s" : "%s", t->name, named_text(t->param, text));
    const size_t len = d->text.len - begin;
    builder_pad(&d->text, ' ', len < 16 ? 16 - len : 0);
}

// The numbers are shorter in a window, so that more removed tokens fit.
#define STAGE_FILE   " %8zu -> %8zu %9.6f %8.3f  "
#define STAGE_WINDOW " %7zu -> %7zu %6.4f %7.3f  "

static void stage(struct dest *d, const struct trace_line *t)
{
    struct builder *const b = &d->text;
    char text[NUMBER_TEXT];
    const bool window = d->screen.columns;
    padded_name(d, t);
    if (!t->enabled) {
        builder_format(b, " %8s\n", "off");
        return;
    }
    builder_format(b, window ? STAGE_WINDOW : STAGE_FILE, t->before, t->after, t->mass, t->entropy);
    token_name(d, t->top_before);
    if (t->top_after != t->top_before) {
        builder_string(b, " -> ");
        token_name(d, t->top_after);
    }
    if (t->n_removed)
        builder_format(b, "; %zu removed:", t->n_removed);
    for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
        builder_byte(b, ' ');
        token_name(d, t->removed[k].id);
        if (window)
            builder_format(b, " (%s)", text_share(t->removed[k].p, text));
        else
            builder_format(b, " (%.6f)", (double)t->removed[k].p);
    }
    if (t->n_removed > TRACE_REMOVED)
        builder_string(b, " ...");
    if (t->rest)
        builder_format(b, "; rest %s", t->rest);
    for (size_t k = 1, n = 0; k < t->n_params; k++)
        if (!t->param[k].usual)
            builder_format(b, "%s%s=%s", n++ ? " " : "; ", t->param[k].name, named_text(&t->param[k], text));
    for (size_t k = 0; k < t->n_notes; k++)
        builder_format(b, "%s%s %.6g", k ? ", " : "; ", t->note[k].name, t->note[k].value);
    builder_byte(b, '\n');
}

// Writes a line for each candidate, or in a window bars. Marks the chosen and the accepted candidate.
static void candidate_lines_text(struct dest *d, const struct record *r, const struct ranked *ranked, size_t n,
                                 bool noisy, bool last)
{
    double sum = 0.0;
    size_t width = 4;
    if (d->screen.columns) {
        text_bars(d, r, ranked, n, last);
        return;
    }
    for (size_t i = 0; i < n; i++)
        width = text_width(d, width, ranked[i].id);
    builder_format(&d->text, "%6s %8s", "rank", "id");
    if (d->vocab)
        builder_format(&d->text, " %-*s", (int)width, "text");
    builder_format(&d->text, " %12s %10s %10s", "logit", "prob", "cum");
    if (noisy)
        builder_format(&d->text, " %12s %12s", "noise", "value");
    builder_byte(&d->text, '\n');
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        builder_byte(&d->text, text_mark(r, c->id));
        builder_int(&d->text, (int64_t)i + 1, 5);
        builder_int(&d->text, c->id, 9);
        text_of_token(d, c->id, width);
        builder_format(&d->text, " %12.6f %10.6f %10.6f", (double)c->logit, (double)c->p, sum);
        if (noisy)
            builder_format(&d->text, " %12.6f %12.6f", c->noised.noise, c->noised.value);
        builder_byte(&d->text, '\n');
    }
}

void dump_text(struct dest *d, const struct record *r, bool lists)
{
    builder_format(&d->text, "row %" PRIu64 "  chosen ", r->row);
    token_name(d, r->chosen);
    builder_format(&d->text, " (%.4f)  kept %zu/%zu%s  entropy %.3f\n", (double)r->chosen_p, r->kept, r->n_vocab,
                   r->partial ? "+" : "", r->entropy);
    if (r->n_trace)
        builder_format(&d->text,
                       d->screen.columns ? "%-16s %7s    %7s %6s %7s  %s\n" : "%-16s %8s    %8s %9s %8s  %s\n", "stage",
                       "before", "after", "mass", "entropy", d->screen.columns ? "top" : "top; removed");
    for (size_t i = 0; i < r->n_trace; i++) {
        stage(d, &r->trace[i]);
        if (r->trace[i].n_best)
            candidate_lines_text(d, r, r->trace[i].best, r->trace[i].n_best, r->trace[i].noisy, false);
    }
    if (lists)
        candidate_lines_text(d, r, r->ranked, r->shown, r->noisy, true);
    if (lists && r->partial)
        builder_format(&d->text, "outside the list  %.4f%s\n", r->rest, r->exact ? "" : "  (not exact)");
}
