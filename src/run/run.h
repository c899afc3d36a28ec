// SPDX-License-Identifier: MIT
// The main job: rows in, records out.
#ifndef SAMPL_RUN_RUN_H
#define SAMPL_RUN_RUN_H

#include "cli/options.h"
#include "kern/kern.h"

// Runs the chain that o describes over o's files. What was computed before an error has been written. False with *e on an error; e->status
// STATUS_OK then means that nobody reads the output any more.
bool run(const struct options *o, const struct kern *kern, struct err *e);

#endif
