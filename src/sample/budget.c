// SPDX-License-Identifier: MIT
#include "sample/budget.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void budget_free(struct budget *b) { free(b->recent); }

void budget_reset(struct budget *b)
{
    b->state = BUDGET_IDLE;
    b->n_recent = 0;
    b->ended = false;
}

const char *budget_state_name(const struct budget *b)
{
    static const char *const names[] = {[BUDGET_IDLE] = "idle",
                                        [BUDGET_COUNTING] = "counting",
                                        [BUDGET_WAITING] = "waiting",
                                        [BUDGET_FORCING] = "forcing"};
    return b->state == BUDGET_IDLE && b->ended ? "done" : names[b->state];
}

uint32_t budget_forced(const struct budget *b)
{
    return b->state == BUDGET_FORCING && b->rules->forced.n ? b->rules->forced.id[b->at] : BUDGET_FREE;
}

// Enters a state; no tag has begun.
static void enter_state(struct budget *b, enum budget_state state)
{
    b->ended = b->ended || state == BUDGET_IDLE;
    b->state = state;
    b->n_recent = 0;
    b->left = b->rules->most;
    b->at = 0;
}

// Returns whether the recent tokens end with one of the tags.
static bool tag_ends(const struct budget *b, const struct tokens *tag, size_t n)
{
    for (; n; n--, tag++)
        if (b->n_recent >= tag->n && !memcmp(b->recent + b->n_recent - tag->n, tag->id, tag->n * sizeof *tag->id))
            return true;
    return false;
}

// Returns whether a token's text ends at the end of a character. A token that ends with a continuation byte, but lacks
// the character's first byte, does not, even if an earlier token has that byte.
static bool ends_whole(const struct vocab *v, uint32_t id)
{
    const struct piece text = v ? vocab_output(v, id) : (struct piece){NULL, 0};
    for (size_t i = 1; i <= text.len && i <= 4; i++) {
        const unsigned char c = text.p[text.len - i];
        if ((c & 0xc0) != 0x80)
            return i >= 1u + (c >= 0xc0) + (c >= 0xe0) + (c >= 0xf0);
    }
    return !text.len;
}

static void count_token(struct budget *b, uint32_t id)
{
    const struct budget_rules *const r = b->rules;
    if (tag_ends(b, r->end, r->n_ends)) {
        enter_state(b, BUDGET_IDLE); // another start tag begins another budget
        return;
    }
    if (b->state == BUDGET_COUNTING && --b->left)
        return;
    if (ends_whole(r->vocab, id))
        enter_state(b, BUDGET_FORCING);
    else if (b->state == BUDGET_COUNTING)
        enter_state(b, BUDGET_WAITING);
}

bool budget_accept(struct budget *b, uint32_t id)
{
    const struct budget_rules *const r = b->rules;
    assert(r->start.n && r->n_ends);
    if (b->state == BUDGET_FORCING) {
        if (++b->at >= r->forced.n)
            enter_state(b, BUDGET_IDLE);
        return true;
    }
    if (!mem_grow(&b->recent, &b->cap, r->longest, sizeof *b->recent))
        return false;
    if (b->n_recent == r->longest)
        memmove(b->recent, b->recent + 1, --b->n_recent * sizeof *b->recent);
    b->recent[b->n_recent++] = id;
    if (b->state != BUDGET_IDLE)
        count_token(b, id);
    else if (tag_ends(b, &r->start, 1))
        enter_state(b, r->most ? BUDGET_COUNTING : BUDGET_FORCING);
    return true;
}
