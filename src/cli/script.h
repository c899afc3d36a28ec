// SPDX-License-Identifier: MIT
// A script that is read: what its variables hold, and the commands in it that start a program whose flags sampl reads.
// cli/shell.h and cli/batch_file.h read the two languages, and know which commands run under a condition.
#ifndef SAMPL_CLI_SCRIPT_H
#define SAMPL_CLI_SCRIPT_H

#include "base/builder.h"
#include "json/json.h"

// How far a character of a word is known, from certain to unknown.
enum doubt {
    DOUBT_NONE,
    DOUBT_DEFAULT,   // it holds unless the environment, or an argument of the script, sets another
    DOUBT_CONDITION, // it holds under a condition
    DOUBT_UNKNOWN,   // it is the spelling of what only a run of the script tells
};

// A text, and a mark for each of its bytes: MARK(doubt), and SPLITS where white space separates words.
struct marked_text {
    struct builder bytes, marks;
};

#define MARK(doubt) ((char)('0' + (doubt)))
enum { SPLITS = 4 };

// A word is [TEXT, MARKS], and a variable a list of words: an array's, or one.
struct script {
    cJSON *variables, *exported; // objects
    cJSON *arguments;            // words of the function that runs, $1 and so on; NULL: they are not known
    cJSON *own;                  // arguments that the script sets itself; NULL: none
    cJSON *words;                // of the command that is read
    cJSON *starts;               // what script_starts returns
    enum doubt least;            // of all that is read
    int depth;                   // of texts within texts
    int texts;                   // functions and the like that have been read
    bool exports_all;            // each variable that is set
    bool failed;                 // memory is short
};

bool script_begin(struct script *s);
void script_end(struct script *s);

// Sets s->failed if an object could not be made.
void script_check(struct script *s, const void *made);

// Appends an item to a list or, with a name, puts it into an object in place of one of its name. The item is owned;
// NULL: memory is short.
void script_give(struct script *s, cJSON *to, const char *name, cJSON *item);

// Makes the word of bytes[from..to) of a text. NULL: memory is short.
cJSON *script_new_word(struct script *s, const struct marked_text *t, size_t from, size_t to);

void text_add(struct script *s, struct marked_text *t, const char *bytes, size_t len, char mark);
void text_free(struct marked_text *t);

// Returns the largest doubt of a word's marks.
enum doubt word_doubt(const cJSON *word);
const char *word_text(const cJSON *word);

// Raises the doubt of a word to at least `least`.
void word_raise(cJSON *word, enum doubt least);

// Appends a text to a list as one word.
void script_add_word(struct script *s, cJSON *to, const struct marked_text *t);

// Appends the words of a text, separated at white space that SPLITS; a text without bytes gives one only if quoted.
void script_add_words(struct script *s, cJSON *to, const struct marked_text *t, bool quoted);

// Sets a variable to a list of words, which it then owns; NULL: memory is short. more: the words are added to those
// that it has. Under a condition, both values count, with that doubt; a value that is not known leaves the old one,
// which is then a default. unset: the condition is that the variable is not set.
void script_set(struct script *s, const char *name, size_t len, cJSON *value, bool more, bool condition, bool unset);

// Returns the words of a variable; NULL: the script does not set it.
const cJSON *script_variable(const struct script *s, const char *name, size_t len);

// Raises the doubt of all variables: something outside of the script may set them.
void script_doubt_variables(struct script *s);

// Adds the command s->words to the starts if it starts a program. env: an object of variables set for it alone, which
// may be NULL. Returns a text that it hands to a shell, as in sh -c TEXT, with its doubt as *least; the
// caller frees it.
char *script_command(struct script *s, const cJSON *env, bool condition, enum doubt *least);

// Returns the name of the program that a word names, without folder and .exe; "": none whose flags sampl reads.
void script_program(const char *word, char *name, size_t room);

#endif
