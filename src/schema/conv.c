// SPDX-License-Identifier: MIT
#include "schema/conv.h"

#include "schema/emit.h"

#include <stdlib.h>
#include <string.h>

#define WORK_MOST 100000000u // steps, of a few nanoseconds each; a schema of a thousand properties takes about two million
#define SIZE_MOST TEXT_MOST

bool conv_fail(struct conv *c, enum schema_code code, const struct place *at, const char *word_at, const char *word)
{
    struct schema_fault *const f = c->fault;
    if (f->code != SCHEMA_OK) // the first one is the one to tell
        return false;
    f->code = code;
    place_pointer(at, word_at, f->path, sizeof f->path);
    const size_t len = strlen(word), most = sizeof f->word - 1;
    memcpy(f->word, word, len < most ? len : most);
    f->word[len < most ? len : most] = '\0';
    if (len > most)
        memcpy(f->word + most - 3, "...", 3);
    return false;
}

bool conv_memory(struct conv *c)
{
    return conv_fail(c, SCHEMA_MEMORY, NULL, NULL, "");
}

bool conv_work(struct conv *c, size_t n, const struct place *at)
{
    c->work += n;
    return c->work <= WORK_MOST || conv_fail(c, SCHEMA_TOO_BIG, at, NULL, "");
}

const struct place *conv_below(struct conv *c, const struct place *at, const char *word, const char *name)
{
    const struct place *p = place_name(&c->places, at, word);
    if (p && name)
        p = place_name(&c->places, p, name);
    if (!p)
        conv_memory(c);
    return p;
}

const struct place *conv_nth(struct conv *c, const struct place *at, const char *word, size_t index)
{
    const struct place *p = place_name(&c->places, at, word);
    p = p ? place_index(&c->places, p, index) : NULL;
    if (!p)
        conv_memory(c);
    return p;
}

// A text's failures are the converter's.
static bool text_is_whole(struct conv *c, const struct text *t, const struct place *at)
{
    if (t->failed)
        return conv_memory(c);
    return !t->full || conv_fail(c, SCHEMA_TOO_BIG, at, NULL, "");
}

// Writes the bodies of the rules, which may ask for more of them.
static bool write_bodies(struct conv *c)
{
    for (size_t i = 0; i < c->n_rules; i++) {
        struct text body = {0};
        const bool has_one = c->rule[i].has_body;
        const bool ok = has_one || emit_rule(c, i, &body);
        if (!has_one)
            c->rule[i].body = body;
        c->size += c->rule[i].body.len;
        if (!ok || !text_is_whole(c, &c->rule[i].body, c->rule[i].at))
            return false;
        if (c->size > SIZE_MOST)
            return conv_fail(c, SCHEMA_TOO_BIG, c->rule[i].at, NULL, "");
    }
    return true;
}

// Rules that stand for the same value as others must not come back to themselves. A walk in depth with a path of its own.
static bool check_cycles(struct conv *c)
{
    enum { NEW, OPEN, DONE };
    unsigned char *const state = calloc(c->n_rules + 1, 1);
    size_t *const path = calloc(c->n_rules + 1, sizeof *path), *const turn = calloc(c->n_rules + 1, sizeof *turn);
    bool ok = (state && path && turn) || conv_memory(c);
    for (size_t start = 0; ok && start < c->n_rules; start++) {
        size_t depth = 0;
        if (state[start] != NEW)
            continue;
        path[depth++] = start;
        state[start] = OPEN;
        while (ok && depth) {
            const struct rule *const r = &c->rule[path[depth - 1]];
            if (turn[path[depth - 1]] == r->n_alternatives) {
                state[path[--depth]] = DONE;
                continue;
            }
            const size_t next = r->alternative[turn[path[depth - 1]]++];
            if (state[next] == OPEN)
                ok = conv_fail(c, SCHEMA_CYCLE, r->at, NULL, "");
            else if (state[next] == NEW)
                state[path[depth++] = next] = OPEN;
        }
    }
    free(state);
    free(path);
    free(turn);
    return ok;
}

static bool write_out(struct conv *c, struct text *out)
{
    for (size_t i = 0; i < c->n_rules; i++) {
        text_string(out, c->rule[i].name);
        text_string(out, " ::= ");
        text_string(out, c->rule[i].body.p);
        text_string(out, "\n");
    }
    emit_primitives(c, out);
    return text_is_whole(c, out, NULL);
}

static void conv_free(struct conv *c)
{
    for (size_t i = 0; i < c->n_rules; i++) {
        free(c->rule[i].name);
        free(c->rule[i].alternative);
        text_free(&c->rule[i].body);
        members_free(&c->rule[i].of);
    }
    free(c->rule);
    free(c->by_name);
    free(c->by_members);
    places_free(&c->places);
}

bool schema_to_gbnf(const cJSON *schema, struct text *out, struct schema_fault *fault)
{
    struct conv c = {.root = schema, .fault = fault};
    *fault = (struct schema_fault){0};
    struct members of = {0};
    const struct place *const top = place_name(&c.places, NULL, NULL);
    bool ok = top || conv_memory(&c);
    ok = ok && members_add(&c, &of, schema, top);
    // as llama.cpp: nothing said at the top means any object; what is said elsewhere stands, even if it is `true`
    if (ok && !of.n && cJSON_IsObject(schema) && !keyword(schema, "$ref") && !keyword(schema, "allOf"))
        ok = rule_root_object(&c, top);
    else if (ok)
        ok = rule_root(&c, &of, top);
    members_free(&of);
    ok = ok && write_bodies(&c) && check_cycles(&c) && write_out(&c, out);
    conv_free(&c);
    return ok;
}
