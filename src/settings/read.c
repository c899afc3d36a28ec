// SPDX-License-Identifier: MIT
#include "settings/read.h"

#include <stdlib.h>
#include <string.h>

// ---- the order of the samplers

// Reads an array of names or a string of letters as llama-server does: names and letters that it does not know are left
// out, and other values are ignored.
static bool read_request_order(struct settings_reader *r, const cJSON *item)
{
    const char *const known = r->view.program->names;
    struct builder names = {0};
    const cJSON *const list = cJSON_IsArray(item) ? item : NULL, *name;
    bool ok = true;
    if (!list && !cJSON_IsString(item))
        return true;
    builder_string(&names, "");
    cJSON_ArrayForEach(name, list)
    {
        const char *const text = cJSON_GetStringValue(name);
        const size_t len = text ? strlen(text) : 0;
        const struct sampler *const s =
            text && name_find(known, NAME_ANY_CASE, text, len) >= 0 ? sampler_by_name(text, len) : NULL;
        ok = ok && text;
        if (s)
            builder_format(&names, "%s%s", names.len ? ";" : "", s->name);
        else if (text)
            view_name(&r->view.unknown, text);
    }
    for (const char *letter = cJSON_GetStringValue(item); letter && *letter; letter++) {
        const struct sampler *const s = sampler_by_letter(*letter);
        const bool is = s && name_find(known, NAME_EXACT, s->name, strlen(s->name)) >= 0;
        if (is)
            builder_format(&names, "%s%s", names.len ? ";" : "", s->name);
    }
    if (!ok)
        read_wrong(r, item, "an array of names or a string of letters");
    else if (names.failed)
        ok = err_from_fault(r->view.e, fault_memory());
    ok = ok && read_option(r, "samplers", names.text);
    builder_free(&names);
    return ok;
}

// Reads an array of names, or a string of letters.
static bool read_samplers(struct settings_reader *r, const cJSON *item)
{
    struct builder names = {0};
    const cJSON *name;
    bool ok = cJSON_IsArray(item);
    if (reads_as_request(r))
        return read_request_order(r, item);
    if (cJSON_IsString(item))
        return read_option(r, "sampler-seq", item->valuestring);
    builder_string(&names, "");
    cJSON_ArrayForEach(name, item)
    {
        ok = ok && cJSON_IsString(name) && !strchr(name->valuestring, ';');
        builder_format(&names, "%s%s", names.len ? ";" : "", ok ? name->valuestring : "");
    }
    if (!ok)
        read_wrong(r, item, "an array of names or a string of letters");
    else if (names.failed)
        ok = err_from_fault(r->view.e, fault_memory());
    ok = ok && read_option(r, "samplers", names.text);
    builder_free(&names);
    return ok;
}

// ---- grammars

// Makes numbers print as they were spelt (json_keep_spelling), since a grammar depends on the spelling.
static void print_spelling(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsNumber(item) && item->valuestring)
            item->type = cJSON_Raw | (item->type & ~0xff);
        print_spelling(item->child);
    }
}

// Reads a schema. As in llama-server, an empty schema means any object.
static bool read_server_schema(const struct settings_reader *r, const cJSON *item)
{
    const bool empty = cJSON_IsObject(item) && !item->child;
    cJSON *const schema = empty ? cJSON_CreateRaw("{\"type\":\"object\"}") : cJSON_Duplicate(item, true);
    print_spelling(schema);
    char *const text = schema ? cJSON_PrintUnformatted(schema) : NULL;
    cJSON_Delete(schema);
    const bool ok = text ? read_option(r, "json-schema", text) : err_from_fault(r->view.e, fault_memory());
    free(text);
    return ok;
}

static bool read_schema(const struct settings_reader *r, const cJSON *item)
{
    if (reads_as_server(r))
        return read_server_schema(r, item);
    if (!view_is_on(item))
        return true;
    return cJSON_IsString(item) ? read_option(r, "json-schema", item->valuestring) : read_json(r, "json-schema", item);
}

// Reads a grammar. An empty text removes the grammar of a row.
static bool read_grammar(struct settings_reader *r, const cJSON *item)
{
    if (cJSON_IsString(item) && (*item->valuestring || reads_as_server(r)))
        return read_option(r, "grammar", item->valuestring);
    if (reads_as_server(r))
        return read_wrong(r, item, "a string");
    if (view_is_on(item))
        view_unsupported(&r->view, item);
    return true;
}

// ---- an object

// Reads a key by its row. number: of the parameter that it sets.
static bool read_field(struct settings_reader *r, const struct field_row *f, size_t number, const cJSON *item)
{
    switch (f->form) {
    case FIELD_NUMBER:
    case FIELD_SAMPLER:
        return read_field_number(r, f, number, item);
    case FIELD_SEED:
        return read_seed(r, item);
    case FIELD_ORDER:
        return read_samplers(r, item);
    case FIELD_BIASES:
        return read_biases(r, item);
    case FIELD_EOS:
        if (reads_as_server(r) && !cJSON_IsBool(item))
            return read_wrong(r, item, "true or false");
        return reads_as_server(r) ? read_option(r, "ignore-eos", cJSON_IsTrue(item) ? "true" : "false")
                                  : !view_is_on(item) || read_option(r, "ignore-eos", NULL);
    case FIELD_BREAKERS:
        return read_breakers(r, item);
    case FIELD_SEQUENCES:
        return read_sequences(r, f, item);
    case FIELD_BANS:
        return read_bans(r, f, item);
    case FIELD_GRAMMAR:
        return read_grammar(r, item);
    case FIELD_SCHEMA:
        return read_schema(r, item);
    case FIELD_TEXT:
    case FIELD_PROMPT:
        return read_one_text(r, f, item);
    case FIELD_TAGS:
        return read_tags(r, item);
    case FIELD_FALSE:
        return cJSON_IsFalse(item) || read_wrong(r, item, "false; no other is supported");
    case FIELD_EMPTY:
        return (cJSON_IsArray(item) && !item->child) || read_wrong(r, item, "an empty list; no other is supported");
    case FIELD_OTHER_FLAG:
        return cJSON_IsBool(item) || read_wrong(r, item, "true or false");
    case FIELD_OTHER_NUMBER:
        return read_other_number(r, f, item);
    case FIELD_OTHER:
    case FIELD_IGNORED:
        break;
    }
    return true;
}

// Reads a key.
static bool read_one_key(struct settings_reader *r, const cJSON *item)
{
    struct file_view *const v = &r->view;
    const struct program *const p = v->program;
    size_t number;
    const struct field_row *const f = program_field(p, v->catalog, item->string, &number);
    if (cJSON_IsNull(item) || (f && f->form == FIELD_OTHER))
        return true;
    if (p->key && p->key(v, item))
        return true;
    if (!f && p->refuses)
        return err_set(v->e, STATUS_USAGE, "unknown parameter '%.60s'", item->string);
    if (!f || f->form == FIELD_IGNORED) {
        double x;
        const bool off = f && (view_is_number(item, &x) ? x == f->off_value : !view_is_on(item));
        if (!off)
            view_name(f ? &v->ignored : &v->unknown, item->string);
        return true;
    }
    const char *const option = number < v->catalog->n ? v->catalog->param[number]->flag : f->option;
    if (option && f->form != FIELD_SEED && r->target->takes && !r->target->takes(r->to, option, item->string, v->e))
        return false;
    return read_field(r, f, number, item);
}

// Does what the hooks said. False with *e.
static bool take_said(struct settings_reader *r)
{
    struct file_view *const v = &r->view;
    bool ok = !v->failed;
    for (size_t i = 0; i < v->n_said; i++) {
        const struct said *const said = &v->said[i];
        if (ok && said->option) {
            ok = read_option(r, said->option, said->text);
        } else if (ok) {
            cJSON item = *said->item;
            char key[40] = "";
            memcpy(key, said->key, strnlen(said->key, sizeof key - 1));
            item.string = key;
            size_t number;
            const struct field_row *const f = program_field(v->program, v->catalog, said->key, &number);
            ok = read_field(r, f, number, &item);
        }
        free(said->text);
    }
    v->n_said = 0;
    return ok;
}

bool read_settings(struct settings_reader *r)
{
    struct file_view *const v = &r->view;
    const struct program *const p = v->program;
    bool ok = take_said(r);
    for (const cJSON *item = v->settings ? v->settings->child : NULL; item && ok; item = item->next)
        ok = read_one_key(r, item) && take_said(r);
    if (ok && p->absent)
        view_absent(v, p->absent);
    if (ok && p->order)
        view_chain(v, p->order);
    ok = ok && take_said(r);
    if (ok && p->finish)
        p->finish(v);
    ok = ok && take_said(r);
    if (ok && v->chain.text && !v->engine->options)
        ok = read_option(r, "samplers", v->chain.text);
    if (ok && (v->chain.failed || v->unsupported.failed || v->note.failed))
        return err_from_fault(v->e, fault_memory());
    return ok && !v->failed;
}
