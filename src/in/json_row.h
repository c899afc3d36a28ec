// SPDX-License-Identifier: MIT
// Row objects, JSON rows of our own: what they hold besides their numbers.
#ifndef SAMPL_IN_JSON_ROW_H
#define SAMPL_IN_JSON_ROW_H

#include "in/input.h"
#include "in/json_object.h"
#include "in/sparse.h"

// Memory that is kept from row to row. A zeroed struct is ready.
struct json_row {
    struct sparse sparse;
    uint32_t *prompt;
    size_t prompt_cap;
    char seq[32]; // a name given as a number
};

// Is this value a token id?
bool json_is_id(const struct cJSON *value);

// Makes the object's numbers a row: logits, dense or sparse, for a vocabulary of n_vocab tokens (0: unknown), and what r says besides.
// r points into o and row.
bool json_row_read(struct json_row *row, struct json_object *o, size_t n_vocab, struct input_row *r, struct err *e);

void json_row_free(struct json_row *row);

#endif
