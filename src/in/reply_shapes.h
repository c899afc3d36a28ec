// SPDX-License-Identifier: MIT
// The shapes of servers' replies, as one table: where a reply has its positions, and how its tokens are written.
// json_reply.c reads by this table; the manual's table of replies is generated from it.
//
// A path leads from a value to one inside it: names of members with periods between them. "." is the value itself. "[]"
// behind a name stands for each element of an array; a path that leads to one value takes the first that is not null.
// "#" is the first member, if its name is a token id. Several paths, with blanks between them, are tried in turn.
#ifndef SAMPL_IN_REPLY_SHAPES_H
#define SAMPL_IN_REPLY_SHAPES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

// How the chosen tokens of positions are written. A list of tokens is an array of objects or of [logprob, id, text], or
// an object from text or id to a number or an object; such an object may stand alone in an array.
enum token_form {
    TOKEN_RECORD,  // objects with the members of token_names
    TOKEN_TEXT,    // texts, or ids; the keys of lists are then texts, or ids
    TOKEN_ID,      // ids; the keys of lists are ids
    TOKEN_TRIPLE,  // [logprob, id, text], or [[id], [logprob, logprob after sampling]]
    TOKEN_COLUMNS, // an array of ids or texts, and one of numbers: one list, or several that `starts` tells apart
    TOKEN_NESTED,  // the same arrays, of which each element is the array of a position
    TOKEN_STEPS,   // the same arrays, of which each element is a position
};

// The names of the members of a token's object, with blanks between them. A number whose name begins with "prob" is a
// probability.
struct token_names {
    const char *id, *text, *number;
    const char *list; // of tokens, in the object of a chosen one
};

// Which text positions belong to.
enum text_part {
    PART_OUTPUT,
    PART_PROMPT, // the first token has no list, since nothing precedes it
    PART_ASIDE,  // the reasoning or the refusal beside the output
    PART_BOTH,   // the output, perhaps behind the prompt (echo); read if no other row has the output
};

// Which sequences the objects of `each` belong to.
enum reply_order {
    ORDER_ONE,  // one sequence
    ORDER_EACH, // each begins a sequence, after the prompt
    ORDER_ON,   // that of the reply before
};

// One set of positions of a kind of reply. The rows of a kind stand together, and those of the kind with the same
// `each`, too. The kind of a reply is that of the first row whose marker it has; all rows of the kind then apply. A
// reply without a marker may be one object of `each` alone, or what `within` leads to.
struct reply_shape {
    const char *kind;    // who writes it, for the manual
    const char *marker;  // path from the root
    int type;            // cJSON's type of the marker
    const char *request; // what makes the server list tokens, for messages; NULL: nothing does
    enum text_part part;
    enum reply_order order;
    enum token_form form;
    const char *each;   // path to the objects with positions
    const char *within; // from such an object to the one that has the arrays; NULL: itself
    const char *tokens; // array of the chosen tokens, or one; NULL: they are not recorded, or only `ids` has them
    const char *token;  // from an element of `tokens` to the token; NULL: itself
    const char
        *lists; // array of the lists, or the list of one token; NULL, or none there: each chosen token holds its list
    const char *inner;   // from an element of `lists` to the list; NULL: itself
    const char *numbers; // array of the chosen tokens' numbers, or the columns'; NULL: the tokens hold them
    const char *ids;     // from the object of `each`: array of the chosen tokens' ids, or the prompt's; NULL: none
    const char *starts;  // array of the places where lists begin in columns; NULL: none
};

// A row without tokens, lists and numbers is a kind of reply that lists no tokens.
extern const struct reply_shape reply_shapes[];
extern const size_t n_reply_shapes;

// The names of members of all tokens.
extern const struct token_names reply_names;

// Wrappers: paths from the root of a value to a reply, or to an array of replies.
extern const char *const reply_wrappers[];
extern const size_t n_reply_wrappers;

// Returns the value that the path leads to; NULL if there is none, it is null, or path is NULL.
const cJSON *reply_path(const cJSON *value, const char *path);

// Returns the first member of the object that has one of the names; null counts. NULL if there is none.
const cJSON *reply_named(const cJSON *object, const char *names);

// Returns whether the value has the marker of a shape.
bool reply_has_marker(const cJSON *value, const struct reply_shape *shape);

#endif
