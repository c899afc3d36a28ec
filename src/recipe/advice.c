// SPDX-License-Identifier: MIT
#include "recipe/advice.h"

#include "cli/option_table.h"

#include <string.h>

static const struct {
    const char *key, *option;
} known[] = {
    {"sequence", "samplers"},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"xtc_probability", "xtc-probability"},
    {"xtc_threshold", "xtc-threshold"},
    {"temp", "temp"},
    {"penalty_last_n", "repeat-last-n"},
    {"penalty_repeat", "repeat-penalty"},
    {"mirostat", "mirostat"},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
};

static const struct option_row *row_of(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].key, key))
            return option_by_name(known[i].option, strlen(known[i].option));
    return NULL;
}

// The chain has two options.
static bool given(const struct options *o, const struct option_row *row)
{
    const char *const letters = "sampler-seq";
    return option_given(o, row) || (!strcmp(row->name, "samplers") && option_given(o, option_by_name(letters, strlen(letters))));
}

bool advice_take(struct options *o, struct err *e)
{
    if (!o->vocab || !o->vocab->advice || o->engine->options)
        return true;
    for (const char *key = o->vocab->advice, *value; *key; key = value + strlen(value) + 1) {
        value = key + strlen(key) + 1;
        const struct option_row *const row = row_of(key);
        if (!row || given(o, row) || row->set(row, value, o, e))
            continue;
        if (e->status == STATUS_USAGE)
            e->status = STATUS_DATA;
        return err_prefix(e, "--vocab: %s: general.sampling.%s", o->vocab_file, key);
    }
    return true;
}
