// SPDX-License-Identifier: MIT
// Replies of servers, as curl saves them: the positions of one for which tokens are listed, each a sparse row.
#ifndef SAMPL_IN_JSON_REPLY_H
#define SAMPL_IN_JSON_REPLY_H

#include "in/json_token.h"

// What to ask a server for, when it did not list tokens.
enum reply_kind { REPLY_LLAMA, REPLY_OPENAI, REPLY_LEGACY, REPLY_PROMPT, REPLY_SGLANG, REPLY_OLLAMA };

struct reply_position {
    enum reply_kind kind;
    enum token_shape shape;
    const struct cJSON *list;   // of tokens, or NULL
    const struct cJSON *chosen; // what became of the position, in the same shape; NULL: not told
    const struct cJSON *number; // the chosen token's logit where chosen does not tell it, or NULL
    int64_t id;                 // its id, likewise, or -1
    size_t index;               // in the reply's array
    bool fresh;                 // starts a sequence, after the tokens prompt[before..before + n_before)
    size_t before, n_before;
};

// A reply at work. A zeroed struct is ready; memory is kept from reply to reply.
struct json_reply {
    struct reply_position *position; // [n]
    size_t n, cap, next;
    uint32_t *prompt;
    size_t n_prompt, prompt_cap;
    struct token_list tokens;

    // across the replies of an input
    bool goes_on;        // the next one goes on with the sequence of the last, both being parts of a stream
    size_t held;         // tokens of the prompt that a stream told before its first position
    const char *missing; // what to ask for, if some part of a stream lists no tokens
    bool any;            // some reply had positions
};

// Finds the positions of a reply, which must stay until they are done with. part: it came as a part of a stream, "data: {...}".
// Sets *found to false when it is no reply.
bool json_reply_open(struct json_reply *reply, const struct cJSON *root, bool part, bool *found, struct err *e);

// The next position's row, while next < n.
bool json_reply_next(struct json_reply *reply, const struct input_config *config, struct input_row *r, struct err *e);

// A stream ends here. At the end of the input: an error if there were only replies without tokens.
void json_reply_stop(struct json_reply *reply);
bool json_reply_end(const struct json_reply *reply, struct err *e);

void json_reply_free(struct json_reply *reply);

#endif
