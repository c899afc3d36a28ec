// SPDX-License-Identifier: MIT
// Data of a row beside its numbers, as members of a JSON object: seq, prompt_tokens, accept, end and params.
// JSON rows say it themselves; for others a file does, a line a row.
#ifndef SAMPL_IN_ROW_NOTES_H
#define SAMPL_IN_ROW_NOTES_H

#include "in/input.h"

#include <cjson/cJSON.h>

// Memory that input_row points to. A zeroed struct is ready; its memory is kept from row to row.
struct row_notes {
    uint32_t *prompt;
    size_t prompt_cap;
    char seq[32]; // a name given as a number
};

void row_notes_free(struct row_notes *n);

// The row's sequence, and whether it ends with it.
bool row_notes_sequence(struct row_notes *n, const cJSON *object, struct input_row *r, struct err *e);

// The rest. text[0..len) is what the object was read from. They stay as long as the object.
bool row_notes_rest(struct row_notes *n, cJSON *object, const char *text, size_t len, struct input_row *r,
                    struct err *e);

// A file of them.
struct notes_file {
    struct source source;
    uint64_t line; // lines read so far
    struct row_notes notes;
    cJSON *object; // of the line at hand
};

// A zeroed struct is ready. Errors name the file.
bool notes_open(struct notes_file *f, const char *path, struct err *e);
void notes_close(struct notes_file *f);

// Reads the line of row r->number, where those before it have been read or are passed over. A line that is no such
// object, or is missing, is an error of data.
bool notes_read(struct notes_file *f, struct input_row *r, struct err *e);

#endif
