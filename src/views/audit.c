// SPDX-License-Identifier: MIT
// --audit: how well the tokens of another run fit the chain. A record of each row, and a summary; with --trusted, the
// comparison with a run that is trusted; with --vs or --sweep, a table of chains.
#include "trace/audit.h"
#include "out/message.h"
#include "samplers/engine.h"
#include "views/audit_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Measures the claimed token in a worker: it is the one that follows the row.
static struct fault watch(const void *self, const struct input_row *row, struct log *l, struct cand *c,
                          struct result *res)
{
    struct audited *const x = &res->audited;
    x->id = res->record.accepted < 0 ? VOCAB_NONE : (uint32_t)res->record.accepted;
    if (x->id != VOCAB_NONE)
        trace_audited(l, c, x);
    return c->fault;
}

// ---- records

static void place_field(struct dest *d, enum claim_place place)
{
    if (field_begin(d, "inside"))
        builder_string(&d->text, place == PLACE_INSIDE    ? "true"
                                 : place == PLACE_OUTSIDE ? "false"
                                 : has_cells(d)           ? ""
                                                          : "null");
}

static void row_fields(struct columns *c, const struct record *r, const struct audited *x)
{
    struct dest *const d = c->dest;
    field_int(d, "row", (int64_t)r->row);
    field_int(d, "id", record_id(r));
    field_int(d, "claimed", x ? (int64_t)x->id : -1);
    if (field_begin(d, "match"))
        builder_string(&d->text, x && x->match ? "true" : "false");
    place_field(d, x ? x->place : PLACE_UNKNOWN);
    field_double(d, "margin", x ? x->margin : NAN);
    field_double(d, "below", x ? x->below : NAN);
    field_double(d, "prob", x ? x->prob : NAN);
    if (x && !has_cells(d)) {
        field_token(d, "token", r->chosen);
        field_token(d, "claimed_token", x->id);
    }
    record_end(c, r);
}

static void row_heading(struct columns *c, const struct record *none) { row_fields(c, none, NULL); }

static void write_row(struct audit *v, const struct record *r, const struct audited *x)
{
    struct columns *const c = &v->columns;
    switch (c->dest->format->kind) {
    case FORMAT_TEXT:
        break;
    case FORMAT_PAGE:
        audit_page_token(v, r, x);
        break;
    default:
        columns_begin(c, r, row_heading);
        if (!x && !has_cells(c->dest))
            record_json_bad(c, r, "id", NULL);
        else
            row_fields(c, r, x);
    }
}

// ---- the view

static bool check_seed(const struct job *j, size_t variant, struct err *e)
{
    const struct engine *const engine = j->variants->recipe[variant]->key.engine;
    if (recipe_is_greedy(j->variants->recipe[variant]))
        return true;
    if (engine_draws_seed(engine, j->args->typed.seed))
        return err_set(e, STATUS_USAGE,
                       "--audit needs --seed: only a greedy chain chooses the same tokens without one");
    if (engine->not_replayed)
        message_note("engine %s: sampl does not replay the generator of %s, whose tokens look like those of another "
                     "seed",
                     engine->name, engine->not_replayed);
    return true;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct audit *const v = self;
    const size_t n = j->variants->n;
    if (!columns_open(&v->columns, j, d, e))
        return false;
    v->table = n > 1 && !j->args->trusted;
    v->run = calloc(n, sizeof *v->run);
    if (!v->run)
        return err_from_fault(e, fault_memory());
    if (v->table && d->format->kind == FORMAT_PAGE)
        return err_set(e, STATUS_USAGE, "--audit with --vs or --sweep comes as text or tsv or json");
    for (size_t i = 0; i < n; i++) {
        v->run[i].clip = j->args->margin_clip;
        if ((!i || v->table) && !check_seed(j, i, e))
            return false;
    }
    return true;
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct audit *const v = self;
    for (size_t i = 0; i < v->columns.job->variants->n; i++) {
        struct result *const res = &s->result[i];
        struct audited *const x = res->ok && res->audited.id != VOCAB_NONE ? &res->audited : NULL;
        if (x && res->record.partial && !res->record.exact)
            audited_forget(x);
        if (!audit_run_add(&v->run[i], seen_sequence(s->row), x))
            return err_from_fault(e, fault_memory());
        if (!i && !v->table)
            write_row(v, &res->record, x);
    }
    return true;
}

// An error if more tokens are claimed than there are rows, or nothing was compared.
static bool check_end(const struct audit *v, struct err *e)
{
    const struct job *const j = v->columns.job;
    for (size_t i = 0; i < 2; i++)
        if (j->claimed[i].n > v->run[0].rows)
            return err_set(e, STATUS_DATA, "%s names %zu tokens, the run has only %zu rows", job_claim_option(j, i),
                           j->claimed[i].n, v->run[0].rows);
    if (!v->run[0].known)
        return err_set(e, STATUS_DATA,
                       "--audit: nothing was compared: %zu rows, of which %" PRIu64 " are bad and %" PRIu64
                       " are lists that do not decide",
                       v->run[0].rows, v->run[0].bad, v->run[0].unknown);
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct audit *const v = self;
    struct audit_summary s;
    columns_begin(&v->columns, NULL, row_heading);
    if (how != ENDING_RAN || !check_end(v, e))
        return how != ENDING_RAN;
    if (v->table)
        return audit_table(v) || err_from_fault(e, fault_memory());
    if (!audit_summarise(v, &s))
        return err_from_fault(e, fault_memory());
    switch (v->columns.dest->format->kind) {
    case FORMAT_TEXT:
        audit_summary_text(v, &s);
        break;
    case FORMAT_PAGE:
        audit_page(v, &s);
        break;
    default:
        audit_summary_fields(v, &s);
    }
    return !((s.compared && s.tests.differs) || s.few || s.many) || err_silent(e, STATUS_DIFFERS);
}

static void audit_free(void *self)
{
    struct audit *const v = self;
    for (size_t i = 0; v->run && i < v->columns.job->variants->n; i++)
        audit_run_free(&v->run[i]);
    free(v->run);
    builder_free(&v->text);
}

const struct view view_audit = {.name = "--audit",
                                .size = sizeof(struct audit),
                                .formats = FORMAT_TEXT | FORMAT_CELLS | FORMAT_JSON | FORMAT_PAGE,
                                .needs = LOG_STEPS | LEAVE_P | LEAVE_NOTES,
                                .folds = true,
                                .prepare = prepare,
                                .watch = watch,
                                .row = row,
                                .end = end,
                                .free = audit_free};
