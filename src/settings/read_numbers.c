// SPDX-License-Identifier: MIT
// Numbers of settings (settings/read.h): as options are given, and as llama-server reads them.
#include "settings/read.h"
#include "settings/value.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- numbers, as options

// Returns true if the value of a key switches something on. p: the parameter that it sets, or NULL.
static bool switches_on(const struct field_row *f, const struct param *p, double x)
{
    if (f && f->off != OFF_WITH_SAMPLER)
        return f->off == OFF_AT ? x != f->off_value : x > f->off_value;
    for (size_t i = 0; p && samplers[i]; i++)
        if (samplers[i]->params == p && samplers[i]->runs.first)
            return sampler_runs_with(samplers[i], x);
    return p ? param_rounded(p, x) != param_rounded(p, p->def) : (!f || f->off != OFF_WITH_SAMPLER) && x != 0.0;
}

// Reads a number or a flag. A whole number loses the point
// that some programs write.
static bool read_typed_number(struct settings_reader *r, const struct field_row *f, size_t number, const cJSON *item)
{
    struct file_view *const v = &r->view;
    const struct param *const p = number < v->catalog->n ? v->catalog->param[number] : NULL;
    const char *const option = p ? p->flag : f->option;
    const bool flag = p && p->type == PARAM_FLAG;
    char text[NUMBER_TEXT];
    double x;
    const bool is = view_is_number(item, &x);
    if (p)
        name_set_add(&v->given, number);
    if (option && (cJSON_IsObject(item) || cJSON_IsArray(item)))
        return err_set(v->e, STATUS_USAGE, "%s is a %s, not a number", item->string,
                       cJSON_IsObject(item) ? "mapping" : "list");
    if ((!is || flag) && !view_is_on(item))
        return true;
    if (!option && (!is || switches_on(f, NULL, x)))
        view_unsupported(v, item);
    if (!option)
        return true;
    if (flag)
        return read_option(r, option, NULL);
    if (!is)
        return err_set(v->e, STATUS_USAGE, "%s is not a number", item->string);
    if (p && switches_on(f, p, x))
        name_set_add(&v->active, number);
    if (f->factor > 0.0) {
        snprintf(text, sizeof text, "%.9g", x * f->factor);
        return read_option(r, option, text);
    }
    const bool whole = p && p->type == PARAM_INT && x == trunc(x) && fabs(x) < 1e15;
    return read_option(r, option, whole ? value_text(p, x, text) : item->valuestring);
}

// Reads a seed. A negative one, or the greatest, is none in particular. 1e3 loses its exponent; large numbers are set
// as they are spelt, since doubles lack digits.
static bool read_typed_seed(const struct settings_reader *r, const cJSON *item)
{
    char text[NUMBER_TEXT];
    double x;
    if (!view_is_number(item, &x))
        return !view_is_on(item) || err_set(r->view.e, STATUS_USAGE, "%s is not a number", item->string);
    if (x < 0.0 || x == UINT32_MAX)
        return true;
    const bool exact = x == trunc(x) && x < 0x1p53;
    return read_option(r, "seed", exact ? (snprintf(text, sizeof text, "%.0f", x), text) : item->valuestring);
}

// ---- numbers, as llama-server reads them

// Writes the number x of an item as messages show it: as the item spells it, unless the server uses another number.
static const char *number_as_written(const cJSON *item, double x, char text[NUMBER_TEXT])
{
    if (cJSON_IsNumber(item) && item->valuestring && (x == item->valuedouble || x == trunc(item->valuedouble)))
        return item->valuestring;
    if (x != floor(x) || fabs(x) >= 1e15)
        return fabs(x) > FLT_MAX ? number_text_wide(x, text) : number_text((float)x, text);
    snprintf(text, NUMBER_TEXT, "%" PRId64, (int64_t)x);
    return text;
}

// Returns what llama-server stores of a whole number of 32 bits: an integer loses its higher bits; a number with a
// point or an exponent is cut, and beyond 32 bits becomes the least, as on x86-64.
static double stored_int(const char *spelt, double x)
{
    uint64_t bits;
    if (number_bits(spelt, &bits))
        return (int32_t)(uint32_t)bits;
    return x > -0x1p31 - 1 && x < 0x1p31 ? trunc(x) : INT32_MIN;
}

// The same of a seed, which has no sign; beyond 64 bits it becomes 0.
static double stored_seed(const char *spelt, double x)
{
    uint64_t bits;
    if (number_bits(spelt, &bits))
        return (uint32_t)bits;
    return x > -9223372036854775808.0 && x < 9223372036854775808.0 ? (uint32_t)(int64_t)x : 0.0;
}

bool read_server_number(const struct settings_reader *r, const cJSON *item, bool whole, double *x)
{
    double typed;
    if (cJSON_IsRaw(item) && view_is_number(item, &typed)) { // of a file
        *x = whole && reads_as_request(r) ? stored_int(item->valuestring, typed) : whole ? trunc(typed) + 0.0 : typed;
        return !isinf(typed) || read_wrong(r, item, "a number");
    }
    *x = cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsTrue(item);
    if (whole)
        *x = trunc(*x) + 0.0; // no -0
    return cJSON_IsNumber(item) || cJSON_IsBool(item) || read_wrong(r, item, "a number");
}

// Reads a whole number of an option that is no sampler's.
static bool read_server_whole(const struct settings_reader *r, const char *option, const cJSON *item)
{
    char text[NUMBER_TEXT];
    double x;
    return read_server_number(r, item, true, &x) && read_option(r, option, number_as_written(item, x, text));
}

// Brings a number into the server's range, whose ends are floats where the number is. False if the server refuses it.
static bool server_range(const struct param *row, const char *name, double *x, struct err *e)
{
    const double low = row->request.low, high = row->request.high, stored = row->type == PARAM_INT ? *x : (float)*x;
    if (row->request.rule == SERVER_TAKES_ALL || (stored >= (float)low && stored <= (float)high))
        return true;
    if (row->request.rule == SERVER_REFUSES)
        return high == INFINITY ? err_set(e, STATUS_USAGE, "%s is out of range, from %g up", name, low)
                                : err_set(e, STATUS_USAGE, "%s is out of range, from %g to %g", name, low, high);
    *x = row->request.rule == SERVER_CLAMPS ? fmin(fmax(*x, low), high) : row->def;
    return true;
}

// Reads a sampler's parameter. Refuses a whole number beyond 32 bits, which the server would read as another number.
static bool read_server_param(const struct settings_reader *r, size_t number, const cJSON *item)
{
    const struct param *const row = r->view.catalog->param[number];
    char text[NUMBER_TEXT];
    double x;
    if (row->type == PARAM_FLAG)
        return cJSON_IsBool(item) ? r->target->value(r->to, number, cJSON_IsTrue(item), "", r->view.e)
                                  : read_wrong(r, item, "true or false");
    if (!read_server_number(r, item, row->type == PARAM_INT, &x))
        return false;
    if (reads_as_request(r) && row->request.rule == SERVER_TAKES_DEFAULT && !(x >= row->request.low))
        return true; // the value before the file stays
    const bool no_int = row->type == PARAM_INT && (x < INT32_MIN || x > INT32_MAX);
    // An engine's own range holds in place of the server's.
    if (!no_int && !engine_has_range(r->view.engine, row->flag) && !server_range(row, item->string, &x, r->view.e))
        return false;
    return r->target->value(r->to, number, x, "", r->view.e) ||
           r->target->value(r->to, number, x, number_as_written(item, x, text),
                            r->view.e); // only a message needs the text
}

bool read_field_number(struct settings_reader *r, const struct field_row *f, size_t number, const cJSON *item)
{
    if (!reads_as_server(r))
        return read_typed_number(r, f, number, item);
    return number < r->view.catalog->n ? read_server_param(r, number, item) : read_server_whole(r, f->option, item);
}

bool read_other_number(const struct settings_reader *r, const struct field_row *f, const cJSON *item)
{
    const char *keys = f->keys, *key;
    size_t len;
    double x;
    while (name_next(&keys, &key, &len) && (strlen(item->string) != len || memcmp(key, item->string, len) != 0)) {
        char name[40];
        if (json_member(r->view.settings, name_cut(name, sizeof name, key, len)))
            return true;
    }
    return read_server_number(r, item, true, &x) &&
           (x >= f->low || err_set(r->view.e, STATUS_USAGE, "%s is out of range, from %g up", item->string, f->low));
}

bool read_seed(const struct settings_reader *r, const cJSON *item)
{
    char text[NUMBER_TEXT];
    double x;
    if (!reads_as_request(r))
        return reads_as_server(r) ? read_server_whole(r, "seed", item) : read_typed_seed(r, item);
    if (!read_server_number(r, item, true, &x))
        return false;
    x = cJSON_IsRaw(item) ? stored_seed(item->valuestring, strtod(item->valuestring, NULL)) : x;
    snprintf(text, sizeof text, "%.0f", x);
    return read_option(r, "seed", x == UINT32_MAX ? "-1" : text);
}
