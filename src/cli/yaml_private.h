// SPDX-License-Identifier: MIT
// What the two files of cli/yaml.h share: yaml_text.c reads lines and texts.
#ifndef SAMPL_CLI_YAML_PRIVATE_H
#define SAMPL_CLI_YAML_PRIVATE_H

#include "base/builder.h"
#include "cli/yaml.h"

struct yaml {
    const char *text, *p; // the whole, up to a NUL, and the rest
    struct err *e;
    cJSON *anchors; // NAME: copy of its value
    int depth;
    int copies;  // values that aliases have repeated
    bool failed; // with *e
};

cJSON *yaml_fail(struct yaml *y, const char *what);

// Returns the item; NULL: memory is short.
cJSON *yaml_checked(struct yaml *y, cJSON *item);

size_t yaml_line_len(const char *p);

const char *yaml_past_blanks(const char *p);

// The length of p[0..len) without the white space at its end.
size_t yaml_trimmed(const char *p, size_t len);

// The length of a line without a comment and the white space at its end.
size_t yaml_len_before_comment(const char *p);

bool yaml_ends(const char *p);

// Moves to the next line that is neither empty nor a comment, and returns its indentation.
size_t yaml_next_line(struct yaml *y);

// Moves behind what stands on the line, which is a comment at most.
void yaml_end_line(struct yaml *y);

bool yaml_ends_document(const struct yaml *y);

size_t yaml_column(const struct yaml *y, const char *p);

// The string of a text, which is freed.
cJSON *yaml_string_value(struct yaml *y, struct builder *b);

// Reads a text in quotes.
cJSON *yaml_read_quoted(struct yaml *y);

// Reads the lines below a '|' or '>' that are indented more than `indent`. With '>' they are joined by blanks.
cJSON *yaml_read_block(struct yaml *y, size_t indent);

#endif
