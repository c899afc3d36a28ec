// SPDX-License-Identifier: MIT
#include "cli/option_rules.h"

#include "base/names.h"
#include "programs/program.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_TEXT = 24 }; // room for the longest value that a rule names

// Writes the beginning of an option's value, which may be the default: without one, the first of the choices.
static void write_value(const struct args *a, const struct option_row *row, char value[VALUE_TEXT])
{
    const struct typed *const t = &a->typed;
    const bool index = row->kind == OPTION_INDEX;
    const char *text = index ? NULL : OPTION_VALUE(char *), *at = row->choices;
    size_t len = text ? strlen(text) : 0;
    unsigned choice = index ? OPTION_VALUE(unsigned) : 0;
    while (!text && at && name_next(&at, &text, &len) && choice)
        choice--, text = NULL;
    snprintf(value, VALUE_TEXT, "%.*s", (int)len, text ? text : "");
}

// Returns whether an option was given, and does not have the value that it has without.
static bool in_use(const struct args *a, const struct option_row *row)
{
    const struct typed *const t = &a->typed;
    const bool given = t->given[row - t->options->row] != ORIGIN_NONE;
    int64_t without = 0;
    switch (row->kind) {
    case OPTION_FLAG:
        return given && OPTION_VALUE(bool);
    case OPTION_SWITCH:
        return given && OPTION_VALUE(int64_t) != 0;
    case OPTION_WHOLE:
        return given && !(row->def && whole_number(row->def, NULL, INT64_MIN, INT64_MAX, &without) &&
                          OPTION_VALUE(int64_t) == without);
    case OPTION_SEED:
        return !engine_draws_seed(engine_by_name(t->engine), t->seed);
    default:
        return given;
    }
}

// Returns the row of the option that name[0..len) names, without =VALUE.
static const struct option_row *row_named(const struct args *a, const char *name, size_t len)
{
    const char *const equals = memchr(name, '=', len);
    return option_by_name(a->typed.options, name, equals ? (size_t)(equals - name) : len);
}

// Returns whether one of the options is in use: names separated by commas, each perhaps with =VALUE|VALUE. value
// becomes that of the option that is found, if values are named; else an empty text.
static bool any_in_use(const struct args *a, const char *options, char value[VALUE_TEXT])
{
    const char *at = options ? options : "", *name;
    size_t len;
    while (name_next(&at, &name, &len)) {
        const struct option_row *const row = row_named(a, name, len);
        const char *v = memchr(name, '=', len);
        *value = '\0';
        if (!v && in_use(a, row))
            return true;
        if (v)
            write_value(a, row, value);
        for (size_t n; v && v < name + len; v += n) {
            n = strcspn(++v, "|,");
            if (n == strlen(value) && !strncmp(v, value, n))
                return true;
        }
    }
    return false;
}

// Appends "--a, --b or --c" for "a,b,c", and the value.
static void write_options(struct builder *b, const char *options, const char *value)
{
    const char *at = options, *name;
    size_t len;
    for (size_t i = 0; name_next(&at, &name, &len); i++)
        builder_format(b, "%s--%.*s", !i ? "" : *at ? ", " : " or ", (int)strcspn(name, "=,"), name);
    builder_format(b, "%s%s", *value ? " " : "", value);
}

// Returns whether the value names standard input, which the rows are read from, too.
static bool reads_input_twice(const struct args *a, const char *value)
{
    bool rows = !a->files.n;
    for (size_t i = 0; i < a->files.n; i++)
        rows = rows || !strcmp(a->files.word[i], "-");
    return rows && !strcmp(value + (*value == '@'), "-");
}

// Checks the rule of an option that is in use; row NULL: a rule with a subject of its own.
static bool check_rule(const struct args *a, const struct option_row *row, const struct option_rule *rule,
                       struct err *e)
{
    char own[VALUE_TEXT] = "", value[VALUE_TEXT] = "", ignored[VALUE_TEXT];
    if (rule->of || rule->kind == RULE_READS_INPUT)
        write_value(a, row, own);
    if ((rule->of && name_find(rule->of, NAME_EXACT, own, strlen(own)) < 0) || any_in_use(a, rule->unless, ignored))
        return true;
    const bool others = any_in_use(a, rule->others, value);
    if (rule->kind == RULE_READS_INPUT ? !reads_input_twice(a, own) : others == (rule->kind == RULE_NEEDS))
        return true;
    struct builder b = {0};
    if (rule->as)
        builder_string(&b, rule->as);
    else
        builder_format(&b, "--%s%s%s", row->name, rule->of ? " " : "", rule->of ? own : "");
    if (rule->says) {
        builder_format(&b, rule->says, value);
    } else {
        builder_string(&b, rule->kind == RULE_NEEDS ? " needs " : " cannot be used with ");
        write_options(&b, rule->others, value);
        builder_string(&b, rule->why ? rule->why : "");
    }
    const bool failed = b.failed ? err_from_fault(e, fault_memory()) : err_set(e, STATUS_USAGE, "%s", b.text);
    builder_free(&b);
    return failed;
}

bool option_rules_check(const struct args *a, const struct option_rule *rules, struct err *e)
{
    for (const struct option_rule *rule = rules; rule && rule->others; rule++)
        if (!check_rule(a, NULL, rule, e))
            return false;
    return true;
}

bool option_rules_check_all(const struct args *a, struct err *e)
{
    for (const struct option_row *row = a->typed.options->row; row->name; row++)
        for (const struct option_rule *rule = row->rules; rule && rule->others && in_use(a, row); rule++)
            if (!check_rule(a, row, rule, e))
                return false;
    return true;
}
