// SPDX-License-Identifier: MIT
#include "run/record.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- scores and distributions

// Returns the log-probability of a logit. The logarithm of the probability would be rounded once more; and small
// probabilities underflow to 0, although their logarithms are ordinary numbers.
static float logprob(float logit, const struct softmax *s) { return (float)((double)logit - s->max - s->log_sum); }

// Writes the number that is emitted for each token to to[0..n_vocab). Tokens that are no candidates count as masked.
static void emit_all(enum emit emit, struct log *l, const struct cand *c, const struct log_step *shown, float *to)
{
    const bool softened = emit == EMIT_PROBS && !shown; // the store has the probabilities
    const size_t n = shown ? c->n_row : c->n;
    const float *x = to; // [n] of the candidates
    if (!shown && c->dense && softened) {
        memcpy(to, c->p, n * sizeof *to);
    } else if (!shown && c->dense) {
        cand_snapshot(c, to);
    } else {
        x = shown ? log_spread(l, shown, c) : softened ? c->p : c->logit;
        for (size_t i = 0; i < c->n_vocab; i++)
            to[i] = softened ? 0.0f : -INFINITY;
        for (size_t i = 0; i < n; i++)
            to[shown ? cand_row_id(c, i) : c->id[i]] = x[i];
    }
    if (softened || emit == EMIT_LOGITS || emit == EMIT_LIST || emit == EMIT_RESIDUAL)
        return; // worker_row fills in a residual
    const struct softmax s = softmax_of(c->kern, x, n);
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = emit == EMIT_PROBS ? (float)softmax_prob(&s, to[i]) : logprob(to[i], &s);
}

static struct fault fill_values(const struct job *j, struct log *l, const struct cand *c, const struct certainty *of,
                                const struct log_step *shown, struct result *res)
{
    const enum emit emit = j->args->emit;
    const size_t n = emit == EMIT_SCORE ? 1 : c->n_vocab;
    if (!n)
        return (struct fault){FAULT_NO_SIZE, 0};
    const bool list = emit == EMIT_LIST; // which the view makes at once
    if (!(list ? mem_grow(&l->after.dense, &l->after.dense_cap, n, sizeof(float))
               : mem_grow(&res->memory, &res->memory_cap, n * sizeof(float), 1)) ||
        (emit == EMIT_SCORE && !after_measure(&l->after, c)))
        return fault_memory();
    float *const to = list ? l->after.dense : res->memory;
    if (emit == EMIT_SCORE)
        *to = (float)after_logprob(&l->after, of, res->record.scored);
    else
        emit_all(emit, l, c, shown, to);
    res->record.values = to;
    return fault_none();
}

// ---- dumps

// Fills in the candidates that are left, or those that --after shows, and the other members of dumps.
static struct fault fill_lists(const struct job *j, struct log *l, struct cand *c, const struct log_step *shown,
                               struct result *res)
{
    struct record *const rec = &res->record;
    struct ranked *ranked;
    if (!shown)
        cand_list(c);
    const float *const logit = shown ? l->logit + shown->at : c->logit;
    const size_t n = shown ? shown->n : c->n;
    const size_t best = j->args->trace > 0 ? (size_t)j->args->trace : 0, most = job_list_most(j);
    if (job_records(j, RECORD_LINES) ? !trace_lines(l, c, best, j->args->verbose, res, &ranked)
                                     : !mem_grow(&res->memory, &res->memory_cap, n * sizeof *ranked, 1))
        return fault_memory();
    if (!job_records(j, RECORD_LINES))
        ranked = res->memory;
    const struct softmax s =
        shown ? softmax_of(c->kern, log_spread(l, shown, c), c->n_row) : softmax_of(c->kern, logit, n);
    for (size_t i = 0; i < n; i++)
        if (logit[i] > -INFINITY)
            ranked[rec->kept++] =
                shown ? (struct ranked){l->id[shown->at + i], logit[i], (float)softmax_prob(&s, logit[i]), 0.0f}
                      : (struct ranked){c->id[i], logit[i], c->p[i], 0.0f};
    if (!ranked_sort(ranked, rec->kept, c->kern, &l->sort))
        return fault_memory();
    rec->entropy = softmax_entropy(&s);
    rec->ranked = ranked;
    if (job_records(j, RECORD_SHOWN))
        rec->shown = most && most < rec->kept ? most : rec->kept;
    for (size_t i = 0; !shown && i < rec->shown; i++)
        rec->noisy = cand_noise_of(c, ranked[i].id, &ranked[i].noised);
    for (size_t i = 0; job_records(j, LOG_RAW) && i < rec->kept; i++)
        if (i < rec->shown || ranked[i].id == rec->chosen)
            ranked[i].raw_p = (float)softmax_prob(&l->raw.softmax, raw_logit(&l->raw, cand_row_place(c, ranked[i].id)));
    if (job_records(j, RECORD_CUTS))
        trace_cuts(l, c, shown, res);
    return job_records(j, RECORD_FOLLOWED) && !trace_followed(l, c, most, res) ? fault_memory() : fault_none();
}

struct fault record_fill(const struct job *j, struct log *l, struct cand *c, const struct certainty *of,
                         const struct log_step *shown, int64_t known, struct result *res)
{
    struct record *const rec = &res->record;
    rec->chosen_p = c->chosen_p;
    rec->met_zero = cand_met_zero(c);
    rec->scored = (uint32_t)known;
    rec->accepted = known;
    if ((job_records(j, RECORD_STATS) && !after_measure(&l->after, c)) ||
        (job_records(j, RECORD_REMOVALS) && !trace_removals(l, c, res)))
        return fault_memory();
    if (job_records(j, RECORD_STATS)) {
        measure(&l->raw, &l->after, of, known, res->stat);
        if (job_records(j, RECORD_ACCEPTED))
            measure_accepted(&l->raw, c, known, res->stat);
        rec->stat = res->stat;
        rec->pair = job_records(j, RECORD_PAIRS) ? res->pair : NULL;
    }
    if (job_records(j, RECORD_VALUES))
        return fill_values(j, l, c, of, shown, res);
    if (job_records(j, RECORD_LIST))
        return fill_lists(j, l, c, shown, res);
    if (job_records(j, RECORD_KEPT))
        rec->kept = cand_alive(c, c->n);
    return c->fault;
}
