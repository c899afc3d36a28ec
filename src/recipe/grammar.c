// SPDX-License-Identifier: MIT
#include "recipe/grammar.h"

#include "grammar/grammar.h"
#include "in/source.h"
#include "out/message.h"
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

static bool grammar_error(const struct grammar_fault *f, struct err *e)
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

static void rules_free(void *thing)
{
    struct rules *const r = thing;
    grammar_free(r->grammar);
    free(r->text);
    free(r);
}

static struct rules *rules_new(struct recipes *of, const char *text, size_t len, const char *where, uint32_t hash, struct err *e)
{
    struct grammar_fault fault;
    struct rules *r = calloc(1, sizeof *r);
    char *const copy = malloc(len + 1);
    if (!r || !copy) {
        free(r);
        free(copy);
        err_from_fault(e, fault_memory());
        return NULL;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    *r = (struct rules){.shared = {.key = copy, .len = len, .free = rules_free}, .text = copy, .len = len};
    r->grammar = grammar_parse(r->text, len, of->vocab, &fault);
    if (fault.code != GRAMMAR_OK) { // an error, or a warning
        grammar_error(&fault, e);
        if (fault.code != GRAMMAR_MEMORY)
            err_prefix(e, "%s", where);
    }
    if (!r->grammar) {
        rules_free(r);
        return NULL;
    }
    if (fault.code != GRAMMAR_OK)
        message_warn("%s", e->text);
    r = shared_add(&of->rules, &r->shared, hash);
    if (!r)
        err_from_fault(e, fault_memory());
    return r;
}

// The grammar in GBNF; NULL: none. What is said of it, an error of status STATUS_USAGE or a warning, begins with where.
static bool draft_grammar(struct draft *d, const char *text, size_t len, const char *where, struct err *e)
{
    struct rules *rules = NULL;
    uint32_t hash;
    if (text) {
        rules = shared_find(&d->of->rules, text, len, &hash);
        rules = rules ? rules : rules_new(d->of, text, len, where, hash, e);
    }
    if (text && !rules)
        return false;
    shared_drop(d->parts.rules);
    d->parts.rules = rules;
    return true;
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

// Says what llama.cpp passes over, once: not when the run has the grammar already.
static void say_notes(struct recipes *r, const struct schema_grammar *g)
{
    const struct builder *const ignored = &g->ignored.paths, *const loose = &g->loose.paths;
    uint32_t hash;
    struct rules *const known = shared_find(&r->rules, g->gbnf.text, g->gbnf.len, &hash);
    shared_drop(known);
    if (known)
        return;
    for (const char *p = ignored->text; p && p < ignored->text + ignored->len; p += strlen(p) + 1)
        message_note("%s: llama.cpp ignores this keyword", p);
    if (g->ignored.n > SCHEMA_MOST_NOTES)
        message_note("llama.cpp ignores %zu more keywords of the schema", g->ignored.n - SCHEMA_MOST_NOTES);
    for (const char *p = loose->text; p && p < loose->text + loose->len; p += strlen(p) + 1)
        message_warn("%s: llama.cpp cannot follow this pattern and lets any string through", p);
}

// Converts a schema. Errors have status STATUS_USAGE, but for lack of memory.
static bool convert(const char *json, size_t len, struct schema_grammar *g, struct err *e)
{
    struct schema_fault fault;
    struct json_fault wrong;
    cJSON *const schema = json_parse(json, len, JSON_EXACT, &wrong);
    if (!schema)
        return json_explain(&wrong, e);
    const bool ok = schema_to_gbnf(schema, g, &fault);
    cJSON_Delete(schema);
    return ok || schema_error(&fault, e);
}

// What a source stands for: its text, which the caller frees.
static char *read_source(enum grammar_source source, const char *given, size_t *len, struct err *e)
{
    char *text = NULL;
    if (source == GRAMMAR_FILE || source == GRAMMAR_SCHEMA_FILE)
        return file_slurp(given, &text, len, e) ? text : NULL;
    text = strdup(given);
    *len = strlen(given);
    if (!text)
        err_from_fault(e, fault_memory());
    return text;
}

bool draft_grammar_given(struct draft *d, enum grammar_source source, const char *given, struct err *e)
{
    static const char *const options[] = {
        [GRAMMAR_TEXT] = "grammar",
        [GRAMMAR_FILE] = "grammar-file",
        [GRAMMAR_SCHEMA] = "json-schema",
        [GRAMMAR_SCHEMA_FILE] = "json-schema-file",
    };
    const bool schema = source == GRAMMAR_SCHEMA || source == GRAMMAR_SCHEMA_FILE;
    struct schema_grammar g = {0};
    char where[300]; // the beginning of what is said of it
    size_t len;
    if (source == GRAMMAR_NONE)
        return draft_grammar(d, NULL, 0, NULL, e);
    char *const text = read_source(source, given, &len, e);
    if (!text)
        return err_prefix(e, "--%s", options[source]);
    snprintf(where, sizeof where, source == GRAMMAR_FILE ? "--%s: '%s'" : "--%s", options[source], given);
    bool ok = !schema || convert(text, len, &g, e) || (e->status == STATUS_USAGE && err_prefix(e, "--%s", options[source]));
    if (ok && schema)
        say_notes(d->of, &g);
    ok = ok && draft_grammar(d, schema ? g.gbnf.text : text, schema ? g.gbnf.len : len, where, e);
    schema_grammar_free(&g);
    free(text);
    return ok;
}
