// SPDX-License-Identifier: MIT
#include "cli/worker.h"

#include "base/mem.h"
#include "cli/emit.h"

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
    struct fault fault = fault_none();
    *w = (struct worker){.o = o};
    cand_init(&w->cand, kern);
    w->cand.want_p = o->dump || o->emit == EMIT_PROBS;
    w->chain = chain_new(o->plan, o->n_plan, &fault);
    if (!fault.code && o->trace && !trace_init(&w->trace, o->plan, o->n_plan))
        fault = fault_memory();
    return err_from_fault(e, fault);
}

void worker_free(struct worker *w)
{
    chain_free(w->chain);
    cand_free(&w->cand);
    trace_free(&w->trace);
    stats_scratch_free(&w->stats);
}

static bool accept_all(struct worker *w, const uint32_t *id, size_t n, struct err *e)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < n && !fault.code; i++)
        fault = chain_accept(w->chain, id[i]);
    return err_from_fault(e, fault);
}

// n_vocab is 0 when not known.
static bool in_vocabulary(const struct ids *ids, size_t n, size_t n_vocab, const char *option, struct err *e)
{
    for (size_t i = 0; i < n && i < ids->n; i++)
        if (n_vocab && ids->id[i] >= n_vocab)
            return err_set(e, STATUS_DATA, "%s holds token %" PRIu32 ", the vocabulary ends at %zu", option, ids->id[i],
                           n_vocab - 1);
    return true;
}

// The token that follows a row, when that is known beforehand; else -1. An error is the row's own.
static bool known_token(const struct options *o, const struct input_row *row, int64_t *token, struct err *e)
{
    *token = -1;
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

// Starts a sequence at this row: the prompt, and of known tokens those before it.
static bool begin_sequence(struct worker *w, const struct input_row *row, struct err *e)
{
    const struct options *const o = w->o;
    const size_t n_vocab = row_vocab(&row->logits);
    if (!row->bad && (!in_vocabulary(&o->prompt, o->prompt.n, n_vocab, "--prompt-tokens", e) ||
                      !in_vocabulary(&o->accept, row->number, n_vocab, "--accept", e)))
        return false;
    if (o->independent || (w->begun && row->fresh))
        chain_reset(w->chain, o->params.seed + (uint32_t)row->number);
    w->begun = true;
    return accept_all(w, o->prompt.id, o->prompt.n, e) && (!o->accept_recorded || accept_all(w, row->before, row->n_before, e)) &&
           (o->independent || !o->accept.given || accept_all(w, o->accept.id, row->number, e));
}

// What a row object may say, and no worker heeds yet.
static bool heeded(const struct input_row *row, struct err *e)
{
    const char *const later = row->seq           ? "seq"
                              : row->prompt      ? "prompt_tokens"
                              : row->forced >= 0 ? "accept"
                              : row->params      ? "params"
                                                 : NULL;
    return !later || err_set(e, STATUS_DATA, "row objects with \"%s\" are not available yet", later);
}

// An error is one of the options.
static bool begin_row(struct worker *w, const struct input_row *row, int64_t token, struct err *e)
{
    if (!heeded(row, e))
        return false;
    const bool fresh = !w->begun || w->o->independent || (row->fresh && w->o->accept_recorded);
    const size_t n_vocab = row_vocab(&row->logits);
    if (n_vocab && token >= (int64_t)n_vocab && !row->bad && !w->o->accept_recorded)
        return in_vocabulary(&w->o->accept, row->number + 1, n_vocab, "--accept", e);
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
    if (!w->trace.n)
        return fault_none();
    if (!res->line && !(res->line = calloc(w->trace.n, sizeof *res->line)))
        return fault_memory();
    memcpy(res->line, w->trace.line, w->trace.n * sizeof *res->line);
    rec->trace = res->line;
    rec->n_trace = w->trace.n;
    return fault_none();
}

static struct fault sample(struct worker *w, const struct row *row)
{
    struct fault fault = cand_load(&w->cand, row);
    if (fault.code) {
        chain_skip(w->chain);
        return fault;
    }
    if (w->o->stats)
        fault = stats_before(&w->stats, &w->cand);
    if (!fault.code && w->trace.n)
        fault = trace_begin(&w->trace, &w->cand);
    if (!fault.code)
        fault = chain_apply(w->chain, &w->cand, w->trace.n ? trace_stage : NULL, &w->trace);
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
        chain_skip(w->chain);
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
    res->bad = !known_token(w->o, row, &known, row->bad ? &late : e);
    if (res->bad) {
        chain_skip(w->chain);
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
    const bool good = known_token(w->o, row, &known, e);
    if (good && !begin_row(w, row, known, e))
        return false;
    chain_skip(w->chain);
    const uint32_t token = (uint32_t)known; // if it is not known, no stage looks at it
    return !good || accept_all(w, &token, 1, e);
}

bool worker_splits(const struct worker *w)
{
    const bool known = w->o->accept.given || w->o->accept_recorded;
    return w->o->independent || chain_carry(w->chain) <= (known ? CARRY_TOKENS : CARRY_NOTHING);
}
