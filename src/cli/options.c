// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include "base/mem.h"
#include "cli/preset.h"
#include "cli/set.h"
#include "recipe/chainspec.h"
#include "recipe/enginespec.h"
#include "recipe/grammar_options.h"
#include "recipe/vocab_options.h"
#include "run/part.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// getopt's view of the table, and the arguments still to come: presets put theirs in front.
struct parser {
    struct options *o;
    struct err *e;
    struct option *longs; // ends with a zeroed one
    char *shorts;
    const char **argv; // [argc], argv[argc] is NULL
    int argc;
    int preset_end; // arguments before this index come from a preset
};

enum { LONG_BASE = 256 }; // getopt's value for table row i is LONG_BASE + i

static bool build_getopt_tables(struct parser *ps)
{
    size_t n = 0;
    while (option_table[n].name)
        n++;
    ps->longs = calloc(n + 1, sizeof *ps->longs);
    ps->shorts = calloc(3 + 2 * n, 1);
    if (!ps->longs || !ps->shorts)
        return false;
    char *s = ps->shorts;
    *s++ = '-'; // operands come in order, as option 1
    *s++ = ':'; // a missing value is told from an unknown option
    for (size_t i = 0; i < n; i++) {
        const struct option_row *const row = &option_table[i];
        const int arg = !row->metavar ? no_argument : *row->metavar == '[' ? optional_argument : required_argument;
        ps->longs[i] = (struct option){row->name, arg, NULL, LONG_BASE + (int)i};
        if (!row->brief || row->brief[1])
            continue;
        *s++ = *row->brief;
        if (row->metavar)
            *s++ = ':';
    }
    return true;
}

static const struct option_row *row_of(int opt)
{
    if (opt >= LONG_BASE)
        return &option_table[opt - LONG_BASE];
    for (const struct option_row *row = option_table; row->name; row++)
        if (row->brief && *row->brief == opt && !row->brief[1])
            return row;
    return NULL;
}

// Keeps a string that the options point to.
static const char *keep(struct options *o, char *word)
{
    if (!word || !mem_grow(&o->word, &o->words_cap, o->n_words + 1, sizeof *o->word)) {
        free(word);
        return NULL;
    }
    return o->word[o->n_words++] = word;
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
        row = option_by_name(name, (size_t)(value - name));
        if (!row)
            return err_set(ps->e, STATUS_USAGE, "unknown option '%.*s'", (int)(value - *arg), *arg);
    } else {
        for (const struct option_row *r = option_table; r->name; r++)
            if (r->brief && r->brief[1] && !strcmp(*arg + 1, r->brief))
                row = r;
        if (!row)
            return true;
    }
    char *const spelt = malloc(2 + strlen(row->name) + strlen(value) + 1);
    if (spelt)
        stpcpy(stpcpy(stpcpy(spelt, "--"), row->name), value);
    *arg = keep(ps->o, spelt);
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
        const char *const kept = keep(ps->o, word[i]);
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

static bool add_file(struct options *o, const char *file, struct err *e)
{
    if (!mem_grow(&o->files, &o->files_cap, o->n_files + 1, sizeof *o->files))
        return err_from_fault(e, fault_memory());
    o->files[o->n_files++] = file;
    return true;
}

static bool take(struct parser *ps, int opt)
{
    if (opt == 1)
        return optind <= ps->preset_end ? err_set(ps->e, STATUS_USAGE, "--preset: '%s' is not an option", optarg)
                                        : add_file(ps->o, optarg, ps->e);
    if (opt == '?')
        return optopt >= LONG_BASE ? err_set(ps->e, STATUS_USAGE, "--%s takes no value", row_of(optopt)->name)
                                   : err_set(ps->e, STATUS_USAGE, "unknown option '-%c'", optopt);
    if (opt == ':')
        return err_set(ps->e, STATUS_USAGE, "--%s needs a value", row_of(optopt)->name);
    const struct option_row *const row = row_of(opt);
    ps->o->given[row - option_table] = true;
    return row->set == set_preset ? insert_preset(ps, optarg) : row->set(row, optarg, ps->o, ps->e);
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
            return err_set(ps->e, STATUS_USAGE, "--%s needs a value", row_of(opt)->name);
        if (!take(ps, opt))
            return false;
    }
    while (optind < ps->argc)
        if (!add_file(ps->o, ps->argv[optind++], ps->e))
            return false;
    return true;
}

static bool set_defaults(struct options *o, struct err *e)
{
    for (const struct option_row *row = option_table; row->name; row++)
        if (row->def && row->set && !row->set(row, row->def, o, e))
            return false;
    return true;
}

static bool check_emit(const struct options *o, struct err *e)
{
    const char *const format = o->output_format ? o->output_format : "text", *const what = emit_name[o->emit];
    const bool numbers = emit_distribution(o->emit) || o->emit == EMIT_SCORE;
    if (o->dump && o->emit != EMIT_IDS)
        return err_set(e, STATUS_USAGE, "--emit %s does not go with --dump-probs", what);
    if (o->emit == EMIT_SCORE && !o->accept.given && !o->accept_recorded)
        return err_set(e, STATUS_USAGE, "--emit score needs --accept, the tokens to be scored");
    if (o->emit == EMIT_TEXT && !o->vocab_file)
        return err_set(e, STATUS_USAGE, "--emit text needs --vocab");
    if (!numbers && (*format == 'f' || *format == 'n')) // f32, f16, npy
        return err_set(e, STATUS_USAGE, "--output-format %s is for scores and distributions, see --emit", format);
    return true;
}

// What depends on more than one option.
static bool finish(struct options *o, struct err *e)
{
    if (!enginespec_settle(o, e))
        return false;
    if (o->params.scatter_strength_min > o->params.scatter_strength_max)
        return err_set(e, STATUS_USAGE, "--scatter-strength-min is above --scatter-strength-max");
    if (o->trace && !o->dump)
        return err_set(e, STATUS_USAGE, "--trace goes with --dump-probs");
    if (o->trace && o->output_format && !strcmp(o->output_format, "tsv"))
        return err_set(e, STATUS_USAGE, "--trace: tsv has no place for it");
    if (!check_emit(o, e))
        return false;
    if (!o->output_format && !emit_distribution(o->emit))
        o->output_format = "text";
    o->random_seed = o->params.seed == UINT32_MAX;
    if (o->random_seed && getrandom(&o->params.seed, sizeof o->params.seed, 0) != sizeof o->params.seed)
        return err_set(e, STATUS_IO, "no random seed to be had from the system");
    if (!vocab_options_apply(o, e) || !grammar_options_apply(o, e) ||
        !(o->engine->options ? enginespec_build(o, e) : chainspec_build(o, e)))
        return false;
    vocab_options_warn(o);
    return part_check(o, e);
}

bool options_parse(struct options *o, int argc, char **argv, struct err *e)
{
    struct parser ps = {.o = o, .e = e, .argc = argc};
    memset(o, 0, sizeof *o);
    ps.argv = calloc((size_t)argc + 1, sizeof *ps.argv);
    bool ok = ps.argv && build_getopt_tables(&ps);
    if (ok)
        memcpy(ps.argv, argv, (size_t)argc * sizeof *ps.argv);
    else
        err_from_fault(e, fault_memory());
    ok = ok && set_defaults(o, e) && parse_arguments(&ps) && (o->action > ACTION_PRINT_GRAMMAR || finish(o, e));
    free(ps.argv);
    free(ps.longs);
    free(ps.shorts);
    return ok;
}

void options_free(struct options *o)
{
    free(o->prompt.id);
    free(o->accept.id);
    free(o->files);
    free(o->choice);
    free(o->plan);
    free(o->bias);
    free(o->bias_text);
    free(o->dry_piece);
    vocab_free(&o->texts);
    grammar_options_free(o);
    free(o->dry_text);
    for (size_t i = 0; i < o->params.n_dry_breakers; i++)
        free((void *)(uintptr_t)o->breaker[i].ids);
    free(o->breaker);
    for (size_t i = 0; i < o->n_words; i++)
        free(o->word[i]);
    free(o->word);
}
