// SPDX-License-Identifier: MIT
// Presets of other programs. Each program's files are a dialect, one row of a table (dialects.c): what marks them, what
// they mean where they are silent, and what their keys mean beyond the settings that programs share (chain/setting.h).
// All of it becomes options, as a person would type them.
#ifndef SAMPL_CLI_FOREIGN_H
#define SAMPL_CLI_FOREIGN_H

#include "base/builder.h"
#include "base/names.h"
#include "cli/options.h"
#include "json/json.h"

// A file that becomes options. Its numbers are cJSON_Raw, spelt as in the file.
struct foreign {
    const struct options *options;
    const struct dialect *dialect;
    cJSON *root;             // of the file, whatever its notation
    const cJSON *settings;   // the object in it that holds the settings
    struct builder words;    // "--option=value", with a NUL between two of them
    struct builder chain;    // the value of --samplers; without text there is none
    struct builder lacking;  // active settings that no option gives, as text: "top_a (0.75), tfs (0.97)"
    struct name_set given;   // options that the file has a setting for, by row
    struct name_set active;  // those whose setting switches something on
    struct name_set chained; // samplers of the chain, by place
    bool vocab;              // tokens may be named by their texts
    bool failed;             // with *e
    struct err *e;
};

struct dialect {
    const char *name;
    const char *marks; // keys that its files have, "a+b c": a and b, or c. NULL: as `is` says
    bool (*is)(const cJSON *root);
    cJSON *(*settings)(
        cJSON *root);    // finds the settings, NULL when memory is short. If it is NULL, the root holds them
    const char *member;  // in place of marks, is and settings: a member that is there and holds the settings
    bool defaults;       // where the file is silent, sampl's defaults hold. Else all is off but for `absent`
    const char *absent;  // options, "FLAG=VALUE ..."
    const char *tfs;     // which of the two samplers that are called so; NULL: tfs
    const char *ignored; // patterns of the keys that do not bear on the choice

    // Reads a key that means something else here; false: it does not. NULL: there are none.
    bool (*rule)(struct foreign *f, const cJSON *item);

    const char *chain; // its samplers; NULL: `finish` says them

    // Says the chain, when all keys are read. NULL: there is nothing to say.
    void (*finish)(struct foreign *f);
};

// Sets the error, unless there is one already. Returns false.
__attribute__((format(printf, 2, 3))) bool foreign_fail(struct foreign *f, const char *format, ...);

// Adds the option --name. What is returned takes its value; an equals sign stands before the value.
struct builder *foreign_option(struct foreign *f, const char *name);

// Adds the option --name=text.
void foreign_option_text(struct foreign *f, const char *name, const char *text);

// Adds the option --name=LIST for an array of ids.
void foreign_option_ids(struct foreign *f, const char *name, const cJSON *ids);

// Notes that there is no option for an item that is not off.
void foreign_lack(struct foreign *f, const cJSON *item);

// Reads a setting as programs commonly have it.
void foreign_setting(struct foreign *f, const cJSON *item);

// Appends the samplers of a chain, whatever separates their names, in other programs' words, too. A sampler that is no
// sampler of llama.cpp's is left out unless its setting is active.
void foreign_chain(struct foreign *f, const char *names);

// Says which active settings do nothing, as their samplers are not in the chain.
void foreign_note_idle(const struct foreign *f);

// Was the setting for this option active?
bool foreign_active(const struct foreign *f, const char *option);

// The number of a setting, or `absent` if there is none.
double foreign_number(const struct foreign *f, const char *key, double absent);

// Is an item there, and not null, false, 0 or empty?
bool foreign_is_on(const cJSON *item);

#endif
