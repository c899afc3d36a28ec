// SPDX-License-Identifier: MIT
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *e, enum status status, const char *format, ...)
{
    va_list args;
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

int err_clip(const char *text, int most)
{
    int len = (int)strnlen(text, (size_t)most + 1);
    if (len <= most)
        return len;
    for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80;) // a character's later bytes are 10xxxxxx
        len--;
    return len ? len : most;
}

bool err_from_fault(struct err *e, struct fault fault)
{
    switch (fault.code) {
    case FAULT_MEMORY:
        return err_set(e, STATUS_IO, "out of memory");
    case FAULT_NAN:
        return err_set(e, STATUS_DATA, "logit %" PRIu64 " is NaN", fault.at);
    case FAULT_INFINITE:
        return err_set(e, STATUS_DATA, "logit %" PRIu64 " is +inf", fault.at);
    case FAULT_ALL_MASKED:
        return err_set(e, STATUS_DATA, "no finite logit");
    case FAULT_NOTHING_LEFT:
        return err_set(e, STATUS_DATA, "the chain masked every token");
    case FAULT_OVERFLOW:
        return err_set(e, STATUS_DATA, "the chain drove the logit of token %" PRIu64 " out of range", fault.at);
    case FAULT_GRAMMAR:
        return err_set(e, STATUS_DATA, "the grammar can match in too many ways at once");
    case FAULT_F16:
        return err_set(e, STATUS_DATA, "logit %" PRIu64 " is too large for f16, which the engine reads", fault.at);
    case FAULT_BIAS_ID:
        return err_set(e, STATUS_DATA, "--logit-bias names token %" PRIu64 ", which is not in the vocabulary", fault.at);
    case FAULT_NO_SIZE:
        return err_set(e, STATUS_DATA,
                       "a distribution covers the whole vocabulary, whose size a sparse row does not tell; give --n-vocab");
    case FAULT_NO_EOT:
        return err_set(e, STATUS_DATA, "infill is left without text, and the vocabulary has no token to end the turn");
    case FAULT_NONE:
        break;
    }
    return true;
}
