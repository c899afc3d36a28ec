// SPDX-License-Identifier: MIT
// The stages of a chain: the samplers that were chosen, or an engine's. Engines are the fixed pipelines of other programs, as data: each is
// a row of a table, the stages in order, the options that it has stages for, and the defaults that differ from llama.cpp's.
// sampl-engines(7) describes them.
#ifndef SAMPL_SAMPLERS_ENGINE_H
#define SAMPL_SAMPLERS_ENGINE_H

#include "samplers/list.h"

enum { ENGINE_STAGES = 12, ENGINE_DEFAULTS = 6 };

// When a stage is part of the pipeline; 0: always.
enum engine_when {
    ENGINE_HOT = 1,  // the temperature is above 0
    ENGINE_COLD = 2, // it is not
    ENGINE_FREE = 4, // no grammar constrains the output
};

struct engine {
    const char *name;
    struct engine_default {
        const char *flag; // NULL after the last
        double value;
    } defaults[ENGINE_DEFAULTS];
    const char *options; // the options of the chain that it listens to, comma-separated, besides the seed; NULL: all
    const char *free_options; // those whose stages run only where no grammar constrains the output; NULL: none
    void (*adjust)(const struct catalog *c,
                   double *value); // brings parameters into the engine's ranges; NULL: nothing to do
    bool masks_first; // a grammar's mask is applied before the chain runs, not only when the chosen token does not fit
    const char *
        first_options; // options that it listens to only where masks are applied first because --grammar-first is given; NULL: none
    bool wide_seed;        // a seed has 64 bits, only -1 is a random one
    bool passes_strangers; // accepted tokens outside the vocabulary count for nothing; elsewhere they are errors
    bool seeds_each; // the k-th sequence to appear, from 0, is seeded with seed + k, unless its params name a seed
    struct engine_stage {
        const struct sampler *sampler; // NULL after the last
        unsigned when;
    } stage[ENGINE_STAGES];
};

// Rows end with a NULL name. The first is llama, which has no stages of its own: its chain is what --samplers says.
extern const struct engine engines[];
#define ENGINE_NAMES "llama,ollama,akunu,akunu-gpu,batch"

// NULL: none.
const struct engine *engine_by_name(const char *name);

// Does it listen to the option called name, len characters long, where masks are applied first or not?
bool engine_has(const struct engine *engine, bool grammar_first, const char *name, size_t len);

// The default of a parameter, by its number of the catalog.
double engine_default(const struct engine *engine, const struct catalog *c, size_t number);

// Has it a stage for the option only where there is no grammar?
bool engine_has_free(const struct engine *engine, const char *name, size_t len);

// Does a seed as it was given ask for a random one?
static inline bool engine_draws_seed(const struct engine *engine, int64_t seed)
{
    return seed == -1 || (seed == UINT32_MAX && !engine->wide_seed);
}

// A sampler of a chain, maybe with a value of its own for one parameter, so that a name may come twice with different values.
struct choice {
    size_t place; // of the sampler in the list
    bool own;     // the parameter samplers[place]->params[param] has this value, whatever is common
    size_t param;
    double value;
};

static inline const struct sampler *choice_sampler(const struct choice *c)
{
    return samplers[c->place];
}

// The stages of an engine's pipeline with this temperature, in order; the last one is the selector. Not for llama. grammar: a grammar
// constrains the output. plan has room for ENGINE_STAGES. Returns how many.
size_t plan_engine(const struct engine *engine, double temp, bool grammar, struct choice *plan);

enum { PLAN_MORE = 4 }; // stages that a plan may have beside those chosen

// llama.cpp's chain: logit-bias; the n samplers chosen, or with mirostat (1 or 2) a plain temperature; one selector, wherever it stood among
// those chosen, or dist. plan has room for n + PLAN_MORE. Returns how many.
size_t plan_chain(const struct choice *choice, size_t n, int mirostat, struct choice *plan);

#endif
