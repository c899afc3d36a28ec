// SPDX-License-Identifier: MIT
#include "recipe/schema_option.h"

#include "base/mem.h"
#include "in/file.h"
#include "schema/schema.h"
#include "json/json_tree.h"

#include <stdlib.h>
#include <string.h>

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
    cJSON *const schema = json_tree(json, len, e);
    if (!schema) {
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

static bool take(const struct option_row *row, const char *json, size_t len, struct options *o, struct err *e)
{
    char *const grammar = schema_grammar(json, len, row->name, e);
    if (!grammar)
        return false;
    if (!mem_grow(&o->word, &o->words_cap, o->n_words + 1, sizeof *o->word)) {
        free(grammar);
        return err_from_fault(e, fault_memory());
    }
    o->word[o->n_words++] = grammar;
    o->grammar_given = o->schema_gbnf = grammar;
    o->grammar_is_file = false;
    o->schema_option = row->name;
    return true;
}

bool set_schema(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    return take(row, value, strlen(value), o, e);
}

bool set_schema_file(const struct option_row *row, const char *value, struct options *o, struct err *e)
{
    char *text;
    size_t len;
    if (!*value)
        return err_set(e, STATUS_USAGE, "--%s: '' is no file name", row->name);
    if (!file_slurp(value, &text, &len, e))
        return err_prefix(e, "--%s", row->name);
    const bool ok = take(row, text, len, o, e);
    free(text);
    return ok;
}
