// SPDX-License-Identifier: MIT
#include "recipe/grammar.h"

#include "in/source.h"
#include "schema/schema.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is wrong, of the quoted part of the grammar and of the limit, where there are such.
static const struct {
    const char *format;
    int limit;
} grammar_messages[] = {
    [GRAMMAR_NUL] = {"a NUL byte"},
    [GRAMMAR_UTF8] = {"not UTF-8"},
    [GRAMMAR_NAME] = {"a rule's name should stand here"},
    [GRAMMAR_DEFINES] = {"'::=' should stand here"},
    [GRAMMAR_UNEXPECTED] = {"'%.*s' cannot stand here"},
    [GRAMMAR_LITERAL] = {"this literal has no closing '\"'"},
    [GRAMMAR_CLASS] = {"this character class has no closing ']'"},
    [GRAMMAR_EMPTY_CLASS] = {"'%.*s' holds no character"},
    [GRAMMAR_RANGE] = {"the range '%.*s' ends before it begins"},
    [GRAMMAR_GROUP] = {"this group has no closing ')'"},
    [GRAMMAR_ESCAPE] = {"'%.*s' is none of \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH"},
    [GRAMMAR_NOTHING] = {"nothing stands before '%.*s' to be repeated"},
    [GRAMMAR_REPEAT] = {"a repetition is {m}, {m,} or {m,n}"},
    [GRAMMAR_REPEAT_ORDER] = {"the repetition '%.*s' has its bounds in the wrong order"},
    [GRAMMAR_REPEAT_LARGE] = {"at least '%.*s' repetitions are too many, the most is %d", GRAMMAR_MOST_REPEATS},
    [GRAMMAR_TOKEN] = {"a token is <[id]> or <text>"},
    [GRAMMAR_TOKEN_UNKNOWN] = {"no token of the vocabulary says '%.*s'"},
    [GRAMMAR_TOKEN_ID] = {"the vocabulary has no token '%.*s'"},
    [GRAMMAR_TWICE] = {"the rule '%.*s' is defined again; the last definition counts"},
    [GRAMMAR_UNDEFINED] = {"the rule '%.*s' is not defined"},
    [GRAMMAR_NO_ROOT] = {"no rule is named root"},
    [GRAMMAR_LEFT_RECURSION] = {"the rule '%.*s' is left-recursive: it can begin with itself"},
    [GRAMMAR_DEEP] = {"groups are nested more than %d deep", GRAMMAR_MOST_DEPTH},
    [GRAMMAR_LARGE] = {"the grammar has more than %d elements once its repetitions are written out", GRAMMAR_MOST_ELEMENTS},
};

bool grammar_error(const struct grammar_fault *f, struct err *e)
{
    const int len = f->len < 60 ? (int)f->len : 60;
    if (f->code == GRAMMAR_OK || f->code == GRAMMAR_MEMORY)
        return err_from_fault(e, fault_memory());
    const char *const format = grammar_messages[f->code].format;
    if (strstr(format, "%.*s"))
        err_set(e, STATUS_USAGE, format, len, f->name, grammar_messages[f->code].limit);
    else
        err_set(e, STATUS_USAGE, format, grammar_messages[f->code].limit);
    return f->line ? err_prefix(e, "line %zu, column %zu", f->line, f->column) : false;
}

static bool explain(const struct schema_fault *f, struct err *e)
{
    const char *const path = *f->path ? f->path : "the schema";
    switch (f->code) {
    case SCHEMA_MEMORY:
        return err_from_fault(e, fault_memory());
    case SCHEMA_UNSUPPORTED:
        return err_set(e, STATUS_USAGE, "%s: '%s' is not supported", path, f->word);
    case SCHEMA_BAD_VALUE:
        return err_set(e, STATUS_USAGE, "%s is not %s", path, f->word);
    case SCHEMA_NOT_SCHEMA:
        return err_set(e, STATUS_USAGE, "%s is neither an object nor a boolean", path);
    case SCHEMA_TWICE:
        return err_set(e, STATUS_USAGE, "%s has '%s' twice", path, f->word);
    case SCHEMA_TYPE:
        return err_set(e, STATUS_USAGE, "%s: unknown type '%s'", path, f->word);
    case SCHEMA_FORMAT:
        return err_set(e, STATUS_USAGE, "%s: format '%s' is not supported", path, f->word);
    case SCHEMA_PATTERN:
        return err_set(e, STATUS_USAGE, "%s: not supported in a pattern: '%s'", path, f->word);
    case SCHEMA_UNANCHORED:
        return err_set(e, STATUS_USAGE, "%s: a pattern is supported only from ^ to $", path);
    case SCHEMA_BAD_PATTERN:
        return err_set(e, STATUS_USAGE, "%s: not a pattern at '%s'", path, f->word);
    case SCHEMA_REF_REMOTE:
        return err_set(e, STATUS_USAGE, "%s: '%s' is not within the schema", path, f->word);
    case SCHEMA_REF_MISSING:
        return err_set(e, STATUS_USAGE, "%s: there is nothing at '%s'", path, f->word);
    case SCHEMA_CYCLE:
        return err_set(e, STATUS_USAGE, "%s comes back to itself without a value in between", path);
    case SCHEMA_TOGETHER:
        return err_set(e, STATUS_USAGE, "%s is not supported together with '%s'", path, f->word);
    case SCHEMA_NOTHING:
        return err_set(e, STATUS_USAGE, "%s: no value satisfies it", path);
    case SCHEMA_RANGE:
        return err_set(e, STATUS_USAGE, "%s: '%s' is out of range", path, f->word);
    case SCHEMA_TOO_BIG:
        return err_set(e, STATUS_USAGE, "%s: the grammar grows too large", path);
    case SCHEMA_TOO_DEEP:
        return err_set(e, STATUS_USAGE, "%s: too deep", path);
    case SCHEMA_OK:
        break;
    }
    return true;
}

char *schema_grammar(const char *json, size_t len, const char *where, struct err *e)
{
    struct text out = {0};
    struct schema_fault fault;
    struct json_fault wrong;
    cJSON *const schema = json_parse(json, len, JSON_EXACT, &wrong);
    if (!schema) {
        json_explain(&wrong, e);
        if (e->status == STATUS_USAGE)
            err_prefix(e, "--%s", where);
        return NULL;
    }
    const bool ok = schema_to_gbnf(schema, &out, &fault);
    cJSON_Delete(schema);
    if (ok)
        return out.p;
    text_free(&out);
    explain(&fault, e);
    if (fault.code != SCHEMA_MEMORY)
        err_prefix(e, "--%s", where);
    return NULL;
}

// The grammar that a source stands for, which the caller frees.
static char *read_grammar(enum grammar_source source, const char *given, const char *option, size_t *len, struct err *e)
{
    char *text = NULL;
    if (source == GRAMMAR_FILE || source == GRAMMAR_SCHEMA_FILE) {
        if (!file_slurp(given, &text, len, e)) {
            err_prefix(e, "--%s", option);
            return NULL;
        }
    } else {
        text = strdup(given);
        *len = strlen(given);
        if (!text)
            err_from_fault(e, fault_memory());
    }
    if (!text || source == GRAMMAR_TEXT || source == GRAMMAR_FILE)
        return text;
    char *const grammar = schema_grammar(text, *len, option, e);
    free(text);
    *len = grammar ? strlen(grammar) : 0;
    return grammar;
}

bool draft_grammar_given(struct draft *d, enum grammar_source source, const char *given, struct err *e)
{
    static const char *const options[] = {
        [GRAMMAR_TEXT] = "grammar",
        [GRAMMAR_FILE] = "grammar-file",
        [GRAMMAR_SCHEMA] = "json-schema",
        [GRAMMAR_SCHEMA_FILE] = "json-schema-file",
    };
    char where[300]; // the beginning of what is said of it
    size_t len;
    if (source == GRAMMAR_NONE)
        return draft_grammar(d, NULL, 0, NULL, e);
    char *const text = read_grammar(source, given, options[source], &len, e);
    if (source == GRAMMAR_FILE)
        snprintf(where, sizeof where, "--grammar-file: '%s'", given);
    else
        snprintf(where, sizeof where, "--%s", options[source]);
    const bool ok = text && draft_grammar(d, text, len, where, e);
    free(text);
    return ok;
}
