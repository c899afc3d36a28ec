// SPDX-License-Identifier: MIT
// Drafts: recipes in the making. A draft starts as an engine and the values of all parameters; other parts are set one
// by one. draft_make turns the draft into a recipe.
#ifndef SAMPL_SETTINGS_DRAFT_H
#define SAMPL_SETTINGS_DRAFT_H

#include "base/note.h"
#include "chain/recipe.h"
#include "settings/value.h"

#include <cjson/cJSON.h>

// A draft is a user of each of its parts (base/shared.h). draft_make or parts_drop ends it.
struct draft {
    struct recipes *of;
    struct parts parts;
    bool of_row; // a row's parameters make it
    bool random; // draft_make draws the seed
};

// Add and remove a user of each part.
void parts_keep(struct parts *p);
void parts_drop(struct parts *p);

// Makes the recipe, which the caller drops. Parts that were not set get their defaults: no biases and bans, llama.cpp's
// breakers, the default chain. Ends the draft in any case. NULL with *e on failure.
const struct recipe *draft_make(struct draft *d, struct err *e);

// Makes the recipe of a JSON row: the recipe `from` with the row's "params" in place of some of its parts. The caller
// drops the result. Names and ranges are those of llama-server's requests: null is absent, some values are clamped,
// others are refused. Unknown members are errors, except those that do not concern sampling. NULL with *e on failure:
// STATUS_DATA, the text names the member.
const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params,
                                        struct err *e);

// The functions below set a part of the draft. After a failure the draft can only be dropped.

// Sets the seed, if it is in the engine's range. A seed that asks for a random one is drawn by draft_make.
bool draft_seed(struct draft *d, int64_t seed, struct err *e);

// Sets the samplers: names separated by ';', each with an optional =VALUE, or letters. text NULL: the default chain,
// joined by every sampler of other programs (struct sampler: foreign) whose own parameter enables it, in the order of
// list.def.
bool draft_samplers(struct draft *d, const char *text, bool by_letter, struct err *e);

// Sets the biases, and bans the tokens that the vocabulary bans. ignore_eos needs a vocabulary.
bool draft_biases(struct draft *d, const struct bias *bias, size_t n, bool ignore_eos, struct err *e);

// A grammar as text.
struct grammar_text {
    struct piece text;  // GBNF, or a JSON schema
    bool schema;        // text is a JSON schema
    const char *option; // without dashes; errors and notes begin with it
    const char *file;   // of the text; NULL: the option itself holds it
    bool tool_calls;    // the grammar is that of tool calls
};

// Sets the grammar.
bool draft_grammar(struct draft *d, const struct grammar_text *g, struct err *e);

// ---- lists of token sequences

// Token sequences, then texts. A zeroed struct is empty. The draft_ functions below free it.
struct sequences {
    struct builder key; // of each sequence and text: its length, then its ids or bytes
    size_t n, n_texts;
};

// Appends a sequence. No text may have been added.
void sequences_add(struct sequences *s, const uint32_t *id, size_t n);

// Appends the text of a breaker. A text that is too long is cut, with a warning among the notes.
void sequences_add_text(struct sequences *s, const char *text, size_t len, struct builder *notes);

// Sets DRY's breakers.
bool draft_breakers(struct draft *d, struct sequences *s, struct err *e);

// Sets the bans. The first sequence holds tokens that end a text, in addition to those of the vocabulary. In each other
// sequence, the last token is masked behind the tokens before it.
bool draft_bans(struct draft *d, struct sequences *s, struct err *e);

// Sets the reasoning budget; tokens -1: none. forces: the message and the first end tag, at the budget's end. Without a
// start tag or an end tag there is no budget.
bool draft_reasoning(struct draft *d, int64_t tokens, bool forces, struct sequences *s, struct err *e);

// Sets the generation prompt, which is n tokens; 0: there is none.
bool draft_generation(struct draft *d, const uint32_t *id, size_t n, struct err *e);

// Opens the vectors of a file: fills *m but for the metric. *owner has the memory and goes to `close`. False with *e.
typedef bool embeddings_open_fn(struct embeddings *m, void **owner, const char *file, struct err *e);

// Sets the vectors of the tokens. Calls `open` unless another recipe has these vectors.
bool draft_embeddings(struct draft *d, const char *file, enum distance_metric metric, embeddings_open_fn *open,
                      void (*close)(void *owner), struct err *e);

// ---- texts as tokens

// Finds the token of a bias by its text, text[0..len), in which escapes are resolved. False with *e unless exactly one
// token has the text.
bool recipes_find_token(const struct recipes *r, const char *text, size_t len, uint32_t *id, struct err *e);

// Splits a text into tokens as vocab_split does; an empty text has none. ids is zeroed at first and the caller's.
// Errors begin with `name`.
bool recipes_split_text(const struct recipes *r, const char *name, const char *text, bool escapes, struct ids *ids,
                        struct err *e);

// Notes which tokens spell a text, if there are several.
void note_spelling(struct builder *notes, const char *name, const char *text, const struct ids *ids);

// ---- for the functions that set a part

// Sets the part with this key, and frees the key. Returns the part if it is new: zeroed but for its key, and to be
// filled. Returns NULL if the part was there (*ok true), or if memory is short (*ok false, with *e).
void *draft_share(struct draft *d, enum recipe_part part, struct builder *key, size_t size, void (*free)(void *),
                  bool *ok, struct err *e);

#endif
