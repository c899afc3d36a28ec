// SPDX-License-Identifier: MIT
// Text for people and shell scripts: ids, one a line; dumps as an aligned table or, in a window, as a picture.
#include "base/utf8.h"
#include "out/text.h"

#include <inttypes.h>
#include <math.h>

static void id(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu32 "\n", r->chosen);
}

// NAME or, with a main parameter, NAME=VALUE.
static void padded_name(struct output *out, const struct trace_line *t)
{
    char text[NUMBER_TEXT];
    const int len = fprintf(out->f, t->enabled && t->n_params ? "%s=%s" : "%s", t->name, named_text(t->param, text));
    fprintf(out->f, "%*s", len < 16 ? 16 - len : 0, "");
}

// In a window the numbers make room for what was removed.
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
    for (size_t k = 1, n = 0; k < t->n_params; k++)
        if (!t->param[k].usual)
            fprintf(f, "%s%s=%s", n++ ? " " : "; ", t->param[k].name, named_text(&t->param[k], text));
    for (size_t k = 0; k < t->n_notes; k++)
        fprintf(f, "%s%s %.6g", k ? ", " : "; ", t->note[k].name, t->note[k].value);
    putc('\n', f);
}

// Candidates, a line each, or in a window with bars. The chosen one is marked, and the accepted one, if it is another.
static void candidate_lines_text(const struct output *out, const struct record *r, const struct ranked *ranked,
                                 size_t n, bool last)
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
    fprintf(out->f, " %12s %10s %10s\n", "logit", "prob", "cum");
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        fprintf(out->f, "%c%5zu %8" PRIu32, text_mark(r, c->id), i + 1, c->id);
        if (out->vocab)
            text_of_token(out, c->id, width);
        fprintf(out->f, " %12.6f %10.6f %10.6f\n", (double)c->logit, (double)c->p, sum);
    }
}

static void dump(struct output *out, const struct record *r)
{
    fprintf(out->f, "row %" PRIu64 "  chosen ", r->row);
    output_name(out, r->chosen);
    fprintf(out->f, " (%.4f)  kept %zu/%zu  entropy %.3f\n", (double)r->chosen_p, r->kept, r->n_vocab, r->entropy);
    if (r->n_trace)
        fprintf(out->f, out->screen.columns ? "%-16s %7s    %7s %6s %7s  %s\n" : "%-16s %8s    %8s %9s %8s  %s\n",
                "stage", "before", "after", "mass", "entropy", out->screen.columns ? "top" : "top; removed");
    for (size_t i = 0; i < r->n_trace; i++) {
        stage(out, &r->trace[i]);
        if (r->trace[i].n_best)
            candidate_lines_text(out, r, r->trace[i].best, r->trace[i].n_best, false);
    }
    if (out->lists)
        candidate_lines_text(out, r, r->ranked, r->shown, true);
}

// The style of a token by its raw probability. The styles differ in more than colour.
static const char *tint_of(double p)
{
    return p < 0.001  ? COLOR_ORANGE "\033[1;7m"
           : p < 0.01 ? COLOR_ORANGE "\033[1;4m"
           : p < 0.1  ? COLOR_BLUE "\033[4m"
                      : "";
}

// How many bytes the last character of a text lacks.
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

// Writes a text in a colour, but for blanks before it. A character may be spread over tokens. A terminal cannot show a
// character that a change of colour cuts in two, so a character has the colour of its first token.
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

static bool values(struct output *out, const struct record *r, struct err *e)
{
    (void)e;
    for (size_t i = 0; i < record_width(out, r); i++)
        output_float(out, i ? " " : "", r->values[i]);
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

const struct output_format output_text = {.name = "text",
                                          .id = id,
                                          .dump = dump,
                                          .token = token,
                                          .values = values,
                                          .bad = bad,
                                          .chains = {[COMPARED_IDS] = output_chain_ids,
                                                     [COMPARED_CHOICES] = text_choices,
                                                     [COMPARED_CANDIDATES] = text_candidates,
                                                     [COMPARED_TEXTS] = text_texts,
                                                     [COMPARED_TABLE] = text_table},
                                          .finish = finish};
