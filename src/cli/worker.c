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
    w->cand.want_chosen_p = o->dump || (o->output_format && strcmp(o->output_format, "text") != 0);
    w->seq = sequences_find(&w->sequences, NULL, e);
    return w->seq;
}

void worker_free(struct worker *w)
{
    sequences_free(&w->sequences);
    cand_free(&w->cand);
    trace_free(&w->trace);
    stats_scratch_free(&w->stats);
    free(w->masked);
}

static bool accept_all(struct worker *w, const uint32_t *id, size_t n, struct err *e)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < n && !fault.code; i++)
        fault = chain_accept(w->seq->chain, id[i]);
    return err_from_fault(e, fault);
}

// The same for tokens of the text, which the grammar follows; the prompt it does not.
static bool accept_text(struct worker *w, const uint32_t *id, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!constraint_accept(&w->seq->constraint, id[i], e))
            return false;
    return accept_all(w, id, n, e);
}

static bool in_vocabulary(const uint32_t *id, size_t n, size_t n_vocab, const char *where, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (id[i] >= n_vocab)
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
    return sequence_change(&w->sequences, w->seq, row->params, e);
}

// The token that follows a row, when that is known beforehand; else -1. An error is the row's own.
static bool known_token(const struct options *o, const struct input_row *row, int64_t *token, struct err *e)
{
    *token = row->forced;
    if (*token >= 0) {
        const uint32_t id = (uint32_t)*token;
        return in_vocabulary(&id, 1, row->logits.n, "accept", e);
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
    if (began) {
        w->seq->base = row->number - row->place;
        chain_reset(w->seq->chain, w->seq->settings->params.seed + (uint32_t)w->seq->base);
    }
    if (row->missed)
        chain_skip(w->seq->chain, began ? row->place : row->missed);
}

// Starts a sequence at this row: the prompt, and of known tokens those before it.
static bool begin_sequence(struct worker *w, const struct input_row *row, struct err *e)
{
    const struct options *const o = w->o;
    const uint32_t *const prompt = row->prompt ? row->prompt : o->prompt.id;
    const size_t n_prompt = row->prompt ? row->n_prompt : o->prompt.n, n_before = accepted_before(w, row);
    if (!row->bad && (!in_vocabulary(prompt, n_prompt, row->logits.n, row->prompt ? "prompt_tokens" : "--prompt-tokens", e) ||
                      !in_vocabulary(o->accept.id, n_before, row->logits.n, "--accept", e)))
        return false;
    if (o->independent || (w->seq->begun && row->fresh)) {
        chain_reset(w->seq->chain, w->seq->settings->params.seed + (uint32_t)row->number);
        w->seq->base = row->number;
    } else if (!w->seq->begun) {
        catch_up(w, row);
    }
    constraint_reset(&w->seq->constraint);
    w->seq->begun = true;
    return accept_all(w, prompt, n_prompt, e) && (!o->accept_recorded || accept_all(w, row->before, row->n_before, e)) &&
           (accept_text(w, o->accept.id, n_before, e) || err_prefix(e, "--accept, before this row"));
}

// An error is one of the options.
static bool begin_row(struct worker *w, const struct input_row *row, int64_t token, struct err *e)
{
    const bool fresh = starts(w, row);
    if (token >= (int64_t)row->logits.n && !row->bad && !w->o->accept_recorded)
        return in_vocabulary(w->o->accept.id, (size_t)row->number + 1, row->logits.n, "--accept", e);
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

// Notes the row as it is before the chain, for those who want to know what the chain did.
static struct fault look_on(struct worker *w)
{
    const struct options *const settings = w->seq->settings;
    struct fault fault = w->o->stats ? stats_before(&w->stats, &w->cand) : fault_none();
    if (fault.code || !w->o->trace)
        return fault;
    if (w->trace.plan != settings->plan && !trace_plan(&w->trace, settings->plan, settings->n_plan, settings->grammar))
        return fault_memory();
    return trace_begin(&w->trace, &w->cand);
}

// Runs the chain on a row, or on what the grammar has left of it.
static struct fault apply(struct worker *w, const struct row *row, const struct row *masked)
{
    const bool watched = w->o->stats || w->o->trace;
    struct fault fault = masked && !watched ? fault_none() : cand_load(&w->cand, row);
    if (!fault.code && watched)
        fault = look_on(w);
    if (!fault.code && masked)
        fault = cand_load(&w->cand, masked);
    if (!fault.code && masked && w->o->trace)
        fault = trace_grammar(&w->trace, &w->cand);
    if (!fault.code)
        fault = chain_apply(w->seq->chain, &w->cand, w->o->trace ? trace_stage : NULL, &w->trace);
    else
        chain_skip(w->seq->chain, 1);
    w->fault = fault.code;
    return fault;
}

// Runs the chain on the tokens that fit the grammar.
static bool sample_masked(struct worker *w, const struct row *row, struct err *e)
{
    struct row masked;
    if (!mem_grow(&w->masked, &w->masked_cap, row->n, sizeof *w->masked))
        return err_from_fault(e, fault_memory());
    if (!constraint_mask(&w->seq->constraint, w->cand.kern, row, w->masked, &masked, e))
        return false;
    const struct fault fault = apply(w, row, &masked);
    return fault.code == FAULT_ALL_MASKED ? constraint_exhausted(&w->seq->constraint, e) : err_from_fault(e, fault);
}

// The chain first; only if its token does not fit the grammar, once more on the tokens that do. (Some engines mask at once.)
static bool sample(struct worker *w, const struct row *row, struct err *e)
{
    bool fits;
    if (w->seq->constraint.matcher && w->o->engine->masks_first)
        return sample_masked(w, row, e);
    const struct fault fault = apply(w, row, NULL);
    if (fault.code)
        return err_from_fault(e, fault);
    return constraint_fits(&w->seq->constraint, w->cand.chosen, &fits, e) && (fits || sample_masked(w, row, e));
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
    w->cand.position = (uint32_t)(row->number - w->seq->base);
    const bool ok = sample(w, &row->logits, e) && err_from_fault(e, record(w, known, res));
    res->bad = !ok && e->status == STATUS_DATA && w->fault != FAULT_BIAS_ID; // which is no fault of the row's
    return ok;
}

bool worker_row(struct worker *w, const struct input_row *row, struct result *res, struct err *e)
{
    int64_t known;
    struct err late;
    res->record = (struct record){.row = row->number, .n_vocab = row->logits.n, .type = row->logits.type};
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
    if (accept_text(w, &res->token, 1, &late))
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
