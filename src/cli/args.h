// SPDX-License-Identifier: MIT
// The command line and its presets, as typed. Each value is read and compared with its range. What the options mean
// together is decided elsewhere: the chain in chain/, the run in run/.
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

// The part k of n, from 1. Both are 0 if there are no parts.
struct share {
    int64_t k, n;
};

enum grammar_source { GRAMMAR_NONE, GRAMMAR_TEXT, GRAMMAR_FILE, GRAMMAR_SCHEMA, GRAMMAR_SCHEMA_FILE };

// Where an option was given.
enum origin { ORIGIN_NONE, ORIGIN_COMMAND_LINE, ORIGIN_PRESET };

struct args {
    const struct options *options;
    unsigned char given[OPTIONS_MOST]; // enum origin of each row
    enum action action;
    const char *how; // of --print-chain, --generate and --help: one of the choices of the option's row, or text

    // input
    const char *format;
    int64_t n_vocab;             // 0: not given
    const char *rows;            // the rows that are wanted, a list
    const char *params;          // a file with an object for each row; NULL: none
    const char *prompt, *accept; // lists of ids, NULL: not given
    bool accept_recorded;        // --accept=recorded
    const char *tensor;
    const char *ids;   // of the tokens in servers' replies: given or rank
    const char *vocab; // a file, NULL: none
    bool independent;
    struct share shard;
    int64_t row_base;
    struct words files;

    // chain
    double value[CATALOG_MOST]; // by number of the catalog
    bool neutral;               // samplers whose options were not given are off
    int64_t seed;               // as given; the range depends on the engine
    const char *engine;
    const char *samplers; // names of samplers, or if
    bool by_letter;       // by_letter, their letters
    struct words biases, breaker_texts, breaker_ids, bad_words, eog_tokens;
    bool ignore_eos;
    enum grammar_source grammar_source;
    const char *grammar; // a text or a file, as grammar_source says
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
    bool skip_bad;   // skip bad rows
    int64_t threads; // 0: one a core
    bool verbose;

    // variants: the SPECs of --vs and OPTION=LISTs of --sweep
    struct words vs, sweeps;
    const char *against; // a file with other rows of the same contexts; NULL: none
    bool diff;
    int64_t diff_most; // rows; 0: all that differ

    bool lenient;
    bool texts;            // --vocab is given, before or behind a preset: presets may name tokens by their texts
    struct words presets;  // the texts of presets, which other members point into
    struct words left_out; // of each preset with settings that no option gives: its file, and a list of the settings
};

// Fills a from the arguments. options and the strings of argv outlive a. False with *e if they are no valid options.
// The caller frees a either way.
bool args_parse(struct args *a, const struct options *options, int argc, char **argv, struct err *e);
void args_free(struct args *a);

// Fills a from base and from options of the chain behind it. base outlives a. False with *e if another option is among
// them.
bool args_extend(struct args *a, const struct args *base, const struct words *options, struct err *e);

// Resets an option to what holds when it is not given.
bool args_forget(struct args *a, const struct option_row *row, struct err *e);

// Was the option with this long name given?
bool args_given(const struct args *a, const char *name);

// Checks options that exclude or need each other, before a run or --print-chain. False with *e.
bool args_check(const struct args *a, struct err *e);

#endif
