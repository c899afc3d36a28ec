// SPDX-License-Identifier: MIT
// Converts a token of a vocabulary file (a spelt text and a type) to its bytes and flags, as llama.cpp does
// (sampl-input(5)). A reader adds the tokens in the order of their ids, then sets v->eos and v->eot if the file names
// them; then vocab_finish is called.
#ifndef SAMPL_VOCAB_SPELLING_H
#define SAMPL_VOCAB_SPELLING_H

#include "vocab/vocab.h"

// How the texts of normal tokens are spelt.
enum spelling {
    SPELLING_PLAIN, // as the bytes themselves
    SPELLING_GPT2,  // a character a byte: a visible Latin-1 character is its own byte, U+0100 to U+0143 are the others
    SPELLING_SPM,   // U+2581 is a space
    SPELLING_C,     // with the escapes of text_unescape (RWKV)
};

// GGUF's token types. Byte tokens are spelt <0xNN>; control, unknown and user-defined tokens are their text.
enum token_type { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER_DEFINED, TOKEN_UNUSED, TOKEN_BYTE };

// Appends a token. Control and unknown tokens become VOCAB_SPECIAL. Unused tokens, and those of types not named above,
// get no text. Some texts end a generation whatever their type, as in llama.cpp, since models often have a wrong type
// for them. In SPELLING_GPT2 a character that stands for no byte becomes "[UNK_BYTE_0x", its bytes in hexadecimal, the
// whole text of the token, and "]", as in llama.cpp. From the 17th such character of a token on, each is copied as it
// is; this bounds the token's length. Returns false if memory is short.
bool vocab_add_spelt(struct vocab *v, enum spelling spelling, unsigned type, const void *text, size_t len);

// Completes the flags when all tokens are there. Finds eos and eot by their texts if the file did not name them, and
// marks both as ends of a generation. Then makes llama.cpp's exceptions: <|end|> is no end if the vocabulary has both
// <|return|> and <|call|>, or <|flush|> and one of <|call|> and <|calls|>; </s> is none if it has <|tool_response>.
void vocab_finish(struct vocab *v);

// Marks a token as ending a generation; ignores an id that v does not have.
void vocab_mark_end(struct vocab *v, uint32_t id);

// Returns true if the text spells a byte, as <0xNN>.
bool spelling_is_byte(const char *text, size_t len);

// Replaces the escapes \n \r \t \\ \" \' and \xHH by their bytes; a backslash before anything else stays. `to` holds at
// least len bytes, and may be `from`. Returns the number of bytes written.
size_t text_unescape(unsigned char *to, const void *from, size_t len);

#endif
