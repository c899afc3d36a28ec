// SPDX-License-Identifier: MIT
// The converter's parts to each other. A value's schema is a list of schemas that all hold for it ("members"): the one at hand and what
// its $ref and allOf bring along. Every different list becomes a rule; rules wait in a queue, so nothing recurses as deep as a schema.
#ifndef SAMPL_SCHEMA_CONV_H
#define SAMPL_SCHEMA_CONV_H

#include "schema/place.h"
#include "schema/schema.h"

enum { UNION_ANY = 1, UNION_ONE = 2 }; // a member whose anyOf, oneOf has been replaced by one of its alternatives

struct member {
    const cJSON *node; // an object, or `false`
    const struct place *at;
    unsigned done; // of UNION_*
};

struct members {
    struct member *m; // [n]; none: any value
    size_t n, cap;
};

struct rule {
    char *name;
    struct members of;
    const struct place *at;
    struct text body;
    bool has_body;                                         // false until its turn comes, unless it came with the rule
    size_t *alternative, n_alternatives, alternatives_cap; // rules that stand for the same value as this one, for cycles
};

enum primitive {
    P_VALUE,
    P_OBJECT,
    P_ARRAY,
    P_STRING,
    P_NUMBER,
    P_INTEGER,
    P_BOOLEAN,
    P_NULL,
    P_DATETIME,
    P_DATE,
    P_TIME,
    P_UUID,
    P_CHAR,
    P_SPACE,
    P_COUNT
};

struct conv {
    const cJSON *root;
    struct schema_fault *fault;
    struct places places;
    struct rule *rule; // [n_rules]
    size_t n_rules, rules_cap;
    size_t *by_name, *by_members, slots; // open addressing: rule + 1, 0 when free
    unsigned wanted;                     // 1 << enum primitive
    size_t work, size;                   // steps taken, bytes of finished rules
};

#define NO_RULE SIZE_MAX

// conv.c
bool conv_fail(struct conv *c, enum schema_code code, const struct place *at, const char *word_at, const char *word);
bool conv_memory(struct conv *c);

// Counts n steps of work; false with a fault when a hostile schema has taken too many.
bool conv_work(struct conv *c, size_t n, const struct place *at);

const struct place *conv_below(struct conv *c, const struct place *at, const char *word, const char *name);
const struct place *conv_nth(struct conv *c, const struct place *at, const char *word, size_t index);

// rules.c
// Adds the name of the primitive rule, which will then be part of the grammar.
void rule_primitive(struct conv *c, struct text *to, enum primitive p);

// Adds the name of the rule for these members, made when there is none yet. Takes what `of` owns, also on an error. at names the rule.
// *index is the rule, or NO_RULE when a primitive one does.
bool rule_for(struct conv *c, struct members *of, const struct place *at, struct text *to, size_t *index);

// Adds a rule with the text of body, which is taken also on an error, and appends its name, made from base and suffix, to `to`.
bool rule_add(struct conv *c, const char *base, const char *suffix, const struct place *at, struct text *body, struct text *to);

// The first rule: for these members, which are taken, or for any object.
bool rule_root(struct conv *c, struct members *of, const struct place *at);
bool rule_root_object(struct conv *c, const struct place *at);

// Notes that rule `from` may stand for the same value as rule `to`.
bool rule_link(struct conv *c, size_t from, size_t to);

// expand.c
// Adds what the schema node says to a list, its references followed.
bool members_add(struct conv *c, struct members *to, const cJSON *node, const struct place *at);
bool members_push(struct conv *c, struct members *to, struct member m); // unless it is there already
void members_free(struct members *m);

// keyword.c
enum schema_type { T_STRING = 1, T_INTEGER = 2, T_FRACTION = 4, T_BOOLEAN = 8, T_NULL = 16, T_OBJECT = 32, T_ARRAY = 64 };
#define T_NUMBER (T_INTEGER | T_FRACTION)
#define T_ALL    127u

// Checks that each keyword of the node is one we know and none stands twice. *says: it restricts values by itself, not only by $ref or
// allOf; `done` unions do not count.
bool keywords_check(struct conv *c, const cJSON *node, const struct place *at, unsigned done, bool *says);

// The types that a keyword is about, 0 for none.
unsigned keyword_types(const char *name);

const cJSON *keyword(const cJSON *node, const char *name);

// The types that the value of `type` names.
bool keyword_type_set(struct conv *c, const struct member *m, unsigned *types);

// A count (maxLength and the like), from 0 to REPEAT_MOST.
bool keyword_count(struct conv *c, const struct member *m, const char *name, uint64_t *count);

unsigned type_of_value(const cJSON *value); // T_INTEGER for numbers without a fraction

#endif
