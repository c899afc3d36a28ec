// SPDX-License-Identifier: MIT
// The command line as one struct. Filled once by options_parse, const from then on.
#ifndef SAMPL_CLI_OPTIONS_H
#define SAMPL_CLI_OPTIONS_H

#include "base/err.h"
#include "out/output.h"
#include "sample/engine.h"
#include "vocab/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum action {
    ACTION_RUN,
    ACTION_PRINT_CHAIN,
    ACTION_PRINT_GRAMMAR,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_PRESETS,
    ACTION_GENERATE
};

struct ids {
    uint32_t *id; // [n]
    size_t n, cap;
    bool given;
};

// Rows first <= r < last; a negative bound counts from the end of the input.
struct row_range {
    int64_t first, last; // last is INT64_MAX when open
};

// A bias whose token is given as a text, which vocab_options.c looks up when all options are known.
struct bias_text {
    size_t bias; // which one
    const char *text;
    size_t len;
};

// The k-th of n parts, k from 1; both 0: no parts.
struct share {
    int64_t k, n;
};

struct grammar;
struct trie;

enum { OPTIONS_MOST = 128 };

struct options {
    enum action action;
    const char *how; // ACTION_PRINT_CHAIN: text, json, llama or server; ACTION_GENERATE: bash, zsh or fish

    // input
    const char *format;
    int32_t n_vocab; // 0: not given
    struct row_range rows;
    struct ids prompt, accept;
    bool accept_recorded; // the tokens that the input itself records
    const char *tensor;
    const char *ids;           // of the tokens in servers' replies: given or rank
    const char *vocab_file;    // NULL: none
    const struct vocab *vocab; // what the tokens say, or NULL
    bool independent;
    struct share shard;
    int64_t row_base;
    const char **files; // [n_files]
    size_t n_files, files_cap;

    // chain
    struct params params;
    const char *engine_name;
    const struct engine *engine;
    bool random_seed;        // params.seed came from the operating system
    const char *samplers;    // as given: names, or
    bool samplers_by_letter; // letters
    struct choice *choice;   // [n_choices] what they spell
    size_t n_choices, choice_cap;
    struct choice *plan; // [n_plan] the stages they come to
    size_t n_plan;
    const char **dry_text; // [n_dry_texts] breakers as text; the defaults unless given
    size_t n_dry_texts, dry_text_cap;
    bool dry_text_given, dry_ids_given;
    bool ignore_eos;
    size_t n_vocab_bias; // the last so many biases, which came of ignore_eos and of what the vocabulary bans

    // grammar
    const char *grammar_given; // GBNF, or the file that holds it; NULL: none
    bool grammar_is_file;
    const char *schema_gbnf, *schema_option; // a schema as GBNF, and the name of the option that gave it
    char *gbnf;                              // [gbnf_len] its text
    size_t gbnf_len;
    struct grammar *grammar;
    struct trie *trie;                // of the vocabulary; with a grammar to run under
    bool grammar_shared, trie_shared; // they belong to other options

    // output
    enum emit emit;
    bool dump;
    int32_t dump_most; // candidates per row; 0: all
    bool trace;
    const char *output_format; // NULL: a distribution takes after the input
    const char *output;        // NULL: standard output
    bool line_buffered;
    bool stats;
    bool skip_bad; // rows, and go on

    bool given[OPTIONS_MOST]; // by row of the option table: was it on the command line or in a preset?

    int32_t threads;
    bool verbose, backend_sampling;

    // what the pointers above point to
    struct vocab texts;
    struct bias *bias;
    size_t bias_cap;
    struct bias_text *bias_text; // [n_bias_texts] the biases whose tokens are given as texts
    size_t n_bias_texts, bias_text_cap;
    struct piece *dry_piece; // [params.n_dry_texts]
    struct breaker *breaker; // [params.n_dry_breakers] given as ids
    size_t breaker_cap;
    char **word; // [n_words] strings made while parsing
    size_t n_words, words_cap;
};

// Fills o from the arguments; the strings of argv must outlive o. False and *e on a usage error; o must be freed either way.
bool options_parse(struct options *o, int argc, char **argv, struct err *e);
void options_free(struct options *o);

#endif
