// SPDX-License-Identifier: MIT
// Lookups in the schema's document: members by name, references, and the path of an item. Functions recurse as deep
// as the document is nested; cJSON limits that to CJSON_NESTING_LIMIT.
#include "base/mem.h"
#include "schema/convert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct schema_member {
    const cJSON *object;
    cJSON *item;
};

static uint32_t member_hash(const cJSON *object, const char *name, size_t len)
{
    return hash_bytes(&object, sizeof object) ^ hash_bytes(name, len);
}

static struct schema_member *find_document_member(const struct convert *c, const cJSON *object, const char *name,
                                                  size_t len)
{
    const uint32_t hash = member_hash(object, name, len);
    size_t at = hash, i;
    while ((i = hash_next(&c->by_member, hash, &at)) != HASH_NONE)
        if (c->member[i].object == object && !strncmp(c->member[i].item->string, name, len) &&
            !c->member[i].item->string[len])
            return &c->member[i];
    return NULL;
}

static bool add_document_member(struct convert *c, const cJSON *object, cJSON *item)
{
    const struct schema_member member = {object, item};
    return mem_push(&c->member, &c->n_members, &c->members_cap, &member, sizeof member) &&
           hash_add(&c->by_member, member_hash(object, item->string, strlen(item->string)), (uint32_t)c->n_members - 1);
}

// Merges members with the same name before their values are read, because only the last one counts.
static bool merge_and_read(struct convert *c, cJSON *parent)
{
    cJSON *next;
    for (cJSON *item = parent->child; item && cJSON_IsObject(parent); item = next) {
        struct schema_member *const twin = find_document_member(c, parent, item->string, strlen(item->string));
        next = item->next;
        if (!twin) {
            if (!add_document_member(c, parent, item))
                return false;
        } else {
            cJSON_DetachItemViaPointer(parent, item);
            cJSON_ReplaceItemViaPointer(parent, twin->item, item);
            twin->item = item;
        }
    }
    for (cJSON *item = parent->child; item; item = item->next)
        if (!merge_and_read(c, item))
            return false;
    return true;
}

bool document_read(struct convert *c) { return merge_and_read(c, c->document); }

const cJSON *schema_member(const struct convert *c, const cJSON *object, const char *name)
{
    const struct schema_member *const m = find_document_member(c, object, name, strlen(name));
    return m ? m->item : NULL;
}

// llama.cpp reads array indices with strtoull, so "00" and "+0x" mean 0, too.
static const cJSON *element(const cJSON *array, const char *part)
{
    char *end;
    const unsigned long long index = strtoull(part, &end, 10);
    const cJSON *item = end == part ? NULL : array->child;
    for (unsigned long long i = 0; item && i < index; i++)
        item = item->next;
    return item;
}

const cJSON *document_find(const struct convert *c, const char *reference)
{
    const cJSON *item = c->document;
    assert(reference[0] == '#');
    for (const char *part = reference + 1; item && *part == '/';) {
        const size_t len = strcspn(++part, "/");
        const struct schema_member *const m = find_document_member(c, item, part, len);
        if (cJSON_IsArray(item))
            item = element(item, part);
        else
            item = m ? m->item : NULL;
        part += len;
    }
    return item;
}

// Appends one part of a JSON pointer: the name of a member, or the index of an element.
static void add_step(const cJSON *item, size_t index, struct builder *to)
{
    builder_byte(to, '/');
    if (!item->string)
        builder_format(to, "%zu", index);
    for (const char *s = item->string; s && *s; s++)
        if (*s == '~' || *s == '/')
            builder_string(to, *s == '~' ? "~0" : "~1");
        else
            builder_byte(to, *s);
}

// Appends the path from one item to another. False, and `to` as before, if it does not lead there.
static bool path(const cJSON *from, const cJSON *item, struct builder *to)
{
    size_t index = 0;
    if (from == item)
        return true;
    for (const cJSON *child = from->child; child; child = child->next) {
        const size_t len = to->len;
        add_step(child, index++, to);
        if (path(child, item, to))
            return true;
        if (to->text)
            to->text[to->len = len] = '\0';
    }
    return false;
}

void schema_path(const cJSON *schema, const cJSON *item, struct builder *to) { path(schema, item, to); }

void document_path(const struct convert *c, const cJSON *item, struct builder *to) { path(c->document, item, to); }
