// SPDX-License-Identifier: MIT
// Regular expressions, as far as a grammar can follow them, as GBNF for a JSON string's content.
#ifndef SAMPL_SCHEMA_PATTERN_H
#define SAMPL_SCHEMA_PATTERN_H

#include "schema/schema.h"

struct pattern {
    struct text body;           // GBNF; alternatives are without brackets
    uint64_t shortest, longest; // of the strings it matches, in characters; longest UINT64_MAX: no limit
    bool single;                // one character, repeated from shortest to longest times:
    struct text one;            // that character
    const char
        *trouble; // when it cannot be read: what is wrong, as text[trouble_at, trouble_at + trouble_len) if that is not empty
    size_t trouble_at, trouble_len; // when it cannot be read: the part that is to blame
    enum schema_code code;
};

// Reads the regular expression. False with p->code (SCHEMA_PATTERN, _UNANCHORED, _BAD_PATTERN, _TOO_DEEP, _TOO_BIG, _MEMORY).
// p must be freed either way.
bool pattern_read(struct pattern *p, const char *text);
void pattern_free(struct pattern *p);

#endif
