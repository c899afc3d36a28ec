// SPDX-License-Identifier: MIT
// The grammar of a new recipe: GBNF, or a JSON schema that becomes GBNF.
#include "grammar/grammar.h"
#include "schema/schema.h"
#include "settings/new_recipe.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void rules_free(void *thing)
{
    struct rules *const r = thing;
    grammar_free(r->grammar);
    free(r);
}

// Parses the rules. A grammar with a harmless fault adds a warning. *refusal: whether llama.cpp refuses it.
static bool parse_rules(struct rules *r, struct recipes *of, const struct grammar_text *g,
                        struct grammar_refusal *refusal, struct err *e)
{
    r->grammar = grammar_parse(r->shared.key, r->shared.len, of->vocab, refusal, e);
    if (!e->status)
        return true;
    if (e->status == STATUS_USAGE && g->file && g->kind != GRAMMAR_SCHEMA)
        err_prefix(e, "--%s: '%s'", g->option, g->file);
    else if (e->status == STATUS_USAGE)
        err_prefix(e, "--%s", g->option);
    if (r->grammar && g->kind != GRAMMAR_SCHEMA) // a schema has warnings of its own
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
    for (size_t at = 0; at < g->crossed.paths.len; at += strlen(g->crossed.paths.text + at) + 1)
        note_add(notes, NOTE_WARNING,
                 "%s: the bounds are in the wrong order; llama.cpp lets other numbers through, or none",
                 g->crossed.paths.text[at] ? g->crossed.paths.text + at : "the schema");
    for (size_t at = 0; at < loose->len;) {
        const char *const path = loose->text + at, *const what = path + strlen(path) + 1;
        note_add(notes, NOTE_WARNING, "%s: llama.cpp cannot follow %s and lets any string through", path, what);
        at += strlen(path) + strlen(what) + 2;
    }
}

// What llama.cpp says of a schema.
struct verdict {
    struct builder differences; // of its language (struct schema_release)
    struct builder reason;      // why it refuses the schema; empty: it does not
};

// Finds the cause for which llama.cpp refuses the grammar that it makes of a schema. False with *e: memory was short.
static bool judge_release(cJSON *schema, const struct schema_release *r, struct verdict *v, struct err *e)
{
    struct grammar_refusal refusal;
    struct grammar *const g = grammar_parse(r->gbnf.text, r->gbnf.len, NULL, &refusal, e);
    const bool ok = g || e->status != STATUS_IO;
    grammar_free(g);
    if (!ok || !refusal.err.status)
        return ok;
    const struct schema_part *const part = schema_part_at(r, refusal.at);
    if (part && part->item)
        schema_path(schema, part->item, &v->reason);
    builder_string(&v->reason, v->reason.len ? ": " : "the schema: ");
    builder_string(&v->reason, part && part->reason ? part->reason : refusal.err.text);
    return true;
}

// Finds out what llama.cpp says of a schema that was converted to g. False with *e: memory was short.
static bool judge_schema(cJSON *schema, const struct schema_grammar *g, struct verdict *v, struct err *e)
{
    struct schema_release r = {0};
    bool ok = true;
    if (g->refused) {
        schema_path(schema, g->refused, &v->reason);
        builder_string(&v->reason, ": it reads references that begin with #/ only");
    } else if ((ok = schema_write_release(schema, &r, e)) && r.n) {
        ok = judge_release(schema, &r, v, e);
        builder_bytes(&v->differences, r.differences.text, r.differences.len);
    }
    schema_release_free(&r);
    return ok && (!(v->reason.failed || v->differences.failed) || err_from_fault(e, fault_memory()));
}

// Says that llama.cpp refuses the grammar: a note, or with --strict-grammar an error.
__attribute__((format(printf, 4, 5))) static bool refuse(struct recipes *of, const struct grammar_text *g,
                                                         struct err *e, const char *format, ...)
{
    struct err said = {.status = STATUS_USAGE};
    va_list args;
    va_start(args, format);
    err_text(said.text, sizeof said.text, format, args);
    va_end(args);
    if (of->refused == REFUSED_IS_NOTED) {
        note_once(of, NOTE_PLAIN, "%s", said.text);
        return true;
    }
    *e = said;
    if (g->file)
        return err_prefix(e, "--%s: '%s'", g->option, g->file);
    return err_prefix(e, "--%s", g->option);
}

// Says what llama.cpp says of a schema, or of a grammar.
static bool tell_verdict(struct recipes *of, const struct grammar_text *g, const struct verdict *v,
                         const struct grammar_refusal *refusal, struct err *e)
{
    for (size_t at = 0; at < v->differences.len; at += strlen(v->differences.text + at) + 1)
        note_once(of, NOTE_PLAIN, "%s", v->differences.text + at);
    if (v->reason.len && refusal->err.status)
        return refuse(of, g, e, "llama.cpp refuses this schema: %s", v->reason.text);
    if (v->reason.len)
        return refuse(of, g, e, "llama.cpp refuses this schema: %s; it reads the grammar that --print-grammar prints",
                      v->reason.text);
    if (g->kind != GRAMMAR_SCHEMA && refusal->err.status)
        return refuse(of, g, e, "llama.cpp refuses this grammar: %s: %s", refusal->place, refusal->err.text);
    return true;
}

// Converts a schema to GBNF. Errors in the schema have status STATUS_USAGE.
static bool convert_schema(const struct piece *json, struct schema_grammar *g, struct verdict *v, struct err *e)
{
    cJSON *const schema = json_parse((const char *)json->p, json->len, JSON_EXACT, e);
    if (!schema)
        return false;
    const bool ok =
        json_refuse_nul(schema, STATUS_USAGE, e) && schema_to_gbnf(schema, g, e) && judge_schema(schema, g, v, e);
    cJSON_Delete(schema);
    return ok;
}

bool recipe_set_grammar(struct new_recipe *d, const struct grammar_text *g, struct err *e)
{
    struct schema_grammar made = {0};
    struct verdict verdict = {0};
    struct grammar_refusal refusal = {0};
    bool ok = true;
    d->key.grammar_prefilled = g->kind != GRAMMAR_GBNF;
    if (g->kind != GRAMMAR_SCHEMA)
        builder_bytes(&made.gbnf, g->text.p, g->text.len);
    else if (!convert_schema(&g->text, &made, &verdict, e))
        ok = e->status == STATUS_USAGE && err_prefix(e, "--%s", g->option);
    struct rules *const r = ok ? recipe_share(d, PART_RULES, &made.gbnf, sizeof *r, rules_free, &ok, e) : NULL;
    if (r) {
        r->option = g->option;
        r->of_row = d->of_row;
        note_schema(&made, &d->of->notes);
        ok = parse_rules(r, d->of, g, &refusal, e);
    }
    ok = ok && tell_verdict(d->of, g, &verdict, &refusal, e);
    builder_free(&verdict.differences);
    builder_free(&verdict.reason);
    schema_grammar_free(&made);
    return ok;
}
