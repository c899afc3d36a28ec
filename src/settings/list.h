// SPDX-License-Identifier: MIT
// The lists among the settings of a chain, as they are given: before a vocabulary turns texts into tokens. An entry is
// text or token ids. The command line appends entries; a preset of another program and a row replace a list.
#ifndef SAMPL_SETTINGS_LIST_H
#define SAMPL_SETTINGS_LIST_H

#include "base/builder.h"
#include "settings/value.h"

enum list_kind {
    LIST_BIASES, // an entry is one token: an id, or the token's text
    LIST_BREAKERS,
    LIST_BREAKER_IDS,
    LIST_BANS,      // the last id of an entry is banned behind the others
    LIST_ENDS,      // ids that end a text
    LIST_START,     // of the reasoning budget: one entry
    LIST_MESSAGE,   // likewise
    LIST_END_TAGS,  // likewise, any number of entries
    LIST_GENERATION // the generation prompt, one entry
};

enum { LISTS = LIST_GENERATION + 1 };

enum entry_form {
    ENTRY_IDS,
    ENTRY_TEXT,
    ENTRY_ESCAPED, // a text with escapes, which the settings may say to take as they are
};

struct list_entry {
    enum entry_form form;
    float bias; // of LIST_BIASES
    size_t n;   // ids or bytes
    uint32_t of[];
};

static inline const char *entry_text(const struct list_entry *x)
{
    return (const char *)x->of;
} // a NUL stands behind it

// A zeroed struct was not given.
struct list {
    const char *name; // what messages call the setting, --OPTION or a member of a row; NULL: it was not given
    size_t n;
    enum {
        UNKNOWN_IDS_REFUSED,
        UNKNOWN_IDS_LEFT_OUT // as llama-server does with those of requests
    } unknown;               // what becomes of ids that the vocabulary lacks
    enum {
        LATER_ADDS,
        LATER_REPLACES // as llama-server's own options do with those of an ini's section
    } later;           // what an option that follows does with the entries
    struct builder entries;
    struct builder late; // a struct err that counts only if a chain is made of the list; empty: none
};

// Empties a list, and gives it a name; NULL: it counts as not given. The memory stays, so that a copy of the struct is
// not changed.
void list_begin(struct list *l, const char *name);
void list_free(struct list *l);

// Fills a zeroed list. The entries are new.
void list_copy(struct list *to, const struct list *from);

void list_add_ids(struct list *l, const uint32_t *id, size_t n, float bias);
void list_add_text(struct list *l, enum entry_form form, const char *text, size_t len, float bias);

// Returns the entry behind x, or the first if x is NULL; NULL: there is none.
const struct list_entry *list_next_entry(const struct list *l, const struct list_entry *x);

// The names of the lists' options in messages, with their dashes.
extern const char *const list_options[LISTS];

// Reads the value of an option as typed, and appends it, or replaces a list of one entry. Leaves out an empty breaker.
// Not for lists that only have ids. False with *e.
bool list_read(struct list *l, enum list_kind kind, const char *text, struct err *e);

// Appends an entry of the ids that a text names. False with *e if there are none.
bool list_take_ids(struct list *l, enum list_kind kind, const struct ids *ids, const char *text, struct err *e);

// Keeps an error for list_check, unless there is one: an engine may ignore the list.
void list_defer(struct list *l, const struct err *why);

// Returns false with the error that was kept in *e.
bool list_check(const struct list *l, struct err *e);

// Appends an entry as list_read takes it. no_escape: escapes are not resolved.
void entry_write(struct builder *b, const struct list_entry *x, enum list_kind kind, bool no_escape);

#endif
