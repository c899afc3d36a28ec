// SPDX-License-Identifier: MIT
// Settings of a chain as JSON has them, in the presets of all programs and in llama-server's requests: one row for
// each, with its names, its form, and the option that it stands for. Two readers follow the table: presets become
// options (cli/foreign.c), a row's parameters become parts of a draft (chain/row_params.c). Parameters of samplers
// under llama-server's names need no row, catalog_find_server has them.
#ifndef SAMPL_CHAIN_SETTING_H
#define SAMPL_CHAIN_SETTING_H

#include <cjson/cJSON.h>
#include <stdbool.h>

enum setting_form {
    SETTING_NUMBER,
    SETTING_SEED,
    SETTING_SAMPLERS,  // an array of names, or a string of letters
    SETTING_BIASES,    // {"token": bias, ...}, [[token, bias], ...] or [{"token": id, "bias": bias}, ...]
    SETTING_EOS,       // true: tokens that end a generation are banned
    SETTING_BREAKERS,  // texts
    SETTING_SEQUENCES, // a list of lists of ids; the last id of each list is banned behind the others
    SETTING_BANS,      // a list of ids
    SETTING_GRAMMAR,
    SETTING_SCHEMA,
    SETTING_TAG,  // a text of the reasoning budget
    SETTING_TAGS, // a text or a list of texts of the reasoning budget
    SETTING_FALSE,
    SETTING_EMPTY, // a list without elements
};

// When the number of a preset switches nothing on.
enum setting_off {
    OFF_WITH_SAMPLER, // when the sampler does not run whose first parameter it is; any other parameter: always
    OFF_AT,           // at a value
    OFF_UP_TO,        // at a value or below
};

struct setting {
    const char *request; // its name in llama-server's requests; NULL: they do not have it
    const char *presets; // its names in presets in any case, separated by spaces; NULL: they do not have it
    const char *option;  // NULL: no option gives it
    enum setting_form form;
    enum setting_off off;
    double off_value;
};

// The setting of a key in a request, or in a preset. NULL: the table has none.
const struct setting *setting_of_request(const char *key);
const struct setting *setting_of_preset(const char *key);

// Names and patterns of the members of requests, and of the settings that replies echo, that do not bear on which token
// is chosen.
extern const char setting_server_ignores[];

// A bias of a setting.
struct setting_bias {
    const cJSON *item;           // the setting
    const cJSON *entry;          // of the item
    const cJSON *token, *amount; // NULL: the entry has none. The key of an entry is a string
};

// Calls each for the biases of an item of SETTING_BIASES, until it returns false. Returns what each returned last, or
// true.
bool setting_biases(const cJSON *item, bool (*each)(void *to, const struct setting_bias *b), void *to);

#endif
