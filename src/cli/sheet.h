// SPDX-License-Identifier: MIT
// A chain on its way to text, and the parts that several forms of --print-chain have in common.
#ifndef SAMPL_CLI_SHEET_H
#define SAMPL_CLI_SHEET_H

#include "chain/recipe.h"
#include "cli/args.h"

// A chain that is written as text.
struct sheet {
    const struct args *a;
    const struct recipe *r;
    const struct catalog *c;
    struct builder text;
    struct err *e;
};

// Writes a bias as --logit-bias takes it, behind a blank.
void sheet_write_bias(struct builder *b, const struct bias *bias);

// Writes sequences of ids: `first` before the first sequence, `next` before each other one, `end` behind the last.
// Writes nothing for n 0.
void sheet_write_ids(struct builder *b, const char *first, const char *next, const char *end,
                     const struct tokens *sequence, size_t n);

// True if the seed is drawn when the program starts.
bool sheet_draws_seed(const struct sheet *s);

// Reports that llama.cpp, or its server, lacks something. Returns false.
bool sheet_refuse(const struct sheet *s, const char *what, const char *name);

// Finds the values of a request, which has one value for each parameter: the main parameter of a sampler has the value
// that all its stages share. mirostat has the common temperature. Fails if llama.cpp has no such chain.
bool sheet_request_values(const struct sheet *s, double *value);

// print_options.c: writes the chain as options. A preset makes the same recipe whatever engine, options and model it
// comes after; llama is the rest of a command line of llama.cpp, and fails if llama.cpp has no such chain.
bool sheet_write_preset(struct sheet *s);
bool sheet_write_llama(struct sheet *s);

#endif
