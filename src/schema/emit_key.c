// SPDX-License-Identifier: MIT
// Keys that are none of the declared ones: the declared ones as a tree of characters, and at every step what leads out of it. Within
// the tree a character has one spelling only, so that no escape can spell a declared key another way.
#include "schema/charset.h"
#include "schema/emit.h"

#include <stdlib.h>
#include <string.h>

#define NEST_MOST 12 // brackets within each other before a rule of its own takes over

struct tree {
    struct conv *c;
    const char *name;
    const struct place *at;
    const char **names; // in order
};

static int by_bytes(const void *a, const void *b)
{
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

static bool add_node(struct tree *t, size_t from, size_t to, size_t at, unsigned depth, struct text *out);

// The characters that lead on from names[from..to), and their nodes.
static bool add_children(struct tree *t, size_t from, size_t to, size_t at, unsigned depth, struct text *out,
                         struct charset *others)
{
    for (size_t i = from, next; i < to; i = next) {
        const char *after = t->names[i] + at;
        const uint32_t ch = next_character(&after);
        const size_t len = (size_t)(after - t->names[i]) - at;
        struct text one = {0}, json = {0};
        for (next = i + 1; next < to && !strncmp(t->names[next] + at, t->names[i] + at, len); next++)
            ;
        text_character(&one, ch);
        text_json(&json, one.p ? one.p : "");
        if (json.len >= 2) {
            json.p[json.len - 1] = '\0';
            text_literal(out, json.p + 1);
        }
        text_string(out, " ");
        out->failed = out->failed || one.failed || json.failed;
        text_free(&one);
        text_free(&json);
        if (!charset_add(others, ch, ch))
            return conv_memory(t->c);
        if (!conv_work(t->c, next - i + 1, t->at) || !add_node(t, i, next, at + len, depth + 1, out))
            return false;
        text_string(out, " | ");
    }
    return true;
}

// Any other character that is spelled in one way only, and whatever follows.
static bool add_others(struct tree *t, struct charset *others, struct text *out)
{
    static const struct char_range never[] = {{0, 7}, {0x0b, 0x0b}, {0x0e, 0x1f}, {0x7f, 0x7f}};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof never / sizeof *never; i++)
        ok = charset_add(others, never[i].first, never[i].last);
    charset_tidy(others);
    ok = ok && charset_invert(others) && charset_write(others, out);
    text_string(out, " ");
    rule_primitive(t->c, out, P_CHAR);
    text_string(out, "*");
    return ok || conv_memory(t->c);
}

static bool add_brackets(struct tree *t, size_t from, size_t to, size_t at, unsigned depth, struct text *out)
{
    const bool ends = !t->names[from][at]; // here a declared key ends, so others go on
    struct charset others = {0};
    if (ends && from + 1 == to) {
        rule_primitive(t->c, out, P_CHAR);
        text_string(out, "+");
        return true;
    }
    text_string(out, "(");
    const bool ok = add_children(t, from + ends, to, at, depth, out, &others) && add_others(t, &others, out);
    text_string(out, ends ? ")" : ")?");
    charset_free(&others);
    return ok;
}

// What a key that began like names[from..to), up to byte `at`, may go on with.
static bool add_node(struct tree *t, size_t from, size_t to, size_t at, unsigned depth, struct text *out)
{
    if (depth % NEST_MOST || !depth)
        return depth < 100 * NEST_MOST ? add_brackets(t, from, to, at, depth, out)
                                       : conv_fail(t->c, SCHEMA_TOO_DEEP, t->at, NULL, "");
    struct text body = {0};
    if (!add_brackets(t, from, to, at, depth, &body)) {
        text_free(&body);
        return false;
    }
    return rule_add(t->c, t->name, "other", t->at, &body, out);
}

bool emit_other_key(struct conv *c, const char *name, const struct place *at, const char **names, size_t n, struct text *to)
{
    struct tree t = {c, name, at, names};
    if (!n) {
        rule_primitive(c, to, P_STRING);
        return true;
    }
    struct text body = {0};
    qsort(names, n, sizeof *names, by_bytes);
    text_string(&body, "\"\\\"\" ");
    if (!add_node(&t, 0, n, 0, 0, &body)) {
        text_free(&body);
        return false;
    }
    text_string(&body, " \"\\\"\" ");
    rule_primitive(c, &body, P_SPACE);
    return rule_add(c, name, "other-key", at, &body, to);
}
