// SPDX-License-Identifier: MIT
#include "out/text_bars.h"

#include <inttypes.h>
#include <math.h>

enum { SHARE = 5, LOGIT = 10, AMPLE = 100 }; // columns of cells; AMPLE: columns of a window that shows all cells

const char *text_share(double p, char text[NUMBER_TEXT])
{
    if (p <= 0.0)
        return strcpy(text, "0"); // a difference may be negative by rounding
    snprintf(text, NUMBER_TEXT, p >= 0.9995 ? "%.0f" : p < 0.0005 ? "%.0e" : "%.3f", p);
    return *text == '0' && text[1] == '.' ? text + 1 : text;
}

char text_mark(const struct record *r, uint32_t id) { return id == r->chosen ? '>' : id == r->accepted ? '+' : ' '; }

// The columns of a list in the window.
struct layout {
    bool pair;         // two bars: before and after the chain
    bool ample;        // also logits and cumulative probabilities
    int id, text, bar; // widths
    double most;       // the probability of the longest bar
};

static void layout_add(const struct output *out, struct layout *l, const struct ranked *ranked, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int digits = snprintf(NULL, 0, "%" PRIu32, ranked[i].id);
        const double p = l->pair && ranked[i].raw_p > ranked[i].p ? ranked[i].raw_p : ranked[i].p;
        l->id = digits > l->id ? digits : l->id;
        l->text = out->vocab ? (int)text_width(out, (size_t)l->text, ranked[i].id) : 0;
        l->most = p > l->most ? p : l->most;
    }
}

// chosen: the chosen candidate if it is not among the n best; else NULL.
static struct layout layout_of(const struct output *out, const struct record *r, const struct ranked *ranked, size_t n,
                               const struct ranked *chosen, bool last, size_t cuts)
{
    struct layout l = {.pair = last && r->n_cut,
                       .ample = out->screen.columns >= AMPLE,
                       .id = 2,
                       .text = out->vocab ? 4 : 0,
                       .most = 1e-30};
    for (size_t i = 0; last && i < n; i++)
        l.pair = l.pair || fabsf(ranked[i].raw_p - ranked[i].p) > 5e-5f;
    layout_add(out, &l, ranked, n);
    layout_add(out, &l, chosen, chosen ? 1 : 0);
    layout_add(out, &l, r->cut, cuts);
    const int used = 1 + l.id + (l.text ? 1 + l.text : 0) + (l.ample ? 3 + LOGIT + SHARE : 0);
    const int bars = out->screen.columns - 1 - used - 3 - SHARE; // the last column stays free
    l.bar = l.pair ? (bars - 4 - SHARE - 1) / 2 : bars;
    l.bar = l.bar < 0 ? 0 : l.bar;
    return l;
}

// Writes a bar of share (0 to 1) times `cells`. With fill, blanks follow up to that many.
static void write_bar(const struct output *out, double share, int cells, bool fill)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int steps = out->screen.utf8 ? 8 : 1, n = (int)(share * cells * steps + 0.5), part = n % steps;
    for (int i = 0; i < n / steps; i++)
        fputs(out->screen.utf8 ? "█" : "#", out->f);
    fputs(eighths[part], out->f);
    fprintf(out->f, "%*s", fill ? cells - n / steps - (part > 0) : 0, "");
}

static void share_with_bar(const struct output *out, const struct layout *l, double p, const char *color, bool fill)
{
    char text[NUMBER_TEXT];
    fprintf(out->f, "%-*s %s", SHARE, text_share(p, text), out->screen.color ? color : "");
    write_bar(out, p / l->most, l->bar, fill);
    fputs(out->screen.color ? COLOR_NONE : "", out->f);
}

// Writes the line of a token up to the bars. c: its candidate; NULL if the chain removed it.
static void line_start(const struct output *out, const struct layout *l, char mark, uint32_t id, const struct ranked *c,
                       double sum)
{
    char text[NUMBER_TEXT];
    fprintf(out->f, "%s%c%*" PRIu32, out->screen.color && mark == '>' ? "\033[1m" : "", mark, l->id, id);
    text_of_token(out, id, (size_t)l->text);
    if (l->ample && c)
        fprintf(out->f, "  %*.3f %-*s", LOGIT, (double)c->logit, SHARE, text_share(sum, text));
    fprintf(out->f, "%*s", 2 + (l->ample && !c ? 3 + LOGIT + SHARE : 0), "");
}

// Writes the line of a kept candidate. sum: of the probabilities up to it.
static void kept_line(const struct output *out, const struct layout *l, const struct record *r, const struct ranked *c,
                      double sum)
{
    const char mark = text_mark(r, c->id);
    line_start(out, l, mark, c->id, c, sum);
    if (l->pair) {
        share_with_bar(out, l, c->raw_p, COLOR_BLUE, true);
        fputs(" -> ", out->f);
    }
    share_with_bar(out, l, c->p, COLOR_ORANGE, false);
    fputs(out->screen.color && mark == '>' ? "\033[0m\n" : "\n", out->f);
}

// Returns the chosen candidate if it is kept and not among the n best, else NULL.
static const struct ranked *chosen_behind(const struct record *r, size_t n)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == r->chosen)
            return i < n ? NULL : &r->ranked[i];
    return NULL;
}

void text_bars(const struct output *out, const struct record *r, const struct ranked *ranked, size_t n, bool last)
{
    char text[NUMBER_TEXT];
    const size_t cuts = !last ? 0 : r->n_cut < TRACE_REMOVED ? r->n_cut : TRACE_REMOVED;
    const struct ranked *const chosen = last ? chosen_behind(r, n) : NULL;
    const struct layout l = layout_of(out, r, ranked, n, chosen, last, cuts);
    double sum = 0.0, cut = 0.0;
    fprintf(out->f, " %*s", l.id, "id");
    if (l.text)
        fprintf(out->f, " %-*s", l.text, "text");
    if (l.ample)
        fprintf(out->f, "  %*s %-*s", LOGIT, "logit", SHARE, "cum");
    fprintf(out->f, l.pair ? "  %-*s%s\n" : "  prob\n", SHARE + 1 + l.bar + 4, "before", "after");
    for (size_t i = 0; i < n; i++) {
        sum += ranked[i].p;
        kept_line(out, &l, r, &ranked[i], sum);
    }
    size_t more = last ? r->kept - n : 0;
    if (chosen) {
        double up_to = sum;
        for (const struct ranked *c = ranked + n; c <= chosen; c++)
            up_to += c->p;
        kept_line(out, &l, r, chosen, up_to);
        sum += chosen->p;
        more--;
    }
    if (more)
        fprintf(out->f, "  and %zu more kept (%s)\n", more, text_share(1.0 - sum, text));
    for (size_t i = 0; i < cuts; i++) {
        line_start(out, &l, text_mark(r, r->cut[i].id), r->cut[i].id, NULL, 0.0);
        share_with_bar(out, &l, r->cut[i].p, COLOR_BLUE, true);
        fprintf(out->f, " -> x %s\n", r->cut_by[i]);
        cut += r->cut[i].p;
    }
    if (cuts && cuts < r->n_cut)
        fprintf(out->f, "  and %zu more removed (%s)\n", r->n_cut - cuts, text_share(r->cut_p - cut, text));
}
