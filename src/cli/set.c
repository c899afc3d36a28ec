// SPDX-License-Identifier: MIT
#include "cli/set.h"

#include "base/mem.h"
#include "out/message.h"

#include <string.h>

#define FIELD(type) (*(type *)(void *)((char *)a + row->at))

bool set_param(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return value_parse(row->param, value, &a->value[row->number], e);
}

bool set_flag(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return value_flag(row->name, value, &FIELD(bool), e);
}

bool set_int(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    int64_t v;
    if (!value_whole(row->name, value, (int64_t)row->low, (int64_t)row->high, &v, e))
        return false;
    FIELD(int32_t) = (int32_t)v;
    return true;
}

bool set_count(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return value_whole(row->name, value, (int64_t)row->low, (int64_t)row->high, &FIELD(int64_t), e);
}

bool set_seed(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return value_seed(value, &FIELD(uint32_t), e);
}

bool set_string(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    FIELD(const char *) = value;
    return true;
}

bool set_file(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return *value ? set_string(row, value, a, e) : err_set(e, STATUS_USAGE, "--%s: '' is no file name", row->name);
}

bool set_choice(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const size_t len = strlen(value);
    for (const char *c = row->choices; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
        if (len && !strchr(value, ',') && !strncmp(c, value, len) && (c[len] == ',' || !c[len]))
            return set_string(row, value, a, e);
    return err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
}

bool words_add(struct words *w, const char *word, struct err *e)
{
    if (!mem_grow(&w->word, &w->cap, w->n + 1, sizeof *w->word))
        return err_from_fault(e, fault_memory());
    w->word[w->n++] = word;
    return true;
}

bool set_word(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return words_add(&FIELD(struct words), value, e);
}

bool set_rows(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    struct row_range r = {0, INT64_MAX};
    const char *colon = strchr(value, ':');
    if (!colon || (colon != value && !whole_number(value, colon, INT64_MIN, INT64_MAX, &r.first)) ||
        (colon[1] && !whole_number(colon + 1, NULL, INT64_MIN, INT64_MAX, &r.last)))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not A:B with whole numbers", row->name, value);
    FIELD(struct row_range) = r;
    return true;
}

bool set_share(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    struct share s;
    const char *const slash = strchr(value, '/');
    if (!slash || !whole_number(slash + 1, NULL, 1, (int64_t)row->high, &s.n) || !whole_number(value, slash, 1, s.n, &s.k))
        return err_set(e, STATUS_USAGE, "--%s: '%s' is not K/N with 1 <= K <= N", row->name, value);
    FIELD(struct share) = s;
    return true;
}

bool set_accept(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->accept_recorded = !strcmp(value, "recorded");
    a->accept = a->accept_recorded ? NULL : value;
    return true;
}

bool set_bias(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    struct bias_typed bias;
    return value_bias(row->name, value, &bias, e) && words_add(&a->biases, value, e);
}

bool set_samplers(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->by_letter = false;
    a->samplers = value;
    return true;
}

bool set_letters(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->by_letter = true;
    a->samplers = value;
    return true;
}

bool set_breaker(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    if (!strcmp(value, "none")) {
        a->breaker_texts.n = 0;
        return true;
    }
    if (*value)
        return words_add(&a->breaker_texts, value, e);
    message_warn("--%s: an empty breaker is left out", row->name);
    return true;
}

bool set_emit(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    for (int i = 0; i < EMIT_COUNT; i++)
        if (!strcmp(value, emit_name((enum emit)i))) {
            FIELD(enum emit) = (enum emit)i;
            return true;
        }
    return err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
}

bool set_on_error(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    FIELD(bool) = !strcmp(value, "skip");
    return FIELD(bool) || !strcmp(value, "stop") ||
           err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
}

bool set_dump(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->dump = true;
    a->dump_most = 0;
    return !value || set_int(row, value, a, e);
}

bool set_grammar(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->grammar_source = (enum grammar_source)row->low;
    a->grammar = value;
    return *value || !strcmp(row->metavar, "GBNF") || !strcmp(row->metavar, "SCHEMA") ||
           err_set(e, STATUS_USAGE, "--%s: '' is no file name", row->name);
}

bool set_preset(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return true;
}

bool set_action(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->action = (enum action)row->low;
    return !row->choices || set_choice(row, value ? value : "text", a, e);
}
