// SPDX-License-Identifier: MIT
// Tokens whose text says what they are for, as llama.cpp recognises them (sampl-formats(5)). The metadata of models is often wrong about
// these, so the text counts, whatever the type.
#ifndef SAMPL_VOCAB_ROLES_H
#define SAMPL_VOCAB_ROLES_H

#include "vocab/vocab.h"

enum role {
    ROLE_NONE,
    ROLE_EOG,   // ends a generation
    ROLE_EOT,   // the same, and may be the end of a turn
    ROLE_EOS,   // the same, and may be the end of a sequence
    ROLE_SHOWN, // looks like a control token, but is part of the text
};

// What a text as it stands in the file means.
enum role role_of(const void *text, size_t len);

// When all tokens are there: eos and eot count as end-of-generation tokens; those that the file did not name are found by their texts; and
// the exceptions are made: no <|end|> beside <|return|> and <|call|>, or beside <|flush|> and <|call|> or <|calls|>; no </s> beside
// <|tool_response>. Nothing is marked after this.
void vocab_finish(struct vocab *v);

// Marks a token, if there is one with this id, as ending a generation.
void vocab_mark_end(struct vocab *v, uint32_t id);

#endif
