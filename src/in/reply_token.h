// SPDX-License-Identifier: MIT
// One token in a server's reply, in each shape that servers write. Field names are those of llama-server (its README;
// server-task.cpp), OpenAI's API reference, vLLM (protocol.py), SGLang (meta_info) and Ollama (api/types.go).
#ifndef SAMPL_IN_REPLY_TOKEN_H
#define SAMPL_IN_REPLY_TOKEN_H

#include "base/builder.h"

struct cJSON;

enum token_shape {
    TOKEN_RECORD, // {"token", "tok_str" or "content", "id"?, "bytes"?, "logprob" or "prob"}; a list is an array of them
    TOKEN_TEXT,   // a string; a list is an object of numbers by text
    TOKEN_ID,     // a number; a list is an object of records by id, the token itself first
    TOKEN_TRIPLE, // [logprob, id, text]
};

struct reply_token {
    int64_t id;                // -1: not known
    const char *text;          // NULL: none
    const struct cJSON *bytes; // array, or NULL
    float logit;               // NaN: not told
};

// Reads one token: an element of a list (listed), or the token that was chosen. An element of a list has a logit; null
// means masked. Returns false if value is not of that shape.
bool reply_token_read(const struct cJSON *value, enum token_shape shape, bool listed, struct reply_token *t);

// Are these the same token, by id, or else by bytes, or else by text?
bool reply_token_same(const struct reply_token *a, const struct reply_token *b);

// Makes *bytes the token's bytes, or its text if the reply does not list bytes: a text cannot hold a part of a
// character. Returns false when memory is short.
bool reply_token_spell(const struct reply_token *t, struct builder *bytes);

// The id that a key of an object is, or that a text of vLLM's return_tokens_as_token_ids is; -1: none.
int64_t reply_key_id(const char *text);
int64_t reply_token_text_id(const char *text);

#endif
