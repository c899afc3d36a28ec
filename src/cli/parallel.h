// SPDX-License-Identifier: MIT
// --threads: rows in batches, spread over threads, written in order.
#ifndef SAMPL_CLI_PARALLEL_H
#define SAMPL_CLI_PARALLEL_H

#include "cli/worker.h"

// Works off the input with o->threads workers. Every byte written is what one worker would have written. The chain must split.
bool parallel_run(const struct options *o, const struct kern *kern, struct input *in, struct output *out, struct err *e);

#endif
