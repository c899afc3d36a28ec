// SPDX-License-Identifier: MIT
#include "run/worker.h"

#include "out/message.h"
#include "views/view.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool worker_init(struct worker *w, const struct job *job, size_t first, size_t last, struct err *e)
{
    assert(first < last && last <= job->variants->n);
    *w = (struct worker){.job = job,
                         .first = first,
                         .last = last,
                         .sessions = calloc(job->variants->n, sizeof *w->sessions),
                         .chooser.log.takes_raw = job_records(job, LOG_RAW),
                         .chooser.log.takes_steps = job_records(job, LOG_STEPS),
                         .chooser.log.takes_softmaxes = job_records(job, LOG_SOFTMAXES)};
    cand_init(&w->chooser.cand, job->kern);
    w->chooser.cand.want_p = job_records(job, LEAVE_P);
    w->chooser.cand.want_notes = job_records(job, RECORD_LINES | RECORD_LIST | LEAVE_NOTES);
    w->chooser.cand.measure = job_records(job, RECORD_STATS) && job_measures(job) ? w->measure : NULL;
    w->chooser.cand.want_logits = job_records(job, LEAVE_LOGITS);
    if (!w->sessions)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < last; i++) {
        if (i < first && (i || !job_records(job, RECORD_PAIRS)))
            continue;
        w->sessions[i].recipes = job->recipes;
        w->sessions[i].recipe = job->variants->recipe[i];
        if (!sessions_find(&w->sessions[i], NULL, e))
            return false;
    }
    return true;
}

void worker_free(struct worker *w)
{
    for (size_t i = 0; w->sessions && i < w->job->variants->n; i++)
        sessions_free(&w->sessions[i]);
    free(w->sessions);
    input_reader_free(w->reader);
    result_free(&w->unshown);
    pair_free(&w->base);
    agreement_free(&w->scratch);
    chooser_free(&w->chooser);
    row_cache_free(&w->cache);
}

// ---- prepare: the sequence, its parameters, and its history up to the row

// The size of the vocabulary that accepted tokens must be below; 0: no limit.
static size_t token_limit(const struct session *q, const struct input_row *row)
{
    return row->bad || q->recipe->key.engine->ignores_unknown ? 0 : row_vocab(&row->logits);
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

// Returns whether a sequence starts at this row.
static bool sequence_starts(const struct job *j, const struct session *q, const struct input_row *row)
{
    return !q->begun || j->args->independent || q->first != row->place.first;
}

// Applies what the row says of its sequence. An error of status STATUS_DATA is the row's own.
static bool apply_notes(const struct job *j, struct sessions *s, struct session *q, const struct input_row *row,
                        struct err *e)
{
    if (row->seq && row->place.drawn && !row->place.named && !j->args->independent)
        return err_set(e, STATUS_DATA,
                       "a named sequence may have begun in an earlier part; with --independent that does not matter");
    if (row->prompt.id && !sequence_starts(j, q, row))
        return err_set(e, STATUS_DATA, "prompt_tokens after the sequence's first row");
    if (!row->params)
        return true;
    const bool ok = session_change(s, q, row->params, e);
    message_notes(&s->recipes->notes); // rows with params run on one thread
    return ok;
}

// The token that follows a row, if that is known beforehand; else -1. An error is the row's own.
static bool known_token(const struct job *j, size_t variant, const struct session *q, const struct input_row *row,
                        int64_t *token, struct err *e)
{
    const bool shown = row->place.use == ROW_SHOWN, recorded = job_claims_recorded(j);
    const struct ids *const claimed = job_claimed(j, variant);
    const char *const option = job_claim_option(j, variant);
    if (recorded && row->recorded < 0)
        return err_set(e, STATUS_DATA, "%s recorded: the input records no tokens", option);
    if (job_has_claims(j) && !recorded && shown && row->index >= claimed->n)
        return err_set(e, STATUS_DATA, "%s has no token for this row: the list ends after %zu", option, claimed->n);
    *token = j->args->audit ? -1 : row->forced; // a claimed token follows its row
    if (*token >= 0)
        return in_vocabulary(&(uint32_t){(uint32_t)*token}, 1, token_limit(q, row), "accept", e);
    switch (j->follows) {
    case FOLLOWS_CHOSEN:
        break;
    case FOLLOWS_RECORDED:
        *token = row->recorded;
        return *token >= 0 || err_set(e, STATUS_DATA, "--%s recorded: the input records no tokens",
                                      j->args->accept ? "accept" : "draws");
    case FOLLOWS_CLAIMED:
        if (!shown || claimed->id[row->index] == VOCAB_NONE)
            break;
        *token = claimed->id[row->index];
        return in_vocabulary(&claimed->id[row->index], 1, token_limit(q, row), option, e);
    case FOLLOWS_ACCEPT:
        if (row->number >= j->accept.n)
            return err_set(e, STATUS_DATA, "--accept has no token for this row: the list ends after %zu", j->accept.n);
        *token = j->accept.id[row->number];
    }
    return true;
}

// The tokens that are known of the rows before a row that the input has not returned.
static struct tokens tokens_before(const struct job *j, const struct input_row *row)
{
    const size_t n = j->args->independent ? 0 : (size_t)row->place.left_out, from = (size_t)row->number - n;
    const size_t to = row->number < j->accept.n ? (size_t)row->number : j->accept.n;
    if (j->follows == FOLLOWS_RECORDED && n && n <= row->before.n)
        return (struct tokens){row->before.id + (row->before.n - n), n};
    return from < to ? (struct tokens){j->accept.id + from, to - from} : (struct tokens){0};
}

// Returns whether the row's place tells what precedes its sequence.
static bool place_is_known(const struct session *q, const struct input_row *row)
{
    return !q->follows || row->place.named;
}

// Begins the text of a sequence at a row, with an empty history. The seed of the generators is the recipe's plus the
// number of the text's first row; where the format names the sequence and the engine seeds each, plus the index of the
// sequence in the input. For the first text of the run, and the first of a name, it is the recipe's. alone: the row is
// a sequence of its own.
static bool begin_text(struct session *q, const struct input_row *row, bool alone, struct err *e)
{
    const struct place *const p = &row->place;
    const uint64_t first = alone ? row->number : p->first;
    const bool known = place_is_known(q, row);
    if (p->named && !alone) {
        q->seed_offset = q->recipe->key.engine->seeds_each ? p->sequence : first;
        chain_reset(q->chain, session_seed_of(q, q->recipe));
    } else if (alone || q->begun || (known && p->before)) {
        const bool later = alone || !known || p->before; // not the first text of the run
        chain_reset(q->chain, session_seed(q->recipe, later ? first : 0));
    }
    q->first = first;
    if (q->begun || alone) // else rows of the sequence may have failed before it began
        q->unknown = 0;
    q->begun = true;
    return session_restart(q, e);
}

// Moves a sequence forward to a row: begins it if it starts there, takes its generators past the rows of the run that
// the input has not returned, and accepts the tokens of all rows that it has not returned. An error is one of the
// options.
static bool move_to(const struct job *j, struct session *q, const struct input_row *row, struct err *e)
{
    const bool recorded = j->follows == FOLLOWS_RECORDED, begins = sequence_starts(j, q, row),
               alone = j->args->independent;
    const size_t n_vocab = token_limit(q, row);
    const struct tokens known = tokens_before(j, row), given = {j->prompt.id, j->prompt.n},
                        prompt = row->prompt.id ? row->prompt : given;
    if (begins && !in_vocabulary(prompt.id, prompt.n, n_vocab, row->prompt.id ? "prompt_tokens" : "--prompt-tokens", e))
        return false;
    if (!recorded && !in_vocabulary(known.id, known.n, n_vocab, "--accept", e))
        return false;
    if (begins && !begin_text(q, row, alone, e))
        return false;
    if (row->place.drawn && !alone && (!begins || place_is_known(q, row)))
        chain_skip(q->chain, row->place.drawn, row->bad ? 0 : row_vocab(&row->logits));
    if (begins && !session_accept_prompt(q, prompt.id, prompt.n, e))
        return false;
    if (begins && recorded && !session_accept_prompt(q, row->before.id, row->before.n - known.n, e))
        return false;
    return session_accept_text(q, known.id, known.n, e) || (!recorded && err_prefix(e, "--accept, before this row"));
}

// Passes over a row that is not sampled. Returns false.
static bool pass_over(struct session *q, struct result *res, bool bad)
{
    chain_skip(q->chain, 1, 0);
    res->bad = bad;
    return false;
}

// Makes a sequence ready for a row. *known is the token that follows the row, or -1.
static bool prepare(const struct job *j, size_t variant, struct sessions *s, struct session *q,
                    const struct input_row *row, int64_t *known, struct result *res)
{
    struct err late;
    if (!apply_notes(j, s, q, row, &res->e) || !known_token(j, variant, q, row, known, row->bad ? &late : &res->e)) {
        res->bad = row->bad || res->e.status == STATUS_DATA;
        return false;
    }
    const size_t n_vocab = token_limit(q, row);
    if (n_vocab && *known >= (int64_t)n_vocab && j->follows == FOLLOWS_ACCEPT)
        return in_vocabulary(&(uint32_t){(uint32_t)*known}, 1, n_vocab, "--accept", &res->e);
    return move_to(j, q, row, &res->e);
}

// ---- sample

// Returns what is read of the choice of a row's selector: by the view, the grammar, the budget, or a stage of a later
// row.
static unsigned choice_wanted(const struct job *j, const struct session *q, const struct input_row *row)
{
    const bool matters = !job_records(j, IGNORE_CHOICE) || !chain_only_selects(q->chain) || q->matcher ||
                         q->budget.rules || row->may_change;
    if (!matters)
        return WANT_NO_TOKEN;
    return job_records(j, LEAVE_CHOSEN_P) ? WANT_TOKEN_AND_P : WANT_TOKEN;
}

// Samples a row that the chain stands ready for and records it, or passes over it if it is bad.
static bool sample(struct worker *w, struct session *q, const struct input_row *row, int64_t known, struct result *res)
{
    const struct job *const j = w->job;
    const struct view *const view = j->view;
    const char *const stage = j->args->after;
    const bool shown = row->place.use == ROW_SHOWN;
    bool masked, bad;
    size_t after = 0; // index of --after's stage
    if (row->bad)
        return pass_over(q, res, true);
    if (view->ready && !view->ready(j->self, q->own, row, &bad, &res->e) && (shown || bad))
        return pass_over(q, res, bad);
    if (stage && !recipe_find_stage(q->recipe, stage, &after, &res->e)) {
        res->e.status = STATUS_DATA; // its params made another chain
        return pass_over(q, res, true);
    }
    w->chooser.cand.position_known = row->position >= 0;
    w->chooser.cand.position = row->position >= 0              ? (uint32_t)row->position
                               : row->seq && !row->place.named ? (uint32_t)q->rows
                                                               : (uint32_t)(row->number - q->first);
    w->chooser.cand.want = choice_wanted(j, q, row);
    struct fault fault = choose_token(&w->chooser, q, &row->logits, &masked);
    const bool exhausted = masked && fault.code == FAULT_ALL_MASKED;
    const struct certainty of = {session_exact(q, &row->logits, &w->chooser.cand),
                                 chain_only_selects(q->chain) ? &row->logits : NULL};
    // The candidates behind the selector are shown in any case.
    const bool shows = !fault.code && stage && after + 1 < q->recipe->n_stages;
    res->record.chosen = w->chooser.cand.chosen;
    if (!fault.code && shown)
        fault = record_fill(j, &w->chooser.log, &w->chooser.cand, &of,
                            shows ? log_step_at(&w->chooser.log, after) : NULL, known, res);
    if (!fault.code && shown && view->watch)
        fault = view->watch(j->self, row, &w->chooser.log, &w->chooser.cand, res);
    if (exhausted)
        session_exhausted(q, w->chooser.cand.unlisted.state != UNLISTED_NONE, &res->e);
    else
        session_fault(q->recipe, fault, &res->e);
    if (!fault.code)
        session_record_unlisted(q, &row->logits, &w->chooser.cand, known, res);
    // If the options ask for what no such row has, the fault is not the row's.
    res->bad = fault.code && res->e.status == STATUS_DATA && fault.code != FAULT_NO_SIZE;
    return !fault.code;
}

// ---- rows

// In place of a token that another worker has chosen: the row is sampled here, or the token is not known.
enum { SAMPLED_HERE = -2, TOKEN_UNKNOWN = -1 };

// Takes a row through a variant: prepares its sequence, samples the row or passes over it, and accepts its token.
// chosen: the token that another worker has chosen. Fills in ok, e and bad of the result. Returns ok.
static bool variant_row(struct worker *w, size_t variant, const struct input_row *row, int64_t chosen,
                        struct result *res)
{
    struct sessions *const s = &w->sessions[variant];
    struct session *const q = sessions_find(s, row->seq, &res->e);
    const bool left_out = row_is_left_out(row->place.use), here = chosen == SAMPLED_HERE;
    int64_t token = -1;
    res->ok = res->bad = false;
    if (!q)
        return false;
    if (!left_out)
        session_appear(s, q);
    if (!q->begun && row->may_change)
        chain_remember(q->chain);
    const bool ready = prepare(w->job, variant, s, q, row, &token, res);
    const bool given = token >= 0;
    q->chose = q->chose && !row->fresh && !w->job->args->independent;
    res->record.own_history = q->chose;
    if (!(here && ready) && !left_out)
        chain_skip(q->chain, 1, ready && !row->bad ? row_vocab(&row->logits) : 0);
    res->ok = ready && (!here || sample(w, q, row, token, res));
    if (res->bad)
        session_failed_unknown(q, token);
    if (token < 0 && here)
        token = res->ok ? (int64_t)w->chooser.cand.chosen : -1;
    else if (token < 0 && !left_out)
        token = chosen;
    if (token < 0 && row->place.use == ROW_PASSED && !w->job->args->independent)
        token = UINT32_MAX; // nobody knows it, but the history gets as long as in the whole run
    if (ready && (res->ok || res->bad) && token >= 0) {
        const uint32_t id = (uint32_t)token;
        if (!session_accept_text(q, &id, 1, &res->e))
            res->ok = res->bad = false;
        q->chose = q->chose || !given;
    }
    q->rows++;
    if (row->ends)
        sessions_end(s, q);
    return res->ok;
}

// Takes a row through a variant for its result. A bad row is no error if it is not shown.
static bool row_result(struct worker *w, size_t variant, const struct input_row *row, const struct err *bad,
                       struct result *res)
{
    const struct job *const j = w->job;
    const bool sampled = row_is_sampled(row->place.use), shown = row->place.use == ROW_SHOWN;
    res->n_vocab = !sampled || row->bad ? 0 : row_vocab(&row->logits);
    res->record = (struct record){.row = row->number,
                                  .n_vocab = emit_distribution(j->args->emit) ? row_vocab(&row->logits) : row->logits.n,
                                  .type = row->logits.type,
                                  .seq = row->seq,
                                  .file = row->several ? row->file : NULL,
                                  .file_row = row->in_file};
    if (row->bad)
        res->e = *bad;
    w->chooser.cache = w->last > 1 ? &w->cache : NULL;
    w->cache.shares_stages = j->variants->n > 1 && !row->params && !row->ends;
    const bool ok = variant_row(w, variant, row, sampled ? SAMPLED_HERE : TOKEN_UNKNOWN, res);
    res->ok = ok || (!shown && res->bad);
    return res->ok;
}

// A row comes next that nobody has looked at.
static void forget_row(struct worker *w)
{
    w->chooser.log.raw.row = NULL;
    row_cache_clear(&w->cache);
}

// Compares the raw rows for --report.
static void report_row(struct worker *w, const struct input_row *row, const struct input_row *other, int64_t token,
                       struct result *res)
{
    if (agreement_measure(&w->scratch, w->job->kern, &row->logits, &other->logits, token, &res->agreement))
        return;
    res->ok = false;
    err_from_fault(&res->e, fault_memory());
}

// Returns the row of --against that stands beside `row`. If that file tells nothing of its text, as raw rows do, its
// row follows the text of `row`.
static struct input_row beside(const struct input_row *row, const struct input_row *other)
{
    struct input_row r = *other;
    if (row->recorded >= 0 && other->recorded < 0 && !other->before.id && !other->seq) {
        r.recorded = row->recorded;
        r.before = row->before;
        r.fresh = row->fresh;
        r.place = row->place;
    }
    return r;
}

// Narrows two rows that are compared to the ids that both have. A row that is skipped is as wide as one that is
// sampled: some generators advance by the width.
static void narrow(const struct job *j, struct input_row *row, struct input_row *other)
{
    const size_t n = row->logits.n < other->logits.n ? row->logits.n : other->logits.n;
    if (job_records(j, RECORD_PAIRS) && rows_differ_in_width(&row->logits, &other->logits))
        row->logits.n = other->logits.n = n;
}

void worker_row(struct worker *w, const struct input_row *row, const struct err *bad, const struct input_row *other,
                const struct err *other_bad, struct result *res)
{
    const bool pairs = job_records(w->job, RECORD_PAIRS), compares = pairs && row->place.use == ROW_SHOWN;
    const struct after *const after = &w->chooser.log.after;
    const bool own = w->first == 0; // the base's result is shown
    struct result *const base = own ? res : &w->unshown;
    struct input_row narrowed, aligned;
    if (other) {
        narrowed = *row;
        aligned = beside(row, other);
        narrow(w->job, &narrowed, &aligned);
        row = &narrowed;
        other = &aligned;
    }
    forget_row(w);
    bool paired = (own || pairs) && row_result(w, 0, row, bad, base) && compares;
    if (paired && !pair_set_base(&w->base, after)) {
        base->ok = paired = false;
        err_from_fault(&base->e, fault_memory());
    }
    if (paired)
        pair_measure(&w->base, after, base->pair);
    if (other)
        forget_row(w);
    const bool residual = w->job->args->emit == EMIT_RESIDUAL;
    for (size_t i = own ? 1 : w->first; i < w->last; i++) {
        const bool ok = row_result(w, i, other ? other : row, other ? other_bad : bad, &res[i]);
        if (!paired)
            res[i].record.pair = NULL;     // the base is bad
        if (!ok && residual && base->ok) { // without drafts there is no residual
            base->ok = false;
            base->bad = res[i].bad;
            base->e = res[i].e;
        }
        if (!ok || !paired)
            continue;
        pair_measure(&w->base, after, res[i].pair);
        if (job_records(w->job, RECORD_AGREEMENT))
            report_row(w, row, other, base->record.accepted, &res[i]);
        if (residual)
            pair_residual(&w->base, after, base->memory, base->record.n_vocab);
    }
}

// Returns whether rows that differ from this one in their place only advance the generators, and nothing else.
static bool only_advances(const struct job *j, const struct input_row *row)
{
    return j->follows == FOLLOWS_CHOSEN && !j->args->independent && !row->seq && !row->before.id && !row->may_change;
}

bool worker_skip(struct worker *w, const struct input_row *row, const struct input_row *other, size_t n,
                 const struct result *known, struct err *e)
{
    const bool matters = row->may_change || !w->job->args->independent, quick = only_advances(w->job, row);
    struct result res;
    assert(n == 1 || (n && !other && !known));
    for (size_t i = w->first; matters && i < w->last; i++) {
        const int64_t chosen = known && known[i].ok ? (int64_t)known[i].record.chosen : TOKEN_UNKNOWN;
        struct input_row at = *row, aligned;
        if (other) {
            aligned = beside(row, other);
            narrow(w->job, &at, &aligned);
            at = i ? aligned : at;
        }
        size_t left = n;
        for (; left == n || (left && !quick); left--) {
            if (left < n)
                input_step(&at, 1);
            if (!variant_row(w, i, &at, chosen, &res) && !res.bad) {
                *e = res.e;
                return false;
            }
        }
        struct session *const q = left ? sessions_find(&w->sessions[i], NULL, &res.e) : NULL;
        if (q) {
            chain_skip(q->chain, left, row_vocab(&row->logits));
            q->rows += left;
        }
    }
    return true;
}
