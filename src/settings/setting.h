// SPDX-License-Identifier: MIT
// Settings of a chain in JSON: in the presets of all programs and in llama-server's requests. A table has one row for
// each, with its names, its form and its option. Two readers use the table: presets become options (cli/foreign.c), a
// row's parameters become parts of a draft (settings/row_params.c). Parameters of samplers under llama-server's names
// need no row: catalog_find_server finds them.
#ifndef SAMPL_SETTINGS_SETTING_H
#define SAMPL_SETTINGS_SETTING_H

#include "settings/list.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum setting_form {
    SETTING_NUMBER,
    SETTING_SEED,
    SETTING_SAMPLERS,  // an array of names, or a string of letters
    SETTING_BIASES,    // {"token": bias, ...}, [[token, bias], ...] or [{"token": id, "bias": bias}, ...]
    SETTING_EOS,       // true: tokens that end a generation are banned
    SETTING_BREAKERS,  // texts
    SETTING_SEQUENCES, // a list of lists of ids
    SETTING_BANS,      // a list of ids
    SETTING_GRAMMAR,
    SETTING_SCHEMA,
    SETTING_TEXT, // a text of the reasoning budget
    SETTING_TAGS, // a text or a list of texts of the reasoning budget
    SETTING_FALSE,
    SETTING_EMPTY, // a list without elements
};

// When the number of a preset has no effect.
enum setting_off {
    OFF_WITH_SAMPLER, // a sampler's first parameter: if the sampler does not run; another parameter: always
    OFF_AT,           // at off_value
    OFF_UP_TO,        // at off_value or below
};

struct setting {
    const char *request; // its name in llama-server's requests; NULL: they do not have it
    const char *presets; // its names in presets in any case, separated by spaces; NULL: they do not have it
    const char *option;  // NULL: no option gives it
    enum setting_form form;
    enum setting_off off;
    double off_value;
    enum list_kind list; // of SETTING_TEXT and SETTING_TAGS
};

// The table, whose last row has neither names of requests nor of presets.
extern const struct setting setting_table[];

// The setting of a key in a request, or in a preset. NULL: the table has none.
const struct setting *setting_of_request(const char *key);
const struct setting *setting_of_preset(const char *key);

// Names and patterns of members that do not affect the choice of a token: members of requests, and settings that
// replies repeat.
extern const char setting_server_ignores[];

// A bias of a setting.
struct setting_bias {
    const cJSON *item;           // the setting
    const cJSON *entry;          // of the item
    const cJSON *token, *amount; // NULL: the entry has none. The key of an entry is a string
};

// Calls `each` for the biases of an item of SETTING_BIASES until it returns false. Returns false if it did.
bool setting_biases(const cJSON *item, bool (*each)(void *to, const struct setting_bias *b), void *to);

// Adds a text, or each text of an array, to a list as it is; empty texts are left out. False if the item, or one in the
// array, is no text.
bool setting_texts(const cJSON *item, struct list *l);

#endif
