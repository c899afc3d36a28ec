// SPDX-License-Identifier: MIT
#include "cli/set.h"

#include "base/mem.h"
#include "in/file.h"
#include "out/message.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(type) (*(type *)(void *)((char *)o + row->at))

bool set_flag(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)value, (void)e;
    FIELD(bool) = true;
    return true;
}

// A whole decimal integer in [low, high], from text that ends at end (NULL: at its NUL).
static bool parse_int(const char *text, const char *end, int64_t low, int64_t high, int64_t *out)
{
    char *stop;
    errno = 0;
    const long long v = strtoll(text, &stop, 10);
    *out = v;
    return stop != text && !isspace((unsigned char)*text) && stop == (end ? end : text + strlen(text)) && !errno && v >= low &&
           v <= high;
}

static bool not_whole(const struct option_row *row, const char *value, double low, double high, struct err *e)
{
    return err_set(e, STATUS_USAGE, "--%s: '%s' is not a whole number from %.0f to %.0f", row->name, value, low, high);
}

bool set_int(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    int64_t v;
    if (!parse_int(value, NULL, (int64_t)row->low, (int64_t)row->high, &v))
        return not_whole(row, value, row->low, row->high, e);
    FIELD(int32_t) = (int32_t)v;
    return true;
}

bool set_seed(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    int64_t v;
    if (!parse_int(value, NULL, -1, UINT32_MAX, &v))
        return not_whole(row, value, -1, UINT32_MAX, e);
    FIELD(uint32_t) = (uint32_t)v;
    return true;
}

bool set_float(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    char *end;
    const float v = strtof(value, &end);
    if (end == value || *end || isspace((unsigned char)*value) || isnan(v))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not a number", row->name, value);
    if (isinf(v))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not finite", row->name, value);
    if ((v < row->low || v > row->high) && row->high >= FLT_MAX)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is out of range, from %g up", row->name, value, row->low);
    if (v > row->high && row->low <= -FLT_MAX)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is out of range, up to %g", row->name, value, row->high);
    if (v < row->low || v > row->high)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is out of range, from %g to %g", row->name, value, row->low, row->high);
    FIELD(float) = v;
    return true;
}

bool set_string(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)e;
    FIELD(const char *) = value;
    return true;
}

bool set_file(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    return *value ? set_string(row, value, o, e) : err_set(e, STATUS_USAGE, "--%s: '' is no file name", row->name);
}

bool set_choice(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    const size_t len = strlen(value);
    for (const char *c = row->choices; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
        if (len && !strchr(value, ',') && !strncmp(c, value, len) && (c[len] == ',' || !c[len]))
            return set_string(row, value, o, e);
    return err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
}

bool set_rows(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    struct row_range r = {0, INT64_MAX};
    const char *colon = strchr(value, ':');
    if (!colon || (colon != value && !parse_int(value, colon, INT64_MIN, INT64_MAX, &r.first)) ||
        (colon[1] && !parse_int(colon + 1, NULL, INT64_MIN, INT64_MAX, &r.last)))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not A:B with whole numbers", row->name, value);
    FIELD(struct row_range) = r;
    return true;
}

bool set_count(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    int64_t v;
    if (!parse_int(value, NULL, (int64_t)row->low, (int64_t)row->high, &v))
        return not_whole(row, value, row->low, row->high, e);
    FIELD(int64_t) = v;
    return true;
}

bool set_share(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    struct share s;
    const char *const slash = strchr(value, '/');
    if (!slash || !parse_int(slash + 1, NULL, 1, (int64_t)row->high, &s.n) || !parse_int(value, slash, 1, s.n, &s.k))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not K/N with 1 <= K <= N", row->name, value);
    FIELD(struct share) = s;
    return true;
}

static bool is_separator(char c)
{
    return c == ',' || isspace((unsigned char)c);
}

// Appends the ids in text[0..len).
static bool parse_ids(const struct option_row *row, const char *text, size_t len, struct ids *ids, struct err *e)
{
    const char *const end = text + len;
    while (text < end) {
        if (is_separator(*text)) {
            text++;
            continue;
        }
        const char *stop = text;
        while (stop < end && !is_separator(*stop))
            stop++;
        int64_t id;
        if (!parse_int(text, stop, 0, INT32_MAX, &id))
            return err_set(e, STATUS_USAGE, "--%s: '%.*s' is not a token id", row->name,
                           (int)(stop - text < 40 ? stop - text : 40), text);
        if (!mem_grow(&ids->id, &ids->cap, ids->n + 1, sizeof *ids->id))
            return err_from_fault(e, fault_memory());
        ids->id[ids->n++] = (uint32_t)id;
        text = stop;
    }
    return true;
}

// 1,2,3 or @FILE.
static bool read_ids(const struct option_row *row, const char *value, struct ids *ids, struct err *e)
{
    if (*value != '@')
        return parse_ids(row, value, strlen(value), ids, e);
    char *text;
    size_t len;
    if (!file_slurp(value + 1, &text, &len, e))
        return err_prefix(e, "--%s", row->name);
    const bool ok = strlen(text) < len ? err_set(e, STATUS_USAGE, "--%s: '%s' holds a NUL byte", row->name, value)
                                       : parse_ids(row, text, len, ids, e);
    free(text);
    return ok;
}

bool set_ids(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    struct ids *const ids = &FIELD(struct ids);
    ids->n = 0;
    ids->given = true;
    return read_ids(row, value, ids, e);
}

bool set_accept(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    o->accept_recorded = !strcmp(value, "recorded");
    if (!o->accept_recorded)
        return set_ids(row, value, o, e);
    o->accept.given = false;
    return true;
}

bool set_dry_ids(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    struct ids ids = {0};
    const size_t n = o->params.n_dry_breakers;
    o->dry_ids_given = true;
    bool ok = read_ids(row, value, &ids, e);
    if (ok && !ids.n)
        ok = err_set(e, STATUS_USAGE, "--%s: '%s' holds no token id", row->name, value);
    if (ok && !mem_grow(&o->breaker, &o->breaker_cap, n + 1, sizeof *o->breaker))
        ok = err_from_fault(e, fault_memory());
    if (!ok) {
        free(ids.id);
        return false;
    }
    o->breaker[n] = (struct breaker){ids.id, ids.n};
    o->params.dry_breakers = o->breaker;
    o->params.n_dry_breakers = n + 1;
    return true;
}

bool set_dry_text(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row;
    o->dry_text_given = true;
    if (!strcmp(value, "none")) {
        o->n_dry_texts = 0;
        return true;
    }
    if (!*value) {
        message_warn("--%s: an empty breaker is left out", row->name);
        return true;
    }
    if (!mem_grow(&o->dry_text, &o->dry_text_cap, o->n_dry_texts + 1, sizeof *o->dry_text))
        return err_from_fault(e, fault_memory());
    o->dry_text[o->n_dry_texts++] = value;
    return true;
}

// "TEXT"(+|-)BIAS: the text ends at the last quote. Returns where the sign stands, or NULL.
static const char *quoted(const char *value, struct options *o, struct err *e)
{
    const char *const end = strrchr(value, '"');
    if (end == value || (end[1] != '+' && end[1] != '-'))
        return err_set(e, STATUS_USAGE, "--logit-bias: '%s' is not \"TEXT\"+BIAS or \"TEXT\"-BIAS", value), NULL;
    if (!mem_grow(&o->bias_text, &o->bias_text_cap, o->n_bias_texts + 1, sizeof *o->bias_text))
        return err_from_fault(e, fault_memory()), NULL;
    o->bias_text[o->n_bias_texts++] = (struct bias_text){o->params.n_bias, value + 1, (size_t)(end - value - 1)};
    return end + 1;
}

bool set_bias(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    const char *const sign = *value == '"' ? quoted(value, o, e) : strpbrk(value, "+-");
    int64_t id = VOCAB_NONE;
    char *end = NULL;
    float bias = NAN;
    if (!sign && *value == '"')
        return false;
    if (sign && (*value == '"' || parse_int(value, sign, 0, INT32_MAX, &id)))
        bias = strtof(sign, &end);
    if (!end || end == sign || *end || isnan(bias))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not ID+BIAS or ID-BIAS", row->name, value);
    if (bias == INFINITY)
        return err_set(e, STATUS_USAGE, "--%s: '%s': only -inf is an infinite bias", row->name, value);
    if (!mem_grow(&o->bias, &o->bias_cap, o->params.n_bias + 1, sizeof *o->bias))
        return err_from_fault(e, fault_memory());
    o->bias[o->params.n_bias++] = (struct bias){(uint32_t)id, bias};
    o->params.bias = o->bias;
    return true;
}

bool set_samplers(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    o->samplers_by_letter = false;
    return set_string(row, value, o, e);
}

bool set_samplers_by_letter(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    o->samplers_by_letter = true;
    return set_string(row, value, o, e);
}

bool set_dump(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    o->dump = true;
    o->dump_most = 0;
    return !value || set_int(row, value, o, e);
}

bool set_emit(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    for (int i = 0; i < EMIT_COUNT; i++)
        if (!strcmp(value, emit_name[i])) {
            FIELD(enum emit) = (enum emit)i;
            return true;
        }
    return err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
}

bool set_on_error(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    const bool skip = !strcmp(value, "skip");
    if (!skip && strcmp(value, "stop") != 0)
        return err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
    FIELD(bool) = skip;
    return true;
}

bool set_preset(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row, (void)value, (void)o, (void)e;
    return true;
}

bool set_help(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row, (void)value, (void)e;
    o->action = ACTION_HELP;
    return true;
}

bool set_version(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row, (void)value, (void)e;
    o->action = ACTION_VERSION;
    return true;
}

bool set_list_presets(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row, (void)value, (void)e;
    o->action = ACTION_LIST_PRESETS;
    return true;
}

bool set_print_chain(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    o->action = ACTION_PRINT_CHAIN;
    return set_choice(row, value ? value : "text", o, e);
}

bool set_grammar(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row, (void)e;
    o->grammar_given = value;
    o->grammar_is_file = false;
    return true;
}

bool set_grammar_file(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    if (!*value)
        return err_set(e, STATUS_USAGE, "--%s: '' is no file name", row->name);
    o->grammar_given = value;
    o->grammar_is_file = true;
    return true;
}

bool set_print_grammar(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    (void)row, (void)value, (void)e;
    o->action = ACTION_PRINT_GRAMMAR;
    return true;
}

bool set_generate(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    o->action = ACTION_GENERATE;
    return set_choice(row, value, o, e);
}
