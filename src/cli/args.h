// SPDX-License-Identifier: MIT
// The command line and its presets, as typed: each value read and held against its range, and nothing more. What it
// comes to is decided elsewhere: the chain in chain/, the run in run/.
#ifndef SAMPL_CLI_ARGS_H
#define SAMPL_CLI_ARGS_H

#include "cli/options.h"
#include "cli/value.h"
#include "cli/words.h"
#include "out/output.h"

enum action {
    ACTION_RUN,
    ACTION_PRINT_CHAIN,
    ACTION_PRINT_GRAMMAR,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_PRESETS,
    ACTION_GENERATE
};

// The k-th of n parts, k from 1; both 0: no parts.
struct share {
    int64_t k, n;
};

enum grammar_source { GRAMMAR_NONE, GRAMMAR_TEXT, GRAMMAR_FILE, GRAMMAR_SCHEMA, GRAMMAR_SCHEMA_FILE };

// Where an option was given.
enum origin { ORIGIN_NONE, ORIGIN_COMMAND_LINE, ORIGIN_PRESET };

struct args {
    const struct options *options;
    unsigned char given[OPTIONS_MOST]; // by row: enum origin
    enum action action;
    const char *how; // of --print-chain, --generate and --help: one of the choices of the option's row, or text

    // input
    const char *format;
    int64_t n_vocab;             // 0: not given
    const char *rows;            // which ones, a list
    const char *params;          // a file of what is said of each; NULL: none
    const char *prompt, *accept; // lists of ids, NULL: not given
    bool accept_recorded;        // the tokens that the input itself records
    const char *tensor;
    const char *ids;   // of the tokens in servers' replies: given or rank
    const char *vocab; // a file, NULL: none
    bool independent;
    struct share shard;
    int64_t row_base;
    struct words files;

    // chain
    double value[CATALOG_MOST]; // by number of the catalog
    bool neutral;               // what was not given is off, and no default
    int64_t seed;               // as given; the engine says which it takes
    const char *engine;
    const char *samplers; // names, or
    bool by_letter;       // letters
    struct words biases, breaker_texts, breaker_ids, bad_words, eog_tokens;
    bool ignore_eos;
    enum grammar_source grammar_source;
    const char *grammar; // as the source says
    bool grammar_first;
    int64_t reasoning_budget;                        // -1: none
    const char *reasoning_start, *reasoning_message; // NULL: not given
    struct words reasoning_ends;
    bool backend_sampling;

    // output
    enum emit emit;
    bool dump;
    int64_t dump_most; // candidates per row; 0: all
    bool trace;
    int64_t trace_most; // candidates after each stage; 0: none
    const char *after;  // the stage whose distribution is shown; NULL: the last
    const char *expect; // ids, or a file of distributions; NULL: not given
    double tolerance;
    const char *output_format; // NULL: not given
    const char *output;        // NULL: standard output
    bool line_buffered;
    bool stats;
    bool skip_bad;   // rows, and go on
    int64_t threads; // 0: one a core
    bool verbose;

    // chains beside this one: SPECs of --vs and OPTION=LISTs of --sweep
    struct words vs, sweeps;
    const char *against; // a file of second rows, or NULL
    bool diff;
    int64_t diff_most; // rows; 0: all that differ

    bool lenient;
    bool texts;            // there is a --vocab, before a preset or behind: presets may name tokens by their texts
    struct words presets;  // the texts that were read, which the members above and below point into
    struct words left_out; // of each preset with settings that no option gives: its file, and a list of the settings
};

// Fills a from the arguments; options and the strings of argv outlive it. False and *e on a usage error; a must be
// freed either way.
bool args_parse(struct args *a, const struct options *options, int argc, char **argv, struct err *e);
void args_free(struct args *a);

// Fills a with what base holds and, behind it, options that say what the chain is; an error names any other. base
// outlives a.
bool args_extend(struct args *a, const struct args *base, const struct words *options, struct err *e);

// Makes an option one that was not given.
bool args_forget(struct args *a, const struct option_row *row, struct err *e);

// Was the option with this long name given?
bool args_given(const struct args *a, const char *name);

// Holds options that bear on each other against each other, before a run or --print-chain.
bool args_check(const struct args *a, struct err *e);

#endif
