// SPDX-License-Identifier: MIT
#include "cli/args.h"

#include "base/utf8.h"
#include "cli/hint.h"
#include "cli/option_rules.h"
#include "cli/preset.h"
#include "out/message.h"
#include "programs/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- reading the arguments

// The words of the command line, or of a preset, while they are read.
struct reader {
    struct args *a;
    const char *const *word; // [n]
    size_t n, at;            // at: the next word
    const char *preset;      // the file of the preset; NULL: the words are the command line
    bool chain_only;         // only options of the chain and --preset are accepted
};

static bool read_words(struct reader *r, struct err *e);

// Returns the engine that is typed behind the preset that is read, or before it. NULL: none is, or a preset in between
// has set another.
static const struct engine *typed_engine(const struct reader *r)
{
    const char *const before = typed_origin(&r->a->typed, "engine") == ORIGIN_COMMAND_LINE ? r->a->typed.engine : NULL,
                      *const name = words_value(r->word + r->at, r->n - r->at, "--engine", before);
    return name ? engine_by_name(name) : NULL;
}

// Reads the words of a preset in place of the option --preset.
static bool read_preset(const struct reader *r, const char *name, struct err *e)
{
    struct args *const a = r->a;
    const char *const from = words_value(r->word, r->n, "--preset-from", a->preset_from);
    struct preset p = {.a = a, .from = from, .engine = typed_engine(r)};
    if (r->preset)
        return err_set(e, STATUS_USAGE, "'%s': a preset cannot name another", name);
    const bool ok = preset_read(&p, name, e) &&
                    (read_words(&(struct reader){.a = a, .word = p.words.word, .n = p.words.n, .preset = p.path}, e) ||
                     err_prefix(e, "--preset: %s", p.path));
    free(p.words.word);
    return ok;
}

// Reads an option. value stands in the same word; if it is NULL and the option needs a value, the next word is the
// value.
static bool read_value(struct reader *r, const struct option_row *row, const char *value, struct err *e)
{
    if (!value && option_needs_value(row)) {
        if (r->at == r->n)
            return err_set(e, STATUS_USAGE, "--%s needs a value", row->name);
        value = r->word[r->at++];
    }
    if (value && !row->metavar && !row->flag)
        return err_set(e, STATUS_USAGE, "--%s takes no value", row->name);
    if (r->chain_only && row->group != GROUP_CHAIN && row->kind != OPTION_PRESET)
        return err_set(e, STATUS_USAGE, "--%s is not part of a chain: it is the same for all", row->name);
    if (row->kind != OPTION_PRESET)
        return args_set(r->a, row, value, r->preset, e) || (!r->preset && hint_value(row, value, e));
    args_give(r->a, row, r->preset);
    return read_preset(r, value, e);
}

// Reads the short options behind a dash: one option of two letters, or options of one letter, of which the last may
// have its value behind it.
static bool read_short(struct reader *r, const char *letter, struct err *e)
{
    const struct option_row *row = option_by_brief(r->a->typed.options, letter, strlen(letter));
    if (row)
        return read_value(r, row, NULL, e);
    if (hint_is_known(letter - 1, strlen(letter) + 1))
        return hint_unknown(r->a->typed.options, letter - 1, strlen(letter) + 1, e);
    for (; *letter; letter++) {
        char word[8];
        const int len = (int)utf8_step(letter);
        row = option_by_brief(r->a->typed.options, letter, 1);
        if (!row)
            return hint_unknown(r->a->typed.options, word, (size_t)snprintf(word, sizeof word, "-%.*s", len, letter),
                                e);
        const bool valued = row->metavar && letter[1];
        if (!read_value(r, row, valued ? letter + 1 : NULL, e))
            return false;
        if (valued)
            break;
    }
    return true;
}

// Reads --NAME or --NAME=VALUE.
static bool read_long(struct reader *r, const char *word, struct err *e)
{
    const char *const name = word + 2, *const end = name + strcspn(name, "=");
    const struct option_row *const row = option_by_name(r->a->typed.options, name, (size_t)(end - name));
    if (!row)
        return hint_unknown(r->a->typed.options, word, (size_t)(end - word), e);
    return read_value(r, row, *end ? end + 1 : NULL, e);
}

static bool read_words(struct reader *r, struct err *e)
{
    bool ok = true, options = true; // options: no word was --
    while (ok && r->at < r->n) {
        const char *const word = r->word[r->at++];
        const bool option = options && *word == '-' && word[1];
        if ((r->preset || r->chain_only) && (!option || !strcmp(word, "--")))
            ok = err_set(e, STATUS_USAGE, "'%s' is not an option", word);
        else if (!option)
            ok = words_add(&r->a->files, word, e);
        else if (word[1] != '-')
            ok = read_short(r, word + 1, e);
        else if (word[2])
            ok = read_long(r, word, e);
        else
            options = false;
    }
    return ok;
}

// Notes what a preset is read as, once for each file and run.
static bool note_named(const struct args *a, const char *file, const char *what, struct err *e)
{
    for (size_t i = 0; i < a->named->n; i++)
        if (!strcmp(a->named->word[i], file))
            return true;
    message_note("%s is read as %s", file, what);
    return words_add(a->named, file, e);
}

// Refuses settings of presets that no option gives, or with --lenient warns of them. --lenient may stand behind the
// preset. Prints at most one line for each preset; quiet: none.
static bool check_left_out(const struct args *a, bool quiet, struct err *e)
{
    const bool prompt = a->prompt || args_recorded(a->accept);
    for (size_t i = 0; i < a->left_out.n; i += SAID) {
        const char *const *const said = a->left_out.word + i, *const file = said[0], *const list = said[1];
        const char *const note = said[2], *const with_prompt = prompt ? said[3] : "",
                          *const between = *note && *with_prompt ? "; " : "";
        const bool any = *note || *with_prompt;
        if (*list && !a->lenient)
            return err_set(e, STATUS_USAGE, "--preset: %s: sampl has no option for %s; --lenient leaves that out", file,
                           list);
        if (*said[4] && !quiet && !note_named(a, file, said[4], e))
            return false;
        if (*list && !quiet)
            message_warn("--preset: %s: left out, because sampl has no option for it: %s%s%s%s%s", file, list,
                         any ? "; " : "", note, between, with_prompt);
        else if (any && !quiet)
            message_note("--preset: %s: %s%s%s", file, note, between, with_prompt);
    }
    return true;
}

bool args_parse(struct args *a, const struct options *options, int argc, char **argv, struct err *e)
{
    *a = (struct args){.typed.options = options,
                       .word = (const char *const *)(void *)(argv + 1),
                       .n_words = argc > 1 ? (size_t)argc - 1 : 0};
    a->named = &a->named_own;
    return typed_defaults(&a->typed, e) && read_words(&(struct reader){.a = a, .word = a->word, .n = a->n_words}, e) &&
           check_left_out(a, false, e);
}

void args_free(struct args *a)
{
    struct words *const lists[] = {&a->files, &a->vs, &a->sweeps, &a->left_out, &a->named_own};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->word);
    for (size_t i = 0; i < LISTS; i++)
        list_free(&a->typed.settings.list[i]);
    words_free(&a->texts);
}

bool args_extend(struct args *a, const struct args *base, const struct words *options, bool quiet, struct err *e)
{
    *a = *base;
    a->files = a->vs = a->sweeps = a->left_out = a->texts = a->named_own = (struct words){0};
    memset(a->typed.settings.list, 0, sizeof a->typed.settings.list);
    for (size_t i = 0; i < LISTS; i++)
        list_copy(&a->typed.settings.list[i], &base->typed.settings.list[i]);
    return read_words(&(struct reader){.a = a, .word = options->word, .n = options->n, .chain_only = true}, e) &&
           check_left_out(a, quiet, e);
}

bool args_check(const struct args *a, struct err *e)
{
    return option_rules_check_all(a, e) && hint_detached_number(a, e);
}
