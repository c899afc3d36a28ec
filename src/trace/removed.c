// SPDX-License-Identifier: MIT
// Finds the stage or mask that removed a token.
#include "base/mem.h"
#include "samplers/list.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

// Causes of a removal: none, the row masks the token, not known because a partial row does not list it, a mask of
// grammar or reasoning budget, or a stage.
enum removal_code { REMOVED_NOT, REMOVED_ROW, REMOVED_UNLISTED, REMOVED_MASK, REMOVED_STAGE };

enum { REMOVALS_MOST = 1 << 24 }; // rows with higher ids get no removals

// The code of a step. For a stage, its sampler's index and, in units of CATALOG_SAMPLERS, which of several stages it
// is.
static uint16_t step_code(const struct recipe *recipe, const struct log_step *step)
{
    if (!step->stage)
        return REMOVED_MASK;
    const size_t index = sampler_place(step->stage->sampler),
                 most = (UINT16_MAX - REMOVED_STAGE) / CATALOG_SAMPLERS - 1,
                 nth = recipe_stage_nth(recipe, (size_t)(step->stage - recipe->stage));
    return (uint16_t)(REMOVED_STAGE + index + CATALOG_SAMPLERS * (nth < most ? nth : most));
}

// The code of tokens that the row does not list.
static uint16_t code_of_others(const struct log *l)
{
    const struct log_step *const removal = log_unlisted_removal(l);
    if (removal)
        return step_code(l->recipe, removal);
    return l->step->unlisted == UNLISTED_NONE ? REMOVED_ROW : REMOVED_UNLISTED;
}

const char *result_removed_by(const struct result *res, uint32_t id, char text[NUMBER_TEXT])
{
    static const char *const others[] = {
        [REMOVED_NOT] = "-", [REMOVED_ROW] = "row", [REMOVED_UNLISTED] = "not listed", [REMOVED_MASK] = "mask"};
    const size_t n = res->n_removals;
    const unsigned code = n ? res->removal[id < n ? id : n] : REMOVED_NOT, stage = code - REMOVED_STAGE;
    if (code < REMOVED_STAGE)
        return strcpy(text, others[code]);
    return stage_name(samplers[stage % CATALOG_SAMPLERS], stage / CATALOG_SAMPLERS, text);
}

bool trace_removals(const struct log *l, const struct cand *c, struct result *res)
{
    res->n_removals = (size_t)cand_row_id(c, c->n_row - 1) + 1; // the last id of a row is its highest
    if (res->n_removals > REMOVALS_MOST)
        res->n_removals = 0;
    if (!mem_grow(&res->removal, &res->removal_cap, res->n_removals + 1, sizeof *res->removal))
        return false;
    const uint16_t other = code_of_others(l);
    for (size_t id = 0; id <= res->n_removals; id++)
        res->removal[id] = other;
    for (size_t i = 0; i < c->n_row && other != REMOVED_ROW && res->n_removals; i++)
        res->removal[cand_row_id(c, i)] = REMOVED_ROW;
    for (size_t i = 0; res->n_removals && i < l->n_steps; i++) {
        const struct log_step *const step = &l->step[i], *const before = i ? step - 1 : step;
        const uint16_t code = step_code(l->recipe, step);
        if (i && before->at == step->at && before->n == step->n) // nothing changed
            continue;
        for (size_t k = 0; k < before->n; k++)
            res->removal[l->id[before->at + k]] = code;
        for (size_t k = 0; k < step->n; k++)
            res->removal[l->id[step->at + k]] = REMOVED_NOT;
    }
    return true;
}

void trace_cuts(const struct log *l, const struct cand *c, const struct log_step *shown, struct result *res)
{
    struct record *const rec = &res->record;
    rec->n_cut = 0;
    rec->cut_p = 0.0;
    for (size_t i = 0; i < c->n_row; i++) {
        const uint32_t id = cand_row_id(c, i);
        if (id >= res->n_removals || res->removal[id] <= REMOVED_UNLISTED ||
            (shown && log_find(l, shown, id) != SIZE_MAX))
            continue;
        const double p = softmax_prob(&l->raw.softmax, raw_logit(&l->raw, i));
        rec->cut_p += p;
        ranked_insert(rec->cut, &rec->n_cut, TRACE_REMOVED, id, p);
    }
    for (size_t i = 0; i < rec->n_cut && i < TRACE_REMOVED; i++)
        result_removed_by(res, rec->cut[i].id, rec->cut_by[i]);
}
