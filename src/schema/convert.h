// SPDX-License-Identifier: MIT
// The conversion of one schema, for the files of this folder. Each schema within the document becomes one rule, at
// most once, when it is first asked for; a reference asks for the same rule. Rules wait in a row to be made, so that
// nothing here recurses with the document.
#ifndef SAMPL_SCHEMA_CONVERT_H
#define SAMPL_SCHEMA_CONVERT_H

#include "base/hash.h"
#include "schema/expr.h"
#include "schema/schema.h"

// The kind of a schema, which decides which of its keywords are read.
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
const cJSON *schema_member(const struct convert *c, const cJSON *object, const char *name);

// Returns the item that a reference leads to, or NULL. The reference begins with "#/" or is "#".
const cJSON *document_find(const struct convert *c, const char *reference);

// Adds the JSON pointer to an item of the document.
void document_path(const struct convert *c, const cJSON *item, struct builder *to);

// constant.c

// The integer that a number item is when it has neither fraction nor exponent and 64 bits hold it, with or without a
// sign; modulo 2^64.
bool json_integer(const cJSON *item, uint64_t *value);

// The value as llama.cpp writes it. False when a number in it is too large for a double.
bool constant_text(const cJSON *value, struct builder *to);
void string_text(const char *s, struct builder *to); // of a string or a name

// convert.c

// Reports a fault at an item of the document, unless one was reported before. Returns EXPR_NOTHING. llama.cpp finds
// some faults only when it writes a rule: those are not reported for rules that only allOf's members need.
uint32_t schema_fail(struct convert *c, const cJSON *item, enum schema_code code, const char *word);

// Reports a fault of the expressions or of the text, if there is one: memory, size, depth. True if no fault was
// reported so far.
bool convert_sound(struct convert *c);

// Adds an item's path to notes.
void schema_note(struct convert *c, const cJSON *item, struct schema_notes *notes);

// Makes a rule and returns its number. Its name is made of the name of the rule `parent` (RULE_ROOT: none) and of
// `what`, the rule's role there. schema: what the rule stands for, or NULL.
uint32_t new_rule(struct convert *c, uint32_t parent, const char *what, const cJSON *schema, uint32_t expr);
const char *rule_name(const struct convert *c, uint32_t rule);

// Returns a reference to the rule of a schema of the document. The rule's expression is made later.
uint32_t rule_of(struct convert *c, const cJSON *schema, uint32_t parent, const char *what);

// The expressions `"," space` and `open space inner space close`.
uint32_t comma_expr(struct convert *c);
uint32_t bracketed_expr(struct convert *c, const char *open, uint32_t inner, const char *close);

// kind.c

// The kind of a schema whose type is `type`: the value of that keyword, one of its elements, or NULL if it is missing.
enum schema_kind schema_kind_of(struct convert *c, const cJSON *schema, const cJSON *type);

// The schema that a reference leads to, or NULL with a fault.
const cJSON *schema_target(struct convert *c, const cJSON *schema);

// "items" or else "prefixItems", or NULL.
const cJSON *schema_items(const struct convert *c, const cJSON *schema);

// The number of a keyword for counts, `missing` if it is not there. llama.cpp cuts 64 bits to 32, and so does this.
// Another value is a fault.
uint32_t schema_count(struct convert *c, const cJSON *schema, const char *keyword, uint32_t missing);

// The rule of a string of this format: RULE_STRING if llama.cpp does not know the format.
uint32_t string_format_rule(const cJSON *format);

// The text of a string, "" for every other item.
const char *item_string(const cJSON *item);

// object.c, pattern.c, integer.c: the expressions of these kinds.
uint32_t object_expr(struct convert *c, const cJSON *schema);
uint32_t all_of_expr(struct convert *c, const cJSON *schema);
uint32_t pattern_expr(struct convert *c, const cJSON *pattern);
uint32_t integer_expr(struct convert *c, const cJSON *schema);

// print.c

// The name of one of the rules that every grammar may use.
const char *builtin_name(uint32_t rule);

// Writes the grammar to c->out->gbnf: the rules that are used, the schema's own first, in the order in which they are
// met.
void print_rules(struct convert *c);

#endif
