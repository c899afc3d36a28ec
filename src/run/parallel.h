// SPDX-License-Identifier: MIT
// --threads: rows in batches, spread over threads, written in order.
#ifndef SAMPL_RUN_PARALLEL_H
#define SAMPL_RUN_PARALLEL_H

#include "run/sink.h"

// Works off the input with o->threads workers. Every byte written is what one worker would have written. The chain must split.
bool parallel_run(const struct options *o, const struct kern *kern, struct input *in, struct sink *sink, struct err *e);

#endif
