// SPDX-License-Identifier: MIT
// Members of a JSON object that describe a row: seq, prompt_tokens, accept, position, sample, end and params. A JSON
// row has them itself. Rows of other formats have them in the file of --params, one line a row.
#ifndef SAMPL_IN_ROW_NOTES_H
#define SAMPL_IN_ROW_NOTES_H

#include "in/input.h"

#include <cjson/cJSON.h>

// Memory that struct input_row points to, kept from row to row; row_notes_free frees it. A zeroed struct is ready.
struct row_notes {
    uint32_t *prompt;
    size_t prompt_cap;
    char seq[32]; // text of a "seq" that is a number
};

void row_notes_free(struct row_notes *n);

// Reads "seq" and "end" into r->seq and r->ends. The functions below fail with STATUS_DATA if a member has the
// wrong type.
bool row_notes_sequence(struct row_notes *n, const cJSON *object, struct input_row *r, struct err *e);

// Reads "prompt_tokens" into r.
bool row_notes_prompt(struct row_notes *notes, const cJSON *object, struct input_row *r, struct err *e);

// Reads "prompt_tokens", "accept", "position", "sample" and "params" into r. text[0..len) is the text that the object
// was parsed from. r points into n and object.
bool row_notes_others(struct row_notes *n, cJSON *object, const char *text, size_t len, struct input_row *r,
                      struct err *e);

// The file of --params.
struct notes_file {
    struct source source;
    uint64_t line; // lines read so far
    bool too_long; // the last of them had too many bytes, and its end was not read
    struct row_notes notes;
    cJSON *object; // of the current line
};

// Opens the file. A zeroed struct is ready. Errors name the file.
bool notes_open(struct notes_file *f, const char *path, struct err *e);

// Frees the file's memory, also after a failed notes_open, and of a zeroed struct.
void notes_close(struct notes_file *f);

// Reads the line of row r->number, which must rise from call to call. Fails with STATUS_DATA if there is no such line,
// or it is no object, or row_notes_* fail.
bool notes_read(struct notes_file *f, struct input_row *r, struct err *e);

#endif
