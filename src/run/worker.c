// SPDX-License-Identifier: MIT
#include "run/worker.h"

#include "base/mem.h"
#include "run/emit.h"
#include "run/part.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool worker_init(struct worker *w, const struct options *o, const struct kern *kern, struct err *e)
{
    *w = (struct worker){.o = o, .sequences = {.o = o}};
    cand_init(&w->cand, kern);
    w->cand.want_p = o->dump || o->emit == EMIT_PROBS;
    w->cand.want_chosen_p = o->dump || (o->output_format && strcmp(o->output_format, "text") != 0);
    w->cand.want_logits = o->stats || o->emit == EMIT_SCORE || emit_distribution(o->emit);
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
    return sequence_change(&w->sequences, w->seq, row->params, e);
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
    const size_t n_vocab = row_vocab(&row->logits);
    const uint32_t *const prompt = row->prompt ? row->prompt : o->prompt.id;
    const size_t n_prompt = row->prompt ? row->n_prompt : o->prompt.n, n_before = accepted_before(w, row);
    if (!row->bad && (!in_vocabulary(prompt, n_prompt, n_vocab, row->prompt ? "prompt_tokens" : "--prompt-tokens", e) ||
                      !in_vocabulary(o->accept.id, n_before, n_vocab, "--accept", e)))
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
    const size_t n_vocab = row_vocab(&row->logits);
    if (n_vocab && token >= (int64_t)n_vocab && !row->bad && !w->o->accept_recorded)
        return in_vocabulary(w->o->accept.id, (size_t)row->number + 1, n_vocab, "--accept", e);
    return !fresh || begin_sequence(w, row, e);
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

static bool note(struct worker *w, int64_t known, struct result *res, struct err *e)
{
    const struct fault fault = result_fill(res, w->o, &w->cand, &w->trace, &w->stats, known);
    w->fault = fault.code;
    return err_from_fault(e, fault);
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
    const bool ok = sample(w, &row->logits, e) && note(w, known, res, e);
    // Not that the options ask for what no such row has: that is no fault of the row's.
    res->bad = !ok && e->status == STATUS_DATA && w->fault != FAULT_BIAS_ID && w->fault != FAULT_NO_SIZE;
    return ok;
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
