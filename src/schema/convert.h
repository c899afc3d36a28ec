// SPDX-License-Identifier: MIT
// The conversion of one schema, for the files of this folder. Each schema within the document becomes one rule, at most once, when it is
// first asked for; a reference asks for the same rule. Rules wait in a row to be made, so that nothing here recurses with the document.
#ifndef SAMPL_SCHEMA_CONVERT_H
#define SAMPL_SCHEMA_CONVERT_H

#include "base/hash.h"
#include "schema/expr.h"
#include "schema/schema.h"

// What a schema is, which decides which of its keywords are looked at.
enum schema_kind {
    KIND_REF,
    KIND_ONE_OF,
    KIND_ANY_OF,
    KIND_TYPES, // "type" is an array
    KIND_CONST,
    KIND_ENUM,
    KIND_ALL_OF,
    KIND_OBJECT,
    KIND_TUPLE,
    KIND_LIST,
    KIND_PATTERN,
    KIND_FORMAT,
    KIND_STRING,
    KIND_INTEGER,
    KIND_NUMBER,
    KIND_BOOLEAN,
    KIND_NULL,
    KIND_ANY,
    KIND_BAD, // a fault was reported
};

#define BIT(n) (1u << (n)) // sets of kinds, and of the rules below

// The rules that every grammar may use come first.
enum {
    RULE_ROOT,
    RULE_SPACE,
    RULE_CHAR,
    RULE_STRING,
    RULE_NATURAL,
    RULE_INTEGER,
    RULE_NUMBER,
    RULE_BOOLEAN,
    RULE_NULL,
    RULE_VALUE,
    RULE_MEMBER,
    RULE_OBJECT,
    RULE_ARRAY,
    RULE_UUID,
    RULE_DATE,
    RULE_TIME,
    RULE_HOUR,
    RULE_DATE_TIME,
    RULE_OWN, // the first that belongs to the schema
};

struct schema_rule {
    const cJSON *schema; // NULL for a rule that belongs to none
    size_t name;         // where it begins in names
    uint32_t expr;
    bool printed;
};

struct convert {
    cJSON *document;
    struct exprs x;
    struct schema_rule *rule; // [n_rules]
    size_t n_rules, rules_cap;
    struct hash_table by_schema, by_name; // of rules
    struct builder names;                 // each with a NUL
    struct schema_member *member;         // [n_members] the document's, for lookups by name
    size_t n_members, members_cap;
    struct hash_table by_member;
    uint32_t at;        // the rule that is being made
    const cJSON **part; // [n_parts] members of allOf, whose rules are made for the sake of their faults only
    size_t n_parts, parts_cap;
    bool for_faults; // these are being made
    struct schema_grammar *out;
    struct schema_fault *fault; // the first
};

// document.c

// Makes members findable, and of those with the same name keeps the last one's value. False when memory is short.
bool document_read(struct convert *c);

// The member of an object, or NULL. NULL for what is no object.
const cJSON *member(const struct convert *c, const cJSON *object, const char *name);

// What a reference, which begins with "#/" or is "#", leads to, or NULL.
const cJSON *document_find(const struct convert *c, const char *reference);

// Adds the JSON pointer to an item of the document.
void document_path(const struct convert *c, const cJSON *item, struct builder *to);

// constant.c

// The integer that a number item is when it has neither fraction nor exponent and 64 bits hold it, with or without a sign; modulo 2^64.
bool json_integer(const cJSON *item, uint64_t *value);

// The value as llama.cpp writes it. False when a number in it is too large for a double.
bool constant_text(const cJSON *value, struct builder *to);
void string_text(const char *s, struct builder *to); // of a string or a name

// convert.c

// Reports a fault at an item, unless there has been one. Returns EXPR_NOTHING. Faults that llama.cpp sees only when it writes a rule are
// not reported for rules that are not used.
uint32_t fail(struct convert *c, const cJSON *item, enum schema_code code, const char *word);

// Adds an item's path to notes.
void note(struct convert *c, const cJSON *item, struct schema_notes *notes);

// A new rule, named after the rule `parent` (RULE_ROOT: after none) and after what it is there, for a schema or for none (NULL).
uint32_t new_rule(struct convert *c, uint32_t parent, const char *what, const cJSON *schema, uint32_t expr);

// A reference to the rule of a schema of the document, which is made later.
uint32_t rule_of(struct convert *c, const cJSON *schema, uint32_t parent, const char *what);

// schema.c

// The expression of the schema that the rule at c->at is made for.
uint32_t schema_expr(struct convert *c, const cJSON *schema);

// What a schema is, its type being `type` (NULL: missing): the value of that keyword, or one of its elements.
enum schema_kind kind_of(struct convert *c, const cJSON *schema, const cJSON *type);

// What a schema that is a reference leads to. NULL with a fault.
const cJSON *target_of(struct convert *c, const cJSON *schema);

// object.c, pattern.c, integer.c: the expressions of these kinds.
uint32_t object_expr(struct convert *c, const cJSON *schema);
uint32_t all_of_expr(struct convert *c, const cJSON *schema);
uint32_t pattern_expr(struct convert *c, const cJSON *pattern);
uint32_t integer_expr(struct convert *c, const cJSON *schema);

// "," space
static inline uint32_t comma(struct convert *c)
{
    return EXPR_SEQUENCE_OF(&c->x, expr_literal(&c->x, ","), expr_rule(&c->x, RULE_SPACE));
}

// `open` space inner space `close`
uint32_t in_brackets(struct convert *c, const char *open, uint32_t inner, const char *close);

#endif
