// SPDX-License-Identifier: MIT
#include "cli/run.h"

#include "base/mem.h"
#include "cli/trace.h"
#include "io/input.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct options *o;
    struct chain *chain;
    struct cand cand;
    struct input *input;
    struct output output;
    bool begun;            // a row has been seen
    struct ranked *ranked; // scratch of dumps
    size_t ranked_cap;
    struct trace trace;
};

static bool accept_all(struct run *r, const uint32_t *id, size_t n, struct err *e)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < n && !fault.code; i++)
        fault = chain_accept(r->chain, id[i]);
    return err_from_fault(e, fault);
}

static bool in_vocabulary(const struct ids *ids, size_t n, size_t n_vocab, const char *option, struct err *e)
{
    for (size_t i = 0; i < n && i < ids->n; i++)
        if (ids->id[i] >= n_vocab)
            return err_set(e, STATUS_DATA, "%s holds token %" PRIu32 ", the vocabulary ends at %zu", option, ids->id[i],
                           n_vocab - 1);
    return true;
}

// The token that follows a row, when that is known beforehand; else -1.
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
        return err_set(e, STATUS_DATA, "--accept has only %zu tokens", o->accept.n);
    *token = o->accept.id[row->number];
    return *token < (int64_t)row->logits.n || in_vocabulary(&o->accept, row->number + 1, row->logits.n, "--accept", e);
}

// Starts a sequence at this row: the prompt, and of recorded tokens those before it.
static bool begin_sequence(struct run *r, const struct input_row *row, struct err *e)
{
    const struct options *const o = r->o;
    if (!in_vocabulary(&o->prompt, o->prompt.n, row->logits.n, "--prompt-tokens", e) ||
        !in_vocabulary(&o->accept, row->number, row->logits.n, "--accept", e))
        return false;
    if (o->independent || (r->begun && row->fresh))
        chain_reset(r->chain, o->params.seed + (uint32_t)row->number);
    r->begun = true;
    return accept_all(r, o->prompt.id, o->prompt.n, e) && (!o->accept_recorded || accept_all(r, row->before, row->n_before, e)) &&
           (o->independent || !o->accept.given || accept_all(r, o->accept.id, row->number, e));
}

static bool begin_row(struct run *r, const struct input_row *row, int64_t *token, struct err *e)
{
    const bool fresh = !r->begun || r->o->independent || (row->fresh && r->o->accept_recorded);
    return known_token(r->o, row, token, e) && (!fresh || begin_sequence(r, row, e));
}

// By falling probability, then rising id.
static int by_probability(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Fills in what only dumps show. c is a list.
static bool rank(struct run *r, struct record *rec, struct err *e)
{
    const struct cand *const c = &r->cand;
    if (!mem_grow(&r->ranked, &r->ranked_cap, c->n, sizeof *r->ranked))
        return err_from_fault(e, fault_memory());
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY)
            r->ranked[n++] = (struct ranked){c->id[i], c->logit[i], c->p[i]};
    qsort(r->ranked, n, sizeof *r->ranked, by_probability);
    for (size_t i = 0; i < n; i++)
        if (r->ranked[i].p > 0.0f)
            rec->entropy -= (double)r->ranked[i].p * log(r->ranked[i].p);
    rec->kept = n;
    rec->ranked = r->ranked;
    rec->shown = r->o->dump_most && (size_t)r->o->dump_most < n ? (size_t)r->o->dump_most : n;
    return true;
}

static bool write_row(struct run *r, uint64_t number, struct err *e)
{
    struct cand *const c = &r->cand;
    struct record rec = {.row = number, .chosen = c->chosen, .chosen_p = c->chosen_p, .n_vocab = c->n_vocab};
    rec.trace = r->trace.line;
    rec.n_trace = r->trace.n;
    if (r->o->dump) {
        if (!rank(r, &rec, e))
            return false;
    } else if (strcmp(r->o->output_format, "text") != 0) {
        const struct fault fault = cand_alive(c, c->n, &rec.kept);
        if (fault.code)
            return err_from_fault(e, fault);
    }
    return output_record(&r->output, &rec, e);
}

// Runs the chain on a row; *token is the one that follows it, chosen or known.
static bool sample(struct run *r, const struct input_row *row, uint32_t *token, struct err *e)
{
    int64_t known;
    if (!begin_row(r, row, &known, e))
        return false;
    struct fault fault = cand_load(&r->cand, &row->logits);
    if (!fault.code && r->o->trace)
        fault = trace_begin(&r->trace, &r->cand);
    if (!fault.code)
        fault = chain_apply(r->chain, &r->cand, r->o->trace ? trace_stage : NULL, &r->trace);
    if (!fault.code && r->o->dump)
        fault = cand_list(&r->cand);
    *token = known < 0 ? r->cand.chosen : (uint32_t)known;
    return err_from_fault(e, fault);
}

static bool each_row(struct run *r, struct err *e)
{
    for (;;) {
        struct input_row row;
        uint32_t token;
        bool end;
        if (!input_next(r->input, &row, &end, e))
            return false;
        if (end)
            return true;
        if (!sample(r, &row, &token, e))
            return input_blame(r->input, e);
        if (!write_row(r, row.number, e))
            return false;
        if (!accept_all(r, &token, 1, e))
            return input_blame(r->input, e);
    }
}

static void tell(const struct options *o, const struct kern *kern)
{
    err_note("seed %" PRIu32 "%s, SIMD tier %s", o->params.seed, o->random_seed ? " (random)" : "", kern->name);
    if (o->backend_sampling)
        err_note("--backend-sampling has no effect: there is no backend");
}

static bool set_up(struct run *r, const struct input_config *in, const struct output_config *out, const struct kern *kern,
                   struct err *e)
{
    struct fault fault;
    cand_init(&r->cand, kern);
    r->cand.want_p = r->o->dump;
    if (r->o->verbose)
        tell(r->o, kern);
    r->chain = chain_new(r->o->plan, r->o->n_plan, &fault);
    if (!r->chain)
        return err_from_fault(e, fault);
    if (r->o->trace && !trace_init(&r->trace, r->o->plan, r->o->n_plan))
        return err_from_fault(e, fault_memory());
    r->input = input_open(in, e);
    return r->input && output_open(&r->output, out, e);
}

bool run(const struct options *o, const struct kern *kern, struct err *e)
{
    static const char *const standard_input[] = {"-"};
    const struct input_config in = {.files = o->n_files ? o->files : standard_input,
                                    .n_files = o->n_files ? o->n_files : 1,
                                    .format = o->format,
                                    .n_vocab = (size_t)o->n_vocab,
                                    .tensor = o->tensor,
                                    .first = o->rows.first,
                                    .last = o->rows.last};
    const struct output_config out = {
        .path = o->output, .format = o->output_format, .dump = o->dump, .flush = o->line_buffered, .color = !getenv("NO_COLOR")};
    struct run r = {.o = o};
    const bool ok = set_up(&r, &in, &out, kern, e) && each_row(&r, e);
    struct err late;
    const bool written = output_close(&r.output, ok, &late);
    if (ok && !written)
        *e = late;
    input_close(r.input);
    chain_free(r.chain);
    cand_free(&r.cand);
    free(r.ranked);
    trace_free(&r.trace);
    return ok && written;
}
