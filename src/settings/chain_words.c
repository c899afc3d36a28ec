// SPDX-License-Identifier: MIT
// A chain from words, for libsampl.
#include "base/names.h"
#include "settings/options.h"

#include <stdlib.h>
#include <string.h>

// The words while they are read.
struct words_of_chain {
    const char *const *word; // [n]
    size_t n, at;            // at: the next word
};

// Reads the next option with its value, in one word or two. False with *e.
static bool read_option(struct typed *t, struct words_of_chain *w, struct err *e)
{
    static const char files[] = "preset,scatter-embeddings,vocab";
    const char *const word = w->word[w->at++], *value = NULL;
    const bool brief = word[0] == '-' && word[1] != '-';
    const char *const name = word + (brief ? 1 : 2);
    const size_t len = brief ? word[1] != '\0' : strlen(word) > 2 ? strcspn(name, "=") : 0;
    if (*word != '-' || !len)
        return err_set(e, STATUS_USAGE, "'%s' is not an option", word);
    const struct option_row *row = brief ? option_by_brief(t->options, name, strlen(name)) : NULL;
    if (!row)
        row = brief ? option_by_brief(t->options, name, 1) : option_by_name(t->options, name, len);
    if (row && brief && row->flag && name[len]) // on the command line, -es7 is -e -s 7
        return err_set(e, STATUS_USAGE, "'%s': give --%s by a word of its own", word, row->name);
    if (row ? option_names_file(row) : name_find(files, NAME_EXACT, name, len) >= 0)
        return err_set(e, STATUS_USAGE, "'%s': a chain opens no file and no preset", word);
    if (!row)
        return err_set(e, STATUS_USAGE, "'%.*s' is not an option of a chain", err_clip_part(word, strlen(word), 40),
                       word);
    if (name[len])
        value = name + len + !brief;
    else if (option_needs_value(row) && w->at == w->n)
        return err_set(e, STATUS_USAGE, "--%s needs a value", row->name);
    else if (option_needs_value(row))
        value = w->word[w->at++];
    t->given[row - t->options->row] = ORIGIN_COMMAND_LINE;
    return option_set(row, value, t, e);
}

static bool add_grammar(struct new_recipe *d, const void *arg, struct builder *names, struct err *e)
{
    const struct typed *const t = arg;
    (void)names;
    if (!t->grammar_row)
        return true;
    const struct grammar_text g = typed_grammar(t);
    return d->of->vocab ? recipe_set_grammar(d, &g, e) : err_set(e, STATUS_USAGE, "--%s needs a vocabulary", g.option);
}

const struct recipe *recipe_from_words(struct recipes *r, const char *const *word, size_t n, struct err *e)
{
    struct options *const options = malloc(sizeof *options);
    struct typed t = {.options = options};
    struct words_of_chain w = {word, n, 0};
    if (!options) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    options_begin(options, r, ids_read);
    options_add_chain(options);
    bool ok = typed_defaults(&t, e);
    while (ok && w.at < n)
        ok = read_option(&t, &w, e);
    const struct recipe *const recipe = ok ? recipe_checked(recipe_from_typed(r, &t, add_grammar, &t, e), e) : NULL;
    for (size_t i = 0; i < LISTS; i++)
        list_free(&t.settings.list[i]);
    free(options);
    return recipe;
}
