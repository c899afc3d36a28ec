// SPDX-License-Identifier: MIT
// From what a vocabulary file holds for a token - a text in some spelling, a type - to its bytes and flags, as
// llama.cpp has it (sampl-formats(5)). Readers add the tokens in the order of their ids, then set eos and eot if they
// know them, then finish.
#ifndef SAMPL_VOCAB_SPELLING_H
#define SAMPL_VOCAB_SPELLING_H

#include "vocab/vocab.h"

// How normal tokens are spelt.
enum spelling {
    SPELLING_PLAIN, // the bytes themselves
    SPELLING_GPT2,  // a character for each byte: visible Latin-1 ones for themselves, U+0100 to U+0143 for the others
    SPELLING_SPM,   // U+2581 for a space
    SPELLING_C,     // text_unescape's escapes (RWKV)
};

// GGUF's token types. Byte tokens are spelt <0xNN>; control, unknown and user-defined ones are their text.
enum token_type { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER_DEFINED, TOKEN_UNUSED, TOKEN_BYTE };

// Appends a token. Control and unknown tokens become VOCAB_SPECIAL; unused ones, and types not named above, have no
// text. Some texts mean the end of a generation whatever their type, as llama.cpp recognises them: the metadata of
// models is often wrong about these. A character that GPT-2's spelling does not have comes as "[UNK_BYTE_0x" its bytes
// in hex, the whole text, "]", as in llama.cpp; from the 17th of a token on as itself, which bounds the growth. False
// when memory is short.
bool vocab_add_spelt(struct vocab *v, enum spelling spelling, unsigned type, const void *text, size_t len);

// When all tokens are there: eos and eot count as end-of-generation tokens; those that the file did not name are found
// by their texts; and the exceptions are made: no <|end|> beside <|return|> and <|call|>, or beside <|flush|> and
// <|call|> or <|calls|>; no </s> beside <|tool_response>. Nothing is marked after this.
void vocab_finish(struct vocab *v);

// Marks a token, if there is one with this id, as ending a generation.
void vocab_mark_end(struct vocab *v, uint32_t id);

// Is it the spelling of a byte, <0xNN>?
bool spelling_is_byte(const char *text, size_t len);

// Resolves what some texts write for bytes: \n \r \t \\ \" \' and \xHH; a backslash before anything else stays. to has
// room for len bytes and may be from. Returns how many it came to.
size_t text_unescape(unsigned char *to, const void *from, size_t len);

#endif
