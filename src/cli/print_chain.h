// SPDX-License-Identifier: MIT
// --print-chain and --print-grammar: a chain as text.
#ifndef SAMPL_CLI_PRINT_CHAIN_H
#define SAMPL_CLI_PRINT_CHAIN_H

#include "chain/recipe.h"
#include "cli/args.h"

// Appends the effective chain in the form that a->how names: text or json, with every parameter; preset, options that
// make the same recipe whatever engine, options and model they follow; llama, llama.cpp's options where they differ
// from its defaults; server, a request of llama-server. False with *e if llama.cpp has no such chain, or if memory is
// short.
bool print_chain(struct builder *text, const struct args *a, const struct recipe *r, struct err *e);

// Appends the grammar of the recipe, which has one, in GBNF. False with *e if memory is short.
bool print_grammar(struct builder *text, const struct recipe *r, struct err *e);

// ---- print_options.c: the forms llama and preset, and what several forms have in common

// A chain that is written as text.
struct chain_text {
    const struct args *a;
    const struct recipe *r;
    const struct catalog *c;
    struct builder *text; // the chain is appended to it
    struct err *e;
};

// Writes the chain as the options of llama.cpp or of a preset. False with *e if llama.cpp has no such chain.
bool chain_text_options(const struct chain_text *t);

// Writes a bias as --logit-bias takes it, behind a blank.
void chain_text_bias(struct builder *b, const struct bias *bias);

// Writes sequences of ids: `first` before the first sequence, `next` before each later one, `end` behind the last.
// Writes nothing for n 0.
void chain_text_ids(struct builder *b, const char *first, const char *next, const char *end,
                    const struct tokens *sequence, size_t n);

// Writes a sampler of the chain as --samplers takes it, NAME or NAME=VALUE, behind `before`.
void chain_text_entry(struct builder *b, const struct order_entry *entry, const char *before);

// Returns the name that --scatter-metric has for a metric.
const char *metric_name(enum distance_metric metric);

// Writes the name of the file of vectors behind `before`, and the metric behind `metric`. The recipe has vectors.
void chain_text_embeddings(const struct chain_text *t, const char *before, const char *metric);

// Returns whether only sampl's scatter has the option.
bool chain_text_own(const char *flag);

// Returns the columns that the names of stages take in text.
int chain_text_columns(const struct recipe *r);

// True if the seed is drawn when the program starts.
bool chain_text_draws_seed(const struct chain_text *t);

// Finds the values of a request, which has one value for each parameter: the first parameter of a sampler has the value
// that all its stages share. mirostat has the common temperature. False with *e if llama.cpp has no such chain.
bool chain_text_request_values(const struct chain_text *t, double *value);

#endif
