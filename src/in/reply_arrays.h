// SPDX-License-Identifier: MIT
// The positions of one shape (reply_shapes.h) in one object of a reply.
#ifndef SAMPL_IN_REPLY_ARRAYS_H
#define SAMPL_IN_REPLY_ARRAYS_H

#include "in/reply_position.h"

// Returns whether the object has arrays of this shape. bare: the object is what `within` leads to.
bool reply_arrays_fit(const struct json_reply *reply, const struct reply_shape *k, const cJSON *object, bool bare);

// Adds their positions, if the object has such arrays. Each begins as a copy of p; only the first may begin a sequence,
// and p then begins none. Of a prompt, also adds the tokens to reply->prompt. Fails with STATUS_DATA if arrays that
// stand side by side have different lengths.
bool reply_arrays_add(struct json_reply *reply, const struct reply_shape *k, const cJSON *object, bool bare,
                      struct reply_position *p, struct err *e);

#endif
