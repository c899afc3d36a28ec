// SPDX-License-Identifier: MIT
#include "session/choose.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

void chooser_free(struct chooser *ch)
{
    cand_free(&ch->cand);
    log_free(&ch->log);
    free(ch->masked);
}

// Runs the chain on a row, or on its copy `masked` that a mask of this name was put on. Variants share what loading the
// row finds out.
static struct fault run_chain(struct chooser *ch, struct session *q, const struct row *row, const struct row *masked,
                              const char *mask)
{
    const bool steps = ch->log.takes_steps, watched = steps || ch->log.takes_raw;
    struct fault fault = masked && !watched ? fault_none() : cand_load_shared(&ch->cand, row, ch->cache);
    if (!fault.code && watched)
        fault = log_begin(&ch->log, q->recipe, row, &ch->cand);
    if (!fault.code && masked)
        fault = cand_load(&ch->cand, masked);
    if (!fault.code && masked)
        fault = log_mask(&ch->log, mask, &ch->cand);
    if (!fault.code)
        return chain_apply(q->chain, &ch->cand, steps ? log_stage : NULL, &ch->log);
    chain_skip(q->chain, 1, row_vocab(row));
    return fault;
}

// Runs the chain on a copy of a row, as f32, in which tokens are masked: those without a bit in mask[0..n_bits), or if
// there is no mask, all but `only`. name: the mask's.
static struct fault run_masked(struct chooser *ch, struct session *q, const struct row *row, const char *name,
                               const uint64_t *mask, size_t n_bits, uint32_t only)
{
    if (!mem_grow(&ch->masked, &ch->masked_cap, row->n, sizeof *ch->masked))
        return fault_memory();
    struct row masked = *row;
    masked.type = DTYPE_F32;
    masked.data = ch->masked;
    masked.unlisted.low = -INFINITY; // any of them may be masked
    masked.unlisted.ranked = 0;
    masked.unlisted.exp_sum = masked.unlisted.deviation = 0.0f;
    if (!mask)
        masked.unlisted.high = -INFINITY; // a listed token is forced
    ch->cand.kern->widen[row->type](ch->masked, row->data, row->n);
    for (size_t i = 0; i < row->n; i++) {
        const size_t id = row->ids ? row->ids[i] : i;
        if (mask && !row->ids && i % 64 == 0 && i + 64 <= n_bits && !~mask[i / 64])
            i += 63; // most words of a mask allow all tokens, or none
        else if (mask ? id >= n_bits || !(mask[id / 64] >> id % 64 & 1) : id != only)
            ch->masked[i] = -INFINITY;
    }
    return run_chain(ch, q, row, &masked, name);
}

// Runs the chain on the tokens that fit the grammar.
static struct fault run_under_grammar(struct chooser *ch, struct session *q, const struct row *row)
{
    const uint64_t *mask;
    const struct fault fault = matcher_mask(q->matcher, &mask);
    return fault.code ? fault : run_masked(ch, q, row, MASK_GRAMMAR, mask, q->recipe->of->vocab->n, 0);
}

// Runs the chain with all tokens masked but one. What else is wrong with the row still counts. The outcome is that of
// the full row. Of a list of one token, stages do not see that the full row has others, which are masked.
static struct fault run_forced(struct chooser *ch, struct session *q, const struct row *row, uint32_t token)
{
    struct fault fault = cand_load(&ch->cand, row);
    if (fault.code) {
        chain_skip(q->chain, 1, row_vocab(row));
        return fault;
    }
    fault = run_masked(ch, q, row, MASK_REASONING, NULL, 0, token);
    if (!fault.code && row_is_list(&ch->cand.unlisted)) {
        unlisted_mask(&ch->cand, true);
        ch->cand.unlisted.draw_unsure = ch->cand.unlisted.draw_unsure || row->n < 2;
    }
    return fault;
}

// Adds to a trace where the budget and the grammar stand.
static struct fault take_standing(struct chooser *ch, struct session *q)
{
    struct log_standing *const to = &ch->log.standing;
    struct builder *const words = &ch->log.words;
    const uint64_t *mask;
    if (q->budget.rules)
        to->budget = budget_state_name(&q->budget);
    to->left = q->budget.rules && q->budget.state == BUDGET_COUNTING ? q->budget.left : 0;
    if (!q->matcher)
        return fault_none();
    const struct fault fault = matcher_mask(q->matcher, &mask);
    if (fault.code)
        return fault;
    for (size_t i = 0, n = (q->recipe->of->vocab->n + 63) / 64; i < n; i++)
        for (uint64_t word = mask[i]; word; word &= word - 1)
            to->fits++;
    to->rules = words->len;
    matcher_print_rules(q->matcher, words);
    builder_byte(words, '\0');
    return builder_whole(words) ? fault_none() : fault_memory();
}

static struct fault choose_chain_token(struct chooser *ch, struct session *q, const struct row *row, bool *masked)
{
    const uint32_t forced = session_forced(q);
    const bool force = forced != BUDGET_FREE;
    bool fits = true;
    *masked = force || (q->matcher && q->recipe->key.grammar_first);
    if (*masked && !force)
        return run_under_grammar(ch, q, row);
    struct fault fault = force ? run_forced(ch, q, row, forced) : run_chain(ch, q, row, NULL, NULL);
    if (!fault.code && q->matcher)
        fault = matcher_fits(q->matcher, ch->cand.chosen, &fits);
    if (!fault.code && fits && q->matcher && !force)
        log_first_choice(&ch->log, ch->cand.chosen, true);
    if (fault.code || fits)
        return fault;
    *masked = true;
    if (!force) {
        const struct unlisted first = ch->cand.unlisted; // of the first pass
        const uint32_t chosen = ch->cand.chosen;
        fault = run_under_grammar(ch, q, row);
        log_first_choice(&ch->log, chosen, false);
        ch->cand.unlisted.draw_unsure = ch->cand.unlisted.draw_unsure || first.draw_unsure;
        if (!unlisted_exact(&first)) // another token might have fitted
            unlisted_remove(&ch->cand, false);
        return fault;
    }
    fault.code = FAULT_ALL_MASKED;
    return fault;
}

struct fault choose_token(struct chooser *ch, struct session *q, const struct row *row, bool *masked)
{
    const struct fault fault = choose_chain_token(ch, q, row, masked);
    return fault.code || !ch->log.takes_softmaxes ? fault : take_standing(ch, q);
}
