// SPDX-License-Identifier: MIT
#include "schema/convert.h"

#include "base/err.h"
#include "base/mem.h"

#include <string.h>

static uint32_t schema_hash(const cJSON *schema) { return hash_bytes(&schema, sizeof schema); }

enum { MOST_PATH = 239, MOST_WORD = 79 }; // bytes of a message's parts

uint32_t schema_fail(struct convert *c, const cJSON *item, const char *format, const char *word)
{
    struct builder path = {0};
    char shown[MOST_PATH + 1] = "the schema", part[MOST_WORD + 1] = "";
    if (c->failed)
        return EXPR_NOTHING;
    c->failed = true;
    document_path(c, item, &path);
    const size_t dots = path.len > MOST_PATH ? 3 : 0;
    const char *from = dots ? path.text + path.len - MOST_PATH + dots : path.text;
    while (dots && (*from & 0xc0) == 0x80) // the rest of a character
        from++;
    if (path.len) {
        memcpy(shown, "...", dots);
        memcpy(shown + dots, from, strlen(from) + 1);
    }
    builder_free(&path);
    if (word)
        memcpy(part, word, (size_t)err_clip(word, MOST_WORD));
    err_set(c->e, STATUS_USAGE, format, shown, part);
    return EXPR_NOTHING;
}

uint32_t schema_fail_late(struct convert *c, const cJSON *item, const char *format, const char *word)
{
    return c->for_faults ? EXPR_NOTHING : schema_fail(c, item, format, word);
}

void schema_note(struct convert *c, const cJSON *item, struct schema_notes *notes)
{
    if (notes->n++ >= SCHEMA_MOST_NOTES)
        return;
    document_path(c, item, &notes->paths);
    builder_byte(&notes->paths, '\0');
    c->x.failed = c->x.failed || notes->paths.failed;
}

const char *rule_name(const struct convert *c, uint32_t rule) { return c->names.text + c->rule[rule].name; }

static bool name_taken(const struct convert *c, const char *name)
{
    const uint32_t hash = hash_bytes(name, strlen(name));
    size_t at = hash, i;
    while ((i = hash_next(&c->by_name, hash, &at)) != HASH_NONE)
        if (!strcmp(rule_name(c, (uint32_t)i), name))
            return true;
    return false;
}

#define LONGEST_NAME 40 // bytes of a name that come from the schema; a parent's name that is longer is left out

// Adds letters, digits and single hyphens for what is neither.
static void add_name(struct builder *to, const char *what)
{
    const size_t start = to->len;
    bool hyphen = false;
    for (; *what && to->len - start < LONGEST_NAME; what++) {
        const bool plain =
            (*what >= 'a' && *what <= 'z') || (*what >= 'A' && *what <= 'Z') || (*what >= '0' && *what <= '9');
        if (plain && hyphen && to->len > start)
            builder_byte(to, '-');
        if (plain)
            builder_byte(to, *what);
        hyphen = !plain;
    }
    if (to->len == start)
        builder_string(to, "rule");
}

uint32_t new_rule(struct convert *c, uint32_t parent, const char *what, const cJSON *schema, uint32_t expr)
{
    struct builder *const names = &c->names;
    const uint32_t rule = (uint32_t)c->n_rules;
    const size_t start = names->len;
    if (parent != RULE_ROOT && strlen(rule_name(c, parent)) <= LONGEST_NAME) {
        char prefix[LONGEST_NAME + 1]; // as the names may move
        memcpy(prefix, rule_name(c, parent), strlen(rule_name(c, parent)) + 1);
        builder_format(names, "%s-", prefix);
    }
    add_name(names, what);
    for (bool first = true; !names->failed && name_taken(c, names->text + start); first = false)
        builder_format(names, "%s%u", first ? "-" : "", (unsigned)rule);
    const uint32_t hash = names->failed ? 0 : hash_bytes(names->text + start, names->len - start);
    builder_byte(names, '\0');
    c->x.full = c->x.full || rule >= EXPR_MOST;
    c->x.failed = c->x.failed || names->failed || !mem_grow(&c->rule, &c->rules_cap, c->n_rules + 1, sizeof *c->rule) ||
                  !hash_add(&c->by_name, hash, rule) || (schema && !hash_add(&c->by_schema, schema_hash(schema), rule));
    if (c->x.failed || c->x.full)
        return RULE_ROOT;
    c->rule[c->n_rules++] = (struct schema_rule){.schema = schema, .name = start, .expr = expr};
    return rule;
}

uint32_t rule_of(struct convert *c, const cJSON *schema, uint32_t parent, const char *what)
{
    const uint32_t hash = schema_hash(schema);
    size_t at = hash, i;
    while ((i = hash_next(&c->by_schema, hash, &at)) != HASH_NONE)
        if (c->rule[i].schema == schema)
            return expr_rule(&c->x, (uint32_t)i);
    return expr_rule(&c->x, new_rule(c, parent, what, schema, EXPR_NOTHING));
}

bool convert_sound(struct convert *c)
{
    const cJSON *const schema = c->at < c->n_rules ? c->rule[c->at].schema : NULL;
    if (c->x.failed || c->out->gbnf.failed)
        c->failed = c->failed || !err_from_fault(c->e, fault_memory());
    else if (c->x.full || c->out->gbnf.full)
        schema_fail(c, schema, "%s: the grammar grows too large", NULL);
    else if (c->x.deep)
        schema_fail(c, schema, "%s: too deep", NULL);
    return !c->failed;
}

uint32_t bracketed_expr(struct convert *c, const char *open, uint32_t inner, const char *close)
{
    struct exprs *const x = &c->x;
    const uint32_t space = expr_rule(x, RULE_SPACE);
    return EXPR_SEQUENCE_OF(x, expr_literal(x, open), space, inner, space, expr_literal(x, close));
}

uint32_t comma_expr(struct convert *c)
{
    return EXPR_SEQUENCE_OF(&c->x, expr_literal(&c->x, ","), expr_rule(&c->x, RULE_SPACE));
}
