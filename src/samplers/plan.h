// SPDX-License-Identifier: MIT
// From the samplers that were chosen to the stages of a chain, in order.
#ifndef SAMPL_SAMPLERS_PLAN_H
#define SAMPL_SAMPLERS_PLAN_H

#include "samplers/list.h"

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

enum { PLAN_MORE = 3 }; // stages that a plan may have beside those chosen

// llama.cpp's chain: logit-bias; the n samplers chosen, or with mirostat (1 or 2) a plain temperature; one selector, wherever it stood among
// those chosen, or dist. plan has room for n + PLAN_MORE. Returns how many.
size_t plan_chain(const struct choice *choice, size_t n, int mirostat, struct choice *plan);

#endif
