// SPDX-License-Identifier: MIT
// A grammar taken apart: rules of alternatives of elements. For the files of this folder, and for messages about what is expected.
#ifndef SAMPL_GRAMMAR_RULES_H
#define SAMPL_GRAMMAR_RULES_H

#include "base/ranges.h"
#include "grammar/grammar.h"
#include "grammar/intern.h"

#define CHAR_MAX_VALUE 0x3fffffu // what four bytes of UTF-8 can hold, valid or not

enum element_type {
    ELEMENT_END,       // of an alternative
    ELEMENT_RULE,      // value: a rule
    ELEMENT_CLASS,     // value: a character class
    ELEMENT_TOKEN,     // value: a token's id
    ELEMENT_NOT_TOKEN, // any other token
};

struct element {
    enum element_type type;
    uint32_t value;
};

struct grammar_rule {
    size_t first_alt, n_alts; // in grammar.alt; no alternative: not defined (yet)
    const char
        *name; // [len] in the text, which must be there while it is read; of the rule around it, for groups and repetitions
    size_t len;
    bool loop; // repeats something without end
};

struct grammar {
    struct element *element; // [n_elements]
    size_t n_elements, element_cap;
    uint32_t *alt; // [n_alts] where each alternative begins in element
    size_t n_alts, alt_cap;
    struct grammar_rule *rule; // [n_rules]
    size_t n_rules, rule_cap;
    uint32_t root;
    struct intern class;  // tidy ranges within 1..CHAR_MAX_VALUE, two words each
    uint64_t (*ascii)[2]; // [class.n] its characters below 128
    size_t ascii_cap;
};

// The ranges of a class, tidy; good until a class is added.
static inline const struct range *class_ranges(const struct grammar *g, uint32_t class, size_t *n)
{
    size_t words;
    const uint32_t *const word = intern_get(&g->class, class, &words);
    *n = words / 2;
    return (const struct range *)word;
}

static inline bool class_has(const struct grammar *g, uint32_t class, uint32_t c)
{
    size_t n;
    if (c < 128)
        return g->ascii[class][c / 64] >> c % 64 & 1;
    const struct range *const range = class_ranges(g, class, &n);
    return ranges_have(range, n, c);
}

// Looks for undefined rules and left recursion. False and code, name, len of *fault when there are any.
bool rules_check(const struct grammar *g, struct grammar_fault *fault);

#endif
