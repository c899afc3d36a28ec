// SPDX-License-Identifier: MIT
// A run with variants: the table of their means over the rows.
#include "out/token_text.h"
#include "views/best_union.h"
#include "views/means.h"
#include "views/view.h"

struct table {
    const struct job *job;
    struct dest *dest;
    struct means means;
    bool errors; // the table has room for the errors of means
};

static size_t field_width(const void *arg, size_t k)
{
    const struct table *const t = arg;
    return means_width(&t->means, t->means.shown.field[k], t->errors);
}

static void table_block(const struct table *t, size_t first, size_t last, size_t width)
{
    const struct means *const m = &t->means;
    struct builder *const b = &t->dest->text;
    char text[CELL_TEXT];
    builder_format(b, first ? "\n%-*s" : "%-*s", (int)width, "name");
    for (size_t k = first; k < last; k++)
        builder_format(b, " %*s", (int)field_width(t, k), means_name(m, m->shown.field[k], text));
    builder_byte(b, '\n');
    for (size_t i = 0; i < m->job->variants->n; i++) {
        const bool marked = last == m->shown.n && recipe_by_chance(m->job->variants->recipe[i]);
        text_cell(b, text_piece(m->job->variants->of[i].name), 0, width, window_columns(t->dest) / 2);
        for (size_t k = first; k < last; k++)
            builder_format(b, " %*s", (int)field_width(t, k),
                           means_cell_text(m, i, m->shown.field[k], t->errors, text));
        builder_string(b, marked ? "  of the draw\n" : "\n");
    }
}

static void table_text(struct table *t)
{
    enum { NAME_MOST = 48 };
    const size_t n = t->means.shown.n, width = names_width(t->means.job, window_columns(t->dest) / 2, NAME_MOST);
    t->errors = true;
    t->errors = block_end(t->dest, field_width, t, n, 0, width) == n;
    for (size_t first = 0, last; first < n; first = last) {
        last = block_end(t->dest, field_width, t, n, first, width);
        table_block(t, first, last, width);
    }
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    means_add(&((struct table *)self)->means, s->result);
    return true;
}

// The table of the rows before an error is one, too.
static bool end(void *self, enum ending how, struct err *e)
{
    struct table *const t = self;
    means_end(&t->means);
    if (t->dest->format->kind == FORMAT_TEXT)
        table_text(t);
    else
        means_fields(&t->means, t->dest, "\n", "\n");
    return true;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    return means_open(&((struct table *)self)->means, j, e);
}

static void table_free(void *self) { means_free(&((struct table *)self)->means); }

const struct view view_table = {.name = "the table of variants",
                                .size = sizeof(struct table),
                                .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON,
                                .pace = PACE_END,
                                RULES(MEANS_OF_PARTS),
                                .prepare = prepare,
                                .needs = NEED_PAIRS,
                                .folds = true,
                                .row = row,
                                .end = end,
                                .free = table_free};
