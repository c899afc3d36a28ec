// SPDX-License-Identifier: MIT
// A run with variants: the table of their means over the rows.
#include "out/message.h"
#include "out/token_text.h"
#include "views/best_union.h"
#include "views/means.h"
#include "views/verdict.h"
#include "views/view.h"

struct table {
    const struct job *job;
    struct dest *dest;
    struct means means;
    struct chains_verdict verdict;
    bool errors; // the table has room for the errors of means
    size_t width[MEANS_FIELDS];
};

static size_t field_width(const void *arg, size_t k) { return 1 + ((const struct table *)arg)->width[k]; }

// The columns of a text on one line.
static size_t columns_of(const char *text) { return text_clip(NULL, text_piece(text), 0, SIZE_MAX); }

// Finds the widths of the fields.
static void measure_fields(struct table *t, bool errors)
{
    const struct means *const m = &t->means;
    char text[CELL_TEXT];
    t->errors = errors;
    for (size_t k = 0; k < m->shown.n; k++) {
        t->width[k] = strlen(means_name(m, m->shown.field[k], text));
        for (size_t i = 0; i < m->job->variants->n; i++) {
            const size_t wide =
                columns_of(means_cell_text(m, i, m->shown.field[k], errors, t->dest->screen.utf8, text));
            t->width[k] = wide > t->width[k] ? wide : t->width[k];
        }
    }
}

// Writes a cell behind blanks.
static void cell(struct table *t, size_t k, const char *text)
{
    builder_pad(&t->dest->text, ' ', 2 + t->width[k] - columns_of(text));
    builder_string(&t->dest->text, text);
}

// Returns whether the numbers of a chain depend on draws. Then a * stands behind its name.
static bool by_chance(const struct table *t, size_t i) { return means_by_chance(&t->means, i); }

// Writes the columns of fields first to last - 1. The names are cut to `most` columns, and take `width` with the marks.
static void table_block(struct table *t, size_t first, size_t last, size_t most, size_t width)
{
    const struct means *const m = &t->means;
    struct builder *const b = &t->dest->text;
    char text[CELL_TEXT];
    builder_format(b, first ? "\n%-*s" : "%-*s", (int)width, "name");
    for (size_t k = first; k < last; k++)
        cell(t, k, means_name(m, m->shown.field[k], text));
    builder_byte(b, '\n');
    for (size_t i = 0; i < t->job->variants->n; i++) {
        const struct piece name = text_piece(variant_label(t->job->variants, i));
        const size_t mark = by_chance(t, i);
        text_clip(b, name, 0, most);
        const size_t wide = text_clip(NULL, name, 0, most) + mark;
        builder_string(b, mark ? "*" : "");
        builder_pad(b, ' ', wide < width ? width - wide : 0);
        for (size_t k = first; k < last; k++)
            cell(t, k, means_cell_text(m, i, m->shown.field[k], t->errors, t->dest->screen.utf8, text));
        builder_byte(b, '\n');
    }
}

static void table_text(struct table *t)
{
    enum { NAME_MOST = 48 };
    const size_t n = t->means.shown.n;
    size_t most = window_columns(t->dest) / 2, marked = 0;
    for (size_t i = 0; i < t->job->variants->n; i++)
        marked += by_chance(t, i);
    measure_fields(t, true);
    // A long name is cut before it pushes a column into another block.
    if (most > NAME_MOST && block_end(t->dest, field_width, t, n, 0, names_width(t->job, most) + (marked > 0)) < n)
        most = NAME_MOST;
    const size_t width = names_width(t->job, most) + (marked > 0);
    if (block_end(t->dest, field_width, t, n, 0, width) < n)
        measure_fields(t, false);
    for (size_t first = 0, last; first < n; first = last) {
        last = block_end(t->dest, field_width, t, n, first, width);
        table_block(t, first, last, most, width);
    }
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct table *const t = self;
    means_add(&t->means, s->result);
    verdict_add(&t->verdict, s->result);
    return true;
}

// Answers --most-lost below the table; a table for programs has no room for it.
static bool answer(struct table *t, bool text, struct err *e)
{
    struct builder *const b = &t->dest->text, note = {0};
    verdict_answer(&t->verdict, text ? b : &note, t->dest->screen.utf8);
    if (text)
        builder_byte(b, '\n');
    else if (!note.failed)
        message_note("%s", note.text);
    const bool ok = !note.failed;
    builder_free(&note);
    return ok || err_from_fault(e, fault_memory());
}

// The table of the rows before an error is one, too.
static bool end(void *self, enum ending how, struct err *e)
{
    struct table *const t = self;
    const bool text = t->dest->format->kind == FORMAT_TEXT;
    means_end(&t->means);
    if (text)
        table_text(t);
    else
        means_fields(&t->means, t->dest, "\n", "\n");
    const size_t sentences = t->dest->text.len;
    if (text && !t->job->args->columns)
        verdict_text(&t->verdict, t->dest);
    if (args_given(t->job->args, "most-lost") && !answer(t, text, e))
        return false;
    if (text)
        dest_fold(t->dest, sentences);
    return true;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct table *const t = self;
    const bool opened = means_open(&t->means, j, e);
    t->means.brief = d->format->kind == FORMAT_TEXT;
    return opened && verdict_open(&t->verdict, j, e);
}

static void table_free(void *self)
{
    struct table *const t = self;
    means_free(&t->means);
    verdict_free(&t->verdict);
}

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
