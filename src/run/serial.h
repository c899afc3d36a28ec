// SPDX-License-Identifier: MIT
// Rows one after the other, in one thread.
#ifndef SAMPL_RUN_SERIAL_H
#define SAMPL_RUN_SERIAL_H

#include "run/sink.h"

// Samples every row that is left; before them `first`, which has been read already, unless it is NULL.
bool serial_run(struct worker *w, struct input *in, struct sink *sink, const struct input_row *first, struct err *e);

#endif
