// SPDX-License-Identifier: MIT
// The conversion of one schema, for the files of this folder. Each schema of the document becomes one rule, when the
// first expression refers to it. The rule's expression is made later, from a queue, so that references do not cause
// recursion.
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

#define BIT(n) (1u << (n)) // sets of kinds

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
    RULE_OWN, // the first rule of the document
};

struct schema_rule {
    const cJSON *schema; // that the rule stands for; NULL: none
    size_t name;         // index of its name in convert.names
    uint32_t expr;
    bool printed;
};

struct convert {
    cJSON *document;
    struct exprs x;
    struct schema_rule *rule; // [n_rules]
    size_t n_rules, rules_cap;
    struct hash_table by_schema, by_name; // of rules
    struct builder names;                 // of rules, each with a NUL
    struct schema_member *member;         // [n_members] the document's, for lookups by name
    size_t n_members, members_cap;
    struct hash_table by_member;
    uint32_t at;        // the rule that is being made
    const cJSON **part; // [n_parts] members of allOf; their rules are made only to find faults
    size_t n_parts, parts_cap;
    bool for_faults; // rules of `part` are being made
    struct schema_grammar *out;
    bool failed;   // a fault was reported
    struct err *e; // the first fault
};

// document.c

// Fills the table of members. Among members of one name, removes all but the last, which moves to the first one's
// place. False when memory is short.
bool document_read(struct convert *c);

// Returns the member of an object, or NULL; also for an item that is no object.
const cJSON *schema_member(const struct convert *c, const cJSON *object, const char *name);

// Returns the item that a reference leads to, or NULL. The reference begins with "#/" or is "#".
const cJSON *document_find(const struct convert *c, const char *reference);

// Appends the JSON pointer to an item of the document.
void document_path(const struct convert *c, const cJSON *item, struct builder *to);

// constant.c

// Reads a number item as an integer modulo 2^64. False if it has a fraction or an exponent, or if neither int64_t nor
// uint64_t holds it.
bool json_integer(const cJSON *item, uint64_t *value);

// Appends a value as llama.cpp writes it. False if a number in it is too large for a double.
bool constant_text(const cJSON *value, struct builder *to);

// Appends a string or a name as llama.cpp writes it, in quotes.
void string_text(const char *s, struct builder *to);

// schema.c

void convert_free(struct convert *c);

// convert.c

// Reports a fault at an item of the document, unless a fault was reported before. The format has the path to the item
// and the word, which may be NULL. Returns EXPR_NOTHING.
uint32_t schema_fail(struct convert *c, const cJSON *item, const char *format, const char *word);

// Reports a fault that llama.cpp finds only when it writes a rule: not if `for_faults` is set.
uint32_t schema_fail_late(struct convert *c, const cJSON *item, const char *format, const char *word);

// Reports a fault of the expressions or of the text, if there is one: memory, size, depth. True if no fault was
// reported so far.
bool convert_sound(struct convert *c);

// Appends an item's path to notes.
void schema_note(struct convert *c, const cJSON *item, struct schema_notes *notes);

// Makes a rule for a schema, which may be NULL. Returns its number; RULE_ROOT on an error. Its name consists of the
// name of the rule `parent` (RULE_ROOT: left out) and of `what`, the rule's role there.
uint32_t new_rule(struct convert *c, uint32_t parent, const char *what, const cJSON *schema, uint32_t expr);
const char *rule_name(const struct convert *c, uint32_t rule);

// Returns a reference to the rule of a schema of the document. The rule's expression is made later.
uint32_t rule_of(struct convert *c, const cJSON *schema, uint32_t parent, const char *what);

// The expressions `"," space` and `open space inner space close`.
uint32_t comma_expr(struct convert *c);
uint32_t bracketed_expr(struct convert *c, const char *open, uint32_t inner, const char *close);

// kind.c

// Returns the kind of a schema. type: the value of "type", one of its elements, or NULL if the keyword is missing.
enum schema_kind schema_kind_of(struct convert *c, const cJSON *schema, const cJSON *type);

// Returns the schema that a reference leads to, or NULL with a fault.
const cJSON *schema_target(struct convert *c, const cJSON *schema);

// Returns the value of "items" or else of "prefixItems", or NULL.
const cJSON *schema_items(const struct convert *c, const cJSON *schema);

// Returns the number of a keyword for counts, `missing` if the keyword is missing. 64 bits are cut to 32, as in
// llama.cpp. Another value is a fault.
uint32_t schema_count(struct convert *c, const cJSON *schema, const char *keyword, uint32_t missing);

// Returns the rule of a string's format: RULE_STRING if llama.cpp does not know the format.
uint32_t string_format_rule(const cJSON *format);

// Returns the text of a string, "" for every other item.
const char *item_string(const cJSON *item);

// object.c, pattern.c, integer.c: the expressions of these kinds. EXPR_NOTHING on a fault, and if no text fits.
uint32_t object_expr(struct convert *c, const cJSON *schema);
uint32_t all_of_expr(struct convert *c, const cJSON *schema);
uint32_t pattern_expr(struct convert *c, const cJSON *pattern);
uint32_t integer_expr(struct convert *c, const cJSON *schema);

// Reads the counts of a repetition, behind its opening brace: {n} {n,} {,m} {,} {n,m}. INT32_MAX: no limit. Moves *at
// behind the closing brace. False: llama.cpp does not follow it.
bool pattern_counts(const char **at, const char *end, long *min, long *max);

// print.c

// Returns the name of one of the rules that every grammar may use.
const char *builtin_name(uint32_t rule);

// Prints the rules that are used to c->out->gbnf: first those of the document, then those that every grammar may use,
// each in the order of their first use.
void print_rules(struct convert *c);

#endif
