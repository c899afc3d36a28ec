// SPDX-License-Identifier: MIT
#include "grammar/grammar.h"
#include "chain/recipe.h"
#include "in/source.h"
#include "out/message.h"
#include "schema/schema.h"
#include "json/json.h"

#include <assert.h>
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
    [GRAMMAR_LARGE] = {"the grammar has more than %d elements once its repetitions are written out",
                       GRAMMAR_MOST_ELEMENTS},
};

static bool grammar_error(const struct grammar_fault *f, struct err *e)
{
    const int len = err_clip_part(f->name, f->len, 60);
    if (f->code == GRAMMAR_OK || f->code == GRAMMAR_MEMORY)
        return err_from_fault(e, fault_memory());
    const char *const format = grammar_messages[f->code].format;
    if (strstr(format, "%.*s"))
        err_set(e, STATUS_USAGE, format, len, f->name, grammar_messages[f->code].limit);
    else
        err_set(e, STATUS_USAGE, format, grammar_messages[f->code].limit);
    return f->line ? err_prefix(e, "line %zu, column %zu", f->line, f->column) : false;
}

static void rules_free(void *thing)
{
    struct rules *const r = thing;
    grammar_free(r->grammar);
    free(r);
}

// Fills the rules. What is said of the grammar, an error of status STATUS_USAGE or a warning, begins with where.
static bool parse(struct rules *r, const struct vocab *v, const char *where, struct err *e)
{
    struct grammar_fault fault;
    r->grammar = grammar_parse(r->shared.key, r->shared.len, v, &fault);
    if (fault.code == GRAMMAR_OK)
        return true;
    grammar_error(&fault, e);
    if (fault.code != GRAMMAR_MEMORY)
        err_prefix(e, "%s", where);
    if (r->grammar)
        message_warn("%s", e->text);
    return r->grammar;
}

static bool schema_error(const struct schema_fault *f, struct err *e)
{
    static const char *const messages[] = {
        // of the path and the word
        [SCHEMA_NOT_OBJECT] = "%s is not an object",
        [SCHEMA_BAD_VALUE] = "%s is not %s",
        [SCHEMA_TYPE] = "%s: unknown type '%s'",
        [SCHEMA_REF_REMOTE] = "%s: '%s' is not within the schema",
        [SCHEMA_REF_MISSING] = "%s: there is nothing at '%s'",
        [SCHEMA_CYCLE] = "%s comes back to itself without a value in between",
        [SCHEMA_PATTERN] = "%s: not a pattern at '%s'",
        [SCHEMA_COUNT] = "%s asks for too many",
        [SCHEMA_NOTHING] = "%s: no value satisfies it",
        [SCHEMA_TOO_BIG] = "%s: the grammar grows too large",
        [SCHEMA_TOO_DEEP] = "%s: too deep",
    };
    if (f->code == SCHEMA_MEMORY)
        return err_from_fault(e, fault_memory());
    const char *const format = messages[f->code], *const path = *f->path ? f->path : "the schema";
    return err_set(e, STATUS_USAGE, format, path, f->word);
}

// Says what llama.cpp passes over.
static void say_notes(const struct schema_grammar *g)
{
    const struct builder *const ignored = &g->ignored.paths, *const loose = &g->loose.paths;
    for (const char *p = ignored->text; p && p < ignored->text + ignored->len; p += strlen(p) + 1)
        message_note("%s: llama.cpp ignores this keyword", p);
    if (g->ignored.n > SCHEMA_MOST_NOTES)
        message_note("llama.cpp ignores %zu more keywords of the schema", g->ignored.n - SCHEMA_MOST_NOTES);
    for (const char *p = loose->text; p && p < loose->text + loose->len; p += strlen(p) + 1)
        message_warn("%s: llama.cpp cannot follow this pattern and lets any string through", p);
}

// Converts a schema. Errors have status STATUS_USAGE, but for lack of memory.
static bool convert(const struct builder *json, struct schema_grammar *g, struct err *e)
{
    struct schema_fault fault;
    size_t at;
    cJSON *const schema = json_parse(json->text, json->len, JSON_EXACT, &at, e);
    if (!schema)
        return false;
    const bool ok = schema_to_gbnf(schema, g, &fault);
    cJSON_Delete(schema);
    return ok || schema_error(&fault, e);
}

// The text that a source stands for.
static bool read_source(enum grammar_source source, const char *given, struct builder *text, struct err *e)
{
    if (source == GRAMMAR_FILE || source == GRAMMAR_SCHEMA_FILE)
        return file_slurp(given, 0, &text->text, &text->len, e);
    builder_string(text, given);
    return !text->failed || err_from_fault(e, fault_memory());
}

bool draft_grammar(struct draft *d, enum grammar_source source, const char *given, struct err *e)
{
    static const char *const options[] = {
        [GRAMMAR_TEXT] = "grammar",
        [GRAMMAR_FILE] = "grammar-file",
        [GRAMMAR_SCHEMA] = "json-schema",
        [GRAMMAR_SCHEMA_FILE] = "json-schema-file",
    };
    const bool schema = source == GRAMMAR_SCHEMA || source == GRAMMAR_SCHEMA_FILE;
    const char *const option = options[source];
    struct builder json = {0};
    struct schema_grammar g = {0};
    char where[300]; // the beginning of what is said of it
    bool known;
    assert(source != GRAMMAR_NONE);
    snprintf(where, sizeof where, source == GRAMMAR_FILE ? "--%s: '%s'" : "--%s", option, given);
    bool ok = read_source(source, given, schema ? &json : &g.gbnf, e) || err_prefix(e, "--%s", option);
    if (ok && schema)
        ok = convert(&json, &g, e) || (e->status == STATUS_USAGE && err_prefix(e, "--%s", option));
    struct rules *const rules = ok ? draft_share(&d->of->rules, &g.gbnf, sizeof *rules, rules_free, &known, e) : NULL;
    shared_drop(d->parts.rules);
    d->parts.rules = rules;
    if (rules && !known) {
        rules->option = option;
        rules->of_row = d->of_row;
        say_notes(&g);
    }
    ok = rules && (known || parse(rules, d->of->vocab, where, e));
    schema_grammar_free(&g);
    builder_free(&json);
    return ok;
}
