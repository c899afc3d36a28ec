// SPDX-License-Identifier: MIT
// A new recipe, which is not complete, starts as an engine and the values of all parameters; other parts are set one
// by one. recipe_finish makes the recipe of it.
#ifndef SAMPL_SETTINGS_NEW_RECIPE_H
#define SAMPL_SETTINGS_NEW_RECIPE_H

#include "base/note.h"
#include "chain/recipe.h"
#include "settings/list.h"
#include "settings/value.h"
#include "vocab/tokenize.h"

#include <cjson/cJSON.h>

// It is a user of each of its parts (base/shared.h). recipe_finish or recipe_key_drop ends it.
struct new_recipe {
    struct recipes *of;
    struct recipe_key key;
    bool of_row; // a row's parameters make it
    bool random; // recipe_finish draws the seed
};

// Add and remove a user of each part.
void recipe_key_keep(struct recipe_key *p);
void recipe_key_drop(struct recipe_key *p);

// Makes the recipe, which the caller drops. Parts that were not set get their defaults: no biases and bans, llama.cpp's
// breakers, the default chain. Ends the new recipe in any case. NULL with *e on failure.
const struct recipe *recipe_finish(struct new_recipe *d, struct err *e);

// Makes the recipe of a JSON row: the recipe `from` with the row's "params" in place of some of its parts. The caller
// drops the result. Names and ranges are those of llama-server's requests: null is absent, some values are clamped,
// others are refused. Unknown members are errors, except those that do not concern sampling. NULL with *e on failure:
// STATUS_DATA, the text names the member.
const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params,
                                        struct err *e);

// The functions below set a part of the new recipe. After a failure the new recipe can only be dropped.

// Sets the seed, if it is in the engine's range. A seed that asks for a random one is drawn by recipe_finish.
bool recipe_set_seed(struct new_recipe *d, int64_t seed, struct err *e);

// How samplers are named: by names separated by ';', each with an optional =VALUE, or by letters.
enum order_form { ORDER_NAMES, ORDER_LETTERS };

// Sets the samplers. text NULL: the default chain,
// joined by every sampler of other programs (struct sampler: foreign) whose own parameter enables it, in the order of
// list.def.
bool recipe_set_samplers(struct new_recipe *d, const char *text, enum order_form form, struct err *e);

// Refuses values of one sampler that contradict each other.
bool recipe_check_values(const struct new_recipe *d, struct err *e);

// A grammar as text.
struct grammar_text {
    struct piece text;
    enum {
        GRAMMAR_GBNF,
        GRAMMAR_TOOL_CALLS, // GBNF, of tool calls
        GRAMMAR_SCHEMA      // a JSON schema
    } kind;
    const char *option; // without dashes; errors and notes begin with it
    const char *file;   // of the text; NULL: the option itself holds it
};

// Sets the grammar.
bool recipe_set_grammar(struct new_recipe *d, const struct grammar_text *g, struct err *e);

// ---- lists

// The lists of a chain and what is made with them, as they are given.
struct settings {
    struct list list[LISTS];
    int64_t reasoning_budget; // in tokens; -1: none
    bool ignore_eos;          // tokens that end a generation are banned
    bool no_escape;           // ENTRY_ESCAPED of LIST_BREAKERS are taken as they are
};

// Makes the parts of the lists that are given, and of those that the new recipe lacks. Biases and ignore_eos are one
// part, and so are both kinds of breakers, bans and ends, and the reasoning budget with its tags. In a row each text of
// a bias may be spelt by several tokens.
bool recipe_set_lists(struct new_recipe *d, const struct settings *s, struct err *e);

// Opens the vectors of a file: fills *m but for the metric. *owner has the memory and goes to `close`. False with *e.
typedef bool embeddings_open_fn(struct embeddings *m, void **owner, const char *file, struct err *e);

// Sets the vectors of the tokens. Calls `open` unless another recipe has these vectors.
bool recipe_set_embeddings(struct new_recipe *d, const char *file, enum distance_metric metric,
                           embeddings_open_fn *open, void (*close)(void *owner), struct err *e);

// ---- texts as tokens

// Splits a text into tokens as vocab_split does; an empty text has none. ids is zeroed at first and the caller's.
// Errors begin with `name`.
bool recipes_split_text(const struct recipes *r, const char *name, const char *text, bool escapes, struct ids *ids,
                        struct err *e);

// Copies a text as bytes, without its escapes, which the caller frees. NULL with *e if memory is short.
unsigned char *plain_text(const char *text, size_t len, bool escapes, size_t *n, struct err *e);

// Finds the only token that has a text.
bool recipes_find_token(const struct recipes *r, const char *text, size_t len, bool escapes, uint32_t *id,
                        struct err *e);

// Tokenizes a text as the model's tokenizer does; kinds: the special tokens that it cuts out (vocab/tokenize.h).
// *known: ids has the tokens; false: the vocabulary says too little, or (with tables that were built) the text takes
// more. Builds the tables, which the caller frees. False with *e: memory was short.
bool recipes_tokenize(const struct recipes *r, struct token_tables *t, unsigned kinds, const char *text, size_t len,
                      bool escapes, struct ids *ids, bool *known, struct err *e);

// Finds the tokens of a tag: those of the model's tokenizer, which cuts out special tokens, if it is *known; else as
// recipes_split_text does. An empty text has none. Builds the tables, which the caller frees.
bool recipes_tag_tokens(const struct recipes *r, struct token_tables *t, const char *name, const char *text,
                        bool escapes, struct ids *ids, bool *known, struct err *e);

// Adds the text of a tag, whose tokens the vocabulary has, without the spaces that the tokenizer puts into it.
void recipes_tag_text(const struct recipes *r, const struct tokens *tag, struct builder *text);

// ---- for the functions that set a part

// Sets the part with this key. Returns the part if it is new: zeroed but for its key, and to be
// filled. Returns NULL if the part was there (*ok true), or if memory is short (*ok false, with *e).
void *recipe_share(struct new_recipe *d, enum recipe_part part, const struct builder *key, size_t size,
                   void (*free)(void *), bool *ok, struct err *e);

#endif
