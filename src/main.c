// SPDX-License-Identifier: MIT
// The order of things; everything else is elsewhere.
#include "cli/complete.h"
#include "out/message.h"
#include "recipe/grammar_options.h"
#include "cli/help.h"
#include "cli/preset.h"
#include "recipe/print_chain.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The SIMD tier: the best, or the one that SAMPL_CPU names.
static const struct kern *choose_tier(struct err *e)
{
    const char *const name = getenv("SAMPL_CPU");
    const struct kern *const kern = kern_select(name && *name ? name : NULL);
    if (kern)
        return kern;
    char have[100] = "", *at = have;
    for (size_t i = 0; kern_tier(i); i++)
        at = stpcpy(stpcpy(at, i ? ", " : ""), kern_tier(i)->name);
    err_set(e, STATUS_USAGE, "SAMPL_CPU: '%s' is not available here, available are %s", name, have);
    return NULL;
}

static bool act(const struct options *o, const struct kern *kern, struct err *e)
{
    switch (o->action) {
    case ACTION_RUN:
        return run(o, kern, e);
    case ACTION_PRINT_CHAIN:
        if (!print_chain(o, e))
            return false;
        break;
    case ACTION_PRINT_GRAMMAR:
        if (!grammar_print(o, e))
            return false;
        break;
    case ACTION_HELP:
        help_print();
        break;
    case ACTION_VERSION:
        help_version(kern);
        break;
    case ACTION_LIST_PRESETS:
        preset_list();
        break;
    case ACTION_GENERATE:
        complete_print(o->how);
        break;
    }
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno == EPIPE)
        return err_set(e, STATUS_OK, "%s", "");
    return err_set(e, STATUS_IO, "standard output: cannot write: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    struct options o;
    struct err e = {0};
    const struct kern *const kern = choose_tier(&e);
    const bool parsed = kern && options_parse(&o, argc, argv, &e);
    const bool ok = parsed && act(&o, kern, &e);
    if (!ok && e.status)
        message_error(&e);
    if (kern)
        options_free(&o);
    return ok ? STATUS_OK : (int)e.status;
}
