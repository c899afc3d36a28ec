// SPDX-License-Identifier: MIT
// From a schema to the list of those that hold for the same value: $ref and allOf followed.
#include "schema/conv.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 500

// The schemas visited for one value. An open one is still being followed.
struct visit {
    const cJSON *node;
    bool open;
};

struct walk {
    struct conv *c;
    struct members *to;
    struct visit *v; // [n]
    size_t n, cap;
    unsigned depth;
};

void members_free(struct members *m)
{
    free(m->m);
    *m = (struct members){0};
}

bool members_push(struct conv *c, struct members *to, struct member m)
{
    if (!conv_work(c, to->n + 1, m.at))
        return false;
    for (size_t i = 0; i < to->n; i++)
        if (to->m[i].node == m.node && to->m[i].done == m.done)
            return true;
    if (!mem_grow(&to->m, &to->cap, to->n + 1, sizeof *to->m))
        return conv_memory(c);
    to->m[to->n++] = m;
    return true;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

// The next name of a JSON pointer in a URI fragment, decoded into to, which is as long as the reference. *p is at its '/'.
static bool next_token(const char **p, char *to)
{
    const char *s = *p + 1;
    while (*s && *s != '/') {
        char ch = *s++;
        if (ch == '%') {
            if (hex(s[0]) < 0 || hex(s[1]) < 0)
                return false;
            ch = (char)(hex(s[0]) << 4 | hex(s[1]));
            s += 2;
        }
        if (ch == '~') {
            if (*s != '0' && *s != '1')
                return false;
            ch = *s++ == '0' ? '~' : '/';
        }
        *to++ = ch;
    }
    *to = '\0';
    *p = s;
    return true;
}

// The array element that a token names, or NULL.
static const cJSON *element(const cJSON *array, const char *token, size_t *index)
{
    *index = 0;
    if (!*token || (*token == '0' && token[1]) || strlen(token) > 8)
        return NULL;
    for (; *token; token++) {
        if (*token < '0' || *token > '9')
            return NULL;
        *index = *index * 10 + (size_t)(*token - '0');
    }
    const cJSON *item = array->child;
    for (size_t i = 0; item && i < *index; i++)
        item = item->next;
    return item;
}

// Follows a reference with room for its tokens. *node NULL: there is nothing.
static bool follow(struct conv *c, const char *p, char *token, const cJSON **node, const struct place **at)
{
    const struct place *where = NULL;
    const cJSON *found = c->root;
    bool ok = (where = place_name(&c->places, NULL, NULL)) != NULL;
    while (ok && found && *p) {
        size_t index = 0;
        const cJSON *const in = found;
        if (*p != '/' || !next_token(&p, token))
            found = NULL;
        else if (cJSON_IsArray(in))
            found = element(in, token, &index);
        else
            found = cJSON_IsObject(in) ? keyword(in, token) : NULL;
        if (found)
            where = cJSON_IsArray(in) ? place_index(&c->places, where, index) : place_name(&c->places, where, found->string);
        ok = where != NULL && conv_work(c, 1, where);
    }
    *node = found;
    *at = where;
    return ok || conv_memory(c);
}

static bool resolve(struct conv *c, const cJSON *ref, const struct place *at, const cJSON **node, const struct place **where)
{
    if (!cJSON_IsString(ref))
        return conv_fail(c, SCHEMA_BAD_VALUE, at, "$ref", "a string");
    if (*ref->valuestring != '#')
        return conv_fail(c, SCHEMA_REF_REMOTE, at, "$ref", ref->valuestring);
    char *const token = malloc(strlen(ref->valuestring) + 1);
    if (!token)
        return conv_memory(c);
    const bool ok = follow(c, ref->valuestring + 1, token, node, where);
    free(token);
    return ok && (*node || conv_fail(c, SCHEMA_REF_MISSING, at, "$ref", ref->valuestring));
}

static bool walk_node(struct walk *w, const cJSON *node, const struct place *at, const struct place *from, const char *by);

static bool walk_below(struct walk *w, const cJSON *node, const struct place *at)
{
    const cJSON *const ref = keyword(node, "$ref"), *const all = keyword(node, "allOf");
    bool says;
    if (!keywords_check(w->c, node, at, 0, &says))
        return false;
    if (says && !members_push(w->c, w->to, (struct member){node, at, 0}))
        return false;
    if (ref) {
        const cJSON *target = NULL;
        const struct place *where = NULL;
        if (!resolve(w->c, ref, at, &target, &where) || !walk_node(w, target, where, at, "$ref"))
            return false;
    }
    if (all && (!cJSON_IsArray(all) || !all->child))
        return conv_fail(w->c, SCHEMA_BAD_VALUE, at, "allOf", "an array of schemas");
    size_t i = 0;
    for (const cJSON *item = all ? all->child : NULL; item; item = item->next, i++) {
        const struct place *const where = conv_nth(w->c, at, "allOf", i);
        if (!where || !walk_node(w, item, where, at, "allOf"))
            return false;
    }
    return true;
}

static bool walk_node(struct walk *w, const cJSON *node, const struct place *at, const struct place *from, const char *by)
{
    if (cJSON_IsTrue(node))
        return true;
    if (cJSON_IsFalse(node))
        return members_push(w->c, w->to, (struct member){node, at, 0});
    if (!cJSON_IsObject(node))
        return conv_fail(w->c, SCHEMA_NOT_SCHEMA, at, NULL, "");
    if (!conv_work(w->c, w->n + 1, at))
        return false;
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].node == node)
            return !w->v[i].open || conv_fail(w->c, SCHEMA_CYCLE, from, by, "");
    if (w->depth == DEPTH_MOST)
        return conv_fail(w->c, SCHEMA_TOO_DEEP, at, NULL, "");
    if (!mem_grow(&w->v, &w->cap, w->n + 1, sizeof *w->v))
        return conv_memory(w->c);
    const size_t me = w->n++;
    w->v[me] = (struct visit){node, true};
    w->depth++;
    const bool ok = walk_below(w, node, at);
    w->depth--;
    w->v[me].open = false;
    return ok;
}

bool members_add(struct conv *c, struct members *to, const cJSON *node, const struct place *at)
{
    struct walk w = {.c = c, .to = to};
    const bool ok = walk_node(&w, node, at, at, NULL);
    free(w.v);
    return ok;
}
