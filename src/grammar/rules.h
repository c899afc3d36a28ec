// SPDX-License-Identifier: MIT
// A grammar after reading: rules, their alternatives, and the elements of these. For the files of this folder.
#ifndef SAMPL_GRAMMAR_RULES_H
#define SAMPL_GRAMMAR_RULES_H

#include "base/ranges.h"
#include "grammar/grammar.h"
#include "grammar/intern.h"

#define CHAR_MAX_VALUE 0x3fffffu // the largest number that four bytes of UTF-8 can hold, valid or not

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
    size_t first_alt, n_alts; // in grammar.alt; n_alts 0: the rule is not defined (yet)
    size_t len;
    const char *name; // [len] in the text, valid while it is read; a group has the name of the rule around it
    bool inlined;     // stands for its elements, several, where they are repeated; llama.cpp has no such rule
    // set by rules_check:
    bool empty;         // can be empty
    uint32_t component; // equal for rules that can begin with each other; higher than those of the rule's first rules
};

struct grammar {
    struct element *element; // [n_elements]
    size_t n_elements, element_cap;
    uint32_t *alt; // [n_alts] where each alternative begins in element
    size_t n_alts, alt_cap;
    struct grammar_rule *rule; // [n_rules]
    size_t n_rules, rule_cap;
    uint32_t start; // an element: a reference to the rule root, alone in its alternative
    uint32_t n_components;
    size_t loops; // set by rules_check: a rule that llama.cpp, but not sampl, calls left-recursive; n_rules: none
    struct intern class; // character classes: tidy ranges within 1..CHAR_MAX_VALUE, two words each
};

// Returns the ranges of a class, tidy; valid until a class is added.
static inline const struct range *class_ranges(const struct grammar *g, uint32_t class, size_t *n)
{
    size_t words;
    const uint32_t *const word = intern_get(&g->class, class, &words);
    *n = words / 2;
    return (const struct range *)word;
}

enum { RULE_SHOWN = 60 }; // bytes of a rule's name, or of another part of a grammar, in a message

// Checks the rules and sets their `empty` and `component`. Returns false with *e if memory is short, or, with status
// STATUS_USAGE, if the rule *bad is not defined or left-recursive.
//
// A rule is left-recursive if it can begin with itself, so that stacks would grow without end, or if it only leads to
// itself. A rule may end with itself behind elements that can be empty, as a repetition of an empty item does: such a
// rule adds nothing to a stack.
bool rules_check(struct grammar *g, size_t *bad, struct err *e);

#endif
