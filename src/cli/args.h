// SPDX-License-Identifier: MIT
// The command line and its presets, as typed. Each value is read and compared with its range. What the options mean
// together is decided elsewhere: the chain in chain/, the run in run/.
#ifndef SAMPL_CLI_ARGS_H
#define SAMPL_CLI_ARGS_H

#include "cli/value.h"
#include "cli/words.h"
#include "in/input.h"
#include "out/emit.h"
#include "settings/options.h"

#include <string.h>

enum action {
    ACTION_RUN,
    ACTION_PRINT_CHAIN,
    ACTION_PRINT_GRAMMAR,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_PRESETS,
    ACTION_LIST_PROGRAMS,
    ACTION_GENERATE
};

// The part k of n, from 1. Both are 0 if there are no parts.
struct share {
    int64_t k, n;
};

enum { SAID = 5 }; // words of a preset in args.left_out

struct args {
    struct typed typed;               // the options, which were given, and the chain; the first member
    const char *preset[OPTIONS_MOST]; // the file of the preset that gave each row's option last; NULL: none
    enum action action;
    const char *const *word; // [n_words] the command line behind the program's name
    size_t n_words;
    const char *how; // of --print-chain, --generate and --help: one of the choices of the option's row, or text

    // input
    const char *format;
    int64_t n_vocab;             // 0: not given
    const char *rows;            // the rows that are wanted, a list
    const char *params;          // a file with an object for each row; NULL: none
    const char *prompt, *accept; // lists of ids, accept also "recorded"; NULL: not given
    const char *tensor;
    enum reply_ids ids; // of the tokens in servers' replies
    const char *vocab;  // a file, NULL: none
    bool independent;
    struct share shard;
    int64_t row_base, first;
    struct words files;

    // what only the command line has of the chain
    const char *embeddings;      // a file; NULL: none
    enum distance_metric metric; // of the embeddings
    bool backend_sampling;

    // output
    enum emit emit;
    int64_t list_most;   // tokens of a list of --emit list
    int64_t dump;        // candidates of each row; NO_NUMBER: all, 0: no dump
    int64_t trace;       // candidates after each stage; NO_NUMBER: none, 0: no trace
    const char *after;   // the stage whose distribution is shown; NULL: the last
    const char *expect;  // ids, or a file of distributions; NULL: not given
    int64_t expect_most; // differing rows that are listed
    const char *draws;   // a file of draws, or recorded; NULL: not given
    double tolerance, draws_p, most_lost;
    const char *audit, *trusted; // ids as of --expect; NULL: not given
    double audit_p, margin_clip, match_least, outside_most;
    const char *output_format; // NULL: not given
    const char *output;        // NULL: standard output
    bool line_buffered;
    bool stats;
    enum on_error on_error;
    int64_t threads; // 0: one for each core
    bool verbose;

    // variants: the SPECs of --vs and OPTION=LISTs of --sweep
    struct words vs, sweeps;
    const char
        *columns;     // of the table, separated by commas, or "all"; NULL: in text those that choose a chain, else all
    const char *base; // name of the chain that the others are compared with; NULL: that of the command line
    const char *against; // a file with other rows of the same contexts; NULL: none
    bool report;
    int64_t diff; // rows; NO_NUMBER: all that differ, 0: no --diff

    bool lenient;
    bool strict_grammar;
    const char *preset_from; // the program of presets; NULL: not given
    struct words texts;      // of presets, malloc'ed; other members point into them
    struct words
        left_out; // of each foreign preset: its file, a list of the settings that no option gives, a note, a note
                  // for runs with a prompt, and what it is read as (SAID words); "": none
    struct words *named; // presets of which a note has said what they are read as; args_parse's, which variants share
    struct words named_own;
};

// Makes the rows of all options. r, which outlives o, gets the notes.
void options_make(struct options *o, struct recipes *r);

// Fills a from the arguments. options and the strings of argv outlive a. False with *e if they are no valid options.
// The caller frees a either way.
bool args_parse(struct args *a, const struct options *options, int argc, char **argv, struct err *e);
void args_free(struct args *a);

// Returns whether the ids of an option are those that the input records. value: NULL if it was not given.
static inline bool args_recorded(const char *value) { return value && !strcmp(value, "recorded"); }

// Fills a from base and from options of the chain behind it. base outlives a. False with *e if another option is among
// them. quiet: prints no notes on presets.
bool args_extend(struct args *a, const struct args *base, const struct words *options, bool quiet, struct err *e);

// Sets an option. value: NULL if it has none. preset: the file that gives it; NULL: the command line. A preset has only
// options that make a recipe, and its lists name no files. False with *e.
bool args_set(struct args *a, const struct option_row *row, const char *value, const char *preset, struct err *e);

// Notes that an option is given, as args_set does.
void args_give(struct args *a, const struct option_row *row, const char *preset);

static inline bool args_given(const struct args *a, const char *name)
{
    return typed_origin(&a->typed, name) != ORIGIN_NONE;
}

// Returns whether --vocab is given anywhere on the command line. Presets may then name tokens by their texts.
static inline bool args_name_vocab(const struct args *a) { return words_value(a->word, a->n_words, "--vocab", NULL); }

// Checks options that exclude or need each other, before a run or --print-chain. False with *e.
bool args_check(const struct args *a, struct err *e);

#endif
