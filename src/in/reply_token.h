// SPDX-License-Identifier: MIT
// One token in a server's reply, in each form of reply_shapes.h.
#ifndef SAMPL_IN_REPLY_TOKEN_H
#define SAMPL_IN_REPLY_TOKEN_H

#include "base/builder.h"
#include "in/reply_shapes.h"

// Points into the reply.
struct reply_token {
    int64_t id;         // -1: not known
    const char *text;   // NULL: none
    const cJSON *bytes; // array, or NULL
    float logit;        // NaN: the reply does not have it
    float number;       // as it is listed: the logit, or
    bool probability;   // the probability whose logarithm the logit is
};

// Reads a chosen token in this form. Returns false if value does not have it.
bool reply_token_read(const cJSON *value, enum token_form form, struct reply_token *t);

// Reads an element of a list: an object, a [logprob, id, text] or, in an object, a member. ids: the members' names are
// ids. An element must have a logit; null is -inf (a masked token). Returns false if value is no such element.
bool reply_token_listed(const cJSON *value, bool ids, struct reply_token *t);

// Returns the id and the number of two columns' elements; a text stands in place of an id. Returns false if they are
// none.
bool reply_token_pair(const cJSON *id, const cJSON *number, bool probability, struct reply_token *t);

// Returns true if two tokens have the same id; without ids, the same bytes; without bytes, the same text.
bool reply_token_same(const struct reply_token *a, const struct reply_token *b);

// Makes *bytes the token's bytes, or its text if the reply does not list bytes. A text is not enough where a token is a
// part of a character. Returns false if memory is short.
bool reply_token_bytes(const struct reply_token *t, struct builder *bytes);

// Returns the id that a text spells, such as a key of an object; -1 if the text is no id.
int64_t reply_key_id(const char *text);

// Returns the id in a text "token_id:ID", as vLLM writes with return_tokens_as_token_ids; -1 for any other text.
int64_t reply_token_text_id(const char *text);

#endif
