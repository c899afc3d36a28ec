// SPDX-License-Identifier: MIT
#include "cli/args.h"

#include "base/mem.h"
#include "cli/preset.h"
#include "cli/set.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

// ---- reading the arguments

// getopt's view of the table, and the arguments still to come: presets put theirs in front.
struct parser {
    struct args *a;
    struct err *e;
    struct option *longs; // ends with a zeroed one
    char *shorts;
    const char **argv; // [argc], argv[argc] is NULL
    int argc;
    int preset_end; // arguments before this index come from a preset
};

enum { LONG_BASE = 256 }; // getopt's value for table row i is LONG_BASE + i

static int argument_of(const struct option_row *row)
{
    if (!row->metavar)
        return row->flag ? optional_argument : no_argument;
    return *row->metavar == '[' ? optional_argument : required_argument;
}

static bool build_getopt_tables(struct parser *ps)
{
    const struct options *const o = ps->a->options;
    ps->longs = calloc(o->n + 1, sizeof *ps->longs);
    ps->shorts = calloc(3 + 2 * o->n, 1);
    if (!ps->longs || !ps->shorts)
        return false;
    char *s = ps->shorts;
    *s++ = '-'; // operands come in order, as option 1
    *s++ = ':'; // a missing value is told from an unknown option
    for (size_t i = 0; i < o->n; i++) {
        const struct option_row *const row = &o->row[i];
        ps->longs[i] = (struct option){row->name, argument_of(row), NULL, LONG_BASE + (int)i};
        if (!row->brief || row->brief[1])
            continue;
        *s++ = *row->brief;
        if (row->metavar)
            *s++ = ':';
    }
    return true;
}

static const struct option_row *row_of(const struct parser *ps, int opt)
{
    const struct options *const o = ps->a->options;
    if (opt >= LONG_BASE)
        return &o->row[opt - LONG_BASE];
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->brief && *row->brief == opt && !row->brief[1])
            return row;
    return NULL;
}

// Keeps a string that the arguments point to. NULL, and it is freed, when memory is short.
static const char *keep(struct args *a, char *word)
{
    if (!word || !mem_grow(&a->made, &a->made_cap, a->n_made + 1, sizeof *a->made)) {
        free(word);
        return NULL;
    }
    return a->made[a->n_made++] = word;
}

// Spells the next argument as getopt knows it, if it is an option: exact long names only, '-' for '_', the name for an alias or a
// short form of two letters.
static bool spell_out(struct parser *ps)
{
    const char **const arg = &ps->argv[optind];
    if (!*arg || **arg != '-')
        return true;
    if (!strcmp(*arg, "--") && optind < ps->preset_end)
        return err_set(ps->e, STATUS_USAGE, "--preset: '--' is not an option");
    const struct option_row *row = NULL;
    const char *value = "";
    if ((*arg)[1] == '-' && (*arg)[2]) {
        const char *const name = *arg + 2;
        value = name + strcspn(name, "=");
        row = option_by_name(ps->a->options, name, (size_t)(value - name));
        if (!row)
            return err_set(ps->e, STATUS_USAGE, "unknown option '%.*s'", (int)(value - *arg), *arg);
    } else {
        for (const struct option_row *r = ps->a->options->row; r->name; r++)
            if (r->brief && r->brief[1] && !strcmp(*arg + 1, r->brief))
                row = r;
        if (!row)
            return true;
    }
    char *const spelt = malloc(2 + strlen(row->name) + strlen(value) + 1);
    if (spelt)
        stpcpy(stpcpy(stpcpy(spelt, "--"), row->name), value);
    *arg = keep(ps->a, spelt);
    return *arg || err_from_fault(ps->e, fault_memory());
}

// Puts the words of a preset before the arguments not yet read and starts getopt anew on them.
static bool insert_preset(struct parser *ps, const char *name)
{
    if (optind <= ps->preset_end)
        return err_set(ps->e, STATUS_USAGE, "--preset: '%s': a preset cannot name another", name);
    char **word;
    size_t n;
    if (!preset_read(name, &word, &n, ps->e))
        return false;
    const size_t left = (size_t)(ps->argc - optind);
    const char **const argv = calloc(1 + n + left + 1, sizeof *argv);
    bool ok = argv;
    for (size_t i = 0; i < n; i++) {
        const char *const kept = keep(ps->a, word[i]);
        ok = ok && kept;
        if (ok)
            argv[1 + i] = kept;
    }
    free(word);
    if (!ok) {
        free(argv);
        return err_from_fault(ps->e, fault_memory());
    }
    argv[0] = ps->argv[0];
    memcpy(argv + 1 + n, ps->argv + optind, left * sizeof *argv);
    free(ps->argv);
    ps->argv = argv;
    ps->argc = (int)(1 + n + left);
    ps->preset_end = (int)(1 + n);
    optind = 1;
    return true;
}

static bool take(struct parser *ps, int opt)
{
    if (opt == 1)
        return optind <= ps->preset_end ? err_set(ps->e, STATUS_USAGE, "--preset: '%s' is not an option", optarg)
                                        : words_add(&ps->a->files, optarg, ps->e);
    if (opt == '?')
        return optopt >= LONG_BASE ? err_set(ps->e, STATUS_USAGE, "--%s takes no value", row_of(ps, optopt)->name)
                                   : err_set(ps->e, STATUS_USAGE, "unknown option '-%c'", optopt);
    if (opt == ':')
        return err_set(ps->e, STATUS_USAGE, "--%s needs a value", row_of(ps, optopt)->name);
    const struct option_row *const row = row_of(ps, opt);
    ps->a->given[row - ps->a->options->row] = true;
    return row->set == set_preset ? insert_preset(ps, optarg) : row->set(row, optarg, ps->a, ps->e);
}

static bool parse_arguments(struct parser *ps)
{
    optind = 1;
    opterr = 0;
    for (;;) {
        const bool preset = optind < ps->preset_end;
        if (!spell_out(ps))
            return false;
        const int opt = getopt_long(ps->argc, (char *const *)(const void *)ps->argv, ps->shorts, ps->longs, NULL);
        if (opt == -1)
            break;
        if (preset && optind > ps->preset_end) // must not take its value from beyond the preset
            return err_set(ps->e, STATUS_USAGE, "--%s needs a value", row_of(ps, opt)->name);
        if (!take(ps, opt))
            return false;
    }
    while (optind < ps->argc)
        if (!words_add(&ps->a->files, ps->argv[optind++], ps->e))
            return false;
    return true;
}

static bool set_defaults(struct args *a, struct err *e)
{
    catalog_defaults(a->options->catalog, a->value);
    for (const struct option_row *row = a->options->row; row->name; row++)
        if (row->def && !row->param && !row->set(row, row->def, a, e))
            return false;
    return true;
}

bool args_parse(struct args *a, const struct options *options, int argc, char **argv, struct err *e)
{
    struct parser ps = {.a = a, .e = e, .argc = argc};
    *a = (struct args){.options = options};
    ps.argv = calloc((size_t)argc + 1, sizeof *ps.argv);
    bool ok = ps.argv && build_getopt_tables(&ps);
    if (ok)
        memcpy(ps.argv, argv, (size_t)argc * sizeof *ps.argv);
    else
        err_from_fault(e, fault_memory());
    ok = ok && set_defaults(a, e) && parse_arguments(&ps);
    free(ps.argv);
    free(ps.longs);
    free(ps.shorts);
    return ok;
}

void args_free(struct args *a)
{
    struct words *const lists[] = {&a->files, &a->biases, &a->breaker_texts, &a->breaker_ids};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->word);
    for (size_t i = 0; i < a->n_made; i++)
        free(a->made[i]);
    free(a->made);
}

bool args_given(const struct args *a, const char *name)
{
    const struct option_row *const row = option_by_name(a->options, name, strlen(name));
    return a->given[row - a->options->row];
}

// ---- options that bear on each other

static bool check_emit(const struct args *a, struct err *e)
{
    const char *const format = a->output_format ? a->output_format : "text", *const what = emit_name(a->emit);
    const bool numbers = emit_distribution(a->emit) || a->emit == EMIT_SCORE;
    if (a->dump && a->emit != EMIT_IDS)
        return err_set(e, STATUS_USAGE, "--emit %s does not go with --dump-probs", what);
    if (a->emit == EMIT_SCORE && !a->accept && !a->accept_recorded)
        return err_set(e, STATUS_USAGE, "--emit score needs --accept, the tokens to be scored");
    if (a->emit == EMIT_TEXT && !a->vocab)
        return err_set(e, STATUS_USAGE, "--emit text needs --vocab");
    if (!numbers && (*format == 'f' || *format == 'n')) // f32, f16, npy
        return err_set(e, STATUS_USAGE, "--output-format %s is for scores and distributions, see --emit", format);
    return true;
}

bool args_check(const struct args *a, struct err *e)
{
    if (a->trace && !a->dump)
        return err_set(e, STATUS_USAGE, "--trace goes with --dump-probs");
    if (a->trace && a->output_format && !strcmp(a->output_format, "tsv"))
        return err_set(e, STATUS_USAGE, "--trace: tsv has no place for it");
    return check_emit(a, e);
}
