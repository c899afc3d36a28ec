// SPDX-License-Identifier: MIT
// The chains of a run: the base, which the command line describes, and the variants of --vs, --sweep and --against.
// Each has the arguments of a run of its own, and a recipe. --base makes a variant the base.
#ifndef SAMPL_CLI_VARIANTS_H
#define SAMPL_CLI_VARIANTS_H

#include "chain/recipe.h"
#include "cli/args.h"

enum { VARIANTS_MOST = 4096 }; // without the base

struct swept {
    const struct option_row *row;
    const char *value; // as typed
    size_t index;      // among the values of the sweep
};

struct variant {
    char *name;          // in the table
    char *options;       // what is added to the base's options, quoted for a shell; "" for the base
    struct swept *swept; // [n_sweeps]; NULL: the base, or a file of --against
    struct args args;    // with the base's seed in place of a random one
};

struct variants {
    struct variant *of; // [n] the base first, then the others in the order of the command line
    size_t n, cap;
    const struct recipe **recipe; // [n]
    size_t n_sweeps;
    struct sweep {
        const struct option_row *row;
        struct words values;
    } * sweep;          // [n_sweeps]
    struct words texts; // the options of SPECs, which the variants' arguments point into
};

// Makes the variants and their recipes, and prints notes on them; without --vs, --sweep and --against only the base.
// base and r outlive v, which is zeroed before, and which the caller frees either way. If the engine is swept, a
// variant goes without the options that its engine has no stage for. False with *e on failure.
bool variants_make(struct variants *v, struct recipes *r, const struct args *base, struct err *e);
void variants_free(struct variants *v);

// idle.c: before a run, prints a note for each typed option that has no effect on the variant's recipe. base: the
// arguments of the first variant, whose options need no second note; NULL: the variant is the first.
void note_idle_options(const struct recipe *r, const struct variant *x, const struct args *base);

// Returns the name of a variant in a text for people: of the file of --against the name without its folders, since a
// path would take the room of the numbers. No other variant has the same.
const char *variant_label(const struct variants *v, size_t i);

// The name of a variant in a message, for "%.*s".
#define VARIANT_NAME(x) err_clip((x)->name, 80), (x)->name

#endif
