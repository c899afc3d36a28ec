// SPDX-License-Identifier: MIT
// The chains of a run: the base, which the command line describes, and the variants of --vs and --sweep. Each has the
// arguments of a run of its own.
#ifndef SAMPL_CLI_VARIANT_H
#define SAMPL_CLI_VARIANT_H

#include "base/builder.h"
#include "cli/args.h"

enum { VARIANTS_MOST = 4096 }; // without the base

struct swept {
    const struct option_row *row;
    const char *value; // as typed
    size_t place;      // index among the values of the sweep
};

struct variant {
    char *name;          // in the table
    char *options;       // what is added to the base's options, quoted for a shell; "" for the base
    struct swept *swept; // [n_sweeps]; NULL: the base
    struct args args;    // with the base's seed in place of a random one
};

struct variants {
    struct variant *of; // [n] the base first
    size_t n, cap;
    size_t n_sweeps;
    struct sweep {
        const struct option_row *row;
        struct words values;
    } * sweep;          // [n_sweeps]
    struct words texts; // of SPECs
};

// Makes the variants; without --vs and --sweep only the base. base outlives v. seed is the seed of the base, which may
// be drawn. v is zeroed before, and the caller frees it either way.
bool variants_make(struct variants *v, const struct args *base, int64_t seed, struct err *e);
void variants_free(struct variants *v);

#endif
