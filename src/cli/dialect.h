// SPDX-License-Identifier: MIT
// Presets of other programs. Each program's files are a dialect, one row of a table: what marks them, what they mean where they are silent,
// and what their keys mean beyond the names that programs share (foreign_take). All of it comes to options as a person would type them.
#ifndef SAMPL_CLI_DIALECT_H
#define SAMPL_CLI_DIALECT_H

#include "base/builder.h"
#include "cli/options.h"
#include "json/json.h"

// A file on its way to options. Its numbers are cJSON_Raw, spelt as in the file. What goes wrong sticks in `failed`, with *e.
struct foreign {
    const struct options *options;
    const struct dialect *dialect;
    cJSON *root;            // of the file, whatever its notation
    const cJSON *settings;  // the object in it that holds the settings
    struct builder words;   // "--option=value", each ending in a NUL
    struct builder lacking; // active settings that no option gives, as text: "top_a (0.75), tfs (0.97)"
    struct builder said;    // ";flag;" for each setting that the file has, ";@name;" for each sampler of its chain
    struct builder active;  // the same of those that are not at their off value
    bool vocab;             // tokens may be named by their texts
    bool failed;
    struct err *e;
};

struct dialect {
    const char *name;
    bool (*is)(const cJSON *root);   // is it one of its files?
    cJSON *(*settings)(cJSON *root); // finds them, NULL when memory is short; if it is NULL: the root is they
    const char *member;              // in place of the two: a member that holds the settings, and tells that it is one
    bool defaults;                   // where the file is silent sampl's defaults hold; else all is off but for
    const char *absent;              // these options, "FLAG=VALUE ..."
    const char *tfs;                 // which of the two that are called so; NULL: tfs
    const char *ignored;             // keys that do not bear on the choice: patterns, separated by spaces
    bool (*rule)(struct foreign *f,
                 const cJSON *item);   // takes a key that means something else here; false: it does not
    void (*finish)(struct foreign *f); // says the chain, when all keys are read
};

extern const struct dialect dialects[]; // ends with one without a name; of several that claim a file the first has it

// For functions of dialects.

__attribute__((format(printf, 2, 3))) void foreign_fail(struct foreign *f, const char *format, ...);

// Frees a text that has been said; the file has failed if it has.
void foreign_end(struct foreign *f, struct builder *b);

// An option, with its value if it has one. Nothing is said of values that are the text NULL.
void foreign_say(struct foreign *f, const char *flag, const char *value);
void foreign_say_number(struct foreign *f, const char *flag, double value);

// There is no option for an item that is not off.
void foreign_lack(struct foreign *f, const cJSON *item);

// A setting as the programs commonly have it.
void foreign_take(struct foreign *f, const cJSON *item);

// The samplers of a chain, whatever separates their names, in other programs' words, too. Those of other programs than llama.cpp are left
// out unless their setting is active.
void foreign_say_chain(struct foreign *f, const char *names);

// Says which active settings do nothing, as the chain that was said has not their samplers.
void foreign_note_idle(const struct foreign *f);

// Was the setting for this flag active?
bool foreign_active(const struct foreign *f, const char *flag);

// A number of the settings, or what it is when absent; is it there and not null, false, 0 or empty?; the text of an array of names, or a
// string, to be freed; NULL if it is neither, or memory is short, which f->words then says.
double foreign_number(const struct foreign *f, const char *key, double absent);
bool foreign_is_on(const cJSON *item);
char *foreign_names(struct foreign *f, const cJSON *item);

#endif
