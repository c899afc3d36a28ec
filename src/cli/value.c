// SPDX-License-Identifier: MIT
#include "cli/value.h"

#include "base/mem.h"
#include "in/source.h"
#include "vocab/vocab.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool whole_number(const char *text, const char *end, int64_t low, int64_t high, int64_t *out)
{
    char *stop;
    errno = 0;
    const long long v = strtoll(text, &stop, 10);
    *out = v;
    return stop != text && !isspace((unsigned char)*text) && stop == (end ? end : text + strlen(text)) && !errno &&
           v >= low && v <= high;
}

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
    *value = v;
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

// A float from text that ends at *end. False: it is not 0, and so small that it would become 0.
static bool read_float(const char *text, char **end, float *x)
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
    const bool told = read_float(text, &end, &v);
    if (end == text || *end || isspace((unsigned char)*text) || isnan(v))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not a number", row->flag, text);
    if (!told)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is too small to be told from 0", row->flag, text);
    return value_check(row, v, text, value, e);
}

const char *value_text(const struct param *row, double value, char text[NUMBER_TEXT])
{
    if (row->type == PARAM_FLAG)
        return value != 0.0 ? "true" : "false";
    if (row->type == PARAM_FLOAT)
        return number_text((float)value, text);
    snprintf(text, NUMBER_TEXT, "%.0f", value);
    return text;
}

bool value_flag(const char *flag, const char *text, bool *value, struct err *e)
{
    *value = !text || !strcmp(text, "true");
    return *value || !strcmp(text, "false") ||
           err_set(e, STATUS_USAGE, "--%s: '%s' is neither true nor false", flag, text);
}

// Reads one item of a list, text[0..len), into what `to` points to.
typedef bool item_fn(const char *flag, const char *text, size_t len, void *to, struct err *e);

static bool read_id(const char *flag, const char *text, size_t len, void *to, struct err *e)
{
    struct ids *const ids = to;
    int64_t id;
    if (!whole_number(text, text + len, 0, INT32_MAX, &id))
        return err_set(e, STATUS_USAGE, "--%s: '%.*s' is not a token id", flag, err_clip_part(text, len, 40), text);
    if (!mem_grow(&ids->id, &ids->cap, ids->n + 1, sizeof *ids->id))
        return err_from_fault(e, fault_memory());
    ids->id[ids->n++] = (uint32_t)id;
    return true;
}

// A row, or A:B.
static bool read_range(const char *flag, const char *text, size_t len, void *to, struct err *e)
{
    const char *const end = text + len, *const colon = memchr(text, ':', len);
    int64_t first = 0, last = ROWS_OPEN;
    bool ok = len;
    if (!colon || colon > text)
        ok = whole_number(text, colon ? colon : end, INT64_MIN, INT64_MAX, &first) && (colon || first < INT64_MAX);
    if (colon && colon + 1 < end)
        ok = ok && whole_number(colon + 1, end, INT64_MIN, INT64_MAX, &last);
    if (ok && !colon && first != -1) // what follows the last row is the end
        last = first + 1;
    if (!ok)
        return err_set(e, STATUS_USAGE, "--%s: '%.*s' is neither a row nor A:B with whole numbers", flag,
                       err_clip_part(text, len, 40), text);
    return rows_add(to, first, last) || err_from_fault(e, fault_memory());
}

// The items of 1,2,3.
static bool read_items(const char *flag, const char *text, item_fn *item, void *to, struct err *e)
{
    static const char spaces[] = " \t\n\v\f\r";
    for (;;) {
        text += strspn(text, spaces);
        text += *text == ',';
        text += strspn(text, spaces);
        if (!*text)
            return true;
        const size_t len = strcspn(text, ", \t\n\v\f\r"); // 0: another comma, and nothing between them
        if (!item(flag, text, len, to, e))
            return false;
        text += len;
    }
}

// The items of 1,2,3 or of @FILE.
static bool read_list(const char *flag, const char *text, item_fn *item, void *to, struct err *e)
{
    if (*text != '@')
        return read_items(flag, text, item, to, e);
    char *content;
    size_t len;
    if (!file_slurp(text + 1, 0, &content, &len, e))
        return err_prefix(e, "--%s", flag);
    const bool ok = strlen(content) < len ? err_set(e, STATUS_USAGE, "--%s: '%s' holds a NUL byte", flag, text)
                                          : read_items(flag, content, item, to, e);
    free(content);
    return ok;
}

bool value_ids(const char *flag, const char *text, struct ids *ids, struct err *e)
{
    return read_list(flag, text, read_id, ids, e);
}

bool value_rows(const char *flag, const char *text, struct rows *rows, struct err *e)
{
    return *text ? read_list(flag, text, read_range, rows, e) : read_range(flag, text, 0, rows, e);
}

bool value_bias(const char *flag, const char *text, struct bias_typed *bias, struct err *e)
{
    const char *sign = strpbrk(text, "+-");
    int64_t id = VOCAB_NONE;
    char *end = NULL;
    float amount = NAN;
    bool told = true;
    *bias = (struct bias_typed){0};
    if (*text == '"') { // up to the last quote
        const char *const quote = strrchr(text, '"');
        if (quote == text || (quote[1] != '+' && quote[1] != '-'))
            return err_set(e, STATUS_USAGE, "--logit-bias: '%s' is not \"TEXT\"+BIAS or \"TEXT\"-BIAS", text);
        sign = quote + 1;
        bias->text = text + 1;
        bias->len = (size_t)(quote - text - 1);
    }
    if (sign && (bias->text || whole_number(text, sign, 0, INT32_MAX, &id)))
        told = read_float(sign, &end, &amount);
    if (!end || end == sign || *end || isnan(amount))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not ID+BIAS or ID-BIAS", flag, text);
    if (!told)
        return err_set(e, STATUS_USAGE, "--%s: '%s': the bias is too small to be told from 0", flag, text);
    if (amount == INFINITY)
        return err_set(e, STATUS_USAGE, "--%s: '%s': only -inf is an infinite bias", flag, text);
    bias->bias = (struct bias){(uint32_t)id, amount};
    return true;
}
