// SPDX-License-Identifier: MIT
// A grammar taken apart: rules of alternatives of elements. For the files of this folder.
#ifndef SAMPL_GRAMMAR_RULES_H
#define SAMPL_GRAMMAR_RULES_H

#include "grammar/grammar.h"
#include "grammar/intern.h"

#include <stdbool.h>
#include <stdint.h>

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

struct rule {
    size_t first_alt, n_alts; // in grammar.alt; no alternative: not defined (yet)
    const char *name;         // [len] in the text; of the rule around it, for the rule of a group or repetition
    size_t len;
    bool loop; // repeats something without end
};

struct grammar {
    struct element *element; // [n_elements]
    size_t n_elements, element_cap;
    uint32_t *alt; // [n_alts] where each alternative begins in element
    size_t n_alts, alt_cap;
    struct rule *rule; // [n_rules]
    size_t n_rules, rule_cap;
    uint32_t root;
    struct intern class;  // ranges low, high, low, high, ...: rising, apart, within 1..CHAR_MAX_VALUE
    uint64_t (*ascii)[2]; // [class.n] its characters below 128
    size_t ascii_cap;
};

// The class of the characters in n ranges of two words each, or of all others. Orders the words. INTERN_NONE when memory is short.
uint32_t class_add(struct grammar *g, uint32_t *range, size_t n, bool negated);

// Is a character in a class? Does the class hold any, and all, of low..high?
bool class_has(const struct grammar *g, uint32_t class, uint32_t c);
bool class_meets(const struct grammar *g, uint32_t class, uint32_t low, uint32_t high);
bool class_covers(const struct grammar *g, uint32_t class, uint32_t low, uint32_t high);

// Looks for undefined rules and left recursion. False and code, name, len of *fault when there are any.
bool rules_check(const struct grammar *g, struct grammar_fault *fault);

#endif
