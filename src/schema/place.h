// SPDX-License-Identifier: MIT
// Where something stands in a JSON document: a path of names and indices that shares its beginning with those of its neighbours.
#ifndef SAMPL_SCHEMA_PLACE_H
#define SAMPL_SCHEMA_PLACE_H

#include <stddef.h>

struct place {
    const struct place *up; // NULL: this is the document
    const char *name;       // NULL: an array's element
    size_t index;
};

// Keeps places until it is freed. A zeroed struct is an empty one.
struct places {
    struct place_block *block;
};

void places_free(struct places *all);

// A place below `up`. NULL when memory is short. name must outlive it.
const struct place *place_name(struct places *all, const struct place *up, const char *name);
const struct place *place_index(struct places *all, const struct place *up, size_t index);

// Writes the JSON pointer into to[0..size), its beginning replaced by "..." where it is too long. keyword (or NULL) comes last.
void place_pointer(const struct place *at, const char *keyword, char *to, size_t size);

// Writes a rule name made from the path into to[0..size): letters, digits and dashes only, the beginning lost where it is too long.
void place_rule_name(const struct place *at, char *to, size_t size);

#endif
