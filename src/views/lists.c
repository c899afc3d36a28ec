// SPDX-License-Identifier: MIT
// --emit list: the best tokens of each row with their logits, and the exact size of the tail.
#include "base/mem.h"
#include "kern/expf.h"
#include "out/fields.h"
#include "out/message.h"
#include "out/tensors.h"
#include "trace/measure.h"
#include "views/view.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// ---- a row's list

// Lists the `most` best of logit[0..c->n_vocab), which are those of c in the order of the ids, -inf for masked tokens,
// and one at least is finite. Sets ranked, shown and tail of the result's record. token: the token that follows the
// row, or -1. Overwrites logit and c.
static struct fault measure_tail(struct cand *c, float *logit, size_t most, int64_t token, struct result *res)
{
    const struct kern *const kern = c->kern;
    const size_t width = c->n_vocab;
    struct tail_size *const t = &res->record.tail;
    const struct fault fault = cand_load(c, &(struct row){DTYPE_F32, logit, width});
    if (fault.code)
        return fault;
    const size_t alive = kern->count(logit, width, -FLT_MAX), n = most < alive ? most : alive;
    struct ranked *const list = mem_grow(&res->memory, &res->memory_cap, n * sizeof *list, 1) ? res->memory : NULL;
    if (!list)
        return fault_memory();
    *t = (struct tail_size){.n = alive - n, .masked = width - alive, .max = -INFINITY, .lse = -INFINITY};
    t->sum = cand_exp_sum(c);
    const float mean = kern->sum(logit, width, 0.0f) / (float)alive;
    t->sd = sqrtf(kern->sum_squares(logit, width, mean, 0.0f) / (float)alive); // the bits of cand_deviation
    t->xmean = -INFINITY;
    if (token >= 0 && (size_t)token < width) {
        t->logit = logit[token];
        t->rank = rank_of(kern, logit, width, (size_t)token);
    }
    const struct ranks best = cand_rank(c, n + (t->n > 0)); // the list, and the largest logit of the tail
    if (t->n)
        t->max = logit[cand_id(c, best.at ? best.at[n] : n)];
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = cand_id(c, best.at ? best.at[i] : i);
        list[i] = (struct ranked){.id = id, .logit = logit[id]};
        logit[id] = -INFINITY;
    }
    double listed = 0.0, unlisted = 0.0, sum[2 * KERN_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        listed += kern_exp((double)list[i].logit - list[0].logit);
    if (t->n) {
        kern->softmax_sums(sum, logit, t->max, NULL, 0.0f, width);
        const struct softmax s = softmax_from(t->max, sum);
        t->lse = s.max + s.log_sum;
        t->xmean = s.max + s.sum_d / s.sum;
        unlisted = kern_exp(t->lse - list[0].logit); // at most the width of the row
    }
    t->share = listed / (listed + unlisted);
    res->record.ranked = list;
    res->record.shown = n;
    return c->fault;
}

// ---- the view

struct lists {
    struct view_state base;
    struct tensors tensors;
    double held, least; // share of the probability that the lists hold: its sum, and the least
    uint64_t rows, least_row;
};

static void write_listed(struct dest *d, const struct record *r)
{
    items_begin(d, "ids");
    for (size_t i = 0; i < r->shown; i++)
        field_int(d, NULL, r->ranked[i].id);
    items_end(d);
    items_begin(d, "logits");
    for (size_t i = 0; i < r->shown; i++) {
        field_float(d, NULL, r->ranked[i].logit);
        dest_spill(d);
    }
    items_end(d);
}

static void write_tail(struct dest *d, const struct record *r)
{
    const struct tail_size *const t = &r->tail;
    field_int(d, "n_vocab", (int64_t)r->n_vocab);
    if (!t->n && !t->masked) {
        field_double(d, "tail", NAN); // null: the list has all tokens
        return;
    }
    object_begin(d, "tail");
    field_int(d, "n", (int64_t)t->n);
    field_int(d, "masked", (int64_t)t->masked);
    field_double(d, "lse", t->lse);
    field_float(d, "max", t->max);
    field_float(d, "sum", t->sum);
    field_float(d, "sd", t->sd);
    field_double(d, "xmean", t->xmean);
    object_end(d);
}

// Writes what the input says of the row and of its sequence.
static void write_notes(struct dest *d, const struct record *r, const struct input_row *row)
{
    char *params = NULL;
    field_text(d, "seq", r->seq, false);
    if (!r->error && r->accepted >= 0) {
        field_int(d, "accept", r->accepted);
        field_float(d, "accept_logit", r->tail.logit);
        field_int(d, "accept_rank", (int64_t)r->tail.rank);
    }
    if (row->prompt.id) {
        items_begin(d, "prompt_tokens");
        for (size_t i = 0; i < row->prompt.n; i++)
            field_int(d, NULL, row->prompt.id[i]);
        items_end(d);
    }
    if (row->params && field_begin(d, "params") && !(params = cJSON_PrintUnformatted(row->params)))
        d->text.failed = true;
    builder_string(&d->text, params ? params : "");
    free(params);
    if (row->position >= 0)
        field_int(d, "position", row->position);
    if (row->ends)
        field_bool(d, "end", true);
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct lists *const v = self;
    struct dest *const d = v->base.dest;
    const struct record *const r = &s->result->record;
    if (!r->error) {
        const bool least = !v->rows++ || r->tail.share < v->least;
        v->held += r->tail.share;
        v->least = least ? r->tail.share : v->least;
        v->least_row = least ? r->row : v->least_row;
    }
    if (d->format->kind == FORMAT_TENSORS)
        return tensors_add(&v->tensors, r, e);
    field_int(d, "row", (int64_t)r->row);
    write_listed(d, r);
    if (!r->error)
        write_tail(d, r);
    write_notes(d, r, s->row);
    field_text(d, "error", r->error, true);
    fields_end(d, "\n");
    return true;
}

static bool ready(const void *self, const struct recipe *own, const struct input_row *row, bool *bad, struct err *e)
{
    const struct lists *const v = self;
    const bool tensors = v->base.dest->format->kind == FORMAT_TENSORS;
    *bad = row->logits.unlisted.partial;
    if (*bad)
        return err_set(e, STATUS_DATA, "the row is a list; --emit list makes lists of whole rows");
    if (tensors && (row->seq || row->params || row->prompt.id || row->position >= 0 || row->ends))
        return err_set(e, STATUS_DATA, "-O safetensors has no place for \"%s\"; -O json keeps it",
                       row->seq         ? "seq"
                       : row->params    ? "params"
                       : row->prompt.id ? "prompt_tokens"
                       : row->ends      ? "end"
                                        : "position");
    return true;
}

static struct fault watch(const void *self, const struct input_row *row, struct log *l, struct cand *c,
                          struct result *res)
{
    const struct lists *const v = self;
    const struct unlisted unlisted = c->unlisted;
    struct record *const r = &res->record;
    r->n_vocab = c->n_vocab;
    r->accepted = r->accepted < 0 ? row->recorded : r->accepted;
    const struct fault fault = measure_tail(c, l->after.dense, (size_t)v->base.job->args->list_most, r->accepted, res);
    c->unlisted = unlisted;
    return fault;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct lists *const v = self;
    bool unchanged = true; // only the selector runs
    for (const struct stage *s = NULL; (s = recipe_next(j->variants->recipe[0], s));)
        unchanged = unchanged && s->sampler->selector;
    if (!j->args->output_format)
        d->format = output_format_of(FORMAT_JSON);
    v->tensors = (struct tensors){.dest = d, .n = (size_t)j->args->list_most, .unchanged = unchanged};
    return true;
}

static double cut_down(double x, double unit) { return floor(x * unit) / unit; }

static bool end(void *self, enum ending how, struct err *e)
{
    struct lists *const v = self;
    if (v->base.dest->format->kind == FORMAT_TENSORS && !tensors_end(&v->tensors, how == ENDING_RAN, e))
        return false;
    if (how == ENDING_RAN && v->rows)
        message_note("lists of %" PRId64 " hold %.4f of the probability on average, %.3f at least (row %" PRIu64 ")",
                     v->base.job->args->list_most, cut_down(v->held / (double)v->rows, 1e4), cut_down(v->least, 1e3),
                     v->least_row);
    return true;
}

static void free_lists(void *self) { tensors_free(&((struct lists *)self)->tensors); }

const struct view view_lists = {.name = "--emit list",
                                .size = sizeof(struct lists),
                                .formats = FORMAT_JSON | FORMAT_TENSORS,
                                .prepare = prepare,
                                .needs = RECORD_VALUES | LEAVE_LOGITS | IGNORE_CHOICE,
                                .ready = ready,
                                .watch = watch,
                                .row = row,
                                .end = end,
                                .free = free_lists};
