// SPDX-License-Identifier: MIT
// The grammar that llama.cpp, release v0.5.0, writes for a schema, so that sampl can say whether its parser takes it
// (common/json-schema-to-grammar.cpp). The rules, their names and their order are llama.cpp's, because the number of
// names that a group brings decides. Only bounds of integers stand for themselves: nothing in them depends on a name.
#ifndef SAMPL_SCHEMA_RELEASE_H
#define SAMPL_SCHEMA_RELEASE_H

#include "schema/convert.h"

#define RELEASE_DEEPEST 1000 // most visits within each other, and most characters of a name beside further ones

struct release_rule {
    size_t name, text;  // in release.texts, each with a NUL
    const cJSON *item;  // of which the rule is made; NULL: the rule is one that every grammar may use
    const char *reason; // why the parser may refuse the rule, if that can be said better than by the parser
};

struct release {
    // Adds the rule of a schema with this value of "type". Returns its number.
    uint32_t (*visit)(struct release *r, const cJSON *schema, const cJSON *type, const char *name);
    struct convert *c;
    struct schema_release *out;
    struct builder texts;
    struct release_rule *rule; // [n_rules]
    size_t n_rules, rules_cap;
    struct hash_table by_name;
    const cJSON **resolving; // [n_resolving] schemas whose reference is being followed
    size_t n_resolving, resolving_cap;
    unsigned depth; // of nested visits
    bool failed;    // memory was short
    bool full;      // the grammar is too large, or too deep, to be written here
};

// release_rules.c

const char *release_name(const struct release *r, uint32_t rule);
const char *release_text(const struct release *r, size_t at); // at: release_rule.text

// Returns the rule with a name, or UINT32_MAX.
uint32_t release_find(const struct release *r, const char *name);

// Returns whether the grammar is given up.
bool release_stopped(const struct release *r);

// Adds a rule, or finds the rule with this name and text. If the name has another text, a number is added to it. The
// text is freed. Returns the rule's number. reason: release_rule.reason.
uint32_t release_add(struct release *r, const char *name, struct builder *text, const cJSON *item, const char *reason);
uint32_t release_add_text(struct release *r, const char *name, const char *text, const cJSON *item);

// Forgets the rules from number `from` on.
void release_forget(struct release *r, size_t from);

// Adds a rule that every grammar may use, with the rules that it needs. `as`: its name here.
uint32_t release_builtin(struct release *r, const char *name, const char *as);

// Returns whether one of these rules has the name. Then a schema's rule does not get it.
bool release_reserved(const char *name);

// Notes that llama.cpp's grammar differs from sampl's because of its rules' names.
void release_differs(struct release *r, const cJSON *item, const char *reason);

// Appends a name, with one hyphen for each run of bytes that names of rules cannot have.
void release_plain(struct builder *to, const char *name);

// Appends the name of a part: the name, a hyphen unless the name is empty, and the role.
void release_part_name(struct builder *to, const char *name, const char *role);

// Append a text, or a value, as a literal.
void release_literal(struct builder *to, const char *text);
void release_constant(struct release *r, struct builder *to, const cJSON *value);

// Appends a repetition. max INT32_MAX: no limit. Numbers of patterns may be negative.
void release_repeat(struct builder *to, const char *item, long min, long max);

// Visits a part of a schema. Returns its rule's name, valid until a rule is added.
const char *release_visit_part(struct release *r, const cJSON *schema, const char *name, const char *role);

// The functions below add the rule of a schema of one kind, called `as`, and return its number. name: with which the
// names of its parts begin.

uint32_t release_object(struct release *r, const cJSON *schema, const char *as, const char *name);
uint32_t release_all_of(struct release *r, const cJSON *schema, const char *as, const char *name);

// item: the pattern, which llama.cpp follows or takes as any string.
uint32_t release_pattern(struct release *r, const cJSON *item, const char *name);

#endif
