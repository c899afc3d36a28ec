// SPDX-License-Identifier: MIT
#include "run/part.h"

enum carry part_carry(const struct options *o, size_t *stage)
{
    const bool known = o->accept.given || o->accept_recorded;
    if (o->grammar && !o->independent) // how often a row draws depends on what came before
        return CARRY_ROWS;
    const enum carry carry = chain_carry(o->plan, o->n_plan, stage);
    return o->independent || (known && carry == CARRY_TOKENS) ? CARRY_NOTHING : carry;
}

bool part_is_later(const struct options *o)
{
    return o->shard.k > 1 || o->row_base > 0;
}

bool part_check(const struct options *o, struct err *e)
{
    const char *const option = o->shard.n ? "--shard" : "--row-base";
    size_t stage = 0;
    if (o->shard.n && o->row_base)
        return err_set(e, STATUS_USAGE, "--shard and --row-base exclude each other");
    if (o->row_base && (o->rows.first < 0 || o->rows.last < 0))
        return err_set(e, STATUS_USAGE, "--rows: with --row-base rows cannot be counted from the end");
    if (!part_is_later(o) || (o->row_base && o->row_base <= o->rows.first)) // the run begins in this part
        return true;
    const enum carry carry = part_carry(o, &stage);
    const char *const name = o->grammar ? "the grammar" : o->plan[stage].row->name;
    if (carry == CARRY_TOKENS)
        return err_set(e, STATUS_USAGE, "%s: %s needs the tokens before this part: give them with --accept, or use --independent",
                       option, name);
    return carry == CARRY_NOTHING ||
           err_set(e, STATUS_USAGE, "%s: %s needs the rows before this part; with --independent it does not", option, name);
}
