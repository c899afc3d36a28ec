// SPDX-License-Identifier: MIT
// The tokens that a server lists for one position, made a sparse row.
#ifndef SAMPL_IN_JSON_TOKEN_H
#define SAMPL_IN_JSON_TOKEN_H

#include "in/input.h"
#include "in/sparse.h"
#include "vocab/vocab.h"

// Field names are those of llama-server (its README; server-task.cpp), OpenAI's API reference, vLLM (protocol.py), SGLang
// (meta_info) and Ollama (api/types.go).
enum token_shape {
    TOKEN_RECORD, // {"token", "tok_str" or "content", "id"?, "bytes"?, "logprob" or "prob"}; a list is an array of them
    TOKEN_TEXT,   // a string; a list is an object of numbers by text
    TOKEN_ID,     // a list is an object of records by id, the token itself first
    TOKEN_TRIPLE, // [logprob, id, text]
};

struct token {
    int64_t id;                // -1: not known
    const char *text;          // NULL: none
    const struct cJSON *bytes; // array, or NULL
    float logit;
    bool has_logit;
};

struct token_list {
    struct token *token; // [n]
    size_t n, cap;
    unsigned char *bytes; // of one token
    size_t bytes_cap;
    struct sparse sparse;
    struct lookup lookup; // built when first needed
};

// Reads one token as its shape says. False if it is not of that shape. Without a logit it has none.
bool token_read(const struct cJSON *value, enum token_shape shape, struct token *t);

// The id that is the name of a member, or -1.
int64_t token_key(const struct cJSON *value);

// Reads a list. On false *bad is its element of another shape, or -1 when memory is short.
bool token_list_read(struct token_list *l, const struct cJSON *list, enum token_shape shape, int64_t *bad);

// Makes the list and the token that was chosen (NULL: not told) a row. Ids are looked up in the vocabulary where they are not given, or
// are ranks. The chosen token joins the list if it is not there and has a logit; r->recorded tells its id.
bool token_list_row(struct token_list *l, const struct token *chosen, const struct input_config *config, struct input_row *r,
                    struct err *e);

void token_list_free(struct token_list *l);

#endif
