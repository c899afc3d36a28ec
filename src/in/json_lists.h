// SPDX-License-Identifier: MIT
// JSON objects of data sets, which list some tokens of each row: {"topk_ids": [[...], ...], "topk_logprobs": ...}. An
// object is a sequence, an element of its arrays a row.
#ifndef SAMPL_IN_JSON_LISTS_H
#define SAMPL_IN_JSON_LISTS_H

#include "in/list_unit.h"
#include "in/row_notes.h"
#include "in/token_list.h"

// The state of reading an object's rows. A zeroed struct is ready. Memory is kept from object to object.
struct json_lists {
    const cJSON *object;
    const cJSON *ids, *numbers; // of the next row
    enum list_numbers kind;     // of the numbers
    size_t n, next;             // rows of the object, and those that were read
    uint64_t objects;           // of the input so far
    char name[24];              // of the sequence, if the object has no "seq"
    struct sparse row;
    struct unit_fit unit; // of the object's numbers so far
};

// Finds out whether the object is one of lists. If so, begins it; it must stay as it is until all its rows are read.
// Sets *found. Fails with STATUS_DATA if its arrays do not fit each other. object: NULL if the value is no object.
bool json_lists_open(struct json_lists *lists, const cJSON *object, bool *found, struct err *e);

// Reads the next row; lists->next must be below lists->n. The row is valid until the next call.
bool json_lists_next(struct json_lists *lists, struct row_notes *notes, const struct input_config *config,
                     struct input_row *r, struct err *e);

void json_lists_free(struct json_lists *lists);

#endif
