// SPDX-License-Identifier: MIT
#include "run/worker.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool worker_init(struct worker *w, const struct job *job, size_t first, size_t last, struct err *e)
{
    const struct args *const a = job->args;
    assert(first < last && last <= job->n_variants);
    *w = (struct worker){.job = job,
                         .first = first,
                         .last = last,
                         .sessions = calloc(job->n_variants, sizeof *w->sessions),
                         .observer.job = job};
    cand_init(&w->cand, job->kern);
    w->cand.want_p = job->expects || job->dumps || job->side_by_side || a->emit == EMIT_PROBS;
    w->cand.want_notes = job->traces;
    w->cand.want_chosen_p = job->dumps || job->side_by_side || !job->plain;
    w->cand.want_logits = job->measures || a->emit == EMIT_SCORE || emit_distribution(a->emit);
    if (!w->sessions)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < last; i++) {
        if (i < first && (i || !job->compares))
            continue;
        w->sessions[i].recipes = job->recipes;
        w->sessions[i].recipe = job->variant[i];
        if (!sessions_find(&w->sessions[i], NULL, e))
            return false;
    }
    return true;
}

void worker_free(struct worker *w)
{
    for (size_t i = 0; w->sessions && i < w->job->n_variants; i++)
        sessions_free(&w->sessions[i]);
    free(w->sessions);
    result_free(&w->base);
    beside_free(&w->beside);
    cand_free(&w->cand);
    row_cache_free(&w->cache);
    observer_free(&w->observer);
    free(w->masked);
}

// The size of the vocabulary that accepted tokens are held against; 0: they are not.
static size_t token_limit(const struct session *q, const struct input_row *row)
{
    return row->bad || q->recipe->parts.engine->passes_strangers ? 0 : row_vocab(&row->logits);
}

// n_vocab may be 0.
static bool in_vocabulary(const uint32_t *id, size_t n, size_t n_vocab, const char *where, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (n_vocab && id[i] >= n_vocab)
            return err_set(e, STATUS_DATA, "%s holds token %" PRIu32 ", the vocabulary ends at %zu", where, id[i],
                           n_vocab - 1);
    return true;
}

// ---- the tokens that are known

// The token that follows a row, when that is known beforehand; else -1. An error is the row's own.
static bool known_token(const struct job *j, const struct session *q, const struct input_row *row, int64_t *token,
                        struct err *e)
{
    if (j->expects && row->index >= j->expect.n)
        return err_set(e, STATUS_DATA, "--expect names no token for this row, only %zu", j->expect.n);
    *token = row->forced;
    if (*token >= 0) {
        const uint32_t id = (uint32_t)*token;
        return in_vocabulary(&id, 1, token_limit(q, row), "accept", e);
    }
    if (j->args->accept_recorded) {
        *token = row->recorded;
        return *token >= 0 || err_set(e, STATUS_DATA, "--accept recorded: the input records no tokens");
    }
    if (!j->args->accept && j->expects) {
        *token = j->expect.id[row->index];
        return in_vocabulary(&j->expect.id[row->index], 1, token_limit(q, row), "--expect", e);
    }
    if (!j->args->accept)
        return true;
    if (row->number >= j->accept.n)
        return err_set(e, STATUS_DATA, "--accept names no token for this row, only %zu", j->accept.n);
    *token = j->accept.id[row->number];
    return true;
}

// ---- the start of a sequence

// Does a sequence start at this row?
static bool starts(const struct job *j, const struct session *q, const struct input_row *row)
{
    return !q->begun || j->args->independent || (row->fresh && (row->own || j->args->accept_recorded));
}

// Makes up for the rows that other parts of the run work on: the generators go on from where those leave them. If a sequence that the
// format tells of began among them, that is where they were seeded.
static void catch_up(const struct job *j, struct session *q, const struct input_row *row)
{
    const bool began = j->args->accept_recorded && row->left_at < row->missed;
    if (began)
        session_restart(q, row->number - row->place);
    if (row->missed)
        chain_skip(q->chain, began ? row->left_at : row->missed);
}

// The same for a sequence that the format names.
static void locate(struct session *q, const struct input_row *row)
{
    session_locate(q, row->number - row->place, row->nth);
    if (row->left_at)
        chain_skip(q->chain, row->left_at);
}

// The prompt, and of known tokens those before the row. An error is one of the options.
static bool begin_sequence(const struct job *j, struct session *q, const struct input_row *row, struct err *e)
{
    const size_t n_vocab = token_limit(q, row);
    // of --accept
    const size_t from = row->own ? (size_t)(row->number - row->place) : 0;
    const size_t to = row->number < j->accept.n ? (size_t)row->number : j->accept.n;
    const size_t n_before = (q->follows && !row->own) || j->args->independent || to < from ? 0 : to - from;
    const uint32_t *const before = n_before ? j->accept.id + from : NULL;
    const uint32_t *const prompt = row->prompt ? row->prompt : j->prompt.id;
    const size_t n_prompt = row->prompt ? row->n_prompt : j->prompt.n;
    if (!in_vocabulary(prompt, n_prompt, n_vocab, row->prompt ? "prompt_tokens" : "--prompt-tokens", e) ||
        !in_vocabulary(before, n_before, n_vocab, "--accept", e))
        return false;
    if (j->args->independent)
        session_restart(q, row->number);
    else if (row->own)
        locate(q, row);
    else if (q->begun && row->fresh)
        session_restart(q, row->number - row->place);
    else if (!q->begun && !q->follows)
        catch_up(j, q, row);
    q->begun = true;
    // of the recorded tokens before the row
    const size_t n_text = j->args->independent || !j->args->accept_recorded ? 0 : (size_t)row->place;
    const uint32_t *const text = n_text ? row->before + (row->n_before - n_text) : NULL;
    return session_begin_text(q, e) && session_accept_prompt(q, prompt, n_prompt, e) &&
           (!j->args->accept_recorded || (session_accept_prompt(q, row->before, row->n_before - n_text, e) &&
                                          session_accept_text(q, text, n_text, e))) &&
           (session_accept_text(q, before, n_before, e) || err_prefix(e, "--accept, before this row"));
}

// The known tokens of the rows between the one before and this one, which nobody asked for.
static bool accept_gap(const struct job *j, struct session *q, const struct input_row *row, struct err *e)
{
    const size_t n = (size_t)row->gap, number = (size_t)row->number;
    if (!n || row->may_change)
        return true;
    if (j->args->accept_recorded)
        return row->n_before < n || session_accept_text(q, row->before + (row->n_before - n), n, e);
    if (number > j->accept.n)
        return true;
    const uint32_t *const id = j->accept.id + (number - n);
    return in_vocabulary(id, n, token_limit(q, row), "--accept", e) &&
           (session_accept_text(q, id, n, e) || err_prefix(e, "--accept, before this row"));
}

// An error is one of the options.
static bool begin_row(const struct job *j, struct session *q, const struct input_row *row, int64_t token, struct err *e)
{
    const size_t n_vocab = token_limit(q, row);
    if (n_vocab && token >= (int64_t)n_vocab && j->args->accept)
        return in_vocabulary(j->accept.id, (size_t)row->number + 1, n_vocab, "--accept", e);
    return starts(j, q, row) ? begin_sequence(j, q, row, e) : accept_gap(j, q, row, e);
}

// ---- the chain

// Runs the chain on a row, or on what the grammar or the reasoning budget has left of it, which `by` names.
static struct fault apply(struct worker *w, struct session *q, const struct row *row, const struct row *masked,
                          const char *by, struct result *res)
{
    const struct args *const a = w->job->args;
    const bool steps = w->job->expects || w->job->traces || a->after || w->job->removals,
               watched = steps || w->job->raws;
    struct fault fault = masked && !watched ? fault_none() : cand_load_shared(&w->cand, row, w->last > 1 ? &w->cache : NULL);
    if (!fault.code && watched)
        fault = observe_before(&w->observer, q->recipe, row, &w->cand, res);
    if (!fault.code && masked)
        fault = cand_load(&w->cand, masked);
    if (!fault.code && masked && watched)
        observe_masked(&w->observer, by, &w->cand);
    if (!fault.code)
        return chain_apply(q->chain, &w->cand, steps ? observe_stage : NULL, &w->observer);
    chain_skip(q->chain, 1);
    return fault;
}

// Where a bit of mask[0..n_bits) is 0, or there is none, x becomes -inf.
static void mask_dense(float *x, size_t n, const uint64_t *mask, size_t n_bits)
{
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t allowed = i < n_bits ? mask[i / 64] : 0;
        for (size_t k = 0; ~allowed && k < 64 && i + k < n; k++)
            x[i + k] = allowed >> k & 1 ? x[i + k] : -INFINITY;
    }
}

static void mask_sparse(float *x, const struct row *row, const uint64_t *mask, size_t n_bits)
{
    for (size_t i = 0; i < row->n; i++) {
        const uint32_t id = row->ids[i];
        if (id >= n_bits || !(mask[id / 64] >> id % 64 & 1))
            x[i] = -INFINITY;
    }
}

// A copy of a row as f32, to be masked: *masked has its logits in w->masked. False when memory is short.
static bool copy_row(struct worker *w, const struct row *row, struct row *masked)
{
    if (!mem_grow(&w->masked, &w->masked_cap, row->n, sizeof *w->masked))
        return false;
    *masked = *row;
    masked->type = DTYPE_F32;
    masked->data = w->masked;
    w->cand.kern->widen[row->type](w->masked, row->data, row->n);
    return true;
}

// Runs the chain on the tokens that fit the grammar, of which there is one.
static struct fault apply_grammar(struct worker *w, struct session *q, const struct row *row, struct result *res)
{
    const uint64_t *mask;
    struct row masked;
    const size_t n_tokens = q->recipe->of->vocab->n;
    const struct fault fault = matcher_mask(q->matcher, &mask);
    if (fault.code)
        return fault;
    if (!copy_row(w, row, &masked))
        return fault_memory();
    if (row->ids)
        mask_sparse(w->masked, row, mask, n_tokens);
    else
        mask_dense(w->masked, row->n, mask, n_tokens);
    return apply(w, q, row, &masked, TRACE_GRAMMAR, res);
}

// Runs the chain on a token that is to be chosen and all others masked. What else is wrong with the row still counts.
static struct fault apply_forced(struct worker *w, struct session *q, const struct row *row, uint32_t token,
                                 struct result *res)
{
    struct row masked;
    struct fault fault = cand_load(&w->cand, row);
    if (!fault.code && !copy_row(w, row, &masked))
        fault = fault_memory();
    if (fault.code) {
        chain_skip(q->chain, 1);
        return fault;
    }
    for (size_t i = 0; i < row->n; i++)
        if ((row->ids ? row->ids[i] : i) != token)
            w->masked[i] = -INFINITY;
    return apply(w, q, row, &masked, TRACE_REASONING, res);
}

// A token that the reasoning budget forces must fit the grammar. Otherwise the chain comes first; only if its token does not fit, once more
// on the tokens that do. (--grammar-first and some engines mask at once.) *masked: by either.
static struct fault sample(struct worker *w, struct session *q, const struct row *row, bool *masked, struct result *res)
{
    const uint32_t forced = session_forced(q);
    const bool force = forced != BUDGET_FREE;
    bool fits = true;
    *masked = force || (q->matcher && q->recipe->parts.grammar_first);
    if (*masked && !force)
        return apply_grammar(w, q, row, res);
    struct fault fault = force ? apply_forced(w, q, row, forced, res) : apply(w, q, row, NULL, NULL, res);
    if (!fault.code && q->matcher)
        fault = matcher_fits(q->matcher, w->cand.chosen, &fits);
    if (fault.code || fits)
        return fault;
    *masked = true;
    if (!force)
        return apply_grammar(w, q, row, res);
    fault.code = FAULT_ALL_MASKED;
    return fault;
}

// Samples a row that the chain stands ready for, or passes over it if it is bad.
static bool sample_row(struct worker *w, struct session *q, const struct input_row *row, int64_t known,
                       struct result *res)
{
    bool masked;
    if (row->bad) {
        chain_skip(q->chain, 1);
        res->bad = true;
        return false;
    }
    if (w->job->args->after && !recipe_find_stage(q->recipe, w->job->args->after, &w->observer.view_at, &res->e)) {
        res->e.status = STATUS_DATA; // its params made another chain
        chain_skip(q->chain, 1);
        res->bad = true;
        return false;
    }
    w->cand.position = (uint32_t)(row->number - q->base);
    struct fault fault = sample(w, q, &row->logits, &masked, res);
    const bool exhausted = masked && fault.code == FAULT_ALL_MASKED;
    if (!fault.code)
        fault = observe_after(&w->observer, &w->cand, known, res);
    if (exhausted)
        session_exhausted(q, &res->e);
    else
        session_fault(q->recipe, fault, &res->e);
    // Not that the options ask for what no such row has: that is no fault of the row's.
    res->bad = fault.code && res->e.status == STATUS_DATA && fault.code != FAULT_BIAS_ID && fault.code != FAULT_NO_SIZE;
    return !fault.code;
}

// ---- rows

// Takes in what the row says of its sequence. An error is the row's own, if it is one of data.
static bool read_row(const struct job *j, struct sessions *s, struct session *q, const struct input_row *row,
                     struct err *e)
{
    if (row->seq && row->missed && !row->own && !j->args->independent)
        return err_set(e, STATUS_DATA,
                       "a named sequence may have begun in an earlier part; with --independent that does not matter");
    if (row->prompt && !starts(j, q, row))
        return err_set(e, STATUS_DATA, "prompt_tokens after the sequence's first row");
    return !row->params || session_change(s, q, row->params, e);
}

// pass: the row is another worker's.
static bool session_row(struct worker *w, struct sessions *s, struct session *q, const struct input_row *row, bool pass,
                        struct result *res)
{
    const struct job *const j = w->job;
    int64_t known = -1;
    struct err late;
    bool ok = true;
    if (!read_row(j, s, q, row, &res->e) || !known_token(j, q, row, &known, row->bad ? &late : &res->e)) {
        chain_skip(q->chain, 1);
        res->bad = row->bad || res->e.status == STATUS_DATA;
        return false;
    }
    if (!begin_row(j, q, row, known, &res->e))
        return false;
    if (pass)
        chain_skip(q->chain, 1);
    else
        ok = sample_row(w, q, row, known, res);
    if (!ok && (known < 0 || !res->bad))
        return false;
    if (pass && known < 0 && row->may_change && !row->passed) // worker_tell will know it
        return true;
    const uint32_t token =
        known < 0 && !pass ? w->cand.chosen : (uint32_t)known; // in passing, no stage looks at an unknown one
    if (session_accept_text(q, &token, 1, &late))
        return ok;
    res->e = late;
    res->bad = false;
    return false;
}

// Samples a row, or passes over it: fills in ok, e and bad of the result. Returns ok.
static bool variant_row(struct worker *w, size_t variant, const struct input_row *row, bool pass, struct result *res)
{
    struct sessions *const s = &w->sessions[variant];
    struct session *const q = sessions_find(s, row->seq, &res->e);
    res->bad = false;
    if (q && !q->appeared)
        session_appear(s, q);
    if (q && !q->begun && row->may_change)
        chain_remember(q->chain);
    res->ok = q && session_row(w, s, q, row, pass, res);
    if (q && row->ends)
        sessions_end(s, q);
    return res->ok;
}

// One variant of a row.
static bool work_on(struct worker *w, size_t variant, const struct input_row *row, const struct err *bad,
                    struct result *res)
{
    const size_t width = emit_distribution(w->job->args->emit) ? row_vocab(&row->logits) : row->logits.n;
    res->record = (struct record){.row = row->number,
                                  .n_vocab = width,
                                  .type = row->logits.type,
                                  .seq = row->seq,
                                  .file = row->several ? row->file : NULL,
                                  .file_row = row->in_file};
    if (w->job->expects && row->index < w->job->expect.n)
        res->expected.id = w->job->expect.id[row->index];
    if (row->bad)
        res->e = *bad;
    w->cache.shares_stages = w->job->n_variants > 1 && !row->params && !row->ends;
    return variant_row(w, variant, row, false, res);
}

// A row that nobody has looked at comes next.
static void meet_row(struct worker *w)
{
    w->observer.raw_taken = false;
    row_cache_clear(&w->cache);
}

void worker_row(struct worker *w, const struct input_row *row, const struct err *bad, const struct input_row *other,
                const struct err *other_bad, struct result *res)
{
    const bool compares = w->job->compares;
    const struct after *const after = &w->observer.after;
    const bool own = w->first == 0; // is the base its own?
    struct result *const base = own ? res : &w->base;
    meet_row(w);
    bool beside = (own || compares) && work_on(w, 0, row, bad, base) && compares;
    if (beside && !beside_take(&w->beside, after, &w->cand)) {
        base->ok = false;
        err_from_fault(&base->e, fault_memory());
        beside = false;
    }
    if (beside)
        beside_compare(&w->beside, after, &w->cand, base->beside);
    if (other)
        meet_row(w);
    for (size_t i = own ? 1 : w->first; i < w->last; i++)
        if (work_on(w, i, other ? other : row, other ? other_bad : bad, &res[i]) && beside)
            beside_compare(&w->beside, after, &w->cand, res[i].beside);
}

bool worker_skip(struct worker *w, const struct input_row *row, const struct input_row *other)
{
    struct result res;
    const bool matters = row->may_change || !w->job->args->independent;
    for (size_t i = w->first; matters && i < w->last; i++)
        if (!variant_row(w, i, i && other ? other : row, true, &res) && !res.bad)
            return false;
    return true;
}

bool worker_tell(struct worker *w, const struct input_row *row, const struct result *res, struct err *e)
{
    const struct args *const a = w->job->args;
    const bool known = a->accept || a->accept_recorded || w->job->expects;
    for (size_t i = w->first; row->may_change && !known && i < w->last; i++) {
        struct session *const q = res[i].ok ? sessions_find(&w->sessions[i], row->seq, e) : NULL;
        if (res[i].ok && !(q && session_accept_text(q, &res[i].record.chosen, 1, e)))
            return false;
    }
    return true;
}
