// SPDX-License-Identifier: MIT
// Reads the command line, and runs the action that it names.
#include "base/platform.h"
#include "cli/help.h"
#include "cli/preset.h"
#include "cli/print_chain.h"
#include "cli/variants.h"
#include "out/dest.h"
#include "out/message.h"
#include "run/run.h"
#include "session/session.h"
#include "views/means.h"
#include "views/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Opens /dev/null for standard streams that are closed. Otherwise the next file that is opened would get their number,
// and a message would go into that file. A closed standard input then cannot be read, and the other streams cannot be
// written.
static bool fill_streams(struct err *e)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY, 0) < 0)
            return err_set(e, STATUS_IO, "/dev/null: cannot open: %s", strerror(errno));
    return true;
}

// Returns the best SIMD tier, or the one that SAMPL_CPU names. NULL with *e: it is not available.
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

// Returns whether the text of a request that precedes the answer fits the grammar, as a run finds out. False with *e.
static bool fits_prompt(struct recipes *recipes, const struct recipe *recipe, struct err *e)
{
    const struct sessions s = {.recipes = recipes, .recipe = recipe};
    if (!recipe->key.generation || !recipe->key.rules)
        return true;
    struct session *const q = session_new(&s, NULL, 0, e);
    if (q)
        session_free(q);
    return q;
}

// Prints for --print-chain and --print-grammar, to standard output or to the file of --output.
static bool print_chain_or_grammar(const struct args *a, struct recipes *recipes, const struct recipe *recipe,
                                   struct err *e)
{
    struct dest d = {.name = a->output, .format = output_format_of(FORMAT_TEXT), .rows = -1};
    struct err late;
    bool ok = fits_prompt(recipes, recipe, e) && dest_open(&d, e);
    ok = ok &&
         (a->action == ACTION_PRINT_CHAIN ? print_chain(&d.text, a, recipe, e) : print_grammar(&d.text, recipe, e));
    ok = ok && dest_write(&d, e);
    return dest_close(&d, ok, ok ? e : &late) && ok;
}

// Makes the recipe, or one for each variant. Then runs, or prints the chain or the grammar.
static bool use_recipe(const struct args *a, struct recipes *recipes, const struct kern *kern, struct err *e)
{
    struct variants v = {0};
    bool ok = args_check(a, e) && views_check(a, e) && variants_make(&v, recipes, a, e);
    const struct view *view[VIEWS_MOST];
    views_choose(a, v.n > 1, view);
    struct job job = {.args = a, .recipes = recipes, .variants = &v, .kern = kern, .view = view[0]};
    ok = ok && job_init(&job, e);
    if (ok)
        ok = a->action == ACTION_RUN ? run(&job, e) : print_chain_or_grammar(a, recipes, v.recipe[0], e);
    job_free(&job);
    variants_free(&v);
    return ok;
}

static bool act(const struct args *a, struct recipes *recipes, const struct kern *kern, struct err *e)
{
    switch (a->action) {
    case ACTION_RUN:
    case ACTION_PRINT_CHAIN:
    case ACTION_PRINT_GRAMMAR:
        if (!use_recipe(a, recipes, kern, e))
            return false;
        break;
    case ACTION_HELP:
        if (!help_print(a->typed.options, means_help, a->how, e))
            return false;
        break;
    case ACTION_VERSION:
        help_version(kern);
        break;
    case ACTION_LIST_PRESETS:
        if (!preset_list(e))
            return false;
        break;
    case ACTION_LIST_PROGRAMS:
        preset_list_programs();
        break;
    case ACTION_GENERATE:
        if (strcmp(a->how, "json") != 0)
            complete_print(a->typed.options, a->how);
        else if (!describe_print(a->typed.options, means_help, e))
            return false;
        break;
    }
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (platform_pipe_closed())
        return err_silent(e, STATUS_OK);
    return err_set(e, STATUS_IO, "standard output: cannot write: %s", strerror(errno));
}

enum { STACK = 1 << 21 }; // bytes: several times as many as the deepest calls need

struct program {
    int argc;
    char **argv;
    struct err e;
    bool ok;
};

static void *run_program(void *arg)
{
    struct program *const p = arg;
    static struct options options;
    struct recipes recipes;
    struct args args = {0};
    const struct kern *const kern = choose_tier(&p->e);
    recipes_init(&recipes);
    options_make(&options, &recipes);
    p->ok = kern && samplers_differ(&p->e) && args_parse(&args, &options, p->argc, p->argv, &p->e) &&
            act(&args, &recipes, kern, &p->e);
    args_free(&args);
    recipes_free(&recipes);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct program p;
    p = (struct program){.argc = argc, .argv = argv};
    if (fill_streams(&p.e) && !platform_with_stack(STACK, run_program, &p))
        err_set(&p.e, STATUS_IO,
                "the stack is limited to less than 2 MB, and no thread with 2 MB starts; see ulimit -s");
    if (!p.ok && !err_is_silent(&p.e))
        message_error(&p.e);
    return p.ok ? STATUS_OK : (int)p.e.status;
}
