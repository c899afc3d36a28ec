// SPDX-License-Identifier: MIT
#include "vocab/spelling.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/utf8.h"

#include <string.h>

// ---- special texts

enum role {
    ROLE_NONE,
    ROLE_EOG,   // ends a generation
    ROLE_EOT,   // ends a generation, and may be the end of a turn
    ROLE_EOS,   // ends a generation, and may be the end of a sequence
    ROLE_SHOWN, // looks like a control token, but belongs to the output
};

// The texts of each role, separated by spaces. Texts that may end a turn or a sequence stand by preference: the first
// one that a vocabulary has is its end of turn, or of sequence.
static const char *const roles[] = {
    [ROLE_EOT] = "<|eot_id|> <|im_end|> <|end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> _<EOT> [EOT] "
                 "<｜end▁of▁sentence｜> <end_of_utterance>",
    [ROLE_EOS] = "</s> <eos> [EOS]",
    [ROLE_EOG] = "<|return|> <|call|> <|flush|> <|calls|> <|eom_id|> <turn|> <|tool_response> [e~[ "
                 // padding, repository and file marks of fill-in-the-middle
                 "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD] <|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame> "
                 "<|file_sep|>",
    [ROLE_SHOWN] = "<|channel|> <|message|> <|start|> <|constrain|>", // of the harmony format
};

// Returns the role of a token that has this text in the vocabulary's file.
static enum role role_of(const void *text, size_t len)
{
    enum role role = ROLE_SHOWN;
    if (len < 4 || !*(const char *)text || !strchr("<_[", *(const char *)text))
        return ROLE_NONE; // most tokens
    while (role != ROLE_NONE && name_find(roles[role], NAME_EXACT, text, len) < 0)
        role--;
    return role;
}

void vocab_mark_end(struct vocab *v, uint32_t id)
{
    if (id < v->n)
        v->flags[id] |= VOCAB_EOG;
}

// Returns the end-of-generation token with this text, or VOCAB_NONE.
static uint32_t find_end(const struct vocab *v, const char *text, size_t len)
{
    return vocab_find(v, text, len, VOCAB_EOG);
}

static bool has_end(const struct vocab *v, const char *text) { return find_end(v, text, strlen(text)) != VOCAB_NONE; }

// Makes the token with this text, if there is one, a token that ends nothing: a user-defined one or an ordinary one.
static void unmark_end(struct vocab *v, const char *text, unsigned char kind)
{
    const uint32_t id = find_end(v, text, strlen(text));
    if (id == VOCAB_NONE)
        return;
    v->flags[id] &= (unsigned char)~(VOCAB_EOG | VOCAB_SPECIAL);
    v->flags[id] |= kind;
}

// Returns the preferred token of a role, or VOCAB_NONE.
static uint32_t find_role(const struct vocab *v, enum role role)
{
    const char *at = roles[role], *text;
    uint32_t found = VOCAB_NONE;
    size_t len;
    while (found == VOCAB_NONE && name_next(&at, &text, &len))
        found = find_end(v, text, len);
    return found;
}

void vocab_finish(struct vocab *v)
{
    v->eos = v->eos < v->n ? v->eos : find_role(v, ROLE_EOS);
    v->eot = v->eot < v->n ? v->eot : find_role(v, ROLE_EOT);
    vocab_mark_end(v, v->eos);
    vocab_mark_end(v, v->eot);
    if ((has_end(v, "<|return|>") && has_end(v, "<|call|>")) ||
        (has_end(v, "<|flush|>") && (has_end(v, "<|call|>") || has_end(v, "<|calls|>"))))
        unmark_end(v, "<|end|>", VOCAB_DEFINED);
    if (has_end(v, "<|tool_response>"))
        unmark_end(v, "</s>", 0);
    for (uint32_t id = 0; id < v->n; id++)
        v->any |= v->flags[id];
}

// ---- spellings

enum { MOST_MARKED = 16 }; // most characters of a token that become [UNK_BYTE_...]

size_t text_unescape(unsigned char *to, const void *from, size_t len)
{
    static const char names[] = "nrt\\\"'", values[] = "\n\r\t\\\"'";
    const unsigned char *const p = from;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const char *const name = p[i] == '\\' && i + 1 < len && p[i + 1] ? strchr(names, p[i + 1]) : NULL;
        if (name) {
            to[n++] = (unsigned char)values[name - names];
            i++;
        } else if (p[i] == '\\' && len - i > 3 && p[i + 1] == 'x' && hex_value(p[i + 2]) >= 0 &&
                   hex_value(p[i + 3]) >= 0) {
            to[n++] = (unsigned char)(16 * hex_value(p[i + 2]) + hex_value(p[i + 3]));
            i += 3;
        } else {
            to[n++] = p[i];
        }
    }
    return n;
}

bool spelling_is_byte(const char *text, size_t len)
{
    return len == 6 && !memcmp(text, "<0x", 3) && text[5] == '>' && hex_value((unsigned char)text[3]) >= 0 &&
           hex_value((unsigned char)text[4]) >= 0;
}

// Returns the byte that a character stands for in GPT-2's spelling, or -1.
static int gpt2_byte(uint32_t c)
{
    if ((c > 0x20 && c < 0x7f) || (c > 0xa0 && c < 0x100 && c != 0xad))
        return (int)c;
    if (c < 0x100 || c > 0x143)
        return -1;
    const int i = (int)c - 0x100; // the other bytes in order: 00 to 20, 7f to a0, ad
    return i <= 0x20 ? i : i <= 0x42 ? 0x7f + i - 0x21 : 0xad;
}

static void add_gpt2(struct builder *b, const unsigned char *text, size_t len)
{
    static const unsigned char replacement[] = {0xef, 0xbf, 0xbd}; // U+FFFD, for a byte that is no character
    size_t marked = 0;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        uint32_t point = 0;
        n = utf8_decode(text + i, len - i, &point);
        const int byte = n ? gpt2_byte(point) : -1;
        if (byte >= 0) {
            builder_byte(b, (char)byte);
        } else if (marked++ >= MOST_MARKED) {
            builder_bytes(b, text + i, n ? n : 1);
        } else {
            builder_string(b, "[UNK_BYTE_0x");
            for (size_t k = 0; k < (n ? n : sizeof replacement); k++)
                builder_format(b, "%02x", n ? text[i + k] : replacement[k]);
            builder_bytes(b, text, len);
            builder_byte(b, ']');
        }
    }
}

static void add_spm(struct builder *b, const char *text, size_t len)
{
    static const char mark[] = "\xe2\x96\x81"; // U+2581
    for (const char *at; (at = mem_find(text, len, mark, 3)); text = at + 3) {
        builder_bytes(b, text, (size_t)(at - text));
        builder_byte(b, ' ');
        len -= (size_t)(at - text) + 3;
    }
    builder_bytes(b, text, len);
}

static void add_escaped(struct builder *b, const void *text, size_t len)
{
    const size_t begin = b->len;
    builder_bytes(b, text, len); // unescaping in place makes it no longer
    if (builder_whole(b))
        b->len = begin + text_unescape((unsigned char *)b->text + begin, text, len);
}

bool vocab_add_spelt(struct vocab *v, enum spelling spelling, unsigned type, const void *text, size_t len)
{
    const enum role role = role_of(text, len);
    if (role != ROLE_NONE)
        type = role == ROLE_SHOWN ? TOKEN_USER_DEFINED : TOKEN_CONTROL;
    const bool special = type == TOKEN_CONTROL || type == TOKEN_UNKNOWN,
               byte = type == TOKEN_BYTE && spelling_is_byte(text, len);
    const unsigned ends = role != ROLE_NONE && role != ROLE_SHOWN ? VOCAB_EOG : 0;
    if (!vocab_add(v, "", 0,
                   ends | (special ? VOCAB_SPECIAL : 0u) | (byte ? VOCAB_BYTE : 0u) |
                       (type == TOKEN_USER_DEFINED ? VOCAB_DEFINED : 0u)))
        return false;
    struct builder *const b = &v->bytes;
    const unsigned char *const p = text;
    if (byte)
        builder_byte(b, (char)(16 * hex_value(p[3]) + hex_value(p[4])));
    else if (type == TOKEN_NORMAL && spelling == SPELLING_GPT2)
        add_gpt2(b, text, len);
    else if (type == TOKEN_NORMAL && spelling == SPELLING_SPM)
        add_spm(b, text, len);
    else if (type == TOKEN_NORMAL && spelling == SPELLING_C)
        add_escaped(b, text, len);
    else if (special || type == TOKEN_NORMAL || type == TOKEN_BYTE || type == TOKEN_USER_DEFINED)
        builder_bytes(b, text, len);
    v->end[v->n - 1] = b->len;
    return builder_whole(b);
}
