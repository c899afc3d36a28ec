// SPDX-License-Identifier: MIT
#include "base/err.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_MOST = 600 }; // bytes of an error's text before anything is put in front of it

// Returns len without the beginning of a UTF-8 character that ends beyond it.
static int whole_characters(const char *text, int len)
{
    int lead = len - 1;
    while (lead >= 0 && len - lead < 4 && ((unsigned char)text[lead] & 0xc0) == 0x80) // a continuation byte
        lead--;
    return lead >= 0 && utf8_length((unsigned char)text[lead]) > (size_t)(len - lead) ? lead : len;
}

int err_clip(const char *text, int most) { return err_clip_part(text, strnlen(text, (size_t)most + 1), most); }

int err_clip_part(const char *text, size_t len, int most)
{
    assert(most > 0);
    return len <= (size_t)most ? (int)len : whole_characters(text, most);
}

// Writes `whole` to text[size], for which it is too long. Cuts its longest word to OWN_MOST / 2 bytes, or to half as
// many until the text fits. If even the other words do not fit, cuts the end of the text.
static void shorten(char *text, size_t size, const char *whole)
{
    const char *word = whole;
    size_t longest = 0;
    for (const char *at = whole; *at; at += *at != '\0') {
        const size_t n = strcspn(at, " ':,");
        word = n > longest ? at : word;
        longest = n > longest ? n : longest;
        at += n;
    }
    const size_t rest = strlen(whole) - longest + sizeof "...";
    int shown = OWN_MOST / 2;
    while (shown > 1 && rest + (size_t)shown > size)
        shown /= 2;
    if (rest >= size) {
        snprintf(text, size, "%.*s...", err_clip(whole, (int)(size - sizeof "...")), whole);
        return;
    }
    snprintf(text, size, "%.*s...%s", (int)(word - whole) + err_clip_part(word, longest, shown), whole, word + longest);
}

void err_text(char *text, size_t size, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int len = vsnprintf(text, size, format, args);
    char *const whole = len >= 0 && (size_t)len >= size ? malloc((size_t)len + 1) : NULL;
    if (whole) {
        vsnprintf(whole, (size_t)len + 1, format, again);
        shorten(text, size, whole);
    }
    free(whole);
    va_end(again);
}

bool err_set(struct err *e, enum status status, const char *format, ...)
{
    va_list args;
    assert(status != STATUS_OK);
    va_start(args, format);
    e->status = status;
    err_text(e->text, OWN_MOST, format, args);
    va_end(args);
    return false;
}

bool err_prefix(struct err *e, const char *format, ...)
{
    char text[sizeof e->text];
    const size_t len = strlen(memcpy(text, e->text, sizeof text));
    va_list args;
    va_start(args, format);
    err_text(e->text, (sizeof text - len) / 2, format, args); // others may put something in front of it
    va_end(args);
    const size_t before = strlen(e->text);
    snprintf(e->text + before, sizeof e->text - before, ": %s", text);
    return false;
}

bool err_silent(struct err *e, enum status status)
{
    *e = (struct err){status, ""};
    return false;
}

bool err_from_fault(struct err *e, struct fault fault)
{
    static const struct {
        enum status status;
        const char *format; // of fault.at, where it tells a number
    } messages[] = {
        [FAULT_MEMORY] = {STATUS_IO, "out of memory"},
        [FAULT_NAN] = {STATUS_DATA, "logit %" PRIu64 " is NaN"},
        [FAULT_INFINITE] = {STATUS_DATA, "logit %" PRIu64 " is +inf"},
        [FAULT_ALL_MASKED] = {STATUS_DATA, "no finite logit"},
        [FAULT_NOTHING_LEFT] = {STATUS_DATA, "the chain left no token"},
        [FAULT_LIST_MASKED] = {STATUS_DATA, "the list has no allowed token; ask the server for more tokens"},
        [FAULT_OVERFLOW] = {STATUS_DATA, "the chain moved the logit of token %" PRIu64 " out of range"},
        [FAULT_GRAMMAR] = {STATUS_DATA,
                           "the text so far can match the grammar in too many ways: they take more than %" PRIu64
                           " MiB"},
        [FAULT_F16] = {STATUS_DATA, "logit %" PRIu64 " is too large for f16, which the engine reads"},
        [FAULT_TOP_K] = {STATUS_DATA, "--top-k is not below the row's width, %" PRIu64},
        [FAULT_NO_EOT] = {STATUS_DATA, "infill is left without text, and the vocabulary has no token to end the turn"},
        [FAULT_EMBEDDINGS] = {STATUS_DATA,
                              "the file of --scatter-embeddings has vectors of %" PRIu64
                              " tokens, and the row has another number of tokens; give the file of the row's model"},
        [FAULT_VECTOR] = {STATUS_DATA, "the file of --scatter-embeddings is damaged: the vector of token %" PRIu64
                                       " has a number that is NaN, infinite or above 1e19"},
        [FAULT_NO_SIZE] = {STATUS_DATA,
                           "the size of the vocabulary is needed, and a sparse row does not state it; give --n-vocab"},
    };
    assert((size_t)fault.code < sizeof messages / sizeof *messages);
    if (!fault.code)
        return true;
    const char *const format = messages[fault.code].format;
    return err_set(e, messages[fault.code].status, format, fault.at);
}
