// SPDX-License-Identifier: MIT
// Plans of chains: which samplers run as stages, in which order. An engine is the fixed pipeline of another program, in
// the file of its program (programs/): its stages in order, the options that they read, and the defaults that differ
// from llama.cpp's. The engine llama has no stages of its own: --samplers names them. sampl-engines(7) describes the
// engines.
#ifndef SAMPL_SAMPLERS_ENGINE_H
#define SAMPL_SAMPLERS_ENGINE_H

#include "samplers/list.h"

enum { ENGINE_STAGES = 20, ENGINE_DEFAULTS = 8, ENGINE_RANGES = 10 };

// When a stage is part of the pipeline; 0: always.
enum engine_when {
    ENGINE_HOT = 1,  // the temperature is above 0
    ENGINE_COLD = 2, // the temperature is 0 or less
    ENGINE_FREE = 4, // no grammar constrains the output
};

struct engine {
    const char *name;
    const char *as_of; // commit and date of the source that the pipeline is from; NULL: as the program says
    struct engine_default {
        const char *flag; // NULL after the last
        double value;
    } defaults[ENGINE_DEFAULTS];

    // Values that the program takes; it refuses others.
    struct engine_range {
        const char *flag; // NULL after the last
        double low, high;
        bool but_0;        // 0 is refused, too
        const char *takes; // the range in words
    } ranges[ENGINE_RANGES];

    // Options of the chain, comma-separated. The seed is not among them: every engine has it.
    const char *options;       // that the stages read; NULL: all
    const char *free_options;  // of stages that run only without a grammar; NULL: none
    const char *first_options; // that the engine has only with --grammar-first; NULL: none

    void (*adjust)(const struct catalog *c, double *value); // clamps parameters to the engine's ranges; NULL: none
    const char *greedy_at_1;  // flag of a parameter whose value 1 stands for temperature 0; NULL: none
    bool masks_first;         // a grammar masks the row before the chain runs; elsewhere only if the token does not fit
    bool wide_seed;           // a seed has 64 bits, and only -1 is a random one
    bool ignores_unknown;     // accepted tokens outside the vocabulary are ignored; elsewhere they are errors
    bool seeds_each;          // the k-th sequence, from 0, is seeded with seed + k, unless its params name a seed
    const char *not_replayed; // the runs whose generator sampl does not have; NULL: it has all
    struct engine_stage {
        const struct sampler *sampler; // NULL after the last
        unsigned when;
    } stage[ENGINE_STAGES];
};

// Options of a grammar, for `options` and `first_options`.
#define ENGINE_GRAMMAR "grammar,grammar-file,json-schema,json-schema-file"

// Returns true if the engine has a stage for the option name[0..len). grammar_first: --grammar-first is given.
bool engine_has(const struct engine *engine, bool grammar_first, const char *name, size_t len);

// Returns whether the engine has a stage for the option only without a grammar.
bool engine_has_free(const struct engine *engine, const char *name, size_t len);

// Returns why the engine refuses an option of the chain that was given; NULL: it does not. grammar: there is one.
const char *engine_refusal(const struct engine *engine, bool grammar, bool grammar_first, const char *name);

// Returns the engine's default of a parameter, by its number of the catalog.
double engine_default(const struct engine *engine, const struct catalog *c, size_t number);

// Returns whether the engine has a range of its own for the parameter.
bool engine_has_range(const struct engine *engine, const char *flag);

// Returns the range of the engine that one of the values, by number of the catalog, is outside of; NULL: they are all
// inside.
const struct engine_range *engine_refused(const struct engine *engine, const struct catalog *c, const double *value);

// Returns whether the seed, as given, asks for a random one.
static inline bool engine_draws_seed(const struct engine *engine, int64_t seed)
{
    return seed == -1 || (seed == UINT32_MAX && !engine->wide_seed);
}

// A sampler of a chain. It may have its own value of one parameter, so that a chain can have it twice.
struct order_entry {
    size_t place; // of the sampler in the list
    bool own;     // samplers[place]->params[param] has this value, whatever the option says
    size_t param;
    double value;
};

static inline const struct sampler *entry_sampler(const struct order_entry *c) { return samplers[c->place]; }

// Writes the stages of an engine's pipeline, the selector last, to entry[ENGINE_STAGES]. Not for llama. grammar: one
// constrains the output. Returns the number of stages.
size_t order_engine(const struct engine *engine, double temp, bool grammar, struct order_entry *entry);

enum { ORDER_MORE = 4 }; // stages that a entry has beside those chosen, at most

// Writes the stages of llama.cpp's chain to entry[n + ORDER_MORE]: logit-bias and bans; the n samplers chosen, or with
// mirostat 1 or 2 a plain temperature; the last selector of those chosen, or dist. Returns the number of stages.
size_t order_chain(const struct order_entry *named, size_t n, int mirostat, struct order_entry *entry);

#endif
