// SPDX-License-Identifier: MIT
// A JSON object of the input, taken apart: its long arrays by our own reader, the rest by cJSON.
#ifndef SAMPL_IN_JSON_OBJECT_H
#define SAMPL_IN_JSON_OBJECT_H

#include "in/json_text.h"

// What the numbers of an object are.
enum plane { PLANE_NONE, PLANE_LOGITS, PLANE_PROBS };

struct cJSON;

// Its memory is kept from object to object. A zeroed struct is ready.
struct json_object {
    enum plane plane; // PLANE_NONE: there are no numbers of ours, as in a server's reply
    struct json_numbers numbers;
    bool has_ids;
    struct json_ids ids;
    struct cJSON *rest; // the other members, until the next object

    char *envelope; // their text
    size_t len, cap;
};

// Reads the object at hand, from its '{' on. "logits", "logprobs", "probs" and "ids" are numbers unless they are null
// or hold objects.
bool json_object_read(struct json_object *o, struct json_text *t, struct err *e);

void json_object_free(struct json_object *o);

#endif
