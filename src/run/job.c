// SPDX-License-Identifier: MIT
#include "run/job.h"

#include <stdlib.h>
#include <string.h>

void job_free(struct job *j)
{
    free(j->prompt.id);
    free(j->accept.id);
}

// What a recipe's chain must know of earlier rows beyond the tokens that are given; *stage as stages_carry has it, unless it is the
// grammar.
static enum carry job_carry(const struct job *j, const struct recipe *recipe, size_t *stage)
{
    const struct args *const a = j->args;
    const bool known = a->accept || a->accept_recorded;
    if (recipe->parts.rules && !a->independent) // how often a row draws depends on what came before
        return CARRY_ROWS;
    const enum carry carry = stages_carry(recipe->stage, recipe->n_stages, stage);
    return a->independent || (known && carry == CARRY_TOKENS) ? CARRY_NOTHING : carry;
}

bool job_splits(const struct job *j)
{
    for (size_t i = 0; i < j->n_variants; i++)
        if (job_carry(j, j->variant[i], NULL) != CARRY_NOTHING)
            return false;
    return true;
}

bool job_is_later_part(const struct args *a)
{
    return a->shard.k > 1 || a->row_base > 0;
}

static bool check_part(const struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    const char *const option = a->shard.n ? "--shard" : "--row-base";
    if (a->shard.n && a->row_base)
        return err_set(e, STATUS_USAGE, "--shard and --row-base exclude each other");
    if (a->row_base && (a->rows.first < 0 || a->rows.last < 0))
        return err_set(e, STATUS_USAGE, "--rows: with --row-base rows cannot be counted from the end");
    if (!job_is_later_part(a) || (a->row_base && a->row_base <= a->rows.first)) // the run begins in this part
        return true;
    for (size_t i = 0; i < j->n_variants; i++) {
        const struct recipe *const recipe = j->variant[i];
        size_t stage = 0;
        const enum carry carry = job_carry(j, recipe, &stage);
        const char *const name = recipe->parts.rules ? "the grammar" : recipe->stage[stage].sampler->name;
        if (carry == CARRY_TOKENS)
            return err_set(e, STATUS_USAGE,
                           "%s: %s needs the tokens before this part: give them with --accept, or use --independent", option,
                           name);
        if (carry == CARRY_ROWS)
            return err_set(e, STATUS_USAGE, "%s: %s needs the rows before this part; with --independent it does not", option,
                           name);
    }
    return true;
}

bool job_init(struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    j->measures = a->stats || a->emit == EMIT_STATS;
    j->plain = !emit_distribution(a->emit) && (!a->output_format || !strcmp(a->output_format, "text"));
    return (!a->prompt || value_ids("prompt-tokens", a->prompt, &j->prompt, e)) &&
           (!a->accept || value_ids("accept", a->accept, &j->accept, e)) && check_part(j, e);
}
