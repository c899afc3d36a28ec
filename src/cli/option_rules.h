// SPDX-License-Identifier: MIT
// What options need and exclude: the rules of option rows (settings/options.h) and of views are checked here.
#ifndef SAMPL_CLI_OPTION_RULES_H
#define SAMPL_CLI_OPTION_RULES_H

#include "cli/args.h"

// A list of rules, and one rule, for tables: NEEDS("against", .why = "...").
#define RULES(...)                        \
    .rules = (const struct option_rule[]) \
    {                                     \
        __VA_ARGS__, { 0 }                \
    }
#define NEEDS(...)                                \
    {                                             \
        .kind = RULE_NEEDS, .others = __VA_ARGS__ \
    }
#define EXCLUDES(...)                                \
    {                                                \
        .kind = RULE_EXCLUDES, .others = __VA_ARGS__ \
    }
#define READS_INPUT(...)                                                                                     \
    {                                                                                                        \
        .kind = RULE_READS_INPUT, .others = "", .says = ": standard input cannot be read twice", __VA_ARGS__ \
    }

// Checks the rules of all options in use, in the order of their rows. False with *e (STATUS_USAGE).
bool option_rules_check_all(const struct args *a, struct err *e);

// Checks the rules of a view; NULL: it has none. Each rule says what it is about (`as`).
bool option_rules_check(const struct args *a, const struct option_rule *rules, struct err *e);

#endif
