// SPDX-License-Identifier: MIT
// The `set` functions of the option table: each reads one kind of value, whole, and stores it. Errors name the option, the value and
// what is allowed.
#ifndef SAMPL_CLI_SET_H
#define SAMPL_CLI_SET_H

#include "cli/option_table.h"

typedef bool set_fn(const struct option_row *row, const char *value, struct options *o, struct err *e);

set_fn set_flag;     // bool
set_fn set_int;      // int32_t in [low, high]
set_fn set_float;    // float in [low, high]
set_fn set_seed;     // uint32_t; -1 is 4294967295
set_fn set_string;   // const char *
set_fn set_file;     // const char *, not empty
set_fn set_choice;   // const char *, one of choices
set_fn set_rows;     // struct row_range from A:B
set_fn set_count;    // int64_t in [low, high]
set_fn set_share;    // struct share from K/N
set_fn set_ids;      // struct ids from 1,2,3 or @FILE
set_fn set_accept;   // the same, or the word recorded
set_fn set_bias;     // one more struct bias from ID(+|-)BIAS
set_fn set_samplers; // options.samplers; chainspec.c reads it when all options are known
set_fn set_samplers_by_letter;
set_fn set_dry_text;                  // one more of options.dry_text
set_fn set_dry_ids;                   // one more of options.breaker from 1,2,3 or @FILE
set_fn set_emit;                      // enum emit
set_fn set_on_error;                  // bool: skip, not stop
set_fn set_dump;                      // options.dump, dump_most
set_fn set_preset;                    // never called: options_parse puts the preset's words in place
set_fn set_print_chain;               // the action, and its choice
set_fn set_grammar, set_grammar_file; // options.grammar_given
set_fn set_help, set_print_grammar, set_version, set_list_presets, set_generate;

#endif
