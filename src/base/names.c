// SPDX-License-Identifier: MIT
#include "base/names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool separates(char c) { return c == ',' || c == ';' || c == ' '; }

// Names are short: strcspn, which first makes a table of the separators, takes longer.
bool name_next(const char **at, const char **name, size_t *len)
{
    const char *c = *at;
    while (separates(*c))
        c++;
    *name = c;
    while (*c && !separates(*c))
        c++;
    *len = (size_t)(c - *name);
    *at = c;
    return *len;
}

// NAME_LOOSE. A '_' or '-' behind the last letter of the name is one too many.
static bool same_letters(const char *name, size_t len, const char *known, size_t known_len)
{
    size_t i = 0;
    for (size_t k = 0; k < known_len; k++) {
        if (known[k] == '_')
            continue;
        while (i < len && (name[i] == '_' || name[i] == '-'))
            i++;
        if (i == len || tolower((unsigned char)name[i++]) != known[k])
            return false;
    }
    return i == len;
}

// NAME_PATTERN. The name ends at a NUL, the pattern after len bytes.
static bool fits_pattern(const char *name, const char *pattern, size_t len)
{
    for (; len && *pattern != '*'; pattern++, len--)
        if (*name++ != *pattern) // a pattern has no NUL
            return false;
    if (!len)
        return !*name;
    while (!fits_pattern(name, pattern + 1, len - 1))
        if (!*name++)
            return false;
    return true;
}

int name_find(const char *names, enum name_match match, const char *name, size_t len)
{
    const char *at = names, *known;
    size_t n;
    for (int place = 0; name_next(&at, &known, &n); place++)
        if (match == NAME_PATTERN ? fits_pattern(name, known, n)
            : match == NAME_LOOSE ? same_letters(name, len, known, n)
                                  : n == len && !(match == NAME_EXACT ? strncmp : strncasecmp)(known, name, n))
            return place;
    return -1;
}
