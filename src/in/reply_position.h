// SPDX-License-Identifier: MIT
// Where a reply has its positions: for json_reply.c, which finds them, and reply_row.c, which makes rows of them.
#ifndef SAMPL_IN_REPLY_POSITION_H
#define SAMPL_IN_REPLY_POSITION_H

#include "in/json_reply.h"
#include "in/reply_token.h"

#include <cjson/cJSON.h>

// Which text the positions of a track belong to.
enum text_part {
    PART_OUTPUT,
    PART_PROMPT, // the first token has no list, since nothing precedes it
    PART_BOTH,   // the output, perhaps behind the prompt (echo)
};

// A kind of reply. Its positions are arrays of equal length: chosen tokens, lists, logits and ids.
struct track {
    const char *marker;
    int type;            // cJSON's type of the marker
    const char *request; // what makes the server list tokens, for messages
    enum token_shape shape;
    enum text_part part;
    const char *within; // the member that holds tokens, lists and logits; NULL: the object itself
    const char *tokens; // the array of chosen tokens; NULL: such replies have no positions
    const char *lists;  // the array of lists of tokens; NULL: each chosen token holds its list (list_within)
    const char *logits; // the array of the chosen tokens' logits, if the tokens do not hold them; else NULL
    const char *ids;    // the object's array of the chosen tokens' ids, if the tokens do not hold them; else NULL
};

struct reply_position {
    const struct track *track;
    const cJSON *list;   // of tokens, or NULL
    const cJSON *chosen; // the chosen token, in the shape of the track, or NULL
    int64_t id;          // of the chosen token, if `chosen` does not hold it; else -1
    float logit;         // of the chosen token, if `chosen` does not hold it; else NaN
    size_t index;        // in the reply's array
    bool fresh;          // begins a sequence, after the tokens prompt[before..before + n_before)
    size_t before, n_before;
};

#endif
