// SPDX-License-Identifier: MIT
#include "chain/chain.h"

#include "base/mem.h"
#include "sample/cand_private.h"
#include "sample/row_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// The state of one sampler. If no stage runs the sampler any more, the state is kept for a later stage.
struct part {
    const struct sampler *sampler;
    void *state; // NULL when the sampler has none
    bool begun;  // zeroed and reset since the sequence, or its seed, began
    bool claimed;
};

// A stage that runs.
struct running {
    const struct stage *stage;
    size_t index;   // of the stage
    size_t part;    // index in chain.part
    bool may_defer; // all running stages behind it accept deferred work

    // What the stage needs to know of unlisted tokens, and how it runs while they may be candidates.
    bool needs_count; // their number decides what it does
    bool needs_sum;   // it hands on a softmax: the bits of the full row's need all logits
    void (*partial)(void *self, struct cand *c, const struct stage *stage); // NULL: on the listed tokens alone
};

struct chain {
    struct history history;
    uint64_t seed;
    bool remembers;
    uint64_t width; // tokens of the row before; 0: none has told
    size_t n_parts, part_cap, n_running;
    struct part *part;       // [n_parts] the k-th part of a sampler belongs to the k-th stage that runs it
    struct running *running; // [n_running]
};

// Returns how many earlier tokens a stage reads, and one more, which tallies need.
static size_t stage_window(const struct stage *stage)
{
    const size_t window = stage->sampler->window ? stage->sampler->window(stage) : 0;
    return window + (window && window < HISTORY_ALL);
}

enum carry stages_carry(const struct stage *stage, size_t n, size_t *at)
{
    enum carry most = CARRY_NOTHING;
    for (size_t i = 0; i < n; i++) {
        const struct sampler *const s = stage[i].sampler;
        enum carry carry = CARRY_NOTHING;
        if (stage_enabled(&stage[i]) && s->needs_rows && s->needs_rows(&stage[i]))
            carry = CARRY_ROWS;
        else if (stage_enabled(&stage[i]) && stage_window(&stage[i]))
            carry = CARRY_TOKENS;
        if (carry > most && at)
            *at = i;
        most = carry > most ? carry : most;
    }
    return most;
}

// Claims the first part of the sampler that no stage has claimed, or a new one. Returns false when memory is short.
static bool claim_part(struct chain *ch, const struct sampler *sampler, size_t *at)
{
    for (*at = 0; *at < ch->n_parts; ++*at)
        if (ch->part[*at].sampler == sampler && !ch->part[*at].claimed)
            break;
    if (*at == ch->n_parts) {
        void *state = NULL;
        if (!mem_grow(&ch->part, &ch->part_cap, ch->n_parts + 1, sizeof *ch->part) ||
            (sampler->size && !(state = calloc(1, sampler->size))))
            return false;
        ch->part[ch->n_parts++] = (struct part){.sampler = sampler, .state = state};
    }
    ch->part[*at].claimed = true;
    return true;
}

// Returns the running stages of those of n stages that are enabled; *made: their number. NULL when memory is short.
static struct running *make_running(struct chain *ch, const struct stage *stage, size_t n, size_t *made)
{
    size_t enabled = 0;
    for (size_t i = 0; i < n; i++)
        enabled += stage_enabled(&stage[i]);
    struct running *const running = calloc(enabled, sizeof *running); // a run may have millions of chains
    for (size_t i = 0; i < ch->n_parts; i++)
        ch->part[i].claimed = false;
    *made = 0;
    for (size_t i = 0; running && i < n; i++) {
        if (!stage_enabled(&stage[i]))
            continue;
        const struct sampler *const s = stage[i].sampler;
        struct running *const l = &running[(*made)++];
        *l = (struct running){.stage = &stage[i],
                              .index = i,
                              .needs_count = !s->partial.apply || s->learns,
                              .needs_sum = hands_softmax(s->hands),
                              .partial = s->partial.apply};
        if (!claim_part(ch, s, &l->part)) {
            free(running);
            return NULL;
        }
    }
    for (size_t i = *made; running && i-- > 1;)
        running[i - 1].may_defer =
            running[i].stage->sampler->takes_deferred && (running[i].stage->sampler->selector || running[i].may_defer);
    return running;
}

// Resets the parts that run and have not been reset since the sequence, or its seed, began.
static void reset_parts(struct chain *ch)
{
    for (size_t i = 0; i < ch->n_running; i++) {
        struct part *const part = &ch->part[ch->running[i].part];
        const struct sampler *const s = part->sampler;
        if (!part->begun && s->release)
            s->release(part->state);
        if (!part->begun && s->size)
            memset(part->state, 0, s->size);
        if (!part->begun && s->reset)
            s->reset(part->state, ch->running[i].stage, ch->seed);
        part->begun = true;
    }
}

void chain_reseed(struct chain *ch, uint64_t seed)
{
    ch->seed = seed;
    for (size_t i = 0; i < ch->n_parts; i++)
        ch->part[i].begun = false;
    reset_parts(ch);
}

struct chain *chain_new(const struct stage *stage, size_t n, uint64_t seed)
{
    struct chain *const ch = calloc(1, sizeof *ch);
    if (!ch)
        return NULL;
    ch->seed = seed;
    if (!chain_change(ch, stage, n)) {
        chain_free(ch);
        return NULL;
    }
    for (size_t i = 0; i < ch->n_running; i++)
        history_widen(&ch->history, stage_window(ch->running[i].stage));
    return ch;
}

void chain_free(struct chain *ch)
{
    if (!ch)
        return;
    for (size_t i = 0; i < ch->n_parts; i++) {
        if (ch->part[i].sampler->release)
            ch->part[i].sampler->release(ch->part[i].state);
        free(ch->part[i].state);
    }
    free(ch->part);
    free(ch->running);
    history_free(&ch->history);
    free(ch);
}

void chain_reset(struct chain *ch, uint64_t seed)
{
    history_clear(&ch->history);
    chain_reseed(ch, seed);
}

void chain_remember(struct chain *ch)
{
    ch->remembers = true;
    history_widen(&ch->history, HISTORY_ALL);
}

bool chain_change(struct chain *ch, const struct stage *stage, size_t n)
{
    size_t made;
    assert((ch->remembers || !ch->running) && n && stage[n - 1].sampler->selector);
    struct running *const running = make_running(ch, stage, n, &made);
    if (!running)
        return false;
    free(ch->running);
    ch->running = running;
    ch->n_running = made;
    for (size_t i = 0; i < made; i++)
        if (running[i].stage->sampler->change)
            running[i].stage->sampler->change(ch->part[running[i].part].state);
    reset_parts(ch);
    return true;
}

bool chain_only_selects(const struct chain *ch) { return ch->n_running == 1; }

// Looks for the longest prefix of this chain that another chain has run on the row, and loads the candidates that it
// left. Returns the number of running stages in the prefix, which need not run; *prefix is its index in the cache.
static size_t start_from_cache(const struct chain *ch, struct cand *c, size_t *prefix)
{
    const struct row_cache *const x = c->cache;
    size_t done = 0;
    *prefix = PREFIX_ROW;
    for (size_t i = 0, at = PREFIX_ROW; i < ch->n_running; i++) {
        at = row_cache_find_prefix(x, at, ch->running[i].stage);
        if (at == PREFIX_NONE)
            break;
        if (x->prefix[at].n) {
            *prefix = at;
            done = i + 1;
        }
    }
    if (done)
        row_cache_load_prefix(x, *prefix, c);
    return done;
}

// Runs a stage on the listed candidates.
static void run_listed(const struct running *l, void *state, struct cand *c)
{
    const struct sampler *const s = l->stage->sampler;
    const bool alone = c->n == 1 && s->needs_two, whole = c->unlisted.left == LEFT_ALL;
    // Behind a temperature of 0 the full row may have masked candidates besides the list's only one.
    if (list_is_open(c) || (alone && !full_has_two_known(c)))
        unlisted_remove(c, false);
    else if (whole)
        c->unlisted.left = LEFT_SOME;
    if (!alone || whole)
        s->apply(state, c, l->stage);
}

// Runs a stage on the candidates of a row that is a list.
static void run_stage(const struct running *l, void *state, struct cand *c)
{
    const bool sum = l->needs_sum && c->unlisted.state == UNLISTED_LIVE && !list_is_rounded(&c->unlisted);
    // Of a coarse list, numbers that a stage carries on would be off, too.
    if (sum || (l->stage->sampler->learns && list_is_coarse(&c->unlisted) && list_is_open(c)))
        unlisted_remove(c, false);
    if (l->needs_count)
        unlisted_needs_count(c);
    if (l->partial && list_is_open(c))
        l->partial(state, c, l->stage);
    else
        run_listed(l, state, c);
}

struct fault chain_apply(struct chain *ch, struct cand *c, chain_watch_fn *watch, void *arg)
{
    const bool partial = row_is_list(&c->unlisted), shares = c->cache && c->cache->shares_stages && !partial;
    size_t prefix = PREFIX_NONE;
    c->history = &ch->history;
    ch->width = c->n_vocab ? c->n_vocab : ch->width;
    const size_t done = shares && !watch ? start_from_cache(ch, c, &prefix) : 0; // a watcher needs every stage
    for (size_t i = done; i < ch->n_running; i++) {
        const struct running *const l = &ch->running[i];
        const struct sampler *const s = l->stage->sampler;
        void *const state = ch->part[l->part].state;
        if (c->fault.code) { // the generators advance as in a row without a fault
            if (s->skip)
                s->skip(state, 1, ch->width);
            continue;
        }
        c->store->scratch_taken = 0;
        c->n_notes = 0;
        c->may_defer = l->may_defer && !watch && !shares && !partial && !c->want_p && !c->want_logits;
        if (partial)
            run_stage(l, state, c);
        else if (c->n > 1 || !s->needs_two)
            s->apply(state, c, l->stage);
        if (watch && !c->fault.code)
            c->fault = watch(arg, l->index, state, c);
        if (prefix != PREFIX_NONE && !c->fault.code)
            prefix = row_cache_add_prefix(c->cache, prefix, l->stage, c);
    }
    return c->fault;
}

void chain_skip(struct chain *ch, uint64_t rows, uint64_t width)
{
    ch->width = width ? width : ch->width;
    for (size_t i = 0; i < ch->n_running; i++) {
        const struct part *const part = &ch->part[ch->running[i].part];
        if (part->sampler->skip)
            part->sampler->skip(part->state, rows, ch->width);
    }
}

// Calls the accept function of every stage for the newest token of the history. Returns true.
static bool notify_stages(struct chain *ch, uint32_t token)
{
    for (size_t i = 0; i < ch->n_running; i++) {
        const struct running *const l = &ch->running[i];
        if (l->stage->sampler->accept)
            l->stage->sampler->accept(ch->part[l->part].state, token, l->stage);
    }
    return true;
}

bool chain_accept(struct chain *ch, uint32_t token)
{
    return history_add(&ch->history, token) && notify_stages(ch, token);
}

bool chain_accept_prompt(struct chain *ch, uint32_t token)
{
    return history_add_prompt(&ch->history, token) && notify_stages(ch, token);
}
