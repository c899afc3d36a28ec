// SPDX-License-Identifier: MIT
// --diff: the rows in which a variant chose another token than the base; or the rows with the least overlap.
#include "base/mem.h"
#include "out/token_text.h"
#include "views/best_union.h"
#include "views/record_fields.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The choice of a variant beside that of the base.
struct own_choice {
    const struct record *base, *own;
    float base_p;                      // the base's probability of the token
    size_t base_rank;                  // the token's rank in the base, from 1; 0: the base removed the token
    char removed_in_base[NUMBER_TEXT]; // the stage or mask of the base that removed the token; "-": none did
    char base_removed[NUMBER_TEXT];    // the stage or mask of the variant that removed the base's token; "-": none did
};

// Returns the rank of a token among the kept candidates, from 1; 0 if the token was removed.
static size_t kept_rank(const struct record *r, uint32_t id)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == id)
            return i + 1;
    return 0;
}

static struct own_choice own_choice_of(const struct result *base, const struct result *res)
{
    struct own_choice c = {&base->record, &res->record, .removed_in_base = "-", .base_removed = "-"};
    c.base_rank = kept_rank(c.base, c.own->chosen);
    if (c.base_rank)
        c.base_p = c.base->ranked[c.base_rank - 1].p;
    else
        result_removed_by(base, c.own->chosen, c.removed_in_base);
    if (!kept_rank(c.own, c.base->chosen))
        result_removed_by(res, c.base->chosen, c.base_removed);
    return c;
}

// ---- writing

// Returns whether it is not known what became of a token, because the row does not list it.
static bool is_unlisted(const char *by) { return !strcmp(by, "not listed"); }

static const char *removed_by(const char *by) { return is_unlisted(by) ? "" : "removed by "; }

enum { NAME_MOST = 40 };

// Returns the most columns that the name of a chain takes.
static size_t name_most(const struct dest *d)
{
    const size_t third = window_columns(d) / 3;
    return third < NAME_MOST ? third : NAME_MOST;
}

static void choice_text(struct dest *d, const struct own_choice *c, const char *name, double overlap, size_t width)
{
    struct builder *const b = &d->text;
    builder_string(b, "  ");
    text_cell(b, text_piece(name), 0, width, name_most(d));
    builder_byte(b, ' ');
    token_name(d, c->own->chosen);
    builder_format(b, " (%.4f)  in the base ", (double)c->own->chosen_p);
    if (c->base_rank)
        builder_format(b, "%.4f, rank %zu", (double)c->base_p, c->base_rank);
    else
        builder_format(b, "%s%s", removed_by(c->removed_in_base), c->removed_in_base);
    if (*c->base_removed != '-')
        builder_format(b, "; %" PRIu32 " %s%s", c->base->chosen, removed_by(c->base_removed), c->base_removed);
    builder_format(b, "  overlap %.4f\n", overlap);
}

// Writes what removed a token. "-", which stands for nothing, is null in JSON.
static void removal(struct dest *d, const char *name, const char *by)
{
    field_text_or_null(d, name, *by != '-' || has_cells(d) ? by : NULL);
}

static void choice_fields(struct dest *d, const struct own_choice *c, const char *name, double overlap)
{
    field_int(d, "row", (int64_t)c->own->row);
    field_text(d, "variant", name, true);
    field_int(d, "base_id", c->base->chosen);
    field_float(d, "base_prob", c->base->chosen_p);
    field_int(d, "id", c->own->chosen);
    field_float(d, "prob", c->own->chosen_p);
    field_float(d, "prob_in_base", is_unlisted(c->removed_in_base) ? NAN : c->base_p);
    if (c->base_rank)
        field_int(d, "rank_in_base", (int64_t)c->base_rank);
    else
        removal(d, "rank_in_base", "-");
    removal(d, "removed_in_base", c->removed_in_base);
    removal(d, "base_removed", c->base_removed);
    field_double(d, "overlap", overlap);
    field_token(d, has_cells(d) ? "base_text" : "base_token", c->base->chosen);
    field_token(d, has_cells(d) ? "text" : "token", c->own->chosen);
    fields_end(d, "\n");
}

static void choices_heading(struct columns *c, const struct record *none)
{
    choice_fields(c->dest, &(struct own_choice){none, none}, "", 0.0);
}

// ---- rows

static bool is_different(const struct job *j, const struct result *base, const struct result *res)
{
    return base->ok && res->ok && (j->args->diff > 0 || res->record.chosen != base->record.chosen);
}

// Writes the variants that are shown. Returns their least overlap, or 2 if none is.
static double diff_row(const struct columns *c, const struct result *res)
{
    const struct job *const j = c->job;
    struct dest *const d = c->dest;
    double least = 2.0; // above every overlap
    size_t width = 0;
    const size_t begin = d->text.len;
    for (size_t i = 1; i < j->variants->n; i++) {
        const double overlap = res[i].pair[PAIR_OVERLAP];
        if (!is_different(j, res, &res[i]))
            continue;
        const struct own_choice own = own_choice_of(res, &res[i]);
        if (d->format->kind != FORMAT_TEXT) {
            choice_fields(d, &own, j->variants->of[i].name, overlap);
        } else {
            if (least > 1.5) {
                builder_format(&d->text, "row %" PRIu64 "  ", own.base->row);
                text_cell(&d->text, text_piece(variant_label(j->variants, 0)), 0, 0, NAME_MOST);
                builder_byte(&d->text, ' ');
                token_name(d, own.base->chosen);
                builder_format(&d->text, " (%.4f)\n", (double)own.base->chosen_p);
                width = names_width(j, name_most(d));
            }
            choice_text(d, &own, variant_label(j->variants, i), overlap, width);
        }
        least = fmin(least, overlap);
    }
    if (d->format->kind == FORMAT_TEXT)
        dest_fold(d, begin);
    return least;
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    columns_begin(self, &s->result->record, choices_heading);
    diff_row(self, s->result);
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    if (how == ENDING_RAN)
        columns_begin(self, NULL, choices_heading);
    return true;
}

const struct view view_diff = {.name = "--diff",
                               .size = sizeof(struct columns),
                               .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON,
                               .folds = true,
                               .needs = NEED_PAIRS | NEED_LIST | NEED_REMOVALS,
                               .row = row,
                               .end = end};

// ---- the rows with the least overlap

struct worst {
    struct columns columns;
    struct kept_row {
        double overlap;
        struct builder text;
    } * worst; // [n_worst] rows of --diff=N, the least overlap first
    size_t n_worst, worst_cap;
};

// Keeps the text of the row, which dest->text has, if the row is among the worst.
static bool keep_worst(struct worst *v, double overlap, struct err *e)
{
    const size_t most = (size_t)v->columns.job->args->diff;
    struct builder *const text = &v->columns.dest->text;
    size_t at = v->n_worst;
    while (at && v->worst[at - 1].overlap > overlap)
        at--;
    const bool fits = !text->failed && mem_grow(&v->worst, &v->worst_cap, v->n_worst + 1, sizeof *v->worst);
    if (!fits || at == most) {
        builder_clear(text);
        return fits || err_from_fault(e, fault_memory());
    }
    if (v->n_worst == most)
        builder_free(&v->worst[--v->n_worst].text);
    memmove(v->worst + at + 1, v->worst + at, (v->n_worst - at) * sizeof *v->worst);
    v->worst[at] = (struct kept_row){overlap, *text};
    v->n_worst++;
    *text = (struct builder){0};
    return true;
}

static bool worst_row(void *self, const struct seen *s, struct err *e)
{
    const double least = diff_row(self, s->result);
    return least > 1.5 || keep_worst(self, least, e);
}

static bool worst_end(void *self, enum ending how, struct err *e)
{
    const struct worst *const v = self;
    struct dest *const d = v->columns.dest;
    columns_begin(self, NULL, choices_heading);
    for (size_t i = 0; i < v->n_worst; i++) {
        const struct builder *const text = &v->worst[i].text;
        builder_bytes(&d->text, text->text, text->len);
        if (!dest_write(d, e))
            return false;
        dest_begin(d);
    }
    return true;
}

static void worst_free(void *self)
{
    struct worst *const v = self;
    for (size_t i = 0; i < v->n_worst; i++)
        builder_free(&v->worst[i].text);
    free(v->worst);
}

const struct view view_worst = {.name = "--diff",
                                .size = sizeof(struct worst),
                                .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON,
                                .pace = PACE_END,
                                .folds = true,
                                .needs = NEED_PAIRS | NEED_LIST | NEED_REMOVALS,
                                .row = worst_row,
                                .end = worst_end,
                                .free = worst_free};
