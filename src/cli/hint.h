// SPDX-License-Identifier: MIT
// Hints: what an error adds if the user may have meant something else.
#ifndef SAMPL_CLI_HINT_H
#define SAMPL_CLI_HINT_H

#include "cli/args.h"

// Returns true if word[0..len), with its dashes, is an option of llama.cpp that does not concern sampling.
bool hint_is_known(const char *word, size_t len);

// Refuses a word[0..len), of at least two bytes, that is no option. The error names the option that the word stands for
// in another program, or the long names nearest to the word. Returns false.
bool hint_unknown(const struct options *o, const char *word, size_t len, struct err *e);

// Adds to *e, the error of an option's value, which other option takes such a value. Returns false.
bool hint_value(const struct option_row *row, const char *value, struct err *e);

// The name that is nearest to a word, of those that hint_near has seen; of equally near ones the first by its bytes.
// `least` begins as SIZE_MAX.
struct near_name {
    char name[256];
    size_t least; // distance
};
void hint_near(struct near_name *n, const char *word, const char *name);

// Adds to *e, the error of a preset that does not exist, what the name may have meant: an option without its dashes, or
// the nearest name. Returns false.
bool hint_preset(const char *name, bool option, const struct near_name *near, struct err *e);

// Adds to *e, the error of an option's text, how to read that text from a file, if a file of that name exists. how is
// put before the name. Returns false.
bool hint_file(const char *text, const char *how, struct err *e);

// Refuses a number behind --dump-probs, --trace or --diff in a word of its own: it would be a file. True if there is
// none, or if such a file exists.
bool hint_detached_number(const struct args *a, struct err *e);

#endif
