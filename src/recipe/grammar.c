// SPDX-License-Identifier: MIT
#include "recipe/grammar.h"

#include "in/source.h"
#include "schema/schema.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

// What is wrong, without the place.
static void describe(const struct grammar_fault *f, int len, struct err *e)
{
    switch (f->code) {
    case GRAMMAR_NUL:
        err_set(e, STATUS_USAGE, "a NUL byte");
        break;
    case GRAMMAR_UTF8:
        err_set(e, STATUS_USAGE, "not UTF-8");
        break;
    case GRAMMAR_NAME:
        err_set(e, STATUS_USAGE, "a rule's name should stand here");
        break;
    case GRAMMAR_DEFINES:
        err_set(e, STATUS_USAGE, "'::=' should stand here");
        break;
    case GRAMMAR_UNEXPECTED:
        err_set(e, STATUS_USAGE, "'%.*s' cannot stand here", len, f->name);
        break;
    case GRAMMAR_LITERAL:
        err_set(e, STATUS_USAGE, "this literal has no closing '\"'");
        break;
    case GRAMMAR_CLASS:
        err_set(e, STATUS_USAGE, "this character class has no closing ']'");
        break;
    case GRAMMAR_EMPTY_CLASS:
        err_set(e, STATUS_USAGE, "'%.*s' holds no character", len, f->name);
        break;
    case GRAMMAR_RANGE:
        err_set(e, STATUS_USAGE, "the range '%.*s' ends before it begins", len, f->name);
        break;
    case GRAMMAR_GROUP:
        err_set(e, STATUS_USAGE, "this group has no closing ')'");
        break;
    case GRAMMAR_ESCAPE:
        err_set(e, STATUS_USAGE, "'%.*s' is none of \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH \\UHHHHHHHH", len, f->name);
        break;
    case GRAMMAR_NOTHING:
        err_set(e, STATUS_USAGE, "nothing stands before '%.*s' to be repeated", len, f->name);
        break;
    case GRAMMAR_REPEAT:
        err_set(e, STATUS_USAGE, "a repetition is {m}, {m,} or {m,n}");
        break;
    case GRAMMAR_REPEAT_ORDER:
        err_set(e, STATUS_USAGE, "the repetition '%.*s' has its bounds in the wrong order", len, f->name);
        break;
    case GRAMMAR_REPEAT_LARGE:
        err_set(e, STATUS_USAGE, "'%.*s' repetitions are too many, the most is %d", len, f->name, GRAMMAR_MOST_REPEATS);
        break;
    case GRAMMAR_TOKEN:
        err_set(e, STATUS_USAGE, "a token is <[id]> or <text>");
        break;
    case GRAMMAR_TOKEN_UNKNOWN:
        err_set(e, STATUS_USAGE, "no token of the vocabulary says '%.*s'", len, f->name);
        break;
    case GRAMMAR_TOKEN_ID:
        err_set(e, STATUS_USAGE, "the vocabulary has no token '%.*s'", len, f->name);
        break;
    case GRAMMAR_TWICE:
        err_set(e, STATUS_USAGE, "the rule '%.*s' is defined twice", len, f->name);
        break;
    case GRAMMAR_UNDEFINED:
        err_set(e, STATUS_USAGE, "the rule '%.*s' is not defined", len, f->name);
        break;
    case GRAMMAR_NO_ROOT:
        err_set(e, STATUS_USAGE, "no rule is named root");
        break;
    case GRAMMAR_LEFT_RECURSION:
        err_set(e, STATUS_USAGE, "the rule '%.*s' is left-recursive: it can begin with itself", len, f->name);
        break;
    case GRAMMAR_EMPTY_LOOP:
        err_set(e, STATUS_USAGE, "the rule '%.*s' repeats without end what can be empty, a left recursion", len, f->name);
        break;
    case GRAMMAR_DEEP:
        err_set(e, STATUS_USAGE, "groups are nested more than %d deep", GRAMMAR_MOST_DEPTH);
        break;
    case GRAMMAR_LARGE:
        err_set(e, STATUS_USAGE, "the grammar is too large once its repetitions are written out");
        break;
    case GRAMMAR_OK:
    case GRAMMAR_MEMORY:
        err_from_fault(e, fault_memory());
        break;
    }
}

bool grammar_error(const struct grammar_fault *f, struct err *e)
{
    describe(f, f->len < 60 ? (int)f->len : 60, e);
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
    size_t len;
    if (source == GRAMMAR_NONE)
        return draft_grammar(d, NULL, 0, e);
    char *const text = read_grammar(source, given, options[source], &len, e);
    const bool ok = text && draft_grammar(d, text, len, e);
    if (text && !ok && e->status == STATUS_USAGE) {
        if (source == GRAMMAR_FILE)
            err_prefix(e, "--grammar-file: '%s'", given);
        else
            err_prefix(e, "--%s", options[source]);
    }
    free(text);
    return ok;
}
