// SPDX-License-Identifier: MIT
#include "in/reply_inside.h"

#include "json/json.h"

#include <ctype.h>
#include <string.h>

struct search {
    const cJSON *root;
    bool (*is_reply)(const void *self, const cJSON *value);
    const void *self;
    struct builder *filter;
};

static bool search(const struct search *s, const cJSON *value);

// Searches a text: JSON, or events with probabilities.
static bool search_text(const struct search *s, const char *text)
{
    const size_t len = s->filter->len;
    struct err ignored;
    text += strspn(text, " \t\r\n");
    if (!strstr(text, "prob") && !strstr(text, "Prob"))
        return false;
    if (!strncmp(text, "data:", 5) || !strncmp(text, "event:", 6))
        return true;
    cJSON *const tree = *text == '{' || *text == '[' ? json_parse(text, strlen(text), JSON_LOOSE, &ignored) : NULL;
    builder_string(s->filter, " | fromjson");
    bool found = tree && cJSON_IsObject(tree) && s->is_reply(s->self, tree);
    if (tree && !found) {
        builder_string(s->filter, cJSON_IsArray(tree) ? " | ." : " | ");
        found = search(s, tree);
    }
    cJSON_Delete(tree);
    if (!found)
        s->filter->len = len;
    return found;
}

// Appends the step to a member. Returns false if its name would need escapes.
static bool add_member(struct builder *filter, const char *name)
{
    bool plain = *name && !isdigit((unsigned char)*name);
    if (strstr(name, JSON_NUL))
        return false;
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\' || *p == '\'' || p - name > 60)
            return false;
        plain = plain && (isalnum((unsigned char)*p) || *p == '_');
    }
    builder_format(filter, plain ? ".%s" : ".\"%s\"", name);
    return true;
}

static bool search(const struct search *s, const cJSON *value)
{
    const size_t len = s->filter->len;
    if (cJSON_IsString(value))
        return search_text(s, value->valuestring);
    if (value != s->root && cJSON_IsObject(value) && s->is_reply(s->self, value))
        return true;
    for (const cJSON *inside = value->child; inside; inside = inside->next) {
        if (cJSON_IsArray(value))
            builder_string(s->filter, len ? "[]" : ".[]");
        else if (!inside->string || !add_member(s->filter, inside->string))
            continue;
        if (search(s, inside))
            return true;
        s->filter->len = len;
    }
    return false;
}

bool reply_find_inside(const cJSON *root, size_t depth, bool (*is_reply)(const void *self, const cJSON *value),
                       const void *self, struct builder *filter)
{
    const struct search s = {root, is_reply, self, filter};
    builder_clear(filter);
    for (size_t i = 0; i < depth; i++)
        builder_string(filter, i ? "[]" : ".[]");
    return search(&s, root);
}
