// SPDX-License-Identifier: MIT
// Names that stand in one string, separated by commas, spaces or semicolons; and sets of numbered things.
#ifndef SAMPL_BASE_NAMES_H
#define SAMPL_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// When a name is equal to one of the string.
enum name_match {
    NAME_EXACT,    // byte by byte
    NAME_ANY_CASE, // ASCII letters in either case
    NAME_LOOSE,    // ASCII letters in either case, '_' and '-' left out; the string is in lower case
    NAME_PATTERN,  // the string has patterns, in which '*' is any text; the name ends at a NUL
};

// Copies name[0..len) to an array as a string, and cuts it to the array's size. Returns the array.
static inline char *name_cut(char *to, size_t size, const char *name, size_t len)
{
    len = len < size ? len : size - 1;
    memcpy(to, name, len);
    to[len] = '\0';
    return to;
}

// Finds the next name of the string at *at, name[0..len), and moves *at behind it. False at the end of the string.
bool name_next(const char **at, const char **name, size_t *len);

// The index of name[0..len) among the names of a string, from 0; -1: it is not there.
int name_find(const char *names, enum name_match match, const char *name, size_t len);

// Returns true if name[0..len), in which '_' is equal to '-', is this option's name. NULL: no. Here, because it is
// asked of each row of the options' table for each option of each variant.
static inline bool name_of_option(const char *option, const char *name, size_t len)
{
    size_t i = 0;
    while (option && i < len && (name[i] == '_' ? '-' : name[i]) == option[i])
        i++;
    return option && i == len && !option[len];
}

// A set of things that have numbers below 256, such as options. A zeroed set is empty.
struct name_set {
    uint64_t bits[4];
};

static inline void name_set_add(struct name_set *s, size_t number)
{
    s->bits[number / 64] |= UINT64_C(1) << number % 64;
}

static inline bool name_set_has(const struct name_set *s, size_t number)
{
    return s->bits[number / 64] >> number % 64 & 1;
}

#endif
