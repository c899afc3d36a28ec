// SPDX-License-Identifier: MIT
// A run: the views that its options ask for see each row of its input, in order.
#include "run/run.h"

#include "base/utf8.h"
#include "in/misread.h"
#include "out/message.h"
#include "run/notes.h"
#include "run/pool.h"
#include "run/totals.h"
#include "views/means.h"
#include "views/view.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct flow {
    struct job *job;
    struct feed feed;
    struct pool pool;
    struct dest dest;
    struct vocab texts; // of the tokens of the row at hand, where the input tells them
    unsigned noted;     // notes that were printed, for note_new
    struct misread misread;
    struct totals totals;
    const struct view *view[VIEWS_MOST]; // [n_views]
    void *self[VIEWS_MOST];              // their states
    size_t n_views;
};

// ---- a row

// The error of a variant; of several, that of another than the base, which fails where all do, names it.
static bool blame(const struct job *j, const struct seen *s, size_t i, struct err *e)
{
    *e = s->result[i].e;
    if (i)
        err_prefix(e, "variant '%.*s'", VARIANT_NAME(&j->variants->of[i]));
    return input_blame(i ? s->other : s->row, e);
}

// Prints a message for each variant to which the row is bad, except for one that the base has, too. Returns false with
// *e if the run ends with the row. *good: no variant finds the row bad.
static bool judge(const struct job *j, const struct seen *s, bool *good, struct err *e)
{
    struct result *const res = s->result;
    *good = true;
    for (size_t k = 0; k < j->variants->n; k++) {
        struct err line;
        if (res[k].ok)
            continue;
        if (!row_goes_on(j, &res[k]))
            return blame(j, s, k, e);
        blame(j, s, k, &line);
        text_make_safe(res[k].e.text);
        if (!k || res[0].ok || strcmp(res[k].e.text, res[0].e.text) != 0)
            message_error(&line);
        res[k].record.error = res[k].e.text;
        *good = false;
    }
    return true;
}

static bool show_row(struct flow *f, const struct walk *w, struct err *e)
{
    const struct job *const j = f->job;
    assert(w->at); // walk_next has set it
    const struct input_row *const other = other_row(&f->feed, w->at);
    const struct seen s = {&w->row, other ? other : &w->row, w->batch->result + (w->done - 1) * j->variants->n};
    const size_t width = s.row->text ? w->at->width : s.row->logits.n;
    bool good;
    if (s.row->place.use != ROW_SHOWN) {
        note_unseen(&f->noted, &s);
        return judge(j, &s, &good, e);
    }
    note_seen(j, &f->noted, &s, width);
    misread_note(&f->misread, j->recipes->vocab, s.row, width);
    const bool own_texts = s.row->facts & ROW_TEXTS &&
                           (!j->recipes->vocab || misread_texts(&f->misread, j->recipes->vocab, &f->texts, s.row));
    message_notes(&f->misread.notes);
    if (!judge(j, &s, &good, e))
        return false;
    if ((own_texts || (s.other->facts & ROW_TEXTS && !j->recipes->vocab)) &&
        !(f->totals.rows && f->dest.format->kind == FORMAT_CELLS))
        f->dest.vocab = &f->texts; // the first row decides whether lines of cells have texts
    dest_begin(&f->dest);
    for (size_t i = 0; i < f->n_views; i++)
        if (!f->view[i]->row(f->self[i], &s, e))
            return false;
    if (!dest_write(&f->dest, e))
        return false;
    for (size_t k = 0; k < j->variants->n; k++)
        if (s.result[k].ok && s.result[k].record.partial &&
            !totals_add_partial(&f->totals, k, &s.result[k].record, k ? &s.other->logits : &s.row->logits))
            return err_from_fault(e, fault_memory());
    totals_add(&f->totals, good, width * dtype_size(s.row->logits.type));
    return true;
}

static bool show_batch(void *to, const struct batch *b, struct err *e)
{
    struct flow *const f = to;
    struct walk w = {.batch = b};
    while (walk_next(&w))
        if (!show_row(f, &w, e))
            return false;
    return true;
}

static bool flush(void *to, struct err *e) { return dest_flush(&((struct flow *)to)->dest, e); }

// ---- all rows

static bool run_rows(struct flow *f, struct err *e)
{
    f->pool = (struct pool){.feed = &f->feed, .write = show_batch, .flush = flush, .to = f};
    bool ok = pool_init(&f->pool, f->dest.flush && f->job->view->pace == PACE_AT_ONCE, e);
    const bool threads = ok && f->feed.threads;
    ok = ok && (!threads || pool_run(&f->pool, e));
    ok = ok && ((threads && !f->feed.held) || pool_alone(&f->pool, e));
    totals_end(&f->totals);
    return ok;
}

// ---- setting it up

// Returns whether the run writes texts of tokens.
static bool shows_texts(const struct job *j)
{
    const struct args *const a = j->args;
    const bool plain = !a->output_format || output_format_named(a->output_format)->kind == FORMAT_TEXT;
    if (emit_distribution(a->emit) || a->emit == EMIT_LIST)
        return false;
    return !plain || a->emit == EMIT_TEXT || a->dump || a->trace || a->diff;
}

static struct input_config input_wanted(const struct job *j, struct vocab *texts)
{
    static const char *const standard_input[] = {"-"};
    const struct args *const a = j->args;
    const struct vocab *const vocab = j->recipes->vocab;
    const bool chosen = a->emit == EMIT_SCORE || means_of_accepted(a->columns);
    return (struct input_config){.files = a->files.n ? a->files.word : standard_input,
                                 .n_files = a->files.n ? a->files.n : 1,
                                 .kern = j->kern,
                                 .format = a->format,
                                 .n_vocab = (size_t)a->n_vocab,
                                 .vocab = vocab,
                                 .texts = shows_texts(j) ? texts : NULL,
                                 .ids = a->ids,
                                 .recorded = j->follows == FOLLOWS_RECORDED,
                                 .reply = chosen ? NEEDS_CHOSEN : NEEDS_LIST,
                                 .n_tokens = vocab ? vocab->n : 0,
                                 .tensor = a->tensor,
                                 .on_error = a->on_error,
                                 .first = a->first,
                                 .rows = &j->rows,
                                 .params = a->params,
                                 .shard = a->shard.k,
                                 .shards = a->shard.n,
                                 .base = a->row_base};
}

// Opens the inputs: that of the rows, and that of --against.
static bool open_inputs(struct flow *f, struct err *e)
{
    const struct args *const a = f->job->args;
    const struct input_config wanted = input_wanted(f->job, &f->texts);
    f->feed = (struct feed){.job = f->job, .config = {wanted, wanted}, .inputs = a->against ? 2 : 1};
    f->feed.config[1].files = &a->against;
    f->feed.config[1].n_files = 1;
    for (size_t k = 0; k < f->feed.inputs; k++)
        if (!(f->feed.in[k] = input_open(&f->feed.config[k], e)))
            return false;
    f->job->config = f->feed.config;
    f->job->in = f->feed.in;
    return true;
}

static bool open_views(struct flow *f, struct err *e)
{
    f->dest.folds = f->job->view->folds && f->dest.format->kind == FORMAT_TEXT;
    f->n_views = views_choose(f->job->args, f->job->variants->n > 1, f->view);
    for (size_t i = 0; i < f->n_views; i++) {
        f->self[i] = calloc(1, f->view[i]->size);
        if (!f->self[i])
            return err_from_fault(e, fault_memory());
        memcpy(f->self[i], &(struct view_state){f->job, &f->dest}, sizeof(struct view_state));
        if (f->view[i]->prepare && !f->view[i]->prepare(f->self[i], f->job, &f->dest, e))
            return false;
    }
    f->job->self = f->self[0];
    return true;
}

static bool open_dest(struct flow *f, struct err *e)
{
    struct dest *const d = &f->dest;
    struct err why = {0};
    if (d->format->counted && !input_rows(f->feed.in[0], &d->rows, &why, e))
        return false;
    if (dest_open(d, e))
        return true;
    if (why.status == STATUS_IO && e->status == STATUS_USAGE) // the format needs the number
        *e = why;
    return false;
}

// Decides what workers record of each row. The job is constant from here on.
static void finish_job(struct flow *f)
{
    for (size_t i = 0; i < f->n_views; i++) {
        f->job->recorded |= f->view[i]->needs;
        if (f->view[i]->more)
            f->job->recorded |= f->view[i]->more(f->job, &f->dest);
    }
    if (f->job->args->after)
        f->job->recorded |= LOG_STEPS;
}

static bool start_totals(struct flow *f, struct err *e)
{
    const bool shows = totals_shown(f->dest.screen.columns && f->job->view->pace != PACE_END);
    int64_t total = -1;
    struct err why;
    if (shows && !input_rows(f->feed.in[0], &total, &why, e))
        return false;
    totals_start(&f->totals, shows, total);
    return true;
}

// ---- the run

// Ends the views that end before the destination is closed, or late after it.
static bool end_views(struct flow *f, bool late, bool ok, bool *differs, struct err *e)
{
    for (size_t i = 0; i < f->n_views; i++) {
        const struct view *const view = f->view[i];
        struct err why, other;
        enum ending how = ENDING_RAN;
        if (!ok)
            how = f->totals.rows && !(late && e->status != STATUS_DATA) ? ENDING_BROKE : ENDING_NO_ROWS;
        if (view->late != late || !view->end || (how == ENDING_NO_ROWS && view->pace == PACE_END))
            continue;
        dest_begin(&f->dest);
        const bool ended = view->end(f->self[i], how, &why), failed = !ended && why.status != STATUS_DIFFERS;
        *differs = *differs || (!ended && !failed);
        if (failed && ok)
            *e = why;
        ok = ok && !failed;
        if (!late)
            ok = dest_write(&f->dest, ok ? e : &other) && ok;
    }
    return ok;
}

bool run(struct job *j, struct err *e)
{
    struct flow f = {
        .job = j,
        .dest = {.name = j->args->output, .flush = j->args->line_buffered, .rows = -1, .vocab = j->recipes->vocab}};
    struct err late;
    bool differs = false;
    note_settings(j);
    source_on_shrink(dest_abandon);
    f.dest.format =
        j->args->output_format ? output_format_named(j->args->output_format) : output_format_of(j->view->formats);
    bool ok = open_inputs(&f, e) && open_views(&f, e);
    const bool open = ok && open_dest(&f, e);
    if (open)
        finish_job(&f);
    ok = open && start_totals(&f, e) && run_rows(&f, e);
    ok = open && end_views(&f, false, ok, &differs, e);
    if (ok)
        note_rows_beyond(j);
    ok = dest_close(&f.dest, ok, ok ? e : &late) && ok;
    if (ok)
        note_partial(j, &f.totals);
    ok = open && end_views(&f, true, ok, &differs, e);
    if (ok && f.totals.bad)
        ok = err_set(e, STATUS_DATA, "%" PRIu64 " of %" PRIu64 " rows were bad", f.totals.bad, f.totals.rows);
    if (ok && differs)
        ok = err_silent(e, STATUS_DIFFERS);
    for (size_t i = 0; i < f.n_views; i++) {
        if (f.self[i] && f.view[i]->free)
            f.view[i]->free(f.self[i]);
        free(f.self[i]);
    }
    builder_free(&f.misread.notes);
    totals_free(&f.totals);
    pool_free(&f.pool);
    feed_free(&f.feed);
    vocab_free(&f.texts);
    return ok;
}
