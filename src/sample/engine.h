// SPDX-License-Identifier: MIT
// Engines: the fixed pipelines of other programs, as data. Each is a row of a table: the stages in order, the options that it has
// stages for, and what it does not share of the options' defaults.
#ifndef SAMPL_SAMPLE_ENGINE_H
#define SAMPL_SAMPLE_ENGINE_H

#include "sample/chain.h"

enum { ENGINE_STAGES = 12 };

// When a stage is part of the plan; 0: always.
enum engine_when {
    ENGINE_HOT = 1,  // the temperature is above 0
    ENGINE_COLD = 2, // it is not
    ENGINE_FREE = 4, // no grammar constrains the output
};

struct engine {
    const char *name;
    const char *defaults;             // "OPTION=VALUE,...": in place of the option table's
    const char *options;              // the options of the chain that it listens to, comma-separated, besides the seed; NULL: all
    void (*adjust)(struct params *p); // brings parameters into the engine's ranges; NULL: nothing to do
    bool masks_first; // a grammar's mask is applied before the chain runs, not only when the chosen token does not fit
    struct engine_stage {
        const struct sampler *sampler; // NULL after the last
        unsigned when;
    } stage[ENGINE_STAGES];
};

// Rows end with a NULL name. The first is llama, which has no stages of its own: its chain is chain_plan's.
extern const struct engine engines[];

// NULL: none.
const struct engine *engine_by_name(const char *name);

// Does it listen to the option called name, len characters long?
bool engine_has(const struct engine *engine, const char *name, size_t len);

// The stages that the parameters come to, disabled ones included, in order, for chain_new; the last one is the selector. Not for llama.
// plan has room for ENGINE_STAGES. grammar: a grammar constrains the output. Returns how many.
size_t engine_plan(const struct engine *engine, const struct params *p, bool grammar, struct choice *plan);

#endif
