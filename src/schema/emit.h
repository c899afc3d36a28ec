// SPDX-License-Identifier: MIT
// From the members of a list to the text of its rule.
#ifndef SAMPL_SCHEMA_EMIT_H
#define SAMPL_SCHEMA_EMIT_H

#include "schema/facts.h"

// Writes the body of a rule.
bool emit_rule(struct conv *c, size_t rule, struct text *to);

// Each appends one or more alternatives for values of its type. name and at are the rule's.
bool emit_string(struct conv *c, const struct facts *f, const struct place *at, struct text *to);
bool emit_object(struct conv *c, const char *name, const struct members *list, const struct place *at, struct text *to);
bool emit_array(struct conv *c, const char *name, const struct members *list, const struct facts *f, const struct place *at,
                struct text *to);
bool emit_choice(struct conv *c, const struct members *list, const struct facts *f, struct text *to);

// A key of an object, or one value, as a GBNF literal without the space after it.
void emit_json_string(struct text *to, const char *s);

// A key that is none of the n names, white space after it included. It may add rules that begin with name. Reorders names.
bool emit_other_key(struct conv *c, const char *name, const struct place *at, const char **names, size_t n, struct text *to);

// The rules whose names have been used.
void emit_primitives(struct conv *c, struct text *to);

#endif
