// SPDX-License-Identifier: MIT
// Chains beside each other: the candidates that each one left of a row, the ids that they chose, or their texts.
#include "out/token_text.h"
#include "views/best_union.h"
#include "views/record_fields.h"
#include "views/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- candidates

struct candidates {
    struct columns columns;
    struct best_union best;
    const struct result *result; // of the row at hand
};

static size_t candidate_width(const void *arg, size_t column)
{
    enum { CHAIN = 12 };
    const struct columns *const c = &((const struct candidates *)arg)->columns;
    const size_t wide =
        text_clip(NULL, text_piece(variant_label(c->job->variants, column)), 0, window_columns(c->dest) / 3);
    return wide > CHAIN ? wide : CHAIN;
}

// Writes the columns of chains first to last - 1. The texts have `width` columns.
static void candidate_block(const struct candidates *v, size_t first, size_t last, size_t width)
{
    struct dest *const d = v->columns.dest;
    struct builder *const b = &d->text;
    char text[NUMBER_TEXT];
    builder_format(b, "%8s", "id");
    if (d->vocab)
        builder_format(b, " %-*s", (int)width, "text");
    for (size_t i = first; i < last; i++) {
        const struct piece name = text_piece(variant_label(v->columns.job->variants, i));
        const size_t most = window_columns(d) / 3;
        builder_pad(b, ' ', 1 + candidate_width(v, i) - text_clip(NULL, name, 0, most));
        text_clip(b, name, 0, most);
    }
    builder_byte(b, '\n');
    for (size_t k = 0; k < v->best.n; k++) {
        const struct union_token *const t = &v->best.token[k];
        builder_int(b, t->best.id, 8);
        text_of_token(d, t->best.id, width);
        for (size_t i = first; i < last; i++) {
            const struct result *const res = &v->result[i];
            snprintf(text, sizeof text, "%s%.6f", t->best.id == res->record.chosen ? "*" : "", (double)t->p[i]);
            builder_format(b, " %*s", (int)candidate_width(v, i),
                           t->p[i] < 0.0f ? chain_removed_by(res, t->best.id, text) : text);
        }
        builder_byte(b, '\n');
    }
}

static void candidates_text(const struct candidates *v)
{
    struct dest *const d = v->columns.dest;
    const size_t n = v->columns.job->variants->n;
    size_t width = 4;
    for (size_t k = 0; k < v->best.n; k++)
        width = text_width(d, width, v->best.token[k].best.id);
    builder_format(&d->text, "row %" PRIu64 "\n", v->result->record.row);
    for (size_t first = 0, last; first < n; first = last) {
        last = block_end(d, candidate_width, v, n, first, 8 + (d->vocab ? 1 + width : 0));
        candidate_block(v, first, last, width);
    }
}

// Begins a member with the name of a chain, which may have any characters.
static void chain_begin(struct dest *d, const struct job *j, size_t i)
{
    field_begin(d, NULL);
    write_json_string(d, text_piece(j->variants->of[i].name));
    builder_byte(&d->text, ':');
}

// Writes the chosen ids, and each token's probability in each chain, or the name of what removed the token there.
static void candidates_json(const struct candidates *v)
{
    struct dest *const d = v->columns.dest;
    const struct job *const j = v->columns.job;
    const struct result *const res = v->result;
    const size_t n = j->variants->n;
    char text[NUMBER_TEXT];
    field_int(d, "row", (int64_t)res->record.row);
    object_begin(d, "ids");
    for (size_t i = 0; i < n; i++) {
        chain_begin(d, j, i);
        builder_int(&d->text, record_id(&res[i].record), 0);
    }
    object_end(d);
    items_begin(d, "top_probs");
    for (size_t k = 0; k < v->best.n; k++) {
        const struct union_token *const t = &v->best.token[k];
        object_begin(d, NULL);
        field_int(d, "id", t->best.id);
        field_token(d, "token", t->best.id);
        object_begin(d, "probs");
        for (size_t i = 0; i < n; i++) {
            chain_begin(d, j, i);
            if (t->p[i] < 0.0f)
                builder_format(&d->text, "\"%s\"", chain_removed_by(&res[i], t->best.id, text));
            else
                builder_float(&d->text, t->p[i]);
        }
        object_end(d);
        object_end(d);
    }
    items_end(d);
    fields_end(d, "\n");
}

static void candidates_cells(const struct candidates *v)
{
    struct dest *const d = v->columns.dest;
    char text[NUMBER_TEXT];
    for (size_t k = 0; k < v->best.n; k++) {
        const struct union_token *const t = &v->best.token[k];
        field_int(d, "row", (int64_t)v->result->record.row);
        field_int(d, "id", t->best.id);
        for (size_t i = 0; i < v->columns.job->variants->n; i++)
            if (t->p[i] < 0.0f)
                field_text(d, "", chain_removed_by(&v->result[i], t->best.id, text), true);
            else
                field_float(d, "", t->p[i]);
        field_token(d, "text", t->best.id);
        fields_end(d, "\n");
    }
}

static void candidates_heading(struct columns *c, const struct record *none)
{
    struct dest *const d = c->dest;
    field_int(d, "row", 0);
    field_int(d, "id", 0);
    d->heading = false; // the names may need escapes
    for (size_t i = 0; i < c->job->variants->n; i++)
        field_text(d, "", c->job->variants->of[i].name, true);
    d->heading = true;
    field_token(d, "text", 0);
    fields_end(d, "\n");
}

static bool candidates_row(void *self, const struct seen *s, struct err *e)
{
    struct candidates *const v = self;
    struct columns *const c = &v->columns;
    columns_begin(c, &s->result->record, candidates_heading);
    v->result = s->result;
    if (!best_union_find(&v->best, c->job, s->result))
        return err_from_fault(e, fault_memory());
    if (c->dest->format->kind == FORMAT_TEXT)
        candidates_text(v);
    else if (c->dest->format->kind == FORMAT_JSON)
        candidates_json(v);
    else
        candidates_cells(v);
    return true;
}

static bool candidates_end(void *self, enum ending how, struct err *e)
{
    if (how == ENDING_RAN)
        columns_begin(self, NULL, candidates_heading);
    return true;
}

static void candidates_free(void *self) { best_union_free(&((struct candidates *)self)->best); }

const struct view view_candidates = {.name = "--dump-probs",
                                     .size = sizeof(struct candidates),
                                     .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON,
                                     .folds = true,
                                     .needs = NEED_PAIRS | NEED_LIST | NEED_REMOVALS | RECORD_SHOWN,
                                     .row = candidates_row,
                                     .end = candidates_end,
                                     .free = candidates_free};

// ---- ids

static bool ids_row(void *self, const struct seen *s, struct err *e)
{
    const struct view_state *const v = self;
    struct dest *const d = v->dest;
    for (size_t i = 0; i < v->job->variants->n; i++) {
        builder_string(&d->text, i ? "\t" : "");
        builder_int(&d->text, record_id(&s->result[i].record), 0);
    }
    builder_byte(&d->text, '\n');
    return true;
}

const struct view view_ids_by_chain = {.name = "--emit ids",
                                       .size = sizeof(struct view_state),
                                       .formats = FORMAT_TEXT | FORMAT_CELLS,
                                       .pace = PACE_ROWS,
                                       .folds = true,
                                       .row = ids_row};

// ---- texts

struct texts {
    const struct job *job;
    struct dest *dest;
    struct builder *text; // [variants] of the chosen tokens
};

static bool texts_prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct texts *const v = self;
    v->text = calloc(j->variants->n, sizeof *v->text);
    if (!v->text)
        return err_from_fault(e, fault_memory());
    return job_can_write_texts(j, e);
}

static bool texts_row(void *self, const struct seen *s, struct err *e)
{
    struct texts *const v = self;
    for (size_t i = 0; i < v->job->variants->n; i++) {
        if (!s->result[i].ok)
            continue;
        if (!seen_texts(s, v->job, e))
            return false;
        const struct piece token = vocab_output(v->dest->vocab, s->result[i].record.chosen);
        builder_bytes(&v->text[i], token.p, token.len);
        if (v->text[i].failed)
            return err_from_fault(e, fault_memory());
    }
    return true;
}

static bool texts_end(void *self, enum ending how, struct err *e)
{
    struct texts *const v = self;
    struct builder *const b = &v->dest->text;
    for (size_t i = 0; i < v->job->variants->n; i++) {
        text_write(b, text_piece(v->job->variants->of[i].name), 0);
        builder_byte(b, '\t');
        builder_json(b, v->text[i].text, v->text[i].len);
        builder_byte(b, '\n');
    }
    return true;
}

static void texts_free(void *self)
{
    struct texts *const v = self;
    for (size_t i = 0; v->text && i < v->job->variants->n; i++)
        builder_free(&v->text[i]);
    free(v->text);
}

const struct view view_texts_by_chain = {.name = "--emit text",
                                         .size = sizeof(struct texts),
                                         .formats = FORMAT_TEXT,
                                         .pace = PACE_END,
                                         .folds = true,
                                         .prepare = texts_prepare,
                                         .row = texts_row,
                                         .end = texts_end,
                                         .free = texts_free};
