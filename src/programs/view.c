// SPDX-License-Identifier: MIT
#include "programs/program.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void view_free(struct file_view *v)
{
    for (size_t i = 0; i < v->n_said; i++)
        free(v->said[i].text);
    free(v->said);
    cJSON_Delete(v->made);
    builder_free(&v->chain);
    builder_free(&v->unsupported);
    builder_free(&v->note);
    builder_free(&v->ignored.text);
    builder_free(&v->unknown.text);
}

bool view_refuse(struct file_view *v, const char *format, ...)
{
    va_list args;
    if (v->failed)
        return false;
    va_start(args, format);
    v->e->status = STATUS_USAGE;
    err_text(v->e->text, sizeof v->e->text, format, args);
    va_end(args);
    v->failed = true;
    return false;
}

char *view_check_text(struct file_view *v, char *text)
{
    if (!text)
        v->failed = !err_from_fault(v->e, fault_memory());
    return text;
}

// ---- keys

const struct field_row *program_field(const struct program *p, const struct catalog *c, const char *key, size_t *number)
{
    const enum name_match match = p->any_case ? NAME_ANY_CASE : NAME_EXACT;
    const size_t len = strlen(key);
    for (const struct field_row *f = p->fields; f && f->keys; f++) {
        const bool sampler = f->form == FIELD_SAMPLER, all = !strcmp(f->keys, "*");
        if (!all && name_find(f->keys, sampler || !f->option ? NAME_PATTERN : match, key, len) < 0)
            continue;
        *number = sampler ? catalog_find_server(c, key) : f->option ? catalog_find(c, f->option) : c->n;
        if (!sampler || *number < c->n)
            return f;
    }
    *number = c->n;
    return NULL;
}

bool view_knows(const struct file_view *v, const char *key)
{
    size_t number;
    return program_field(v->program, v->catalog, key, &number);
}

// ---- values of the file

bool view_is_number(const cJSON *item, double *x)
{
    char *end;
    if (!item || (!cJSON_IsRaw(item) && !cJSON_IsString(item)) || !*item->valuestring)
        return false;
    *x = strtod(item->valuestring, &end);
    return !*end && !isnan(*x);
}

double view_number(const struct file_view *v, const char *key, double absent)
{
    double x;
    return view_is_number(json_member(v->settings, key), &x) ? x : absent;
}

bool view_is_on(const cJSON *item)
{
    double x;
    if (!item || cJSON_IsNull(item) || cJSON_IsFalse(item))
        return false;
    if (cJSON_IsArray(item) || cJSON_IsObject(item))
        return item->child;
    if (view_is_number(item, &x))
        return x != 0.0;
    return !cJSON_IsString(item) || *item->valuestring;
}

bool view_is_true(const struct file_view *v, const char *key) { return cJSON_IsTrue(json_member(v->settings, key)); }

bool view_active(const struct file_view *v, const char *option)
{
    return name_set_has(&v->active, catalog_find(v->catalog, option));
}

// ---- what hooks say

// Keeps an entry. text is malloc'ed, and owned from here on.
static void add_said(struct file_view *v, struct said said)
{
    if (!mem_push(&v->said, &v->n_said, &v->said_cap, &said, sizeof said)) {
        free(said.text);
        v->failed = !err_from_fault(v->e, fault_memory());
    }
}

void view_set(struct file_view *v, const char *option, const char *text)
{
    const size_t number = catalog_find(v->catalog, option);
    char *const own = text ? view_check_text(v, strdup(text)) : NULL;
    if (number < v->catalog->n)
        name_set_add(&v->given, number);
    if (own || !text)
        add_said(v, (struct said){.option = option, .text = own});
}

void view_set_number(struct file_view *v, const char *option, double x)
{
    char text[NUMBER_TEXT];
    view_set(v, option, number_text((float)x, text));
}

void view_set_json(struct file_view *v, const char *option, const cJSON *item)
{
    char *const text = view_check_text(v, cJSON_PrintUnformatted(item));
    const int bracket = text && cJSON_IsArray(item);
    if (bracket)
        text[strlen(text) - 1] = '\0';
    view_set(v, option, text ? text + bracket : "");
    cJSON_free(text);
}

void view_read(struct file_view *v, const char *key, const cJSON *item)
{
    add_said(v, (struct said){.key = key, .item = item});
}

void view_absent(struct file_view *v, const char *options)
{
    const char *option;
    size_t len;
    while (!v->engine->options && name_next(&options, &option, &len)) {
        const size_t name = strcspn(option, "=");
        for (size_t i = 0; i < v->catalog->n; i++) {
            const char *const flag = v->catalog->param[i]->flag;
            if (strlen(flag) != name || strncmp(flag, option, name) != 0 || name_set_has(&v->given, i))
                continue;
            char *const value = view_check_text(v, strndup(option + name + 1, len - name - 1));
            view_set(v, flag, value ? value : "");
            free(value);
        }
    }
}

void view_end_tokens(struct file_view *v, const char *key)
{
    const cJSON *const ids = json_member(v->settings, key);
    if (view_active(v, "min-tokens") && (cJSON_IsRaw(ids) || view_is_on(ids)))
        view_set_json(v, "eog-tokens", ids);
}

void view_dynamic_temp(struct file_view *v, const char *on, const char *low, const char *high)
{
    const double from = view_number(v, low, 1.0), to = view_number(v, high, 1.0);
    if (!view_is_true(v, on))
        return;
    view_set_number(v, "temp", (from + to) / 2.0);
    view_set_number(v, "dynatemp-range", (to - from) / 2.0);
}

void view_unsupported(struct file_view *v, const cJSON *item)
{
    char *const value = view_check_text(v, cJSON_PrintUnformatted(item));
    builder_format(&v->unsupported, "%s%s", v->unsupported.len ? ", " : "", item->string);
    if (value)
        builder_format(&v->unsupported, " (%.*s%s)", err_clip(value, 40), value, strlen(value) > 40 ? "..." : "");
    cJSON_free(value);
}

void view_name(struct key_names *names, const char *key)
{
    if (names->n++ < KEYS_NAMED)
        builder_format(&names->text, "%s%.*s", names->text.len ? ", " : "", err_clip(key, 60), key);
}

void view_note(struct file_view *v, const char *text)
{
    builder_format(&v->note, "%s%s", v->note.len ? "; " : "", text);
}

// ---- the chain

// Returns sampl's name of a sampler that other programs call `name`.
static const char *sampler_name(const struct file_view *v, const char *name)
{
    static const char *const names[][2] = {{"repetition_penalty", "penalties"},
                                           {"rep_pen", "penalties"},
                                           {"quadratic_sampling", "smoothing"},
                                           {"smooth_sampling", "smoothing"},
                                           {"encoder_repetition_penalty", "encoder_penalty"},
                                           {"tfs_z", "tfs"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], name))
            name = names[i][1];
    return v->program->tfs && !strcmp(name, "tfs") ? v->program->tfs : name;
}

// Names in other programs' orders that are no samplers of a chain here: parameters of a sampler, and mirostat, which
// runs in place of the chain.
static const char no_samplers[] = "presence_penalty frequency_penalty dynamic_temperature mirostat";

static void add_chain_name(struct file_view *v, const char *given_name)
{
    const char *const name = sampler_name(v, given_name);
    const struct sampler *const s = sampler_by_name(name, strcspn(name, "="));
    const bool when_active =
        s && s->params && (s->in_llama == LLAMA_LACKS || (s->selector && v->program->unset == UNSET_OFF));
    if (when_active && (!view_active(v, s->params->flag) || name_set_has(&v->chained, sampler_place(s))))
        return;
    if (s) {
        builder_format(&v->chain, "%s%s", v->chain.len ? ";" : "", name);
        name_set_add(&v->chained, sampler_place(s));
    } else if (!view_knows(v, given_name) && name_find(no_samplers, NAME_ANY_CASE, name, strlen(name)) < 0) {
        builder_format(&v->unsupported, "%ssampler %.*s", v->unsupported.len ? ", " : "", err_clip(name, 40), name);
    }
}

void view_chain(struct file_view *v, const char *names)
{
    static const char between[] = " \t\r\n,;[]\"'";
    if (v->engine->options)
        return;
    char *const copy = view_check_text(v, strdup(names)), *rest = NULL;
    builder_string(&v->chain, "");
    for (char *name = copy ? strtok_r(copy, between, &rest) : NULL; name; name = strtok_r(NULL, between, &rest))
        add_chain_name(v, name);
    free(copy);
}

void view_order(struct file_view *v, const char *key, const char *usual)
{
    const cJSON *const item = json_member(v->settings, key);
    const char *const text = cJSON_GetStringValue(item);
    char *const list = cJSON_IsArray(item) ? view_check_text(v, cJSON_PrintUnformatted(item)) : NULL;
    view_chain(v, list ? list : text && *text ? text : usual);
    cJSON_free(list);
}

// Returns true if a sampler of the chain reads the option. --min-keep belongs to whichever samplers there are.
static bool is_read(const struct file_view *v, const char *flag)
{
    for (size_t i = 0; samplers[i]; i++)
        if (name_set_has(&v->chained, i) && sampler_param(samplers[i], flag))
            return true;
    return !strcmp(flag, "min-keep");
}

void view_note_idle(struct file_view *v)
{
    struct builder idle = {0};
    for (size_t i = 0; samplers[i]; i++) {
        const bool any = samplers[i]->any_enables;
        bool active = false;
        for (const struct param *p = samplers[i]->params; p && p->flag && !sampler_internal(i) && !active;
             p = any ? p + 1 : NULL)
            active = view_active(v, p->flag) && !is_read(v, p->flag);
        if (active && !name_set_has(&v->chained, i))
            builder_format(&idle, "%s%s", idle.len ? ", " : "", samplers[i]->name);
    }
    if (idle.len && !v->engine->options) {
        builder_format(&idle, ": set, but not in %s's order, and so without effect", v->program->name);
        view_note(v, idle.text);
    }
    v->note.failed = v->note.failed || idle.failed;
    builder_free(&idle);
}
