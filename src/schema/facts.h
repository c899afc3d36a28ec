// SPDX-License-Identifier: MIT
// What the members of a list say together, but for objects and arrays, whose parts have lists of their own.
#ifndef SAMPL_SCHEMA_FACTS_H
#define SAMPL_SCHEMA_FACTS_H

#include "schema/conv.h"
#include "schema/range.h"

struct facts {
    unsigned types;                         // what the value may be; 0: nothing satisfies the list
    unsigned about;                         // the types that keywords are about
    const struct member *choice;            // a member with an enum or const
    const struct member *union_of;          // a member with a union that is still to be taken apart,
    const char *union_word;                 // anyOf or oneOf
    const struct member *pattern, *format;  // at most one each
    const struct member *lo_from, *hi_from; // who gave the bounds
    const char *lo_word, *hi_word;
    struct limit lo, hi;
    const struct member *length_from;
    const char *length_word;
    uint64_t min_length, max_length, min_items, max_items; // UINT64_MAX: no limit
};

bool facts_gather(struct conv *c, const struct members *list, const struct place *at, struct facts *f);

// May the list's value be v? Only for a list with an enum or const.
bool facts_allow(struct conv *c, const struct members *list, const struct facts *f, const cJSON *v, bool *allowed);

// The values of a member's enum, or its const as the only one: the first; each next one is ->next unless `only`.
const cJSON *facts_choices(const struct member *m, bool *only);

#endif
