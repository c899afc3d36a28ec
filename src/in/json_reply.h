// SPDX-License-Identifier: MIT
// Replies of servers, as curl saves them: the positions of one for which tokens are listed, each a sparse row.
#ifndef SAMPL_IN_JSON_REPLY_H
#define SAMPL_IN_JSON_REPLY_H

#include "base/builder.h"
#include "in/input.h"
#include "in/json_text.h"

// A reply at work. A zeroed struct is ready; memory is kept from reply to reply.
struct json_reply {
    struct reply_position *position; // [n]
    size_t n, cap, next;
    uint32_t *prompt;
    size_t n_prompt, prompt_cap;

    // of the position at work
    struct reply_token *token; // [n_tokens] as they are listed
    size_t n_tokens, tokens_cap;
    struct sparse row;
    struct builder bytes; // of one token

    // across the replies of an input
    size_t done;          // positions of the reply in earlier pieces
    struct builder id;    // of the stream that the last one was a part of by its own account; empty: it was none
    bool goes_on;         // the next one goes on with the sequence of the last, both being parts of a stream
    size_t held;          // tokens of the prompt that a stream told before its first position
    const char *missing;  // what to ask for, if some part of a stream lists no tokens
    bool any;             // some reply had positions
    struct lookup lookup; // of the vocabulary; built when first needed
};

// Finds the positions of a reply, or of a piece of one, which must stay until they are done with. part: it came as a
// part of a stream, "data: {...}".
bool json_reply_open(struct json_reply *reply, const struct json_value *value, bool part, struct err *e);

// The next position's row, while next < n.
bool json_reply_next(struct json_reply *reply, const struct input_config *config, struct input_row *r, struct err *e);

// A stream ends here. At the end of the input: an error if there were only replies without tokens.
void json_reply_stop(struct json_reply *reply);
bool json_reply_end(const struct json_reply *reply, struct err *e);

void json_reply_free(struct json_reply *reply);

#endif
