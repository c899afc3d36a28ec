// SPDX-License-Identifier: MIT
// The reader of settings in JSON: of presets, of requests, of a row's "params", for the command line and libsampl. It
// reads an object by the rows of a program (programs/program.h), and hands on what it finds.
#ifndef SAMPL_SETTINGS_READ_H
#define SAMPL_SETTINGS_READ_H

#include "programs/program.h"
#include "settings/list.h"

// Where settings go. Texts are the reader's. Functions return false, or NULL, with *e.
struct read_target {
    // Sets an option of the chain; text: its value, as one would type it, or NULL for a flag.
    bool (*option)(void *to, const char *option, const char *text, struct err *e);

    // Sets a sampler's parameter, by its number in the catalog, to a number that the program's rule allows. spelt: as
    // messages show it.
    bool (*value)(void *to, size_t number, double x, const char *spelt, struct err *e);

    // Returns the list of a kind, to which the reader adds entries. key: the member of the object, whose entries
    // replace those before; NULL: they are added to them, which only files of other programs do.
    struct list *(*list)(void *to, enum list_kind kind, const char *key, struct err *e);

    // Refuses a key whose option the target does not take. NULL: it takes all.
    bool (*takes)(void *to, const char *option, const char *key, struct err *e);
};

struct settings_reader {
    struct file_view view; // the caller sets catalog, engine, engine_named, program, settings, root and e
    const struct read_target *target;
    void *to;   // of its functions
    bool vocab; // texts of biases are tokens
};

// Reads the settings of r->view. False with *view.e. The caller frees the view.
bool read_settings(struct settings_reader *r);

// ---- for the files of the reader

// Returns true if the program's numbers and lists are read as llama-server reads them.
static inline bool reads_as_server(const struct settings_reader *r)
{
    return r->view.program->rules != READS_AS_OPTIONS;
}

// Returns true if they are read as llama-server reads a request, to the letter.
static inline bool reads_as_request(const struct settings_reader *r)
{
    return r->view.program->rules == READS_AS_REQUEST;
}

// Refuses an item that is not what is wanted. Returns false.
static inline bool read_wrong(const struct settings_reader *r, const cJSON *item, const char *wanted)
{
    return err_set(r->view.e, STATUS_USAGE, "%.60s is not %s", item ? item->string : "", wanted);
}

static inline bool read_option(const struct settings_reader *r, const char *option, const char *text)
{
    return r->target->option(r->to, option, text, r->view.e);
}

// read_numbers.c. f: the row of the key; number: of the parameter that it sets.
bool read_field_number(struct settings_reader *r, const struct field_row *f, size_t number, const cJSON *item);
bool read_seed(const struct settings_reader *r, const cJSON *item);
bool read_other_number(const struct settings_reader *r, const struct field_row *f, const cJSON *item);

// Reads a number as the server does: a boolean is 0 or 1, and where a whole number is wanted, a fraction is cut off.
bool read_server_number(const struct settings_reader *r, const cJSON *item, bool whole, double *x);

// read_lists.c
// Sets an option to an item as JSON writes it, an array without brackets.
bool read_json(const struct settings_reader *r, const char *option, const cJSON *item);
bool read_biases(struct settings_reader *r, const cJSON *item);
bool read_breakers(const struct settings_reader *r, const cJSON *item);
bool read_sequences(const struct settings_reader *r, const struct field_row *f, const cJSON *item);
bool read_bans(const struct settings_reader *r, const struct field_row *f, const cJSON *item);
bool read_one_text(const struct settings_reader *r, const struct field_row *f, const cJSON *item);
bool read_tags(const struct settings_reader *r, const cJSON *item);

#endif
