// SPDX-License-Identifier: MIT
#include "views/dump_text.h"

#include "out/token_text.h"

#include <inttypes.h>
#include <math.h>

// ---- candidates with bars of their probabilities, for a window

enum { SHARE = 5, LOGIT = 10, AMPLE = 100 }; // columns of cells; AMPLE: columns of a window that shows all cells

// Returns a probability in three digits and at most five columns.
static const char *text_share(double p, char text[NUMBER_TEXT])
{
    if (p <= 0.0)
        return strcpy(text, "0"); // a difference may be negative by rounding
    snprintf(text, NUMBER_TEXT, p >= 0.9995 ? "%.0f" : p < 0.0005 ? "%.0e" : "%.3f", p);
    return *text == '0' && text[1] == '.' ? text + 1 : text;
}

// Writes a probability in four digits behind the point; one that would be 0.0000 in one digit; '-' if it is not known.
static void write_prob(struct dest *d, double p, int width)
{
    if (isnan(p))
        builder_format(&d->text, "%*s", width, "-");
    else if (p > 0.0 && p < 0.00005)
        builder_format(&d->text, "%*.0e", width, p);
    else
        builder_fixed(&d->text, p, 4, width);
}

static void write_number(struct dest *d, double x, int width)
{
    builder_byte(&d->text, ' ');
    builder_fixed(&d->text, x, 4, width);
}

// Returns the mark before a candidate: '>' chosen, '+' accepted, ' ' neither.
static char text_mark(const struct record *r, uint32_t id)
{
    return id == r->chosen ? '>' : id == r->accepted ? '+' : ' ';
}

// The columns of a list in the window.
struct layout {
    bool pair;         // two bars: before and after the chain
    bool ample;        // also logits and cumulative probabilities
    int id, text, bar; // widths
    double most;       // the probability of the longest bar
};

static void layout_add(struct dest *d, struct layout *l, const struct ranked *ranked, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int digits = snprintf(NULL, 0, "%" PRIu32, ranked[i].id);
        const double p = l->pair && ranked[i].raw_p > ranked[i].p ? ranked[i].raw_p : ranked[i].p;
        l->id = digits > l->id ? digits : l->id;
        l->text = d->vocab ? (int)text_width(d, (size_t)l->text, ranked[i].id) : 0;
        l->most = p > l->most ? p : l->most;
    }
}

// Returns whether the chain has removed a candidate of the record's list, or changed a probability of the n best. Then
// the list shows probabilities before and after it.
static bool chain_changed(const struct record *r, size_t n)
{
    bool changed = r->n_cut;
    for (size_t i = 0; i < n; i++)
        changed = changed || fabsf(r->ranked[i].raw_p - r->ranked[i].p) > 5e-5f;
    return changed;
}

// Widens the layout for all lists of the record, so that equal bars are equal probabilities. chosen: the chosen
// candidate if it is not among those that the last list shows; else NULL.
static struct layout layout_of(struct dest *d, const struct record *r, const struct ranked *chosen, bool last,
                               size_t cuts)
{
    struct layout l = {.pair = last && chain_changed(r, r->shown),
                       .ample = d->screen.columns >= AMPLE,
                       .id = 2,
                       .text = d->vocab ? 4 : 0,
                       .most = 1e-30};
    for (size_t i = 0; i < r->n_trace; i++)
        layout_add(d, &l, r->trace[i].best, r->trace[i].n_best);
    layout_add(d, &l, r->ranked, r->shown);
    if (chosen)
        layout_add(d, &l, chosen, 1);
    layout_add(d, &l, r->cut, cuts);
    const int used = 1 + l.id + (l.text ? 1 + l.text : 0) + (l.ample ? 3 + LOGIT + SHARE : 0);
    const int bars = d->screen.columns - 1 - used - 3 - SHARE; // the last column stays free
    l.bar = l.pair ? (bars - 4 - SHARE - 1) / 2 : bars;
    l.bar = l.bar < 0 ? 0 : l.bar;
    return l;
}

// Writes a bar of share (0 to 1) times `cells`. With fill, blanks follow up to that many.
static void write_bar(struct dest *d, double share, int cells, bool fill)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int steps = d->screen.utf8 ? 8 : 1, n = (int)(share * cells * steps + 0.5), part = n % steps;
    for (int i = 0; i < n / steps; i++)
        builder_string(&d->text, d->screen.utf8 ? "█" : "#");
    builder_string(&d->text, eighths[part]);
    builder_format(&d->text, "%*s", fill ? cells - n / steps - (part > 0) : 0, "");
}

static void share_with_bar(struct dest *d, const struct layout *l, double p, const char *color, bool fill)
{
    char text[NUMBER_TEXT];
    builder_format(&d->text, "%-*s %s", SHARE, text_share(p, text), d->screen.color ? color : "");
    write_bar(d, p / l->most, l->bar, fill);
    builder_string(&d->text, d->screen.color ? COLOR_NONE : "");
}

// Writes the line of a token up to the bars. c: its candidate; NULL if the chain removed it.
static void line_start(struct dest *d, const struct layout *l, char mark, uint32_t id, const struct ranked *c,
                       double sum)
{
    char text[NUMBER_TEXT];
    builder_format(&d->text, "%s%c%*" PRIu32, d->screen.color && mark == '>' ? "\033[1m" : "", mark, l->id, id);
    text_of_token(d, id, (size_t)l->text);
    if (l->ample && c)
        builder_format(&d->text, "  %*.3f %-*s", LOGIT, (double)c->logit, SHARE, text_share(sum, text));
    builder_format(&d->text, "%*s", 2 + (l->ample && !c ? 3 + LOGIT + SHARE : 0), "");
}

// Writes the line of a kept candidate. sum: of the probabilities up to it.
static void kept_line(struct dest *d, const struct layout *l, const struct record *r, const struct ranked *c,
                      double sum)
{
    const char mark = text_mark(r, c->id);
    line_start(d, l, mark, c->id, c, sum);
    if (l->pair) {
        share_with_bar(d, l, c->raw_p, COLOR_BLUE, true);
        builder_string(&d->text, " -> ");
    }
    share_with_bar(d, l, c->p, COLOR_ORANGE, false);
    builder_string(&d->text, d->screen.color && mark == '>' ? "\033[0m\n" : "\n");
}

// Returns the chosen candidate if it is kept and not among the n best, else NULL.
static const struct ranked *chosen_behind(const struct record *r, size_t n)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == r->chosen)
            return i < n ? NULL : &r->ranked[i];
    return NULL;
}

// Writes candidates for a window, with bars of their probabilities. last: the list is the last one of the record. It
// then has the candidates that the chain removed and, if the chain changed a probability, bars before and after.
static void text_bars(struct dest *d, const struct record *r, const struct ranked *ranked, size_t n, bool last)
{
    char text[NUMBER_TEXT];
    const size_t cuts = r->n_cut < TRACE_REMOVED ? r->n_cut : TRACE_REMOVED;
    const struct ranked *const chosen = r->shown ? chosen_behind(r, r->shown) : NULL;
    const struct layout l = layout_of(d, r, chosen, last, cuts);
    double sum = 0.0, cut = 0.0;
    builder_format(&d->text, " %*s", l.id, "id");
    if (l.text)
        builder_format(&d->text, " %-*s", l.text, "text");
    if (l.ample)
        builder_format(&d->text, "  %*s %-*s", LOGIT, "logit", SHARE, "cum");
    builder_format(&d->text, l.pair ? "  %-*s%s\n" : "  prob\n", SHARE + 1 + l.bar + 4, "before", "after");
    for (size_t i = 0; i < n; i++) {
        sum += ranked[i].p;
        kept_line(d, &l, r, &ranked[i], sum);
    }
    size_t more = last ? r->kept - n : 0;
    if (last && chosen) {
        double up_to = sum;
        for (const struct ranked *c = ranked + n; c <= chosen; c++)
            up_to += c->p;
        kept_line(d, &l, r, chosen, up_to);
        sum += chosen->p;
        more--;
    }
    if (more)
        builder_format(&d->text, "  and %zu more kept (%s)\n", more, text_share(1.0 - sum, text));
    for (size_t i = 0; last && i < cuts; i++) {
        line_start(d, &l, text_mark(r, r->cut[i].id), r->cut[i].id, NULL, 0.0);
        share_with_bar(d, &l, r->cut[i].p, COLOR_BLUE, true);
        builder_format(&d->text, " -> x %s\n", r->cut_by[i]);
        cut += r->cut[i].p;
    }
    if (last && cuts && cuts < r->n_cut)
        builder_format(&d->text, "  and %zu more removed (%s)\n", r->n_cut - cuts, text_share(r->cut_p - cut, text));
}

// ---- lines

enum { STAGE = 16, STAGE_TEXT = 3 * NUMBER_TEXT }; // STAGE: columns of the names of stages, unless one is longer

// Returns NAME or, if the stage has a main parameter, NAME=VALUE.
static const char *stage_name(const struct trace_line *t, char text[STAGE_TEXT])
{
    char value[NUMBER_TEXT];
    snprintf(text, STAGE_TEXT, t->enabled && trace_line_main(t) ? "%s=%s" : "%s", t->name,
             named_plain(t->param, value));
    return text;
}

// Returns the columns of the names of a record's stages.
static int stages_width(const struct record *r)
{
    char text[STAGE_TEXT];
    int width = STAGE;
    for (size_t i = 0; i < r->n_trace; i++) {
        const int wide = (int)strlen(stage_name(&r->trace[i], text));
        width = wide > width ? wide : width;
    }
    return width;
}

// The part of a stage's line that stands behind the numbers: clauses, which go on in lines of their own where the line
// has no room.
struct clauses {
    struct dest *dest;
    size_t line;  // offset in dest->text where the line begins
    size_t begin; // of the clause that is being written
    bool first;
};

static size_t columns_from(const struct builder *b, size_t begin)
{
    return b->text
               ? text_clip(NULL, (struct piece){(const unsigned char *)b->text + begin, b->len - begin}, 0, SIZE_MAX)
               : 0;
}

static void clauses_begin(struct clauses *c, struct dest *d, size_t line)
{
    *c = (struct clauses){.dest = d, .line = line, .begin = d->text.len, .first = true};
}

// Ends a clause, and moves it to the next line if it goes beyond the last column.
static void clause_end(struct clauses *c)
{
    struct builder *const b = &c->dest->text;
    const char *const between = c->first ? "" : "; ";
    struct builder clause = {0};
    if (!builder_whole(b) || b->len == c->begin)
        return;
    builder_bytes(&clause, b->text + c->begin, b->len - c->begin);
    b->len = c->begin;
    const bool fits = columns_from(b, c->line) + strlen(between) + columns_from(&clause, 0) <= window_columns(c->dest);
    if (c->first || fits) {
        builder_string(b, between);
    } else {
        builder_byte(b, '\n');
        c->line = b->len;
        builder_pad(b, ' ', SCREEN_INDENT);
    }
    builder_bytes(b, clause.text ? clause.text : "", clause.len);
    b->failed = b->failed || clause.failed;
    builder_free(&clause);
    c->first = false;
    c->begin = b->len;
}

// Writes the likeliest removed tokens, as many as a line has room for.
static void removed_clause(struct dest *d, const struct trace_line *t)
{
    static const char more[] = " ...";
    struct builder *const b = &d->text;
    const size_t begin = b->len, room = window_columns(d) - SCREEN_INDENT;
    const size_t most = t->n_removed < TRACE_REMOVED ? t->n_removed : TRACE_REMOVED;
    char text[NUMBER_TEXT];
    size_t k = 0;
    if (t->n_removed)
        builder_format(b, "%zu removed:", t->n_removed);
    for (; k < most && builder_whole(b); k++) {
        const size_t end = b->len;
        builder_byte(b, ' ');
        token_name(d, t->removed[k].id);
        builder_format(b, " (%s)", text_share(t->removed[k].p, text));
        if (k && columns_from(b, begin) + (k + 1 < t->n_removed ? strlen(more) : 0) > room) {
            b->len = end;
            break;
        }
    }
    builder_string(b, k < t->n_removed ? more : "");
}

// Says what the stage did to the unlisted tokens.
static const char *unlisted_words(const char *effect)
{
    if (!effect)
        return "";
    if (!strcmp(effect, "gone"))
        return "unlisted tokens removed";
    return strcmp(effect, "unknown") ? effect : "depends on unlisted tokens";
}

static void stage(struct dest *d, const struct trace_line *t, int width)
{
    struct builder *const b = &d->text;
    struct clauses c;
    char text[NUMBER_TEXT], name[STAGE_TEXT];
    const size_t line = b->len;
    builder_format(b, "%-*s", width, stage_name(t, name));
    if (!t->enabled) {
        builder_format(b, " %7s\n", "off");
        return;
    }
    builder_format(b, " %7zu -> %7zu ", t->before, t->after);
    write_prob(d, t->mass, 6);
    builder_format(b, " %7.3f  ", t->entropy);
    clauses_begin(&c, d, line);
    token_name(d, t->top_before);
    if (t->top_after != t->top_before) {
        builder_string(b, " -> ");
        token_name(d, t->top_after);
    }
    clause_end(&c);
    removed_clause(d, t);
    clause_end(&c);
    builder_string(b, unlisted_words(t->unlisted));
    clause_end(&c);
    for (size_t k = trace_line_main(t), n = 0; k < t->n_params; k++)
        if (!t->param[k].usual)
            builder_format(b, "%s%s=%s", n++ ? " " : "", t->param[k].name, named_plain(&t->param[k], text));
    clause_end(&c);
    account_text(b, d, t->words);
    clause_end(&c);
    for (size_t k = 0; k < t->n_notes && (!*t->words || t->selects); k++)
        builder_format(b, "%s%s %.6g", k ? ", " : "", t->note[k].name, t->note[k].value + 0.0); // -0 is 0
    clause_end(&c);
    builder_byte(b, '\n');
    dest_fold(d, line);
}

// Writes a line for each candidate, or in a window bars. Marks the chosen and the accepted candidate. last: the list is
// the last one of the record.
static void candidate_lines_text(struct dest *d, const struct record *r, const struct ranked *ranked, size_t n,
                                 bool noisy, bool last)
{
    const bool pair = last && chain_changed(r, n);
    double sum = 0.0;
    size_t width = 4;
    if (d->screen.columns) {
        text_bars(d, r, ranked, n, last);
        return;
    }
    for (size_t i = 0; i < n; i++)
        width = text_width(d, width, ranked[i].id);
    const int id_width = noisy ? 7 : 8, logit_width = noisy ? 8 : 10; // noise takes the room of cum
    builder_format(&d->text, "%6s %*s", "rank", id_width, "id");
    if (d->vocab)
        builder_format(&d->text, " %-*s", (int)width, "text");
    builder_format(&d->text, " %*s", logit_width, "logit");
    if (pair)
        builder_format(&d->text, " %8s", "before");
    builder_format(&d->text, " %8s", pair ? "after" : "prob");
    builder_format(&d->text, noisy ? " %8s %8s\n" : " %8s\n", noisy ? "noise" : "cum", "value");
    for (size_t i = 0; i < n; i++) {
        const struct ranked *const c = &ranked[i];
        sum += c->p;
        builder_byte(&d->text, text_mark(r, c->id));
        builder_int(&d->text, (int64_t)i + 1, 5);
        builder_int(&d->text, c->id, 1 + id_width);
        text_of_token(d, c->id, width);
        write_number(d, (double)c->logit, logit_width);
        if (pair)
            write_prob(d, (double)c->raw_p, 9);
        write_prob(d, (double)c->p, 9);
        if (noisy) {
            write_number(d, c->noised.noise, 8);
            write_number(d, c->noised.value, 8);
        } else {
            write_prob(d, sum, 9);
        }
        builder_byte(&d->text, '\n');
    }
}

void dump_text(struct dest *d, const struct record *r, bool lists)
{
    const size_t begin = d->text.len;
    const int width = stages_width(r);
    builder_format(&d->text, "row %" PRIu64 "  chosen ", r->row);
    token_name(d, r->chosen);
    builder_string(&d->text, " (");
    write_prob(d, (double)r->chosen_p, 0);
    builder_format(&d->text, ")  kept %zu/%zu%s  entropy %.3f nats\n", r->kept, r->n_vocab, r->partial ? "+" : "",
                   r->entropy);
    if (r->n_trace)
        builder_format(&d->text, "%-*s %7s    %7s %6s %7s  %s\n", width, "stage", "before", "after", "mass", "entropy",
                       d->screen.columns ? "top" : "top; removed");
    if (r->budget)
        builder_format(&d->text, "%-*s %s", width, "reasoning", strcmp(r->budget, "idle") ? r->budget : "not begun");
    if (r->budget && r->budget_left)
        builder_format(&d->text, ", %" PRIu32 " %s left", r->budget_left, r->budget_left == 1 ? "token" : "tokens");
    if (r->budget)
        builder_byte(&d->text, '\n');
    if (r->rules)
        builder_format(&d->text, "%-*s %s%s: %zu %s\n", width, "grammar", *r->rules ? "in " : "at its end", r->rules,
                       r->fits, r->fits == 1 ? "token fits" : "tokens fit");
    if (r->first_choice) {
        builder_format(&d->text, "%-*s ", width, "grammar");
        account_text(&d->text, d, r->first_choice);
        builder_byte(&d->text, '\n');
    }
    dest_fold(d, begin);
    for (size_t i = 0; i < r->n_trace; i++) {
        stage(d, &r->trace[i], width);
        if (r->trace[i].n_best)
            candidate_lines_text(d, r, r->trace[i].best, r->trace[i].n_best, r->trace[i].noisy, false);
    }
    if (lists)
        candidate_lines_text(d, r, r->ranked, r->shown, r->noisy, true);
    if (lists && r->partial)
        builder_format(&d->text, "unlisted tokens  %.4f%s\n", r->unlisted_weight, r->exact ? "" : "  (not exact)");
}
