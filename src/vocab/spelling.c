// SPDX-License-Identifier: MIT
#include "vocab/spelling.h"

#include "base/utf8.h"
#include "vocab/roles.h"

#include <string.h>

enum { MOST_MARKED = 16 }; // characters of a token that are marked as unknown

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
        } else if (p[i] == '\\' && len - i > 3 && p[i + 1] == 'x' && hex_value(p[i + 2]) >= 0 && hex_value(p[i + 3]) >= 0) {
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

// The byte that a character of GPT-2's spelling stands for, or -1.
static int gpt2_byte(uint32_t c)
{
    if ((c > 0x20 && c < 0x7f) || (c > 0xa0 && c < 0x100 && c != 0xad))
        return (int)c;
    if (c < 0x100 || c > 0x143)
        return -1;
    const int i = (int)c - 0x100; // the other bytes in order: 00 to 20, 7f to a0, ad
    return i <= 0x20 ? i : i <= 0x42 ? 0x7f + i - 0x21 : 0xad;
}

// "[UNK_BYTE_0x" hex text "]"
static bool mark(struct vocab *v, const unsigned char *c, size_t n, const void *text, size_t len)
{
    unsigned char digits[8];
    for (size_t i = 0; i < n; i++) {
        digits[2 * i] = (unsigned char)"0123456789abcdef"[c[i] >> 4];
        digits[2 * i + 1] = (unsigned char)"0123456789abcdef"[c[i] & 15];
    }
    return vocab_extend(v, "[UNK_BYTE_0x", 12) && vocab_extend(v, digits, 2 * n) && vocab_extend(v, text, len) &&
           vocab_extend(v, "]", 1);
}

static bool add_gpt2(struct vocab *v, const unsigned char *text, size_t len)
{
    static const unsigned char replacement[] = {0xef, 0xbf, 0xbd}; // U+FFFD, for a byte that is no character
    size_t marked = 0;
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t point = 0;
        n = utf8_decode(text + i, len - i, &point);
        const int byte = n ? gpt2_byte(point) : -1;
        const unsigned char one = (unsigned char)byte;
        bool ok;
        if (byte >= 0)
            ok = vocab_extend(v, &one, 1);
        else if (marked++ >= MOST_MARKED)
            ok = vocab_extend(v, text + i, n ? n : 1);
        else
            ok = n ? mark(v, text + i, n, text, len) : mark(v, replacement, sizeof replacement, text, len);
        if (!ok)
            return false;
        n = n ? n : 1;
    }
    return true;
}

static bool add_spm(struct vocab *v, const unsigned char *text, size_t len)
{
    size_t done = 0;
    for (size_t i = 0; i + 3 <= len;) {
        if (text[i] != 0xe2 || text[i + 1] != 0x96 || text[i + 2] != 0x81) { // U+2581
            i++;
            continue;
        }
        if (!vocab_extend(v, text + done, i - done) || !vocab_extend(v, " ", 1))
            return false;
        done = i += 3;
    }
    return vocab_extend(v, text + done, len - done);
}

static bool add_escaped(struct vocab *v, const void *text, size_t len)
{
    if (!vocab_extend(v, text, len))
        return false;
    unsigned char *const p = v->bytes + v->end[v->n - 1] - len;
    v->end[v->n - 1] -= len - text_unescape(p, p, len);
    return true;
}

static bool add_byte(struct vocab *v, const char *text, size_t len)
{
    if (!spelling_is_byte(text, len))
        return vocab_extend(v, text, len);
    const unsigned char byte = (unsigned char)(16 * hex_value((unsigned char)text[3]) + hex_value((unsigned char)text[4]));
    v->flags[v->n - 1] |= VOCAB_BYTE;
    return vocab_extend(v, &byte, 1);
}

bool vocab_add_spelt(struct vocab *v, enum spelling spelling, unsigned type, const void *text, size_t len)
{
    const enum role role = role_of(text, len);
    if (role == ROLE_SHOWN)
        type = TOKEN_USER_DEFINED;
    else if (role != ROLE_NONE)
        type = TOKEN_CONTROL;
    const bool special = type == TOKEN_CONTROL || type == TOKEN_UNKNOWN, ends = role != ROLE_NONE && role != ROLE_SHOWN;
    if (!vocab_add(v, "", 0, (special ? VOCAB_SPECIAL : 0u) | (ends ? VOCAB_EOG : 0u)))
        return false;
    if (special || type == TOKEN_USER_DEFINED)
        return vocab_extend(v, text, len);
    if (type == TOKEN_BYTE)
        return add_byte(v, text, len);
    if (type != TOKEN_NORMAL)
        return true;
    switch (spelling) {
    case SPELLING_GPT2:
        return add_gpt2(v, text, len);
    case SPELLING_SPM:
        return add_spm(v, text, len);
    case SPELLING_C:
        return add_escaped(v, text, len);
    case SPELLING_PLAIN:
        break;
    }
    return vocab_extend(v, text, len);
}
