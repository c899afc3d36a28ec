// SPDX-License-Identifier: MIT
// Replies of servers, as curl saves them. Each position of a reply that lists tokens is a sparse row.
#ifndef SAMPL_IN_JSON_REPLY_H
#define SAMPL_IN_JSON_REPLY_H

#include "base/builder.h"
#include "in/input.h"
#include "in/json_value.h"
#include "in/list_unit.h"

// The state of reading the replies of an input. A zeroed struct is ready. Memory is kept from reply to reply.
struct json_reply {
    struct reply_position *position; // [n], of which `next` have been read
    size_t n, cap, next;
    uint32_t *prompt; // [n_prompt] tokens of the prompts before the positions, as far as the reply lists their ids
    size_t n_prompt, prompt_cap;

    // of the current position
    struct reply_token *token; // [n_tokens] in the order of the list
    size_t n_tokens, tokens_cap;
    struct sparse row;
    struct unit_fit unit; // of the numbers of its sequence so far
    size_t longest;       // the largest length of a list of the reply so far
    bool as_probs;        // the reply's numbers are probabilities, whatever their name
    struct builder bytes; // of one token

    // of the current piece of a reply
    const struct json_value *piece;
    bool reached;              // its long array was found
    const struct cJSON *alone; // the reply, while its only choice is read; else NULL
    unsigned facts;            // bits of enum row_fact, of its rows

    uint64_t first;  // number of the row that the current sequence began at
    const char *seq; // name of the request that the reply answers, in the reply's JSON; NULL: it has none

    // across the replies of an input
    size_t depth;               // of arrays that the next reply stands in
    struct builder id;          // "id" of the stream that the last reply named itself a part of; empty: it named none
    bool goes_on;               // the next reply continues the sequence of the last one, as parts of a stream do
    bool listed;                // a position of this reply, or of the stream so far, has a list
    size_t n_streamed;          // tokens of the output that the stream has sent so far
    struct response_part *part; // [n_parts] of a stream of OpenAI's responses
    size_t n_parts, parts_cap;
    size_t n_carried;     // tokens of prompt[] that a stream listed before its first position
    const char *request;  // what makes the server list tokens, if some reply had no lists; else NULL
    bool had_positions;   // some reply had positions
    struct lookup lookup; // of the vocabulary; built when first needed
};

// Finds the positions of a reply, or of a piece of one. value must stay as it is until all positions are read. part:
// the reply came as a part of a stream, "data: {...}". Fails with STATUS_DATA if value is no reply, or lists no tokens.
bool json_reply_open(struct json_reply *reply, const struct json_value *value, bool part, struct err *e);

// Returns whether an object is a part of a stream that may have no positions. NULL: no.
bool json_reply_is_part(const struct cJSON *tree);

// Reads the next position as a row; reply->next must be below reply->n. The row is valid until the next call.
bool json_reply_next(struct json_reply *reply, const struct input_config *config, struct input_row *r, struct err *e);

// Ends a stream: the next reply begins a sequence.
void json_reply_stop(struct json_reply *reply);

// At the end of the input: sets an error and returns false if there were replies, but none listed tokens.
bool json_reply_end(const struct json_reply *reply, struct err *e);

void json_reply_free(struct json_reply *reply);

#endif
