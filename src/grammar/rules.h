// SPDX-License-Identifier: MIT
// A grammar taken apart: rules of alternatives of elements. For the files of this folder, and for messages about what
// is expected.
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
    size_t len;
    const char *name; // [len] in the text, which must outlive the reading; groups have the name of the rule around them
    // set by rules_check:
    bool empty; // can be empty
    uint32_t
        component; // equal for rules that can begin with each other; greater than that of other rules it begins with
};

struct grammar {
    struct element *element; // [n_elements]
    size_t n_elements, element_cap;
    uint32_t *alt; // [n_alts] where each alternative begins in element
    size_t n_alts, alt_cap;
    struct grammar_rule *rule; // [n_rules]
    size_t n_rules, rule_cap;
    uint32_t start; // the element that stands for the rule root, alone in its alternative
    uint32_t n_components;
    struct intern class; // tidy ranges within 1..CHAR_MAX_VALUE, two words each
};

// The ranges of a class, tidy; good until a class is added.
static inline const struct range *class_ranges(const struct grammar *g, uint32_t class, size_t *n)
{
    size_t words;
    const uint32_t *const word = intern_get(&g->class, class, &words);
    *n = words / 2;
    return (const struct range *)word;
}

// Finds out what the rules say of that. Otherwise *bad is a rule that is GRAMMAR_UNDEFINED or in a
// GRAMMAR_LEFT_RECURSION: when it can begin with itself, so that stacks would grow without end, or only with itself.
// A rule may end with itself after what can be empty, as a repetition of what can be empty does: that adds nothing to
// a stack.
enum grammar_code rules_check(struct grammar *g, size_t *bad);

#endif
