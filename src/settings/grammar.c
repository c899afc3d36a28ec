// SPDX-License-Identifier: MIT
// The grammar of a draft: GBNF, or a JSON schema that becomes GBNF.
#include "grammar/grammar.h"
#include "schema/schema.h"
#include "settings/draft.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void rules_free(void *thing)
{
    struct rules *const r = thing;
    grammar_free(r->grammar);
    free(r);
}

// Parses the rules. A grammar with a harmless fault adds a warning.
static bool parse_rules(struct rules *r, struct recipes *of, const struct grammar_text *g, struct err *e)
{
    r->grammar = grammar_parse(r->shared.key, r->shared.len, of->vocab, e);
    if (!e->status)
        return true;
    if (e->status == STATUS_USAGE && g->file && !g->schema)
        err_prefix(e, "--%s: '%s'", g->option, g->file);
    else if (e->status == STATUS_USAGE)
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
