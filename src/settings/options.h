// SPDX-License-Identifier: MIT
// The options, one row each, and those of a chain as typed. The rows of a chain's options are here, with a row for each
// parameter of the samplers; the command line adds its other options (cli/option_table.c). Parsing, --help and the
// completions follow the rows. Tests compare the manual page and README with them.
#ifndef SAMPL_SETTINGS_OPTIONS_H
#define SAMPL_SETTINGS_OPTIONS_H

#include "settings/new_recipe.h"

#include <string.h>

struct typed;

enum option_group { GROUP_INPUT, GROUP_CHAIN, GROUP_OUTPUT, GROUP_OTHER, GROUP_HIDDEN };

// What an option stores. The member at `at` has the type that is named.
enum option_kind {
    OPTION_OWN,       // a type that only the row's `set` knows
    OPTION_PRESET,    // nothing: its value is a preset, which the command line reads
    OPTION_NO_EFFECT, // nothing: a flag
    OPTION_FLAG,      // bool: true without a value
    OPTION_INVERSE,   // bool: false without a value
    OPTION_WHOLE,     // int64_t in the row's range
    OPTION_SWITCH,    // int64_t in the row's range, NO_NUMBER without a value; of a flag also =true and =false (0)
    OPTION_NUMBER,    // double in the row's range
    OPTION_TEXT,      // const char *; the name of a file must not be empty
    OPTION_CHOICE,    // const char *: one of the row's choices
    OPTION_INDEX,     // unsigned, or an enum: the index of the value among the row's choices
    OPTION_PARAM,     // the value of a sampler's parameter
    OPTION_NAMES,     // the samplers, by their names
    OPTION_LETTERS,   // the samplers, by their letters
    OPTION_LIST,      // an entry of the row's list
    OPTION_IDS,       // ids for the row's list
    OPTION_GRAMMAR,   // the grammar, and the option that gives it
    OPTION_SEED,      // int64_t: any number of 64 bits; the engine has its own range
    OPTION_NEUTRAL,   // bool; the samplers and their parameters are reset
};

enum { NO_NUMBER = -1 }; // the value of an option [=N] that was given without N

// What an option needs beside it, or excludes, when it is in use. The command line checks it (cli/option_rules.h).
// `others` and `unless` are option names, separated by commas. NAME=VALUE|VALUE is in use if the option has one of
// these values, whether it was given or not.
struct option_rule {
    enum rule_kind {
        RULE_NEEDS,      // one of the others
        RULE_EXCLUDES,   // all others
        RULE_READS_INPUT // its value names a file, which cannot be the input of the rows
    } kind;
    const char *others; // NULL after the last rule
    const char *of;     // values of the option that the rule is for, separated by commas; NULL: any
    const char *unless; // options beside which the rule does not hold; NULL: it always holds

    // The message: `as`, or the option; "needs" or "cannot be used with" the others; `why`. NULL: nothing. In place of
    // the words behind the option, `says` is a format for the value of the other option that was found.
    const char *as, *says, *why;
};

struct option_row {
    const char *name;    // without the dashes; NULL after the last row
    const char *also;    // another long name, or NULL
    const char *brief;   // short form without the dash, one letter or two ("jf"); NULL: none
    const char *metavar; // NULL: a flag, or an action; "[=X]": may have a value
    enum option_group group;
    const char *heading; // in --help, within the group; NULL: the group's own
    bool common;         // --help lists it; else only --help=all does
    const char *def;     // default, as one would give it; NULL: none, or that of the parameter (option_default)
    const char *choices; // values that are accepted, comma-separated; NULL: any
    bool flag;           // takes no value, but may be given as =true or =false
    bool repeats;        // may be given several times
    bool recipe;         // is a part of the recipe, and may stand in a preset

    const struct option_rule *rules; // what it needs and excludes; NULL: nothing

    enum option_kind kind;
    size_t at;           // offset of the member that holds the value, from the beginning of struct typed
    double low, high;    // range of numbers
    enum list_kind list; // of OPTION_LIST and OPTION_IDS
    int action;          // for `set`: the action that an option names

    // Reads the value, NULL without one, checks it, and stores it as the kind says. False with *e if the value is
    // refused. NULL: option_set_as does.
    bool (*set)(const struct option_row *row, const char *value, struct typed *t, struct err *e);

    const char *help;

    const struct param
        *param; // the sampler's parameter that the option sets, and its number in the catalog; NULL: none
    size_t number;
};

enum { OPTIONS_MOST = 220, ENGINE_NAMES = 200 };

// Reads the ids of a list's option, as ids_read does.
typedef bool ids_reader(const char *flag, const char *text, int64_t least, struct ids *ids, struct err *e);

struct options {
    const struct catalog *catalog;
    struct builder *notes; // setters add their notes
    ids_reader *read_ids;
    char engines[ENGINE_NAMES];          // the choices of --engine
    struct option_row row[OPTIONS_MOST]; // [n], and one without a name
    size_t n;
};

// Makes a table without rows. r, which outlives o, has the catalog and gets the notes.
static inline void options_begin(struct options *o, struct recipes *r, ids_reader *read_ids)
{
    o->catalog = &r->catalog;
    o->notes = &r->notes;
    o->read_ids = read_ids;
    o->n = 0;
}

// Append rows: row[0..n), or those of a chain, but for options that only the command line has.
void options_add(struct options *o, const struct option_row *row, size_t n);
void options_add_chain(struct options *o);

// Returns the default of a row as one would give it: `text`, or a constant. NULL: it has none.
const char *option_default(const struct option_row *row, char text[NUMBER_TEXT]);

// Returns whether the option needs a value.
static inline bool option_needs_value(const struct option_row *row) { return row->metavar && *row->metavar != '['; }

// Returns whether the option's value is the name of a file.
static inline bool option_names_file(const struct option_row *row)
{
    return row->metavar && !strcmp(row->metavar, "FILE");
}

// Finds the option with the short form brief[0..len), which lacks its dash. NULL: there is none.
static inline const struct option_row *option_by_brief(const struct options *o, const char *brief, size_t len)
{
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->brief && strlen(row->brief) == len && !strncmp(row->brief, brief, len))
            return row;
    return NULL;
}

// Finds the option with the long name name[0..len), in which '_' is equal to '-'. NULL: there is none.
const struct option_row *option_by_name(const struct options *o, const char *name, size_t len);

// ---- values of options

// The member that holds the value of the row's option, as an lvalue.
#define OPTION_FIELD(type) (*(type *)(void *)((char *)t + row->at))

// Its value, of a typed chain that does not change.
#define OPTION_VALUE(type) (*(type const *)(const void *)((const char *)t + row->at))

// Reads the value of an option as a kind that the library knows, checks it, and stores it. value: NULL without one.
// False with *e if the value is refused.
bool option_set_as(const struct option_row *row, enum option_kind kind, const char *value, struct typed *t,
                   struct err *e);

// Reads the value of an option. Not for OPTION_PRESET.
static inline bool option_set(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    return row->set ? row->set(row, value, t, e) : option_set_as(row, row->kind, value, t, e);
}

// Returns the index of a value among the row's choices. -1 with *e: it is not one of them.
int option_choice(const struct option_row *row, const char *value, struct err *e);

// ---- a chain as typed

// Where an option was given.
enum origin {
    ORIGIN_NONE,
    ORIGIN_WEAK, // by an option for a model; what its metadata recommend counts more
    ORIGIN_COMMAND_LINE,
    ORIGIN_PRESET
};

// Which options of a chain were given, and their values. Starts as {.options = ...} and typed_defaults. The owner frees
// the lists of `settings`.
struct typed {
    const struct options *options;
    unsigned char given[OPTIONS_MOST]; // enum origin of each row
    double value[CATALOG_MOST];        // by number of the catalog
    bool neutral;                      // samplers whose options were not given are off
    int64_t seed;                      // as given; the range depends on the engine
    const char *engine;
    const char *samplers;
    enum order_form samplers_form;
    struct settings settings;
    const struct option_row *grammar_row; // of the option that gave the grammar; NULL: there is no grammar
    const char *grammar;                  // its value: a text or a file
    bool grammar_first;
};

// Sets all options that have a default to it. False with *e if memory is short.
bool typed_defaults(struct typed *t, struct err *e);

// Resets an option to what holds when it is not given.
bool typed_forget(struct typed *t, const struct option_row *row, struct err *e);

// Returns where the option with this long name was given.
enum origin typed_origin(const struct typed *t, const char *name);

// Finds the first option from *row on that the engine refuses, and returns why. of_presets: only options of presets
// count. NULL: there is none.
const char *typed_refusal(const struct typed *t, bool of_presets, const struct option_row **row);

// Returns the grammar, which was given, as text. Its text may be the name of a file: option_names_file(t->grammar_row).
struct grammar_text typed_grammar(const struct typed *t);

// Sets the parts of a new recipe that are not in struct typed: the grammar as text, vectors, the vocabulary that texts
// are split by. The new recipe has its values and its seed, but no lists and no samplers. Samplers that are appended to
// *names count more than those typed. False with *e.
typedef bool add_more_fn(struct new_recipe *d, const void *arg, struct builder *names, struct err *e);

// Makes the recipe of a chain as typed, which the caller drops. Parameters that were not given have the engine's
// defaults. NULL with *e on failure.
const struct recipe *recipe_from_typed(struct recipes *r, const struct typed *t, add_more_fn *add_more, const void *arg,
                                       struct err *e);

// chain_words.c: makes the recipe that the command line makes of word[0..n), such as --top-p 0.9, with the vocabulary
// of r, for programs that have no command line of ours. The words are options of a chain that open no file and name no
// preset. The caller drops the recipe. Notes stay in r->notes. NULL with *e on failure: STATUS_USAGE, the text names
// the word.
const struct recipe *recipe_from_words(struct recipes *r, const char *const *word, size_t n, struct err *e);

#endif
