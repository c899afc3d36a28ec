// SPDX-License-Identifier: MIT
#include "base/err.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *e, enum status status, const char *format, ...)
{
    va_list args;
    assert(status != STATUS_OK);
    va_start(args, format);
    e->status = status;
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return false;
}

bool err_prefix(struct err *e, const char *format, ...)
{
    char text[sizeof e->text];
    memcpy(text, e->text, sizeof text);
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof e->text)
        snprintf(e->text + len, sizeof e->text - (size_t)len, ": %s", text);
    return false;
}

bool err_quiet(struct err *e)
{
    *e = (struct err){STATUS_OK, ""};
    return false;
}

int err_clip(const char *text, int most)
{
    assert(most > 0);
    int len = (int)strnlen(text, (size_t)most + 1);
    if (len <= most)
        return len;
    for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80;) // a character's later bytes are 10xxxxxx
        len--;
    return len ? len : most;
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
                           "the text so far can match the grammar in too many ways: they take more than %" PRIu64 " MiB"},
        [FAULT_F16] = {STATUS_DATA, "logit %" PRIu64 " is too large for f16, which the engine reads"},
        [FAULT_BIAS_ID] = {STATUS_DATA, "--logit-bias names token %" PRIu64 ", which is not in the vocabulary"},
        [FAULT_NO_EOT] = {STATUS_DATA, "infill is left without text, and the vocabulary has no token to end the turn"},
        [FAULT_NO_SIZE] = {STATUS_DATA, "a distribution covers the whole vocabulary, whose size a sparse row does not tell; "
                                        "give --n-vocab"},
    };
    assert((size_t)fault.code < sizeof messages / sizeof *messages);
    if (!fault.code)
        return true;
    const char *const format = messages[fault.code].format;
    return err_set(e, messages[fault.code].status, format, fault.at);
}
