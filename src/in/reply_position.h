// SPDX-License-Identifier: MIT
// A position of a reply: for json_reply.c, which finds it, and reply_row.c, which makes a row of it.
#ifndef SAMPL_IN_REPLY_POSITION_H
#define SAMPL_IN_REPLY_POSITION_H

#include "in/json_reply.h"
#include "in/reply_token.h"
#include "in/token_list.h"

struct reply_position {
    const struct reply_shape *shape;
    const cJSON *list;      // of tokens; in columns the first id of the list; NULL: there is none
    const cJSON *numbers;   // of columns: the number of that id, or of the chosen token; else NULL
    enum list_numbers kind; // of columns: what the numbers are
    size_t n_list;          // in columns the length of the list; else 0
    const cJSON *chosen;    // the chosen token, in the form of the shape, or NULL
    int64_t id;             // of the chosen token, if `chosen` does not hold it; else -1
    float logit;            // of the chosen token, if `chosen` does not hold it; else NaN
    size_t index;           // in the reply's array
    bool spare;             // of a prompt without lists: a row only if no position has a list
    bool fresh;             // begins a sequence, after the tokens prompt[before..before + n_before)
    size_t before, n_before;
};

#endif
