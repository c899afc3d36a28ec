// SPDX-License-Identifier: MIT
// For the rows of the option table: functions that read a value (NULL without one) and store it, and do nothing else.
#ifndef SAMPL_CLI_SET_H
#define SAMPL_CLI_SET_H

#include "cli/args.h"

typedef bool set_fn(const struct option_row *row, const char *value, struct args *a, struct err *e);

set_fn set_param;    // value[row->number]
set_fn set_flag;     // bool, here and below at row->at
set_fn set_int;      // int32_t in [low, high]
set_fn set_count;    // int64_t in [low, high]
set_fn set_seed;     // uint32_t
set_fn set_string;   // const char *
set_fn set_file;     // const char *, not empty
set_fn set_choice;   // const char *, one of choices
set_fn set_word;     // one more of struct words
set_fn set_rows;     // struct row_range from A:B
set_fn set_share;    // struct share from K/N
set_fn set_accept;   // accept, or accept_recorded
set_fn set_bias;     // one more of biases
set_fn set_samplers; // samplers, by names
set_fn set_letters;  // samplers, by letters
set_fn set_breaker;  // one more of breaker_texts, or none at all
set_fn set_emit;     // enum emit
set_fn set_on_error; // bool: skip, not stop
set_fn set_dump;     // dump, dump_most
set_fn set_grammar;  // grammar, and its source by row->low
set_fn set_preset;   // never called: args_parse puts the preset's words in place
set_fn set_action;   // action, by row->low; how, if the row has choices

#endif
