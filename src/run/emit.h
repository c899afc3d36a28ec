// SPDX-License-Identifier: MIT
// --emit: the numbers of a record, and the format they are written in.
#ifndef SAMPL_RUN_EMIT_H
#define SAMPL_RUN_EMIT_H

#include "cli/options.h"
#include "in/input.h"
#include "out/output.h"
#include "sample/distribution.h"

// Fills values with what the chain left in c, as o->emit says: of every token, or the log-probability of the token `scored`. *values
// has room for *cap floats and grows.
struct fault emit_values(enum emit emit, const struct cand *c, uint32_t scored, float **values, size_t *cap);

// The logits that the chain left: those of a list as they lie there, of a dense row a copy by id in *room. *id: the tokens they
// belong to, or NULL when that is their place. c->n of them; NULL when memory is short.
const float *emit_logits(const struct cand *c, const uint32_t **id, float **room, size_t *cap);

// Chooses what follows from the input: the format if o names none, and how many records there will be.
bool emit_config(const struct options *o, struct input *in, struct output_config *config, struct err *e);

#endif
