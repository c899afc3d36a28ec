// SPDX-License-Identifier: MIT
// What pattern.c and regex_class.c share: a place in a regular expression and how reading it fails.
#ifndef SAMPL_SCHEMA_REGEX_H
#define SAMPL_SCHEMA_REGEX_H

#include "schema/charset.h"
#include "schema/pattern.h"

struct regex {
    const char *start, *p;
    struct pattern *out;
    unsigned depth;
};

// Stops with the expression's text from `from` to the present place as the one that is to blame.
bool regex_fail(struct regex *x, enum schema_code code, const char *from);

// Reads an escape or a class, from its '\' or '[' on, or '.', into a tidy set. *c is the character when it is just one, else -1.
bool regex_escape(struct regex *x, struct charset *set, int64_t *c, bool in_class);
bool regex_class(struct regex *x, struct charset *set);
bool regex_dot(struct regex *x, struct charset *set);

#endif
