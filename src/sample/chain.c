// SPDX-License-Identifier: MIT
#include "sample/chain.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

double param_load(const struct param *row, const void *params)
{
    const char *const at = (const char *)params + row->at;
    int32_t i;
    float f;
    bool flag;
    switch (row->type) {
    case PARAM_INT:
        memcpy(&i, at, sizeof i);
        return i;
    case PARAM_FLOAT:
        memcpy(&f, at, sizeof f);
        return f;
    case PARAM_FLAG:
        memcpy(&flag, at, sizeof flag);
        return flag;
    }
    return 0.0;
}

void param_store(const struct param *row, void *params, double value)
{
    char *const at = (char *)params + row->at;
    switch (row->type) {
    case PARAM_INT:
        memcpy(at, &(int32_t){(int32_t)value}, sizeof(int32_t));
        break;
    case PARAM_FLOAT:
        memcpy(at, &(float){(float)value}, sizeof(float));
        break;
    case PARAM_FLAG:
        memcpy(at, &(bool){value != 0.0}, sizeof(bool));
        break;
    }
}

// A stage that runs, or one that rests: its state is kept for when it runs again.
struct link {
    size_t index; // of the stage
    const struct sampler *sampler;
    void *state; // NULL when the sampler has none
    bool fresh;  // made, not taken over
};

struct chain {
    struct history history;
    const struct stage *stage;
    uint32_t seed;
    bool remembers;
    size_t n, n_links;
    struct link *link; // [n] those that run, then those that rest: [n_links]
};

bool stage_enabled(const struct stage *stage)
{
    return !stage->sampler->enabled || stage->sampler->enabled(stage);
}

enum carry stages_carry(const struct stage *stage, size_t n, size_t *at)
{
    enum carry most = CARRY_NOTHING;
    for (size_t i = 0; i < n; i++) {
        const struct sampler *const s = stage[i].sampler;
        const enum carry carry = s->carry && stage_enabled(&stage[i]) ? s->carry(&stage[i]) : CARRY_NOTHING;
        if (carry > most && at)
            *at = i;
        most = carry > most ? carry : most;
    }
    return most;
}

static void link_free(struct link *l)
{
    if (l->state && l->sampler->release)
        l->sampler->release(l->state);
    free(l->state);
}

static void reset(struct link *l, const struct stage *stage, uint32_t seed)
{
    if (l->sampler->reset)
        l->sampler->reset(l->state, &stage[l->index], seed);
}

// Takes the first link of a sampler from those left; false when there is none.
static bool take_link(struct link *old, size_t n, const struct sampler *sampler, struct link *to)
{
    for (size_t i = 0; i < n; i++)
        if (old[i].sampler == sampler) {
            to->state = old[i].state;
            old[i].sampler = NULL;
            return true;
        }
    return false;
}

// Links for the enabled ones of n stages, with the states of old links where there are such, which are taken out of old. *made counts
// them; those that failed for lack of memory are missing.
static struct link *make_links(struct chain *ch, const struct stage *stage, size_t n, struct link *old, size_t n_old,
                               size_t *made)
{
    struct link *const link = calloc(n + n_old + 1, sizeof *link);
    *made = 0;
    for (size_t i = 0; link && i < n; i++) {
        if (!stage_enabled(&stage[i]))
            continue;
        struct link *const l = &link[*made];
        *l = (struct link){i, stage[i].sampler, NULL};
        if (!take_link(old, n_old, l->sampler, l)) {
            l->fresh = true;
            if (l->sampler->size && !(l->state = calloc(1, l->sampler->size)))
                break;
            reset(l, stage, ch->seed);
        }
        ++*made;
    }
    return link;
}

static size_t count_enabled(const struct stage *stage, size_t n)
{
    size_t enabled = 0;
    for (size_t i = 0; i < n; i++)
        enabled += stage_enabled(&stage[i]);
    return enabled;
}

// Lets the history keep what the stages look back on.
static void widen(struct chain *ch)
{
    for (size_t i = 0; i < ch->n; i++) {
        const struct stage *const stage = &ch->stage[ch->link[i].index];
        if (stage->sampler->window)
            history_widen(&ch->history, stage->sampler->window(stage));
    }
}

struct chain *chain_new(const struct stage *stage, size_t n, uint32_t seed, struct fault *fault)
{
    assert(n && stage[n - 1].sampler->selector);
    struct chain *const ch = calloc(1, sizeof *ch);
    *fault = fault_none();
    if (ch) {
        ch->stage = stage;
        ch->seed = seed;
        ch->link = make_links(ch, stage, n, NULL, 0, &ch->n);
        ch->n_links = ch->n;
    }
    if (!ch || !ch->link || ch->n < count_enabled(stage, n)) {
        *fault = fault_memory();
        chain_free(ch);
        return NULL;
    }
    widen(ch);
    return ch;
}

void chain_free(struct chain *ch)
{
    if (!ch)
        return;
    for (size_t i = 0; ch->link && i < ch->n_links; i++)
        link_free(&ch->link[i]);
    free(ch->link);
    history_free(&ch->history);
    free(ch);
}

// What rests when a sequence starts or the seed changes has nothing left to remember.
static void drop_resting(struct chain *ch)
{
    while (ch->n_links > ch->n)
        link_free(&ch->link[--ch->n_links]);
}

void chain_reset(struct chain *ch, uint32_t seed)
{
    history_clear(&ch->history);
    drop_resting(ch);
    ch->seed = seed;
    for (size_t i = 0; i < ch->n; i++)
        reset(&ch->link[i], ch->stage, seed);
}

void chain_remember(struct chain *ch)
{
    ch->remembers = true;
    history_widen(&ch->history, HISTORY_ALL);
}

// Do the links that run stand for the same samplers in other stages?
static bool same_links(const struct chain *ch, const struct stage *stage, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (!stage_enabled(&stage[i]))
            continue;
        if (at == ch->n || ch->link[at].index != i || ch->link[at].sampler != stage[i].sampler)
            return false;
        at++;
    }
    return at == ch->n;
}

// Makes the links for other stages. False, and nothing has changed, when memory is short.
static bool relink(struct chain *ch, const struct stage *stage, size_t n)
{
    struct link *const old = malloc((ch->n_links + 1) * sizeof *old);
    size_t made = 0;
    if (!old)
        return false;
    memcpy(old, ch->link, ch->n_links * sizeof *old);
    struct link *const link = make_links(ch, stage, n, old, ch->n_links, &made);
    const bool ok = link && made == count_enabled(stage, n);
    for (size_t i = 0; link && !ok && i < made; i++)
        if (link[i].fresh)
            link_free(&link[i]);
    if (ok) {
        ch->n = made;
        for (size_t i = 0; i < ch->n_links; i++)
            if (old[i].sampler && old[i].state)
                link[made++] = old[i];
        ch->n_links = made;
    }
    free(ok ? ch->link : link);
    free(old);
    if (ok)
        ch->link = link;
    return ok;
}

struct fault chain_change(struct chain *ch, const struct stage *stage, size_t n)
{
    assert(ch->remembers && n && stage[n - 1].sampler->selector);
    if (!same_links(ch, stage, n) && !relink(ch, stage, n))
        return fault_memory();
    ch->stage = stage;
    return fault_none();
}

struct fault chain_change_seed(struct chain *ch, const struct stage *stage, size_t n, uint32_t seed)
{
    const struct fault fault = chain_change(ch, stage, n);
    if (fault.code)
        return fault;
    drop_resting(ch);
    ch->seed = seed;
    for (size_t i = 0; i < ch->n; i++)
        reset(&ch->link[i], stage, seed);
    return fault;
}

struct fault chain_apply(struct chain *ch, struct cand *c, chain_watch_fn *watch, void *arg)
{
    struct fault fault = fault_none();
    for (size_t i = 0; i < ch->n; i++) {
        const struct link *const l = &ch->link[i];
        if (fault.code) { // the generators are to stand where a good row leaves them
            if (l->sampler->skip)
                l->sampler->skip(l->state, 1);
            continue;
        }
        fault = l->sampler->apply(l->state, c, &ch->stage[l->index], &ch->history);
        if (watch && !fault.code)
            fault = watch(arg, l->index, c);
    }
    return fault;
}

void chain_skip(struct chain *ch, uint64_t rows)
{
    for (size_t i = 0; i < ch->n; i++)
        if (ch->link[i].sampler->skip)
            ch->link[i].sampler->skip(ch->link[i].state, rows);
}

struct fault chain_accept(struct chain *ch, uint32_t token)
{
    const struct fault fault = history_add(&ch->history, token);
    for (size_t i = 0; i < ch->n && !fault.code; i++) {
        const struct link *const l = &ch->link[i];
        if (l->sampler->accept)
            l->sampler->accept(l->state, token, &ch->stage[l->index]);
    }
    return fault;
}
