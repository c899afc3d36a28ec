// SPDX-License-Identifier: MIT
// One token in a server's reply, in each shape that servers write. Field names are those of llama-server (its README;
// server-task.cpp), OpenAI's API reference, vLLM (protocol.py), SGLang (meta_info) and Ollama (api/types.go).
#ifndef SAMPL_IN_REPLY_TOKEN_H
#define SAMPL_IN_REPLY_TOKEN_H

#include "base/builder.h"

struct cJSON;

enum token_shape {
    TOKEN_RECORD, // {"token", "tok_str", "content" or "text", "id"?, "bytes"?, "logprob" or "prob"}; a list: an array
    TOKEN_TEXT,   // a string; a list is an object from text to number
    TOKEN_ID,     // a number; a list is an object from id to record, and the chosen token comes first
    TOKEN_TRIPLE, // [logprob, id, text]; a list is an array of them
};

// Points into the reply.
struct reply_token {
    int64_t id;                // -1: not known
    const char *text;          // NULL: none
    const struct cJSON *bytes; // array, or NULL
    float logit;               // NaN: the reply does not have it
};

// Reads an element of a list (listed), or the chosen token. An element of a list must have a logit; null is -inf (a
// masked token). Returns false if value does not have that shape.
bool reply_token_read(const struct cJSON *value, enum token_shape shape, bool listed, struct reply_token *t);

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
