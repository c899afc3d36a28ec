// SPDX-License-Identifier: MIT
#include "recipe/enginespec.h"

#include "cli/option_table.h"
#include "cli/set.h"

#include <stdlib.h>
#include <string.h>

// Options of the chain that say nothing about its stages.
static bool always_welcome(const struct option_row *row)
{
    return row->set == set_seed || !strcmp(row->name, "engine") || !strcmp(row->name, "backend-sampling");
}

static bool refuse_others(const struct options *o, struct err *e)
{
    for (const struct option_row *row = option_table; row->name; row++) {
        const bool chain = row->group == GROUP_CHAIN || row->group == GROUP_SCATTER;
        if (!chain || !option_given(o, row) || always_welcome(row) || engine_has(o->engine, row->name, strlen(row->name)))
            continue;
        if (row->set == set_samplers || row->set == set_samplers_by_letter)
            return err_set(e, STATUS_USAGE, "--%s: engine %s has an order of its own", row->name, o->engine->name);
        return err_set(e, STATUS_USAGE, "--%s: engine %s has no stage for it", row->name, o->engine->name);
    }
    return true;
}

// Reads "OPTION=VALUE,...".
static bool take_defaults(struct options *o, struct err *e)
{
    for (const char *at = o->engine->defaults; *at; at += strspn(at, ",")) {
        const size_t len = strcspn(at, "="), value_len = strcspn(at + len + 1, ",");
        const struct option_row *const row = option_by_name(at, len);
        char value[32];
        memcpy(value, at + len + 1, value_len);
        value[value_len] = '\0';
        if (!option_given(o, row) && !row->set(row, value, o, e))
            return false;
        at += len + 1 + value_len;
    }
    return true;
}

bool enginespec_settle(struct options *o, struct err *e)
{
    o->engine = engine_by_name(o->engine_name);
    return refuse_others(o, e) && take_defaults(o, e);
}

bool enginespec_build(struct options *o, struct err *e)
{
    o->plan = calloc(ENGINE_STAGES, sizeof *o->plan);
    if (!o->plan)
        return err_from_fault(e, fault_memory());
    o->n_plan = engine_plan(o->engine, &o->params, o->grammar, o->plan);
    return true;
}
