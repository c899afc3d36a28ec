// SPDX-License-Identifier: MIT
// The grammar of a draft: GBNF, or a JSON schema that becomes GBNF.
#include "grammar/grammar.h"
#include "schema/schema.h"
#include "settings/draft.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

// The messages: formats of the quoted part of the grammar, if they have %.*s, and of the limit, if they have %d.
static const struct {
    const char *format;
    int limit;
} grammar_messages[] = {
    [GRAMMAR_NUL] = {"a NUL byte"},
    [GRAMMAR_UTF8] = {"not UTF-8"},
    [GRAMMAR_NAME] = {"the name of a rule is expected here"},
    [GRAMMAR_DEFINES] = {"'::=' is expected here"},
    [GRAMMAR_UNEXPECTED] = {"'%.*s' is not expected here"},
    [GRAMMAR_LITERAL] = {"this literal has no closing '\"'"},
    [GRAMMAR_CLASS] = {"this character class has no closing ']'"},
    [GRAMMAR_EMPTY_CLASS] = {"'%.*s' holds no character"},
    [GRAMMAR_RANGE] = {"the range '%.*s' ends before it begins"},
    [GRAMMAR_GROUP] = {"this group has no closing ')'"},
    [GRAMMAR_ESCAPE] = {"'%.*s' is none of \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH"},
    [GRAMMAR_NOTHING] = {"there is nothing to repeat before '%.*s'"},
    [GRAMMAR_REPEAT] = {"a repetition is {m}, {m,} or {m,n}"},
    [GRAMMAR_REPEAT_ORDER] = {"the repetition '%.*s' has its bounds in the wrong order"},
    [GRAMMAR_REPEAT_LARGE] = {"at least '%.*s' repetitions are too many, the most is %d", GRAMMAR_MOST_REPEATS},
    [GRAMMAR_TOKEN] = {"a token is <[id]> or <text>"},
    [GRAMMAR_TOKEN_UNKNOWN] = {"no token of the vocabulary has the text '%.*s'"},
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
    if (f->code == GRAMMAR_MEMORY)
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

// Parses the rules. A grammar with a harmless fault adds a warning.
static bool parse_rules(struct rules *r, struct recipes *of, const struct grammar_text *g, struct err *e)
{
    struct grammar_fault fault;
    r->grammar = grammar_parse(r->shared.key, r->shared.len, of->vocab, &fault);
    if (fault.code == GRAMMAR_OK)
        return true;
    grammar_error(&fault, e);
    if (fault.code != GRAMMAR_MEMORY && g->file && !g->schema)
        err_prefix(e, "--%s: '%s'", g->option, g->file);
    else if (fault.code != GRAMMAR_MEMORY)
        err_prefix(e, "--%s", g->option);
    if (r->grammar)
        note_add(&of->notes, NOTE_WARNING, "%s", e->text);
    return r->grammar;
}

// Adds notes on what llama.cpp's converter ignores or weakens.
static void note_schema(const struct schema_grammar *g, struct builder *notes)
{
    const struct builder *const ignored = &g->ignored.paths, *const loose = &g->loose.paths;
    for (size_t at = 0; at < ignored->len; at += strlen(ignored->text + at) + 1)
        note_add(notes, NOTE_PLAIN, "%s: llama.cpp ignores this keyword", ignored->text + at);
    if (g->ignored.n > SCHEMA_MOST_NOTES)
        note_add(notes, NOTE_PLAIN, "llama.cpp ignores %zu more keywords of the schema",
                 g->ignored.n - SCHEMA_MOST_NOTES);
    for (size_t at = 0; at < loose->len; at += strlen(loose->text + at) + 1)
        note_add(notes, NOTE_WARNING, "%s: llama.cpp cannot follow this pattern and lets any string through",
                 loose->text + at);
}

// Converts a schema to GBNF. Errors in the schema have status STATUS_USAGE.
static bool convert_schema(const struct piece *json, struct schema_grammar *g, struct err *e)
{
    cJSON *const schema = json_parse((const char *)json->p, json->len, JSON_EXACT, e);
    if (!schema)
        return false;
    const bool ok = json_refuse_nul(schema, STATUS_USAGE, e) && schema_to_gbnf(schema, g, e);
    cJSON_Delete(schema);
    return ok;
}

bool draft_grammar(struct draft *d, const struct grammar_text *g, struct err *e)
{
    struct schema_grammar made = {0};
    bool ok = true;
    d->parts.grammar_prefilled = g->schema || g->tool_calls;
    if (!g->schema)
        builder_bytes(&made.gbnf, g->text.p, g->text.len);
    else if (!convert_schema(&g->text, &made, e))
        ok = e->status == STATUS_USAGE && err_prefix(e, "--%s", g->option);
    struct rules *const r = ok ? draft_share(d, PART_RULES, &made.gbnf, sizeof *r, rules_free, &ok, e) : NULL;
    if (r) {
        r->option = g->option;
        r->of_row = d->of_row;
        note_schema(&made, &d->of->notes);
        ok = parse_rules(r, d->of, g, e);
    }
    schema_grammar_free(&made);
    return ok;
}
