// SPDX-License-Identifier: MIT
#include "cli/worker.h"

#include "base/mem.h"
#include "cli/emit.h"
#include "cli/part.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_free(struct result *res)
{
    free(res->ranked);
    free(res->line);
    free(res->values);
}

bool worker_init(struct worker *w, const struct options *o, const struct kern *kern, struct err *e)
{
    *w = (struct worker){.o = o, .sequences = {.o = o}};
    cand_init(&w->cand, kern);
    w->cand.want_p = o->dump || o->emit == EMIT_PROBS;
    w->seq = sequences_find(&w->sequences, NULL, e);
    return w->seq;
}

void worker_free(struct worker *w)
{
    sequences_free(&w->sequences);
    cand_free(&w->cand);
    trace_free(&w->trace);
    stats_scratch_free(&w->stats);
}

static bool accept_all(struct worker *w, const uint32_t *id, size_t n, struct err *e)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < n && !fault.code; i++)
        fault = chain_accept(w->seq->chain, id[i]);
    return err_from_fault(e, fault);
}

// n_vocab is 0 when not known.
static bool in_vocabulary(const uint32_t *id, size_t n, size_t n_vocab, const char *where, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (n_vocab && id[i] >= n_vocab)
            return err_set(e, STATUS_DATA, "%s holds token %" PRIu32 ", the vocabulary ends at %zu", where, id[i], n_vocab - 1);
    return true;
}

// Finds the row's sequence.
static bool find_sequence(struct worker *w, const struct input_row *row, struct err *e)
{
    w->seq = sequences_find(&w->sequences, row->seq, e);
    if (w->seq && !w->seq->begun && row->may_change)
        chain_remember(w->seq->chain);
    return w->seq;
}

// Does a sequence start at this row?
static bool starts(const struct worker *w, const struct input_row *row)
{
    return !w->seq->begun || w->o->independent || (row->fresh && w->o->accept_recorded);
}

// Takes in what the row says of its sequence. An error is the row's own, if it is one of data.
static bool heed(struct worker *w, const struct input_row *row, struct err *e)
{
    if (row->seq && row->missed && !w->o->independent)
        return err_set(e, STATUS_DATA,
                       "a named sequence may have begun in an earlier part; with --independent that does not matter");
    if (row->prompt && !starts(w, row))
        return err_set(e, STATUS_DATA, "prompt_tokens after the sequence's first row");
    if (!row->params)
        return true;
    w->trace.plan = NULL; // the old one is gone
    return sequence_change(w->seq, row->params, e);
}

// The token that follows a row, when that is known beforehand; else -1. An error is the row's own.
static bool known_token(const struct options *o, const struct input_row *row, int64_t *token, struct err *e)
{
    *token = row->forced;
    if (*token >= 0) {
        const uint32_t id = (uint32_t)*token;
        return in_vocabulary(&id, 1, row->bad ? 0 : row_vocab(&row->logits), "accept", e);
    }
    if (o->accept_recorded) {
        *token = row->recorded;
        return *token >= 0 || err_set(e, STATUS_DATA, "--accept recorded: the input records no tokens");
    }
    if (!o->accept.given)
        return true;
    if (row->number >= o->accept.n)
        return err_set(e, STATUS_DATA, "--accept names no token for this row, only %zu", o->accept.n);
    *token = o->accept.id[row->number];
    return true;
}

// The ids of --accept that the unnamed sequence accepted before this row.
static size_t accepted_before(const struct worker *w, const struct input_row *row)
{
    const struct options *const o = w->o;
    return w->seq->name || o->independent || !o->accept.given ? 0 : row->number < o->accept.n ? (size_t)row->number : o->accept.n;
}

// Makes up for the rows that other parts of the run work on: the generators go on from where those leave them. If a sequence that the
// format tells of began among them, that is where they were seeded.
static void catch_up(struct worker *w, const struct input_row *row)
{
    const bool began = w->o->accept_recorded && row->place < row->missed;
    if (began)
        chain_reset(w->seq->chain, w->seq->settings->params.seed + (uint32_t)(row->number - row->place));
    if (row->missed)
        chain_skip(w->seq->chain, began ? row->place : row->missed);
}

// Starts a sequence at this row: the prompt, and of known tokens those before it.
static bool begin_sequence(struct worker *w, const struct input_row *row, struct err *e)
{
    const struct options *const o = w->o;
    const size_t n_vocab = row_vocab(&row->logits);
    const uint32_t *const prompt = row->prompt ? row->prompt : o->prompt.id;
    const size_t n_prompt = row->prompt ? row->n_prompt : o->prompt.n, n_before = accepted_before(w, row);
    if (!row->bad && (!in_vocabulary(prompt, n_prompt, n_vocab, row->prompt ? "prompt_tokens" : "--prompt-tokens", e) ||
                      !in_vocabulary(o->accept.id, n_before, n_vocab, "--accept", e)))
        return false;
    if (o->independent || (w->seq->begun && row->fresh))
        chain_reset(w->seq->chain, w->seq->settings->params.seed + (uint32_t)row->number);
    else if (!w->seq->begun)
        catch_up(w, row);
    w->seq->begun = true;
    return accept_all(w, prompt, n_prompt, e) && (!o->accept_recorded || accept_all(w, row->before, row->n_before, e)) &&
           accept_all(w, o->accept.id, n_before, e);
}

// An error is one of the options.
static bool begin_row(struct worker *w, const struct input_row *row, int64_t token, struct err *e)
{
    const bool fresh = starts(w, row);
    const size_t n_vocab = row_vocab(&row->logits);
    if (n_vocab && token >= (int64_t)n_vocab && !row->bad && !w->o->accept_recorded)
        return in_vocabulary(w->o->accept.id, (size_t)row->number + 1, n_vocab, "--accept", e);
    return !fresh || begin_sequence(w, row, e);
}

// By falling probability, then rising id.
static int by_probability(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Fills in what only dumps show. The candidates are a list.
static struct fault describe(const struct worker *w, struct result *res)
{
    const struct cand *const c = &w->cand;
    struct record *const rec = &res->record;
    if (!mem_grow(&res->ranked, &res->ranked_cap, c->n, sizeof *res->ranked))
        return fault_memory();
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY)
            res->ranked[n++] = (struct ranked){c->id[i], c->logit[i], c->p[i]};
    qsort(res->ranked, n, sizeof *res->ranked, by_probability);
    for (size_t i = 0; i < n; i++)
        if (res->ranked[i].p > 0.0f)
            rec->entropy -= (double)res->ranked[i].p * log(res->ranked[i].p);
    rec->kept = n;
    rec->ranked = res->ranked;
    rec->shown = w->o->dump_most && (size_t)w->o->dump_most < n ? (size_t)w->o->dump_most : n;
    if (!w->o->trace)
        return fault_none();
    if (!mem_grow(&res->line, &res->line_cap, w->trace.n, sizeof *res->line))
        return fault_memory();
    memcpy(res->line, w->trace.line, w->trace.n * sizeof *res->line);
    rec->trace = res->line;
    rec->n_trace = w->trace.n;
    return fault_none();
}

static struct fault sample(struct worker *w, const struct row *row)
{
    const struct options *const settings = w->seq->settings;
    const bool traced = w->o->trace;
    struct fault fault = cand_load(&w->cand, row);
    if (fault.code) {
        chain_skip(w->seq->chain, 1);
        return fault;
    }
    if (w->o->stats)
        fault = stats_before(&w->stats, &w->cand);
    if (!fault.code && traced && w->trace.plan != settings->plan && !trace_plan(&w->trace, settings->plan, settings->n_plan))
        fault = fault_memory();
    if (!fault.code && traced)
        fault = trace_begin(&w->trace, &w->cand);
    if (!fault.code)
        fault = chain_apply(w->seq->chain, &w->cand, traced ? trace_stage : NULL, &w->trace);
    return fault;
}

static struct fault record(struct worker *w, int64_t known, struct result *res)
{
    struct cand *const c = &w->cand;
    struct record *const rec = &res->record;
    struct fault fault = fault_none();
    rec->chosen = c->chosen;
    rec->chosen_p = c->chosen_p;
    if (w->o->stats)
        fault = stats_after(&w->stats, c, &res->stats);
    if (fault.code)
        return fault;
    if (w->o->emit == EMIT_SCORE || emit_distribution(w->o->emit)) {
        rec->scored = (uint32_t)known;
        fault = emit_values(w->o->emit, c, rec->scored, &res->values, &res->values_cap);
        rec->values = res->values;
        return fault;
    }
    if (!w->o->dump)
        return strcmp(w->o->output_format, "text") != 0 ? cand_alive(c, c->n, &rec->kept) : fault;
    fault = cand_list(c);
    return fault.code ? fault : describe(w, res);
}

// Samples a row that the chain stands ready for, or passes over it if it is bad.
static bool work_on(struct worker *w, const struct input_row *row, int64_t known, struct result *res, struct err *e)
{
    if (row->bad) {
        chain_skip(w->seq->chain, 1);
        res->bad = true;
        return false;
    }
    struct fault fault = sample(w, &row->logits);
    if (!fault.code)
        fault = record(w, known, res);
    err_from_fault(e, fault);
    // Not that the options ask for what no such row has: that is no fault of the row's.
    res->bad = fault.code && e->status == STATUS_DATA && fault.code != FAULT_BIAS_ID && fault.code != FAULT_NO_SIZE;
    return !fault.code;
}

bool worker_row(struct worker *w, const struct input_row *row, struct result *res, struct err *e)
{
    int64_t known;
    struct err late;
    const size_t width = emit_distribution(w->o->emit) ? row_vocab(&row->logits) : row->logits.n;
    res->record = (struct record){.row = row->number, .n_vocab = width, .type = row->logits.type};
    if (!find_sequence(w, row, e))
        return false;
    if (!heed(w, row, e) || !known_token(w->o, row, &known, row->bad ? &late : e)) {
        chain_skip(w->seq->chain, 1);
        res->bad = e->status == STATUS_DATA;
        return false;
    }
    if (!begin_row(w, row, known, e))
        return false;
    const bool ok = work_on(w, row, known, res, e);
    if (!ok && (known < 0 || !res->bad))
        return false;
    res->token = known < 0 ? w->cand.chosen : (uint32_t)known;
    if (accept_all(w, &res->token, 1, &late))
        return ok;
    *e = late;
    return res->bad = false;
}

bool worker_skip(struct worker *w, const struct input_row *row, struct err *e)
{
    int64_t known;
    if (w->o->independent)
        return true;
    if (!find_sequence(w, row, e))
        return false;
    const bool good = known_token(w->o, row, &known, e);
    if (good && !begin_row(w, row, known, e))
        return false;
    chain_skip(w->seq->chain, 1);
    const uint32_t token = (uint32_t)known; // if it is not known, no stage looks at it
    return !good || accept_all(w, &token, 1, e);
}

bool worker_splits(const struct worker *w)
{
    return part_carry(w->o, NULL) == CARRY_NOTHING;
}
