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
    bool varies; // the filter goes through arrays, whose other elements may be anything
};

static bool search(struct search *s, const cJSON *value);

static bool begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

// Searches a text: JSON, or events with probabilities. jq prints a text as it is, so one that is a reply needs no step.
static bool search_text(struct search *s, const char *text)
{
    const size_t len = s->filter->len;
    struct err ignored;
    text += strspn(text, " \t\r\n");
    if (!strstr(text, "prob") && !strstr(text, "Prob"))
        return false;
    builder_string(s->filter, s->varies ? " | strings | select(test(\"prob\"; \"i\"))" : "");
    if (begins(text, "data:") || begins(text, "event:"))
        return true;
    cJSON *const tree = *text == '{' || *text == '[' ? json_parse(text, strlen(text), JSON_LOOSE, &ignored) : NULL;
    bool found = tree && cJSON_IsObject(tree) && s->is_reply(s->self, tree);
    if (tree && !found) {
        builder_string(s->filter, cJSON_IsArray(tree) ? " | fromjson | ." : " | fromjson | ");
        found = search(s, tree);
    }
    cJSON_Delete(tree);
    if (!found)
        s->filter->len = len;
    return found;
}

// Appends the step to a member. Returns false if its name would need escapes.
static bool add_member(const struct search *s, const char *name)
{
    bool plain = *name && !isdigit((unsigned char)*name);
    if (strstr(name, JSON_NUL))
        return false;
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\' || *p == '\'' || p - name > 60)
            return false;
        plain = plain && (isalnum((unsigned char)*p) || *p == '_');
    }
    builder_format(s->filter, plain ? ".%s" : ".\"%s\"", name);
    builder_string(s->filter, s->varies ? "?" : "");
    return true;
}

static bool search(struct search *s, const cJSON *value)
{
    const size_t len = s->filter->len;
    const bool varies = s->varies;
    if (cJSON_IsString(value))
        return search_text(s, value->valuestring);
    if (value != s->root && cJSON_IsObject(value) && s->is_reply(s->self, value)) {
        builder_string(s->filter, s->varies ? " | objects" : "");
        return true;
    }
    size_t replies = 0; // that are members: of an object with a name for each, all are taken
    for (const cJSON *inside = value->child; cJSON_IsObject(value) && inside; inside = inside->next)
        replies += cJSON_IsObject(inside) && s->is_reply(s->self, inside);
    if (replies > 1) {
        builder_string(s->filter, varies ? " | objects[] | objects" : len ? "[] | objects" : ".[] | objects");
        return true;
    }
    for (const cJSON *inside = value->child; inside; inside = inside->next) {
        if (cJSON_IsArray(value))
            builder_string(s->filter, varies ? " | arrays[]" : len ? "[]" : ".[]");
        else if (!inside->string || !add_member(s, inside->string))
            continue;
        s->varies = varies || cJSON_IsArray(value);
        if (search(s, inside))
            return true;
        s->varies = varies;
        s->filter->len = len;
    }
    return false;
}

bool reply_find_inside(const cJSON *root, size_t depth, bool (*is_reply)(const void *self, const cJSON *value),
                       const void *self, struct builder *filter)
{
    struct search s = {root, is_reply, self, filter, depth > 0};
    builder_clear(filter);
    for (size_t i = 0; i < depth; i++)
        builder_string(filter, i ? "[]" : ".[]");
    return search(&s, root);
}
