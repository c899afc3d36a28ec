// SPDX-License-Identifier: MIT
#include "cli/words.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "vocab/spelling.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool words_add(struct words *w, const char *word, struct err *e)
{
    return mem_push(&w->word, &w->n, &w->cap, &word, sizeof word) || err_from_fault(e, fault_memory());
}

char *words_own(struct words *w, char *text, struct err *e)
{
    if (text && words_add(w, text, e))
        return text;
    free(text);
    err_from_fault(e, fault_memory());
    return NULL;
}

void words_free(struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free((void *)(uintptr_t)w->word[i]);
    free(w->word);
}

const char *words_value(const char *const *word, size_t n, const char *option, const char *otherwise)
{
    const size_t len = strlen(option);
    for (size_t i = 0; i < n && strcmp(word[i], "--") != 0; i++) {
        if (!strncmp(word[i], option, len) && word[i][len] == '=')
            otherwise = word[i] + len + 1;
        else if (!strcmp(word[i], option) && i + 1 < n)
            otherwise = word[i + 1];
    }
    return otherwise;
}

bool words_split(char *text, struct words *words, struct err *e)
{
    char *to = text;
    for (const char *from = text;;) {
        while (isspace((unsigned char)*from) || *from == '#' || (*from == '\\' && from[1] == '\n'))
            from += *from == '#' ? strcspn(from, "\n") : 1;
        if (!*from)
            return true;
        if (!words_add(words, to, e))
            return false;
        while (*from && !isspace((unsigned char)*from)) {
            const bool escapes = from[0] == '$' && from[1] == '\'';
            const char quote = escapes ? '\'' : *from, *const begin = from + 1 + escapes, *end = begin;
            if (quote != '\'' && quote != '"') {
                *to++ = *from++;
                continue;
            }
            while (*end && *end != quote)
                end += 1 + (escapes && *end == '\\' && end[1]);
            if (!*end)
                return err_set(e, STATUS_USAGE, "a quote is not closed");
            const size_t len = (size_t)(end - begin);
            to += escapes ? text_unescape((unsigned char *)to, begin, len) : (memmove(to, begin, len), len);
            from = end + 1;
        }
        from += *from != '\0';
        *to++ = '\0';
    }
}

// If the word has control characters or bytes that are not UTF-8, it is written as $'...' with escapes. Any other word
// is written as '...', and a quote in it as '"'"'.
void word_quote(struct builder *b, const char *word, bool bare)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,+/@:%=-";
    static const char escaped[] = "\n\r\t\\'", letters[] = "nrt\\'";
    const size_t len = strlen(word);
    const bool safe = text_is_safe(word, len);
    if (bare && *word && !word[strspn(word, plain)]) {
        builder_string(b, word);
        return;
    }
    builder_string(b, safe ? "'" : "$'");
    for (size_t at = 0, n; at < len; at += n) {
        uint32_t point = 0;
        const size_t whole = utf8_decode((const unsigned char *)word + at, len - at, &point);
        const char *const escape = strchr(escaped, word[at]);
        n = whole ? whole : 1;
        if (safe && word[at] == '\'')
            builder_string(b, "'\"'\"'");
        else if (!safe && escape)
            builder_format(b, "\\%c", letters[escape - escaped]);
        else if (safe || (whole && !utf8_hidden(point)))
            builder_bytes(b, word + at, n);
        else
            for (size_t i = at; i < at + n; i++)
                builder_format(b, "\\x%02x", (unsigned char)word[i]);
    }
    builder_byte(b, '\'');
}
