// SPDX-License-Identifier: MIT
// Objects and allOf as llama.cpp's converter writes them.
#include "base/mem.h"
#include "base/utf8.h"
#include "schema/release.h"

#include <stdlib.h>
#include <string.h>

struct field {
    const char *name;
    const cJSON *schema;
    size_t first; // the first property of this name, whose other members count
    bool required;
    uint32_t kv;
};

struct fields {
    struct field *field; // [n]
    size_t n, cap;
    struct hash_table by_name; // the first of each name
};

static void fields_free(struct fields *p)
{
    free(p->field);
    hash_free(&p->by_name);
}

static size_t find_declared(const struct fields *p, const char *name)
{
    const uint32_t hash = hash_bytes(name, strlen(name));
    size_t at = hash, i;
    while ((i = hash_next(&p->by_name, hash, &at)) != HASH_NONE)
        if (p->field && !strcmp(p->field[i].name, name))
            return i;
    return p->n;
}

static void add_declared(struct release *r, struct fields *p, const cJSON *schema, bool required)
{
    struct field made = {.name = schema->string, .schema = schema, .first = find_declared(p, schema->string)};
    const bool first = made.first == p->n;
    r->failed = r->failed || !mem_push(&p->field, &p->n, &p->cap, &made, sizeof made) ||
                (first && !hash_add(&p->by_name, hash_bytes(made.name, strlen(made.name)), (uint32_t)made.first));
    if (!r->failed)
        p->field[made.first].required |= required;
}

static int text_order(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

// Appends the texts that are none of these sorted names, which are equal in their first `at` bytes.
// *misread: a - or ^ of a name is a sign of a class there.
static void forbidden_keys(struct release *r, struct builder *to, const char **name, size_t n, size_t at,
                           unsigned depth, bool *misread)
{
    struct builder known = {0};
    size_t i = 0;
    while (i < n && !name[i][at])
        i++;
    r->full = r->full || depth > RELEASE_DEEPEST;
    for (size_t end; i < n && !release_stopped(r); i = end) {
        const unsigned char *const here = (const unsigned char *)name[i] + at;
        uint32_t c = 0;
        const size_t len = utf8_decode(here, strlen((const char *)here), &c);
        bool longer = false;
        for (end = i; end < n && !strncmp(name[end] + at, (const char *)here, len); end++)
            longer = longer || name[end][at + len];
        builder_string(to, known.len ? " | [" : "[");
        builder_bytes(to, here, len);
        builder_string(to, longer ? "] (" : "] char+");
        if (longer) {
            forbidden_keys(r, to, name + i, end - i, at + len, depth + 1, misread);
            builder_byte(to, ')');
        }
        *misread = *misread || c == '^' || (known.len && known.text[known.len - 1] == '-');
        builder_bytes(&known, here, len);
    }
    if (known.len) {
        builder_string(to, " | [^\"");
        builder_bytes(to, known.text, known.len);
        builder_string(to, "] char*");
    }
    r->failed = r->failed || known.failed;
    builder_free(&known);
}

// Adds the rule of the keys that are none of the names.
static uint32_t key_rule(struct release *r, const struct fields *p, const char *name, const cJSON *item)
{
    struct builder text = {0}, as = {0};
    const char **const sorted = malloc(p->n * sizeof *sorted), *reason = NULL;
    r->failed = r->failed || !sorted;
    release_builtin(r, "char", "char");
    for (size_t i = 0; sorted && i < p->n; i++) {
        sorted[i] = p->field[i].name;
        if (!reason && sorted[i][strcspn(sorted[i], "]\\")])
            reason = "it does not escape ] and \\ of a property's name in a character class";
    }
    builder_string(&text, "[\"] ( ");
    if (sorted) {
        bool misread = false;
        qsort(sorted, p->n, sizeof *sorted, text_order);
        forbidden_keys(r, &text, sorted, p->n, 0, 0, &misread);
        if (misread && !reason)
            release_differs(r, item, "llama.cpp reads - or ^ of a property's name as a sign of a character class");
    }
    builder_string(&text, sorted && !*sorted[0] ? " ) [\"]" : " )? [\"]");
    free(sorted);
    release_part_name(&as, name, "additional-k");
    r->failed = r->failed || as.failed;
    const uint32_t rule = release_add(r, as.failed ? "" : as.text, &text, item, reason);
    builder_free(&as);
    return rule;
}

// Adds the rule of a property with its value.
static uint32_t kv_rule(struct release *r, const char *name, const struct field *p)
{
    struct builder as = {0}, key = {0}, text = {0};
    string_text(p->name, &key);
    builder_bytes(&key, "", 0);
    const char *const value = release_visit_part(r, p->schema, name, p->name);
    if (!key.failed)
        release_literal(&text, key.text);
    builder_format(&text, " space \":\" space %s", value);
    release_part_name(&as, name, p->name);
    builder_string(&as, "-kv");
    r->failed = r->failed || key.failed || as.failed;
    const uint32_t rule = release_add(r, as.failed ? "" : as.text, &text, p->schema, NULL);
    builder_free(&key);
    builder_free(&as);
    return rule;
}

// Adds the rule of a member that is not declared. more: its schema; NULL: any value.
static uint32_t further_rule(struct release *r, const char *name, const struct fields *p, const cJSON *schema,
                             const cJSON *more)
{
    struct builder as = {0}, text = {0};
    const bool any = !more || schema_kind_of(r->c, more, schema_member(r->c, more, "type")) == KIND_ANY;
    const char *const value = any ? release_name(r, release_builtin(r, "value", "value"))
                                  : release_visit_part(r, more, name, "additional-value");
    builder_string(&as, value); // as the names may move
    const uint32_t key = p->n ? key_rule(r, p, name, schema) : release_builtin(r, "string", "string");
    builder_format(&text, "%s \":\" space %s", release_name(r, key), as.failed ? "" : as.text);
    builder_clear(&as);
    release_part_name(&as, name, "additional-kv");
    r->failed = r->failed || as.failed;
    const uint32_t rule = release_add(r, as.failed ? "" : as.text, &text, schema, NULL);
    builder_free(&as);
    return rule;
}

// The optional members in their order: declared ones, and perhaps the rule of all others, called "*".
struct optional {
    const char *name;
    uint32_t kv, rest; // rest: the rule of what may follow
};

// Adds the rules of what may follow each optional member, the last first.
static void rest_rules(struct release *r, struct optional *o, size_t n, const char *name, const cJSON *item)
{
    for (size_t i = n; i-- > 1 && !release_stopped(r);) {
        struct builder as = {0}, text = {0};
        builder_format(&text, "( \",\" space %s )%s", release_name(r, o[i].kv), strcmp(o[i].name, "*") ? "?" : "*");
        if (i + 1 < n)
            builder_format(&text, " %s", release_name(r, o[i].rest));
        release_part_name(&as, name, o[i - 1].name);
        builder_string(&as, "-rest");
        r->failed = r->failed || as.failed;
        o[i - 1].rest = release_add(r, as.failed ? "" : as.text, &text, item, NULL);
        builder_free(&as);
    }
}

static void optional_text(const struct release *r, struct builder *to, const struct optional *o, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *const kv = release_name(r, o[i].kv);
        builder_format(to, "%s%s", i ? " | " : "", kv);
        if (!strcmp(o[i].name, "*"))
            builder_format(to, " ( \",\" space %s )*", kv);
        if (i + 1 < n)
            builder_format(to, " %s", release_name(r, o[i].rest));
    }
}

// Appends the text of an object. further: the rule of other members is wanted; more: their schema, or NULL.
static void object_text(struct release *r, struct builder *to, const char *name, struct fields *p, const cJSON *schema,
                        bool further, const cJSON *more)
{
    size_t n = 0, n_required = 0;
    struct optional *const o = malloc((p->n + 1) * sizeof *o);
    r->failed = r->failed || !o;
    for (size_t i = 0; i < p->n && !release_stopped(r); i++)
        p->field[p->field[i].first].kv = kv_rule(r, name, &p->field[i]);
    const uint32_t star = further && !release_stopped(r) ? further_rule(r, name, p, schema, more) : 0;
    for (size_t i = 0; i < p->n && !release_stopped(r); i++) {
        const struct field *const first = &p->field[p->field[i].first];
        const bool is_star = !strcmp(first->name, "*");
        const uint32_t kv = further && is_star ? star : first->kv;
        if (is_star && (further || !first->required))
            release_differs(r, first->schema, "llama.cpp takes a property * for all others");
        if (first->required && !n_required++)
            builder_format(to, "%s", release_name(r, kv));
        else if (first->required)
            builder_format(to, " \",\" space %s", release_name(r, kv));
        else if (o)
            o[n++] = (struct optional){.name = first->name, .kv = kv};
    }
    if (further && !release_stopped(r))
        o[n++] = (struct optional){.name = "*", .kv = star};
    if (n && !release_stopped(r)) {
        rest_rules(r, o, n, name, schema);
        builder_string(to, n_required ? " ( \",\" space ( " : " (");
        optional_text(r, to, o, n);
        builder_string(to, n_required ? " ) )?" : " )?");
    }
    free(o);
}

// Adds the rule of an object with these properties, and frees them.
static uint32_t object_rule(struct release *r, const char *as, const char *name, struct fields *p, const cJSON *schema,
                            bool further, const cJSON *more)
{
    struct builder text = {0};
    builder_string(&text, "\"{\" space ");
    if (p->n || further) {
        object_text(r, &text, name, p, schema, further, more);
        builder_string(&text, " space ");
    }
    builder_string(&text, "\"}\"");
    fields_free(p);
    return release_add(r, as, &text, schema, NULL);
}

uint32_t release_object(struct release *r, const cJSON *schema, const char *as, const char *name)
{
    const cJSON *const declared = schema_member(r->c, schema, "properties"),
                       *const required = schema_member(r->c, schema, "required"),
                       *const more = schema_member(r->c, schema, "additionalProperties");
    const bool further = more ? !cJSON_IsFalse(more) : !declared;
    struct fields p = {0};
    for (const cJSON *item = declared ? declared->child : NULL; item && !release_stopped(r); item = item->next)
        add_declared(r, &p, item, false);
    for (const cJSON *item = cJSON_IsArray(required) ? required->child : NULL; item; item = item->next) {
        const size_t at = cJSON_IsString(item) ? find_declared(&p, item->valuestring) : p.n;
        if (at < p.n)
            p.field[at].required = true;
    }
    if (further && !p.n &&
        (!cJSON_IsObject(more) || schema_kind_of(r->c, more, schema_member(r->c, more, "type")) == KIND_ANY)) {
        fields_free(&p);
        struct builder text = {0};
        builder_string(&text, release_name(r, release_builtin(r, "object", "object")));
        return release_add(r, as, &text, schema, NULL);
    }
    return object_rule(r, as, name, &p, schema, further, cJSON_IsObject(more) ? more : NULL);
}

// The values that members of allOf list.
struct values {
    struct builder texts; // each with a NUL
    size_t n;
};

static void add_member(struct release *r, struct fields *p, struct values *l, const cJSON *schema, const cJSON *type,
                       bool required)
{
    enum schema_kind kind = schema_kind_of(r->c, schema, type);
    for (size_t links = 0; kind == KIND_REF && !r->full; links++) {
        schema = schema_target(r->c, schema);
        r->full = !schema || links > r->c->n_members;
        kind = r->full ? KIND_BAD : schema_kind_of(r->c, schema, schema_member(r->c, schema, "type"));
    }
    const cJSON *const declared = kind == KIND_OBJECT ? schema_member(r->c, schema, "properties") : NULL;
    for (const cJSON *item = declared ? declared->child : NULL; item && !release_stopped(r); item = item->next)
        add_declared(r, p, item, required);
    if (kind != KIND_ENUM)
        return;
    for (const cJSON *item = schema_member(r->c, schema, "enum")->child; item; item = item->next, l->n++) {
        release_constant(r, &l->texts, item);
        builder_byte(&l->texts, '\0');
    }
}

// Appends the values that are listed as often as allOf has members. Returns how many.
static size_t shared_values(struct release *r, struct builder *to, const struct values *l, size_t members)
{
    size_t n = 0;
    const char **const text = malloc((l->n + 1) * sizeof *text), *next = l->texts.text;
    r->failed = r->failed || !text || l->texts.failed;
    for (size_t i = 0; i < l->n && !r->failed; i++, next += strlen(next) + 1)
        text[i] = next;
    if (!r->failed && l->n)
        qsort(text, l->n, sizeof *text, text_order);
    for (size_t i = 0, end; i < l->n && !r->failed; i = end) {
        for (end = i + 1; end < l->n && !strcmp(text[i], text[end]);)
            end++;
        if (end - i == members)
            builder_format(to, "%s%s", n++ ? " | " : "(", text[i]);
    }
    free(text);
    return n;
}

uint32_t release_all_of(struct release *r, const cJSON *schema, const char *as, const char *name)
{
    struct fields p = {0};
    struct values l = {0};
    struct builder text = {0};
    size_t members = 0;
    for (const cJSON *item = schema_member(r->c, schema, "allOf")->child; item; item = item->next, members++) {
        const cJSON *const type = schema_member(r->c, item, "type");
        const enum schema_kind kind = schema_kind_of(r->c, item, type);
        const cJSON *const list = kind == KIND_ONE_OF   ? schema_member(r->c, item, "oneOf")
                                  : kind == KIND_ANY_OF ? schema_member(r->c, item, "anyOf")
                                  : kind == KIND_TYPES  ? type
                                                        : NULL;
        if (!list)
            add_member(r, &p, &l, item, type, true);
        for (const cJSON *alt = list ? list->child : NULL; alt && !release_stopped(r); alt = alt->next)
            if (kind == KIND_TYPES)
                add_member(r, &p, &l, item, alt, false);
            else
                add_member(r, &p, &l, alt, schema_member(r->c, alt, "type"), false);
    }
    const bool values = shared_values(r, &text, &l, members);
    builder_free(&l.texts);
    if (!values) {
        builder_free(&text);
        return object_rule(r, as, name, &p, schema, false, NULL);
    }
    fields_free(&p);
    builder_byte(&text, ')');
    return release_add(r, as, &text, schema, NULL);
}
