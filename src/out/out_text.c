// SPDX-License-Identifier: MIT
// Text for people and shell scripts: ids, one a line; dumps as an aligned table or, in a window, as a picture.
#include "out/output.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>

static void id(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu32 "\n", r->chosen);
}

// Of a probability three digits, in five columns.
static const char *share_text(double p, char text[NUMBER_TEXT])
{
    if (p <= 0.0)
        return strcpy(text, "0"); // a rest may be less, by rounding
    snprintf(text, NUMBER_TEXT, p >= 0.9995 ? "%.0f" : p < 0.0005 ? "%.0e" : "%.3f", p);
    return *text == '0' && text[1] == '.' ? text + 1 : text;
}

// NAME or, with a main parameter, NAME=VALUE.
static void stage_name(struct output *out, const struct trace_line *t)
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
    stage_name(out, t);
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
            fprintf(f, " (%s)", share_text(t->removed[k].p, text));
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

// Makes the column of texts as wide as those that come in.
static size_t text_width(const struct output *out, size_t width, const struct ranked *ranked, size_t n)
{
    const size_t cut = output_text_most(out);
    for (size_t i = 0; out->vocab && i < n; i++) {
        const size_t columns = text_clip(NULL, vocab_text(out->vocab, ranked[i].id), '"', cut);
        if (columns <= TEXT_MOST && columns > width)
            width = columns;
    }
    return width;
}

static void put_text(struct output *out, uint32_t token, size_t width)
{
    putc(' ', out->f);
    text_cell(out->f, vocab_text(out->vocab, token), '"', width, output_text_most(out));
}

static char mark_of(const struct record *r, uint32_t id)
{
    return id == r->chosen ? '>' : id == r->accepted ? '+' : ' ';
}

// Candidates, a line each. The chosen one is marked, and the accepted one, if it is another.
static void list(struct output *out, const struct record *r, const struct ranked *ranked, size_t n)
{
    double sum = 0.0;
    const size_t width = text_width(out, 4, ranked, n);
    fprintf(out->f, "%6s %8s", "rank", "id");
    if (out->vocab)
        fprintf(out->f, " %-*s", (int)width, "text");
    fprintf(out->f, " %12s %10s %10s\n", "logit", "prob", "cum");
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        fprintf(out->f, "%c%5zu %8" PRIu32, mark_of(r, c->id), i + 1, c->id);
        if (out->vocab)
            put_text(out, c->id, width);
        fprintf(out->f, " %12.6f %10.6f %10.6f\n", (double)c->logit, (double)c->p, sum);
    }
}

// ---- the same as a picture

enum { SHARE = 5, LOGIT = 10, AMPLE = 100 }; // widths of cells; AMPLE: of a window that has room for all

// How the candidates of a list stand in the window.
struct layout {
    bool pair;         // two bars: before the chain and after it
    int id, text, bar; // widths
    double most;       // the probability of the longest bar
};

static size_t shown_cuts(const struct record *r)
{
    return r->n_cut < TRACE_REMOVED ? r->n_cut : TRACE_REMOVED;
}

static void layout_add(const struct output *out, struct layout *l, const struct ranked *ranked, size_t n)
{
    l->text = out->vocab ? (int)text_width(out, (size_t)l->text, ranked, n) : 0;
    for (size_t i = 0; i < n; i++) {
        const int digits = snprintf(NULL, 0, "%" PRIu32, ranked[i].id);
        const double p = l->pair && ranked[i].raw_p > ranked[i].p ? ranked[i].raw_p : ranked[i].p;
        l->id = digits > l->id ? digits : l->id;
        l->most = p > l->most ? p : l->most;
    }
}

static struct layout layout_of(const struct output *out, const struct record *r, const struct ranked *ranked, size_t n,
                               bool last)
{
    struct layout l = {.pair = last && r->n_cut, .id = 2, .text = 4, .most = 1e-30};
    for (size_t i = 0; last && i < n; i++)
        l.pair = l.pair || fabsf(ranked[i].raw_p - ranked[i].p) > 5e-5f;
    layout_add(out, &l, ranked, n);
    if (l.pair)
        layout_add(out, &l, r->cut, shown_cuts(r));
    const int taken = 1 + l.id + (l.text ? 1 + l.text : 0) + (out->screen.columns >= AMPLE ? 3 + LOGIT + SHARE : 0);
    const int bars = out->screen.columns - 1 - taken - 3 - SHARE; // the last column stays free
    l.bar = l.pair ? (bars - 4 - SHARE - 1) / 2 : bars;
    l.bar = l.bar < 0 ? 0 : l.bar;
    return l;
}

static void put_share(struct output *out, const struct layout *l, double p, const char *color, bool fill)
{
    char text[NUMBER_TEXT];
    fprintf(out->f, "%-*s ", SHARE, share_text(p, text));
    fputs(out->screen.color ? color : "", out->f);
    screen_bar(out->f, &out->screen, p / l->most, l->bar, fill);
    fputs(out->screen.color ? COLOR_NONE : "", out->f);
}

// A candidate's line up to the bars.
static void put_start(struct output *out, const struct layout *l, char mark, uint32_t id)
{
    fputs(out->screen.color && mark == '>' ? "\033[1m" : "", out->f);
    fprintf(out->f, "%c%*" PRIu32, mark, l->id, id);
    if (l->text)
        put_text(out, id, (size_t)l->text);
}

static void put_candidate(struct output *out, const struct record *r, const struct layout *l, const struct ranked *c,
                          double sum)
{
    char text[NUMBER_TEXT];
    const char mark = mark_of(r, c->id);
    put_start(out, l, mark, c->id);
    if (out->screen.columns >= AMPLE)
        fprintf(out->f, "  %*.3f %-*s", LOGIT, (double)c->logit, SHARE, share_text(sum, text));
    fputs("  ", out->f);
    if (l->pair) {
        put_share(out, l, c->raw_p, COLOR_BLUE, true);
        fputs(" -> ", out->f);
    }
    put_share(out, l, c->p, COLOR_ORANGE, false);
    fputs(out->screen.color && mark == '>' ? "\033[0m\n" : "\n", out->f);
}

static void put_cut(struct output *out, const struct record *r, const struct layout *l, size_t i)
{
    put_start(out, l, mark_of(r, r->cut[i].id), r->cut[i].id);
    fprintf(out->f, "%*s", 2 + (out->screen.columns >= AMPLE ? 3 + LOGIT + SHARE : 0), "");
    put_share(out, l, r->cut[i].p, COLOR_BLUE, true);
    fprintf(out->f, " -> x %s\n", r->cut_by[i]);
}

// Candidates with bars; the last list of a record with bars before and after the chain, where that changed something, and what it removed.
static void picture(struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool last)
{
    char text[NUMBER_TEXT];
    const struct layout l = layout_of(out, r, ranked, n, last);
    double sum = 0.0, cut = 0.0;
    fprintf(out->f, " %*s", l.id, "id");
    if (l.text)
        fprintf(out->f, " %-*s", l.text, "text");
    if (out->screen.columns >= AMPLE)
        fprintf(out->f, "  %*s %-*s", LOGIT, "logit", SHARE, "cum");
    fprintf(out->f, l.pair ? "  %-*s%s\n" : "  prob\n", SHARE + 1 + l.bar + 4, "before", "after");
    for (size_t i = 0; i < n; i++) {
        sum += ranked[i].p;
        put_candidate(out, r, &l, &ranked[i], sum);
    }
    if (last && n < r->kept)
        fprintf(out->f, "  and %zu more kept (%s)\n", r->kept - n, share_text(1.0 - sum, text));
    for (size_t i = 0; last && i < shown_cuts(r); i++) {
        put_cut(out, r, &l, i);
        cut += r->cut[i].p;
    }
    if (last && shown_cuts(r) < r->n_cut)
        fprintf(out->f, "  and %zu more removed (%s)\n", r->n_cut - shown_cuts(r), share_text(r->cut_p - cut, text));
}

static void put_list(struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool last)
{
    if (out->screen.columns)
        picture(out, r, ranked, n, last);
    else
        list(out, r, ranked, n);
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
            put_list(out, r, r->trace[i].best, r->trace[i].n_best, false);
    }
    if (out->lists)
        put_list(out, r, r->ranked, r->shown, true);
}

// How a text is told apart whose token had a probability, raw, from 1 down to the next line's; besides the colour, so that nobody needs it.
static const char *tint_of(double p)
{
    static const struct tint {
        double least;
        const char *style;
    } tints[] = {
        {0.1, ""}, {0.01, COLOR_BLUE "\033[4m"}, {0.001, COLOR_ORANGE "\033[1;4m"}, {-1.0, COLOR_ORANGE "\033[1;7m"}};
    size_t i = 0;
    while (p < tints[i].least)
        i++;
    return tints[i].style;
}

// How many bytes are missing of the last character of a text.
static size_t missing(struct piece text)
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

// Writes a text in a colour, but for blanks before it. A character may be spread over tokens, and a terminal shows none that a change of colour
// cuts in two: it has the colour of its first token.
static void put_tinted(struct output *out, struct piece text, const char *tint)
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
    out->missing = missing(text);
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
        put_tinted(out, text, tint_of(r->stat[STAT_RAW_PROB]));
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

const struct output_format output_text = {
    .name = "text", .id = id, .dump = dump, .token = token, .values = values, .bad = bad, .finish = finish};
