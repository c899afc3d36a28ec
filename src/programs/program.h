// SPDX-License-Identifier: MIT
// A program whose files are read, or whose pipeline runs: one file in programs/ that defines a struct program, and one
// line in programs/programs.def. The struct says all that sampl knows of the program: how its files are told, what each
// key does, its defaults, the order of its samplers, and its engines (samplers/engine.h). settings/read.h reads a file
// by it, with one reader for all programs.
#ifndef SAMPL_PROGRAMS_PROGRAM_H
#define SAMPL_PROGRAMS_PROGRAM_H

#include "base/builder.h"
#include "base/err.h"
#include "base/names.h"
#include "samplers/engine.h"
#include "json/json.h"

// ---- keys

// What a key sets, and in which form.
enum field_form {
    FIELD_NUMBER,       // a number, or true or false; the option's flag
    FIELD_SAMPLER,      // a number, of the samplers' parameters that llama-server calls so (struct param: server)
    FIELD_SEED,         // a number; below 0 or 2^32 - 1: a random seed
    FIELD_ORDER,        // an array of the samplers' names, or a string of their letters
    FIELD_BIASES,       // {"token": bias, ...}, [[token, bias], ...] or [{"token": id, "bias": bias}, ...]
    FIELD_EOS,          // true: tokens that end a generation are banned
    FIELD_BREAKERS,     // texts
    FIELD_SEQUENCES,    // a list of lists of ids
    FIELD_BANS,         // a list of ids
    FIELD_GRAMMAR,      // GBNF
    FIELD_SCHEMA,       // a JSON schema
    FIELD_TEXT,         // a text of the reasoning budget
    FIELD_TAGS,         // a text or a list of texts of the reasoning budget
    FIELD_PROMPT,       // the text that a template puts before the answer
    FIELD_FALSE,        // false; true is refused
    FIELD_EMPTY,        // a list without elements; others are refused
    FIELD_OTHER,        // does not bear on the choice of a token
    FIELD_OTHER_FLAG,   // the same, and the program refuses what is neither true nor false
    FIELD_OTHER_NUMBER, // the same, and it refuses what is no number, or is below `low`; the first of the row's keys
                        // that the file has is read
    FIELD_IGNORED,      // would, but the program ignores it: a note names it
};

// When the number of a key has no effect.
enum field_off {
    OFF_WITH_SAMPLER, // a sampler's first parameter: if the sampler does not run; another parameter: always
    OFF_AT,           // at off_value
    OFF_UP_TO,        // at off_value or below
};

struct field_row {
    const char *keys;   // its names, separated by spaces, or without an option and in FIELD_SAMPLER patterns;
                        // NULL: the last row
    const char *option; // that it sets, without dashes; NULL: none does
    enum field_form form;
    enum field_off off;
    double off_value;
    double factor; // of its numbers; 0: 1
    double low;    // of FIELD_OTHER_NUMBER
};

// Returns true if a key does not bear on the choice of a token.
static inline bool field_is_other(const struct field_row *f)
{
    return f->form >= FIELD_OTHER && f->form <= FIELD_OTHER_NUMBER;
}

#define OFF_AT(value)    .off = OFF_AT, .off_value = (value)
#define OFF_UP_TO(value) .off = OFF_UP_TO, .off_value = (value)

// ---- programs

struct file_view;

struct program {
    const char *name;
    const char *reads;  // what its files are, for "read as NAME's READS": "request"; NULL: none is read
    const char *as_of;  // version or month of the program's source that the facts come from
    const char *source; // where it is, a path in the program's repository

    // Engines that --engine offers, up to a NULL; and the one that its files run. NULL: llama, with a chain of the
    // program's order.
    const struct engine *engines[3], *runs;

    // How a file of the program is told. It has both keys of a row, or the only one; or the object `member`, which
    // holds the settings; or `find` says so. NULL in all: none of its files are read.
    const char *marks[4][2];
    const char *member;
    bool (*find)(struct file_view *v); // sets v->settings, which is the root before; NULL: memory is short
    const char *marks_text;            // what `find` looks for, in the manual's words; NULL: no other than the above
    const char *yields;                // programs that a file with their marks, too, belongs to; NULL: none

    const struct field_row *fields; // a key belongs to the first row that has it
    enum {
        READS_AS_OPTIONS, // numbers and lists are checked as options are; numbers may stand in texts
        READS_AS_SERVER,  // by llama-server's rules for each parameter (struct param: request)
        READS_AS_REQUEST, // as llama-server does, to the letter: it ignores some errors, and numbers wrap to 32 bits
    } rules;
    bool refuses;  // a key that no row has is an error; else it has no effect, and a note names it
    bool any_case; // of the names of keys
    enum {
        UNSET_OFF,      // all is off but for `absent` and the defaults of the engine
        UNSET_DEFAULTS, // sampl's defaults hold
        UNSET_TYPED,    // the options before the file hold, and else sampl's defaults
        UNSET_CHAIN,    // the file is a whole chain: sampl's defaults hold, and of the options before it only the seed
    } unset;            // what holds for settings that the file does not have
    const char *names;  // of samplers in FIELD_ORDER; others are left out. NULL: any that sampl has
    const char *absent; // options that hold if their settings are absent, "FLAG=VALUE ..."
    const char *order;  // the samplers, before those that `finish` adds; NULL: none
    const char *order_text; // the whole order in the manual's words; NULL: `order` says all
    const char *tfs;        // the sampler that the program calls tfs; NULL: tfs

    // Reads a key that the rows do not describe. True: the key is done. NULL: there is none.
    bool (*key)(struct file_view *v, const cJSON *item);

    // Adds what depends on several keys, when all keys are read. NULL: nothing does.
    void (*finish)(struct file_view *v);
};

extern const struct program program_sampl; // a row's params

// In the order of programs.def; ends with NULL.
extern const struct program *const programs[];

// Finds a program by its name, in which case, '-', '_' and '.' do not count. NULL: there is none.
const struct program *program_by_name(const char *name);

// Finds an engine of a program by its name. NULL: no engine has the name.
const struct engine *engine_by_name(const char *name);

// Returns the program's row of a key, and the parameter that it sets, by number of the catalog; c->n: none. NULL: the
// program has no row of the key.
const struct field_row *program_field(const struct program *p, const struct catalog *c, const char *key,
                                      size_t *number);

// Returns true if a key sets a sampler, or asks for one, in the files of some program.
bool program_any_samples(const struct catalog *c, const char *key);

// ---- a file, as its program's hooks see it

// What hooks say of a file is kept here, and the reader does it when the hook has returned.
struct said {
    const char *option; // of the command line, without dashes; NULL: `item` is read as the key `key`
    char *text;         // its value, malloc'ed; NULL: it has none
    const char *key;
    const cJSON *item;
};

struct file_view {
    const struct program *program;
    const struct catalog *catalog;
    const struct engine *engine; // that the settings are for
    bool engine_named;           // outside of the file
    const cJSON *root;           // of the file, whatever its notation
    const cJSON *settings;       // the object in it that holds the settings
    struct name_set given;       // parameters that the file sets, by number of the catalog
    struct name_set active;      // those whose setting switches something on

    // Finds an option of presets by its name: "" if presets cannot have it; NULL if there is none.
    const char *(*find_option)(const void *options, const char *name);
    const void *options;

    // for the functions below
    cJSON *made;       // an object that `find` made; NULL: none
    struct said *said; // [n_said]
    size_t n_said, said_cap;
    struct builder chain;    // the value of --samplers; without text there is none
    struct name_set chained; // samplers of the chain, by index in the list
    struct builder unsupported, note;
    struct key_names {
        struct builder text; // of the first KEYS_NAMED
        size_t n;
    } ignored, unknown; // keys without effect
    const char
        *replaceable; // options with lists, which the same options behind the file replace; NULL: they add to all
    const char *with_prompt; // what is to be said if the run has a prompt; NULL: nothing
    const char *warning;     // NULL: none
    struct err *e;
    bool failed; // with *e
};

void view_free(struct file_view *v);

// Finds the program of the file v->root, and sets v->settings. NULL: it has no program's marks, or memory is short.
const struct program *view_program(struct file_view *v);

// Refuses the file v->root, an object or a list of such, if it is of a program whose files are known but not read.
// False with *e.
bool program_refuse_other(const struct file_view *v, struct err *e);

// Sets v->settings for a program that the user names. False: the file has none.
bool view_settings_of(struct file_view *v, const struct program *p);

static inline bool has_key(const cJSON *object, const char *key) { return json_member(object, key); }
static inline bool is_key(const cJSON *item, const char *key) { return !strcmp(item->string, key); }

// Returns true for an item that is there, and not null, false, 0 or empty.
bool view_is_on(const cJSON *item);
bool view_is_true(const struct file_view *v, const char *key);

// Reads the number of an item, which may be in a string. False if it is no number.
bool view_is_number(const cJSON *item, double *x);

// Returns the number of a setting, or `absent` if there is none.
double view_number(const struct file_view *v, const char *key, double absent);

// Returns true if the setting for this option switches something on.
bool view_active(const struct file_view *v, const char *option);

// Returns true if the program has a row for the key.
bool view_knows(const struct file_view *v, const char *key);

// Set an option: to a text, or NULL for a flag; to a number; to an item as JSON writes it, an array without brackets.
void view_set(struct file_view *v, const char *option, const char *text);
void view_set_number(struct file_view *v, const char *option, double x);
void view_set_json(struct file_view *v, const char *option, const cJSON *item);

// Lets the reader read an item as if the file had it under this key.
void view_read(struct file_view *v, const char *key, const cJSON *item);

// Sets those of the options "FLAG=VALUE ..." that the file does not set, unless an engine other than llama has defaults
// of its own.
void view_absent(struct file_view *v, const char *options);

// Appends samplers to the chain, by other programs' names, too; any of white space , ; [ ] and quotes separate names. A
// sampler that llama.cpp lacks is left out unless its setting is active. An engine other than llama gets no samplers.
void view_chain(struct file_view *v, const char *names);

// Appends the samplers in the order of a setting, or in the usual order if there is no such setting.
void view_order(struct file_view *v, const char *key, const char *usual);

// Adds a note on active settings whose samplers are not in the chain.
void view_note_idle(struct file_view *v);

// Adds the tokens that end a text, an id or a list of ids, if the file sets --min-tokens, which needs the tokens.
void view_end_tokens(struct file_view *v, const char *key);

// Adds a dynamic temperature between the settings low and high, if the setting `on` is true. The plain temperature then
// has no effect.
void view_dynamic_temp(struct file_view *v, const char *on, const char *low, const char *high);

// Adds an active setting that no option gives.
void view_unsupported(struct file_view *v, const cJSON *item);

enum { KEYS_NAMED = 8 };

// Adds a key, or another name, to those without effect.
void view_name(struct key_names *names, const char *key);

// Adds a text to what is to be said of the file.
void view_note(struct file_view *v, const char *text);

// Refuses the file. Returns false.
__attribute__((format(printf, 2, 3))) bool view_refuse(struct file_view *v, const char *format, ...);

// Notes that memory is short if a text is NULL. Returns the text.
char *view_check_text(struct file_view *v, char *text);

#endif
