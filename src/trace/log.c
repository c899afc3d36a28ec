// SPDX-License-Identifier: MIT
#include "trace/log.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void log_free(struct log *l)
{
    raw_free(&l->raw);
    after_free(&l->after);
    free(l->step);
    free(l->id);
    free(l->logit);
    free(l->p);
    free(l->sort.memory);
    builder_free(&l->words);
}

// Lists of more candidates than this are not sorted by insertion, but go through an array of the whole row.
enum { SORTED_MOST = 256 };

// Copies the unmasked candidates of a list to id[] and logit[], by rising id. Returns how many.
static size_t sort_list(const struct cand *c, uint32_t *id, float *logit)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = n;
        if (c->logit[i] == -INFINITY ||
            cand_row_place(c, c->id[i]) == c->n_row) // infill may add a token to a sparse row
            continue;
        for (; at && id[at - 1] > c->id[i]; at--) {
            id[at] = id[at - 1];
            logit[at] = logit[at - 1];
        }
        id[at] = c->id[i];
        logit[at] = c->logit[i];
        n++;
    }
    return n;
}

// Leaves the unmasked of a whole row's logits, with their tokens. Returns how many. Each candidate is written, and the
// next one replaces it if it is masked: without branches, as masked ones can stand anywhere.
static size_t pack_row(const struct cand *c, uint32_t *id, float *logit)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_row; i++) {
        id[n] = c->row_id ? c->row_id[i] : (uint32_t)i;
        logit[n] = logit[i];
        n += logit[n] > -INFINITY;
    }
    return n;
}

// Returns the factor of the logits in the softmax that a stage hands on.
static float handed_factor(const struct stage *stage)
{
    return stage->sampler->hands == HANDS_DIVIDED ? 1.0f / (float)stage_first(stage) : 1.0f;
}

// Sets the softmaxes of a step that left the logits x[0..c->n); scratch has room for as many.
static void take_softmax(struct log_step *s, const struct log_step *before, const struct cand *c, const float *x,
                         float *scratch)
{
    const enum handing hands = s->stage && before ? s->stage->sampler->hands : HANDS_NOTHING;
    s->factor = hands_softmax(hands) ? handed_factor(s->stage) : hands == HANDS_SAME ? before->factor : 1.0f;
    if (s->factor != 1.0f) {
        memcpy(scratch, x, c->n * sizeof *x);
        c->kern->multiply(scratch, c->n, s->factor);
        x = scratch;
    }
    s->softmax = softmax_of(c->kern, x, c->n);
    if (s->factor == 1.0f)
        step_add_unlisted(s, &s->softmax);
    s->given = hands == HANDS_SAME ? before->given : s->softmax;
}

void step_add_unlisted(const struct log_step *step, struct softmax *s)
{
    if (step->weight > -INFINITY)
        softmax_add(s, step->weight, step->weight);
}

size_t step_rank(const struct log *l, const struct kern *kern, const struct log_step *step, size_t at)
{
    const float *const logit = l->logit + step->at;
    if (step->as_read && (size_t)l->id[step->at + at] + 1 == l->extra_token)
        return l->extra_rank;
    return logit[at] < step->ceiling ? 0 : rank_of(kern, logit, step->n, at);
}

// Notes what is known of the unlisted tokens.
static void note_unlisted(struct log_step *s, const struct unlisted *r)
{
    const bool none = r->state == UNLISTED_NONE || r->state == UNLISTED_GONE, live = r->state == UNLISTED_LIVE;
    s->unlisted = r->state;
    s->as_read = live && r->ranked && r->left == LEFT_ALL;
    s->ceiling = none ? -INFINITY : live ? r->ceiling : INFINITY;
    s->weight = none ? -INFINITY : live && r->high - r->low < 1e-3 ? (r->high + r->low) / 2.0 : NAN;
}

const struct log_step *log_unlisted_removal(const struct log *l)
{
    for (size_t i = 1; i < l->n_steps; i++)
        if (l->step[i].unlisted == UNLISTED_GONE && l->step[i - 1].unlisted == UNLISTED_LIVE)
            return &l->step[i];
    return NULL;
}

double step_prob(const struct log_step *step, float logit) { return softmax_prob(&step->given, logit * step->factor); }

struct softmax log_compared(const struct log *l, const struct kern *kern, const struct log_step *step,
                            struct compared *of)
{
    const struct log_step *from = step;
    while (from->stage && from->stage->sampler->hands == HANDS_SAME)
        from--;
    if (from < step && from->stage && hands_softmax(from->stage->sampler->hands)) {
        const float factor = handed_factor(from->stage);
        float *const scaled = l->logit + l->taken;
        memcpy(scaled, l->logit + from->at, from->n * sizeof *scaled);
        kern->multiply(scaled, from->n, factor);
        const struct softmax s = softmax_of(kern, scaled, from->n);
        memcpy(scaled, of->logit, of->n * sizeof *scaled);
        kern->multiply(scaled, of->n, factor);
        of->logit = scaled;
        of->own *= factor;
        return s;
    }
    struct softmax s = softmax_of(kern, of->logit, of->n);
    step_add_unlisted(step - 1, &s);
    return s;
}

// Has the sampler of the last step say what it did. The words of a step begin behind a NUL.
static struct fault take_account(struct log *l, const void *state, const struct cand *c)
{
    struct log_step *const step = &l->step[l->n_steps - 1], *const before = step - 1;
    const bool empty = !before->n || !(before->given.sum > 0.0);
    struct account a = {.stage = step->stage,
                        .state = state,
                        .history = c->history,
                        .note = step->note,
                        .n_notes = step->n_notes,
                        .of = {.logit = l->logit + before->at, .n = before->n},
                        .alone = c->n == 1,
                        .unchanged = step->at == before->at,
                        .whole = before->unlisted == UNLISTED_NONE || before->unlisted == UNLISTED_GONE,
                        .before = {l->id + before->at, l->logit + before->at, before->n},
                        .after = {l->id + step->at, l->logit + step->at, step->n},
                        .words = &l->words};
    if (empty)
        return fault_none();
    a.of.own = a.of.logit[0];
    for (size_t i = 1; a.unchanged && i < a.of.n; i++)
        a.of.own = a.of.logit[i] < a.of.own ? a.of.logit[i] : a.of.own;
    const struct softmax s = a.unchanged ? log_compared(l, c->kern, step, &a.of) : before->softmax;
    a.of.softmax = &s;
    step->words = l->words.len;
    account_take(&a);
    builder_byte(&l->words, '\0');
    memcpy(step->finding, a.finding, sizeof a.finding);
    step->n_findings = a.n_findings;
    return builder_whole(&l->words) ? fault_none() : fault_memory();
}

void log_first_choice(struct log *l, uint32_t token, bool fits)
{
    if (!l->takes_softmaxes)
        return;
    l->first = l->words.len;
    builder_format(&l->words,
                   fits ? "allowed the first choice {%" PRIu32 "}" : "the first choice {%" PRIu32 "} did not fit",
                   token);
    builder_byte(&l->words, '\0');
}

static struct fault add_log_step(struct log *l, const char *mask, const struct stage *stage, const struct cand *c)
{
    const bool list = !c->dense && c->n <= SORTED_MOST;
    const size_t room = l->taken + 2 * c->n_row; // for this step and for log_spread
    if (!mem_grow(&l->step, &l->step_cap, l->n_steps + 1, sizeof *l->step) ||
        !mem_grow(&l->id, &l->id_cap, room, sizeof *l->id) ||
        !mem_grow(&l->logit, &l->logit_cap, room, sizeof *l->logit))
        return fault_memory();
    struct log_step *const s = &l->step[l->n_steps], *const before = l->n_steps++ ? s - 1 : NULL;
    uint32_t *const id = l->id + l->taken;
    float *const logit = l->logit + l->taken;
    *s = (struct log_step){.mask = mask, .stage = stage, .at = l->taken};
    note_unlisted(s, &c->unlisted);
    if (!list)
        cand_snapshot(c, logit);
    if (l->takes_softmaxes)
        take_softmax(s, before, c, c->dense ? logit : c->logit, logit + c->n_row);
    s->n = list ? sort_list(c, id, logit) : pack_row(c, id, logit);
    if (before && before->n == s->n && !memcmp(id, l->id + before->at, s->n * sizeof *id) &&
        !memcmp(logit, l->logit + before->at, s->n * sizeof *logit))
        s->at = before->at;
    else
        l->taken += s->n;
    for (size_t i = 0; stage && i < c->n_notes; i++)
        if (!isnan(c->note[i].value))
            s->note[s->n_notes++] = c->note[i];
    return fault_none();
}

struct fault log_begin(struct log *l, const struct recipe *recipe, const struct row *row, const struct cand *c)
{
    l->recipe = recipe;
    l->n_steps = l->taken = l->first = 0;
    l->extra_token = row->unlisted.extra_token;
    l->extra_rank = row->unlisted.extra_rank;
    if (l->takes_raw && !l->raw.row && !raw_measure(&l->raw, row, c))
        return fault_memory();
    if (!l->takes_steps)
        return fault_none();
    l->standing = (struct log_standing){.budget = NULL};
    builder_clear(&l->words);
    builder_byte(&l->words, '\0'); // the words of a step that has none
    return add_log_step(l, NULL, NULL, c);
}

struct fault log_mask(struct log *l, const char *mask, const struct cand *c)
{
    if (!l->takes_steps)
        return fault_none();
    const struct fault fault = add_log_step(l, mask, NULL, c);
    struct log_step *const step = &l->step[l->n_steps - 1];
    if (fault.code || !l->takes_softmaxes || step->at != step[-1].at)
        return fault;
    step->words = l->words.len;
    builder_format(&l->words, step->n == 1 ? "allowed the only candidate" : "allowed all %zu candidates", step->n);
    builder_byte(&l->words, '\0');
    return builder_whole(&l->words) ? fault_none() : fault_memory();
}

struct fault log_stage(void *arg, size_t stage, const void *state, struct cand *c)
{
    struct log *const l = arg;
    const struct fault fault = add_log_step(l, NULL, &l->recipe->stage[stage], c);
    return fault.code || !l->takes_softmaxes ? fault : take_account(l, state, c);
}

const struct log_step *log_step_at(const struct log *l, size_t stage)
{
    const struct log_step *last = l->step;
    for (size_t i = 1; i < l->n_steps; i++)
        if (!l->step[i].stage || l->step[i].stage - l->recipe->stage <= (ptrdiff_t)stage)
            last = &l->step[i];
    return last;
}

const float *log_spread(struct log *l, const struct log_step *step, const struct cand *c)
{
    float *const row = l->logit + l->taken;
    for (size_t i = 0; i < c->n_row; i++)
        row[i] = -INFINITY;
    for (size_t i = step->at; i < step->at + step->n; i++)
        row[cand_row_place(c, l->id[i])] = l->logit[i];
    return row;
}

size_t log_find(const struct log *l, const struct log_step *step, uint32_t id)
{
    const uint32_t *const ids = l->id + step->at, *const found = bsearch(&id, ids, step->n, sizeof id, order_u32);
    return found ? (size_t)(found - ids) : SIZE_MAX;
}
