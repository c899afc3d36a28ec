// SPDX-License-Identifier: MIT
#include "recipe/chainspec.h"

#include "base/mem.h"
#include "cli/option_table.h"

#include <stdlib.h>
#include <string.h>

// The names (or letters) that can be used, for the error message.
static bool unknown(const struct options *o, const char *name, size_t len, struct err *e)
{
    char known[200] = "", *at = known;
    for (const struct registry_row *r = registry; r->name; r++) {
        if (!o->samplers_by_letter && !r->internal)
            at = stpcpy(stpcpy(at, at == known ? "" : ", "), r->name);
        if (o->samplers_by_letter && r->letter)
            *at++ = r->letter;
    }
    return err_set(e, STATUS_USAGE, "%s: unknown sampler '%.*s', known are %s",
                   o->samplers_by_letter ? "--sampler-seq" : "--samplers", (int)(len < 40 ? len : 40), name, known);
}

static bool add(struct options *o, const struct registry_row *row, struct err *e)
{
    if (row->sampler == &sampler_infill && !o->vocab)
        return err_set(e, STATUS_USAGE, "--samplers: infill needs --vocab");
    for (size_t i = 0; row->sampler->selector && i < o->n_choices; i++)
        if (o->choice[i].row->sampler->selector)
            return err_set(e, STATUS_USAGE, "--samplers: two selectors, %s and %s", o->choice[i].row->name, row->name);
    if (!mem_grow(&o->choice, &o->choice_cap, o->n_choices + 1, sizeof *o->choice))
        return err_from_fault(e, fault_memory());
    o->choice[o->n_choices++] = (struct choice){row, o->params};
    return true;
}

// Gives the newest choice its own main parameter.
static bool give_value(struct options *o, const char *value, size_t len, struct err *e)
{
    struct choice *const choice = &o->choice[o->n_choices - 1];
    const char *const option = choice->row->options;
    const size_t option_len = strcspn(option, ",");
    if (!option_len)
        return err_set(e, STATUS_USAGE, "--samplers: %s takes no value", choice->row->name);
    char text[64];
    if (len >= sizeof text)
        return err_set(e, STATUS_USAGE, "--samplers: the value of %s is too long", choice->row->name);
    memcpy(text, value, len);
    text[len] = '\0';
    const struct option_row *const row = option_by_name(option, option_len);
    const struct params common = o->params;
    const bool ok = row->set(row, text, o, e); // writes to o->params
    choice->params = o->params;
    o->params = common;
    return ok || err_prefix(e, "--samplers");
}

static bool add_named(struct options *o, const char *text, size_t len, struct err *e)
{
    const char *const equals = memchr(text, '=', len);
    const size_t name_len = equals ? (size_t)(equals - text) : len;
    const struct registry_row *const row = registry_by_name(text, name_len);
    if (!row)
        return unknown(o, text, name_len, e);
    return add(o, row, e) && (!equals || give_value(o, equals + 1, len - name_len - 1, e));
}

static bool add_all(struct options *o, struct err *e)
{
    const char *at = o->samplers;
    for (; o->samplers_by_letter && *at; at++) {
        const struct registry_row *const row = registry_by_letter(*at);
        if (!(row ? add(o, row, e) : unknown(o, at, 1, e)))
            return false;
    }
    while (*at) {
        const size_t len = strcspn(at, ";");
        if (!add_named(o, at, len, e))
            return false;
        at += len + (at[len] == ';');
    }
    return true;
}

bool chainspec_build(struct options *o, struct err *e)
{
    if (!add_all(o, e))
        return false;
    o->plan = calloc(o->n_choices + 3, sizeof *o->plan);
    if (!o->plan)
        return err_from_fault(e, fault_memory());
    o->n_plan = chain_plan(&o->params, o->choice, o->n_choices, o->plan);
    return true;
}
