// SPDX-License-Identifier: MIT
// JSON objects of the input, taken apart: their long arrays by our own reader, the rest by cJSON. And row objects, those of our own.
#ifndef SAMPL_IN_JSON_ROW_H
#define SAMPL_IN_JSON_ROW_H

#include "base/builder.h"
#include "in/input.h"
#include "in/json_text.h"
#include "in/sparse.h"

struct cJSON;

// What the numbers of an object are.
enum plane { PLANE_NONE, PLANE_LOGITS, PLANE_PROBS };

// Its memory is kept from object to object. A zeroed struct is ready.
struct json_object {
    enum plane plane; // PLANE_NONE: there are no numbers of ours, as in a server's reply
    struct json_numbers numbers;
    bool has_ids;
    struct json_ids ids;
    struct builder text; // the other members, a 0 in the place of numbers and ids
    struct cJSON *rest;  // what cJSON made of it, until the next object

    // for json_object_row
    struct sparse sparse;
    uint32_t *prompt;
    size_t prompt_cap;
    char seq[32]; // a name given as a number
};

// Reads the object at hand, from its '{' on. "logits", "logprobs", "probs" and "ids" are numbers unless they are null or hold objects.
bool json_object_read(struct json_object *o, struct json_text *t, struct err *e);

// Makes an object that has numbers a row: logits, dense or sparse, for a vocabulary of n_vocab tokens (0: unknown), and what r says besides.
// r points into o.
bool json_object_row(struct json_object *o, size_t n_vocab, struct input_row *r, struct err *e);

void json_object_free(struct json_object *o);

#endif
