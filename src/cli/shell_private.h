// SPDX-License-Identifier: MIT
// What the two files of cli/shell.h share: shell_words.c reads words and what stands between them.
#ifndef SAMPL_CLI_SHELL_PRIVATE_H
#define SAMPL_CLI_SHELL_PRIVATE_H

#include "cli/shell.h"

enum {
    FRAMES = 60, // statements within statements
    DOCUMENTS = 4,
};

// A statement that is open: if, a loop, case, braces or a subshell.
struct open_statement {
    enum { IN_IF, IN_LOOP, IN_CASE, IN_BRACES, IN_SUBSHELL } kind;
    bool conditional; // what is read now runs under a condition
    bool endless;     // a loop without a condition
    bool pattern;     // a pattern of case is next
    const char *test; // the condition
    cJSON *saved;     // the variables outside of a subshell
};

struct shell {
    struct script *s;
    const char *p;
    cJSON *functions; // NAME: TEXT
    struct open_statement frame[FRAMES];
    int depth;
    bool one_line, skips; // skips: no command is run
    bool splits;          // white space outside of quotes separates words: in ${NAME:-TEXT}
    bool conditional;     // the whole text
    bool chained;         // the command stands behind && or ||, on a condition
    bool certain;         // the last command does not fail where the script is of use
    bool ended;           // by exit, exec or return
    const char *test;     // the last command that is a test
    size_t test_len;
    struct {
        const char *end; // of a here-document: the word that ends it
        size_t len;
    } document[DOCUMENTS];
    size_t documents;
};

// Returns true if a command that stands here runs under a condition.
bool shell_is_conditional(const struct shell *h);

// Returns the length of a variable's name at p; 0: there is none.
size_t shell_name_len(const char *p);

// Returns the length of what stands at p: a quoted text, a substitution, an escape or a character; and that of a text
// in brackets, with them.
size_t shell_piece_len(const char *p);
size_t shell_bracket_len(const char *p, char open, char close);

// Returns the length of the word at h->p.
size_t shell_word_len(const struct shell *h);

// Appends the words of a list to a text, separated by blanks; or, if they are separate and quoted, to `to` but for the
// last.
void shell_add_list(struct shell *h, const cJSON *words, bool separate, bool quoted, struct marked_text *t, cJSON *to);

// Appends p[0..len) with quotes removed and variables replaced. to: gets the words of "${NAME[@]}"; NULL: they stay
// one.
void shell_expand(struct shell *h, const char *p, size_t len, bool quoted, struct marked_text *t, cJSON *to);

// Reads a word into a list, as one or several.
void shell_read_word(struct shell *h, cJSON *to);

// Moves past blanks, continued lines and comments.
void shell_past_space(struct shell *h);

// Moves past a redirection. False: there is none. A here-document is kept for the end of the line.
bool shell_past_redirection(struct shell *h);

// Moves past the here-documents that begin behind this line's end.
void shell_past_documents(struct shell *h);

#endif
