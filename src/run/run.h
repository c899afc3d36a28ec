// SPDX-License-Identifier: MIT
// The main job.
#ifndef SAMPL_RUN_RUN_H
#define SAMPL_RUN_RUN_H

#include "views/job.h"

// Runs the job over the files that the arguments name. Records before an error are written. False with *e on an error;
// status STATUS_OK then means that nobody reads the output any more.
bool run(struct job *j, struct err *e);

#endif
