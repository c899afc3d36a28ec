// SPDX-License-Identifier: MIT
#include "settings/value.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool not_whole(const char *flag, const char *text, double low, double high, struct err *e)
{
    return err_set(e, STATUS_USAGE, "--%s: '%s' is not a whole number from %.0f to %.0f", flag, text, low, high);
}

bool value_whole(const char *flag, const char *text, int64_t low, int64_t high, int64_t *out, struct err *e)
{
    return whole_number(text, NULL, low, high, out) || not_whole(flag, text, (double)low, (double)high, e);
}

bool value_check(const struct param *row, double number, const char *typed, double *value, struct err *e)
{
    const char *const flag = row->flag;
    if (row->type == PARAM_INT) {
        *value = number;
        return (number == floor(number) && number >= row->low && number <= row->high) ||
               not_whole(flag, typed, row->low, row->high, e);
    }
    const float v = (float)number;
    *value = number;
    if (isinf(v))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not finite", flag, typed);
    if (v >= row->low && v <= row->high)
        return true;
    if (row->high >= FLT_MAX)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is out of range, from %g up", flag, typed, row->low);
    if (row->low <= -FLT_MAX)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is out of range, up to %g", flag, typed, row->high);
    return err_set(e, STATUS_USAGE, "--%s: '%s' is out of range, from %.8g to %.8g", flag, typed, row->low, row->high);
}

bool value_float(const char *text, char **end, float *x)
{
    errno = 0;
    *x = strtof(text, end);
    return errno != ERANGE || *x != 0.0f;
}

bool value_parse(const struct param *row, const char *text, double *value, struct err *e)
{
    int64_t whole;
    bool flag, ok;
    char *end;
    if (row->type == PARAM_FLAG) {
        ok = value_flag(row->flag, text, &flag, e);
        *value = flag;
        return ok;
    }
    if (row->type == PARAM_INT) {
        ok = value_whole(row->flag, text, (int64_t)row->low, (int64_t)row->high, &whole, e);
        *value = (double)whole;
        return ok;
    }
    float v;
    const bool in_range = value_float(text, &end, &v);
    if (end == text || *end || isspace((unsigned char)*text) || isnan(v))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not a number", row->flag, text);
    if (!in_range)
        return err_set(e, STATUS_USAGE, "--%s: '%s' rounds to 0 in f32", row->flag, text);
    const double wide = strtod(text, NULL);
    return value_check(row, (float)wide == v ? wide : (double)v, text, value, e);
}

const char *value_text(const struct param *row, double value, char text[NUMBER_TEXT])
{
    if (row->type == PARAM_FLAG)
        return value != 0.0 ? "true" : "false";
    if (row->type == PARAM_FLOAT || row->type == PARAM_DOUBLE) {
        number_text((float)value, text);
        if (strtod(text, NULL) != value && (double)(float)value != value)
            number_text_wide(value, text);
        return number_plain(text);
    }
    snprintf(text, NUMBER_TEXT, "%.0f", value);
    return text;
}

bool value_flag(const char *flag, const char *text, bool *value, struct err *e)
{
    *value = !text || !strcmp(text, "true");
    return *value || !strcmp(text, "false") || err_set(e, STATUS_USAGE, "--%s: '%s' is not true or false", flag, text);
}

bool list_next(const char **at, const char **item, size_t *len)
{
    static const char spaces[] = " \t\n\v\f\r";
    *item = *at + strspn(*at, spaces);
    *item += **item == ',';
    *item += strspn(*item, spaces);
    *len = strcspn(*item, ", \t\n\v\f\r");
    *at = *item + *len;
    return **item;
}

bool ids_read(const char *flag, const char *text, int64_t least, struct ids *ids, struct err *e)
{
    const char *item;
    size_t len;
    int64_t id;
    while (list_next(&text, &item, &len)) {
        if (!whole_number(item, item + len, least, INT32_MAX, &id))
            return err_set(e, STATUS_USAGE, "--%s: '%.*s' is not a token id", flag, err_clip_part(item, len, 40), item);
        const uint32_t token = (uint32_t)id;
        if (!mem_push(&ids->id, &ids->n, &ids->cap, &token, sizeof token))
            return err_from_fault(e, fault_memory());
    }
    return true;
}
