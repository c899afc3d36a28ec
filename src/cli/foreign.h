// SPDX-License-Identifier: MIT
// Presets of other programs: SillyTavern, KoboldCpp, text-generation-webui, transformers, Ollama, LM Studio,
// llama-server and its clients, and sampl's own --print-chain=json. Each program's files are a dialect, one row of a
// table in dialects.c: what identifies a file, which defaults hold for settings that are absent, and which keys differ
// from the settings that programs share (settings/setting.h). A setting of a file sets an option, as if it were typed.
#ifndef SAMPL_CLI_FOREIGN_H
#define SAMPL_CLI_FOREIGN_H

#include "base/names.h"
#include "cli/args.h"
#include "samplers/engine.h"
#include "json/json.h"

// A preset that sets options. Its numbers are cJSON_Raw, spelt as in the file.
struct foreign {
    // set by the caller
    struct args *a;
    const char *path;           // of the file, for messages
    const struct engine *typed; // the engine that --engine names elsewhere, which holds; NULL: none
    struct err *e;

    // results, which the caller frees
    struct builder unsupported; // active settings that no option gives, as text: "top_a (0.75), tfs (0.97)"
    struct builder note;        // what else is to be said of the file; empty: nothing
    const char *with_prompt;    // what is to be said if the run has a prompt; NULL: nothing. Not to be freed

    // private to foreign.c and dialects.c
    const struct dialect *dialect;
    const struct engine *engine; // that the options are for
    cJSON *root;                 // of the file, whatever its notation
    const cJSON *settings;       // the object in it that holds the settings
    struct builder chain;        // the value of --samplers; without text there is none
    struct name_set given;       // options that the file has a setting for, by row
    struct name_set active;      // those whose setting switches something on
    struct name_set chained;     // samplers of the chain, by index in the list
    bool failed;                 // with *e
};

// Sets the options of text[0..len), with a NUL behind it, which is no preset of sampl's. section: of the file; NULL:
// none is named. A file belongs to the first dialect that identifies it, see sampl-presets(5). False with *e.
bool foreign_read(struct foreign *f, const char *text, size_t len, const char *section);

// ---- foreign.c: the settings that programs share

struct dialect {
    const char *name;
    const char *marks[4][2]; // it is a file of this dialect if it has both keys of a row, or the only one
    const char *member;      // in place of marks: a key that the file has, and whose object holds the settings

    // In place of marks: is it a file of this dialect? f->settings is the root, unless the function changes it.
    bool (*identify)(struct foreign *f);

    const char *engine;  // the program's pipeline; NULL: llama
    bool whole;          // the file is a whole chain: its engine holds, and no option before it but for the seed
    bool defaults;       // if settings are absent, sampl's defaults hold; otherwise all is off but for `absent`
    const char *absent;  // options that hold if their settings are absent, "FLAG=VALUE ..."
    const char *tfs;     // the sampler that this dialect calls tfs; NULL: tfs
    const char *ignored; // patterns of the keys that do not bear on the choice

    // Reads a key that has another meaning in this dialect. False: the key has the common meaning. NULL: all have.
    bool (*read_key)(struct foreign *f, const cJSON *item);

    const char *chain; // the samplers; NULL: `finish` adds them

    // Adds the samplers and whatever depends on several keys, when all keys are read. NULL: nothing is to be added.
    void (*finish)(struct foreign *f);
};

// The rows, in the order in which they are tried; the last has no name.
extern const struct dialect dialects[];

// The row of an option.
const struct option_row *foreign_row(const struct foreign *f, const char *name);

// Sets the option --name to a text; NULL: it has no value.
void foreign_set(struct foreign *f, const char *name, const char *text);

// Sets the option --name to an item, as JSON writes it. An array becomes a list without brackets.
void foreign_set_json(struct foreign *f, const char *name, const cJSON *item);

// Gives a list of the chain, to which texts may be added as they are.
struct list *foreign_list(struct foreign *f, enum list_kind kind);

// Notes that memory is short if a text is NULL. Returns the text.
char *foreign_check_text(struct foreign *f, char *text);

// Adds an active setting that no option gives to f->unsupported.
void foreign_unsupported(struct foreign *f, const cJSON *item);

// Has a key a meaning that is common to most programs?
bool foreign_knows(const struct foreign *f, const char *key);

// Adds a text to f->note.
void foreign_note(struct foreign *f, const char *text);

// Adds those of the options "FLAG=VALUE ..." that the file has no setting for. An engine other than llama has its own
// defaults.
void foreign_absent(struct foreign *f, const char *options);

// Adds options for a setting that has the meaning common to most programs.
void foreign_setting(struct foreign *f, const cJSON *item);

// Appends samplers to the chain, by other programs' names, too; any of white space , ; [ ] and quotes separate names. A
// sampler that llama.cpp lacks is left out unless its setting is active. An engine other than llama gets no samplers.
void foreign_chain(struct foreign *f, const char *names);

// Adds a note on active settings whose samplers are not in the chain.
void foreign_note_idle(struct foreign *f);

// Was the setting for this option active?
bool foreign_active(const struct foreign *f, const char *option);

// Returns the number of a setting, or `absent` if there is none.
double foreign_number(const struct foreign *f, const char *key, double absent);

// Adds the tokens that end a text, an id or a list of ids, if the file sets --min-tokens, which needs the tokens.
void foreign_end_tokens(struct foreign *f, const char *key);

static inline bool has_key(const cJSON *object, const char *key) { return json_member(object, key); }

static inline bool is_key(const cJSON *item, const char *key) { return !strcmp(item->string, key); }

// Is an item there, and not null, false, 0 or empty?
bool foreign_is_on(const cJSON *item);

// ---- printed.c: the dialect of --print-chain=json

bool printed_identify(struct foreign *f);
bool printed_key(struct foreign *f, const cJSON *item);
void printed_finish(struct foreign *f);

#endif
