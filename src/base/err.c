// SPDX-License-Identifier: MIT
#include "base/err.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_MOST = 600 }; // bytes of an error's text before anything is put in front of it

// The length without the beginning of a character that is not all there.
static int whole(const char *text, int len)
{
    int lead = len - 1;
    while (lead >= 0 && len - lead < 4 &&
           ((unsigned char)text[lead] & 0xc0) == 0x80) // a character's later bytes are 10xxxxxx
        lead--;
    return lead >= 0 && utf8_length((unsigned char)text[lead]) > (size_t)(len - lead) ? lead : len;
}

int err_clip(const char *text, int most)
{
    return err_clip_part(text, strnlen(text, (size_t)most + 1), most);
}

int err_clip_part(const char *text, size_t len, int most)
{
    assert(most > 0);
    return len <= (size_t)most ? (int)len : whole(text, most);
}

// What a conversion of a number comes to, in bytes; it is written to text[size].
static int put_number(char *text, size_t size, const char *conversion, va_list *args)
{
    const char type = conversion[strlen(conversion) - 1];
    if (strchr("fg", type))
        return snprintf(text, size, conversion, va_arg(*args, double));
    if (strchr(conversion, 'z'))
        return snprintf(text, size, conversion, va_arg(*args, size_t));
    if (strstr(conversion, "ll"))
        return snprintf(text, size, conversion, va_arg(*args, long long));
    if (strchr(conversion, 'l'))
        return snprintf(text, size, conversion, va_arg(*args, long));
    return snprintf(text, size, conversion, va_arg(*args, int));
}

// The same of a text, of which at most `most` bytes are shown.
static int put_text(char *text, size_t size, const char *conversion, int most, va_list *args)
{
    const char *const precision = strchr(conversion, '.');
    const bool exact = precision && precision[1] == '*'; // that many, and no more are there to be looked at
    const int given = exact ? va_arg(*args, int) : precision ? atoi(precision + 1) : INT_MAX;
    const char *const from = va_arg(*args, const char *);
    const int len = (int)strnlen(from, (size_t)given);
    const int shown = len > most ? whole(from, most) : len == given && !exact ? whole(from, len) : len;
    return snprintf(text, size, "%.*s%s", shown, from, shown < len ? "..." : "");
}

// Does it fit into text[size], if no text within has more than `most` bytes?
static bool put(char *text, size_t size, int most, const char *format, va_list list)
{
    va_list args;
    size_t len = 0;
    va_copy(args, list);
    while (*format && len < size) {
        const size_t plain = strcspn(format, "%"), n = plain ? plain : 2 + strcspn(format + 1, "csdfgux");
        char conversion[16] = "";
        assert(plain || n < sizeof conversion);
        if (!plain)
            memcpy(conversion, format, n);
        if (plain)
            len += (size_t)snprintf(text + len, size - len, "%.*s", (int)plain, format);
        else if (conversion[n - 1] == 's')
            len += (size_t)put_text(text + len, size - len, conversion, most, &args);
        else
            len += (size_t)put_number(text + len, size - len, conversion, &args);
        format += n;
    }
    va_end(args);
    return len < size;
}

void err_text(char *text, size_t size, const char *format, va_list args)
{
    *text = '\0';
    for (int most = INT_MAX; !put(text, size, most, format, args) && most;
         most = most > OWN_MOST ? OWN_MOST / 2 : most / 2)
        ;
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

bool err_quiet(struct err *e)
{
    *e = (struct err){STATUS_OK, ""};
    return false;
}

bool err_said(struct err *e, enum status status)
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
        [FAULT_NOTHING_LEFT] = {STATUS_DATA, "the chain masked every token"},
        [FAULT_OVERFLOW] = {STATUS_DATA, "the chain drove the logit of token %" PRIu64 " out of range"},
        [FAULT_GRAMMAR] = {STATUS_DATA,
                           "the text so far can match the grammar in too many ways: they take more than %" PRIu64
                           " MiB"},
        [FAULT_F16] = {STATUS_DATA, "logit %" PRIu64 " is too large for f16, which the engine reads"},
        [FAULT_BIAS_ID] = {STATUS_DATA, "--logit-bias names token %" PRIu64 ", which is not in the vocabulary"},
        [FAULT_NO_EOT] = {STATUS_DATA, "infill is left without text, and the vocabulary has no token to end the turn"},
        [FAULT_NO_SIZE] = {STATUS_DATA,
                           "a distribution covers the whole vocabulary, whose size a sparse row does not tell; "
                           "give --n-vocab"},
    };
    assert((size_t)fault.code < sizeof messages / sizeof *messages);
    if (!fault.code)
        return true;
    const char *const format = messages[fault.code].format;
    return err_set(e, messages[fault.code].status, format, fault.at);
}
