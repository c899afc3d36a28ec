// SPDX-License-Identifier: MIT
// Where a value that is no reply holds one: deeper inside, or as text, as records of requests do.
#ifndef SAMPL_IN_REPLY_INSIDE_H
#define SAMPL_IN_REPLY_INSIDE_H

#include "base/builder.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

// Finds the first value inside root, in the order of the text, that is_reply, or a string that holds JSON or events
// with probabilities. Makes *filter the filter by which jq takes it out of the file, in which root stands in `depth`
// arrays. Returns false if there is none. The filter is incomplete if memory is short (builder_whole).
bool reply_find_inside(const cJSON *root, size_t depth, bool (*is_reply)(const void *self, const cJSON *value),
                       const void *self, struct builder *filter);

#endif
