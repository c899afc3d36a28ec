// SPDX-License-Identifier: MIT
// What a chain is: its stages with their parameters, and what they share. A recipe never changes, and equal recipes are one: sequences
// with the same parameters share theirs. Whatever describes a chain - options, presets, a model's metadata, a row's parameters - fills a
// draft, and the draft becomes a recipe.
#ifndef SAMPL_CHAIN_RECIPE_H
#define SAMPL_CHAIN_RECIPE_H

#include "base/builder.h"
#include "base/shared.h"
#include "cli/variant.h"
#include "sample/budget.h"
#include "samplers/engine.h"
#include "vocab/vocab.h"

#include <cjson/cJSON.h>

// The samplers of a chain as they were named, before plan_chain.
struct order {
    struct shared shared; // key: 'n' for names, 'l' for letters or 'd' for names of the default chain, and the text
    size_t n;
    struct choice choice[]; // [n]
};

// The biases that were given, then those that ban tokens of the vocabulary.
struct biases {
    struct shared shared; // key: ignore_eos and the biases given
    size_t n, n_given;
    struct bias *bias; // [n]
    bool ignore_eos;
    struct bias_table table;
};

struct breaker_list {
    struct shared shared; // key: texts and sequences
    struct breakers breakers;
    bool ready; // the heads have been found, for a chain with dry
};

struct ban_list {
    struct shared shared; // key: what was given
    struct bans bans;     // its ends: n_given, then the vocabulary's
    size_t n_given;
    uint32_t *end;
    struct tokens sequence[]; // [bans.n]
};

// A grammar.
struct rules {
    struct shared shared; // key: its text, GBNF
    struct grammar *grammar;
    const char *option; // that gave it, the first if several did
    bool of_row;        // among a row's parameters
};

// The reasoning budget. Its tags are these, then the end tags; one that was not given is empty. That of REASONING_BEFORE moves the budget at
// the beginning of a text.
enum { REASONING_START, REASONING_MESSAGE, REASONING_BEFORE, REASONING_END };

struct reasoning {
    struct shared shared;      // key: the tags and the tokens
    int64_t tokens;            // -1: no budget
    struct budget_rules rules; // where there is one
    size_t n;
    struct tokens tag[]; // [n >= REASONING_END]
};

// The text of a grammar; a NUL stands behind it.
static inline struct piece rules_text(const struct rules *r)
{
    return (struct piece){r->shared.key, r->shared.len};
}

// What a recipe is made of. It is a key, so no byte of it is padding.
struct parts {
    const struct engine *engine;
    struct order *order; // of engine llama; else NULL
    struct biases *biases;
    struct breaker_list *breakers;
    struct ban_list *bans;
    struct rules *rules;         // NULL: no grammar
    struct reasoning *reasoning; // NULL: nothing of it was given
    uint64_t grammar_first;      // 1: its mask is on the row before the chain
    uint64_t seed;
    uint64_t seed_named;        // 1: a row's params did, 0: the options. As wide as the seed, since the parts are a key
    double value[CATALOG_MOST]; // by number of the catalog, as given: an engine's adjustments are in the stages only
};

struct recipe {
    struct shared shared;
    const struct recipes *of;
    struct parts parts;
    struct context context;
    size_t n_stages;
    struct stage
        stage[]; // [n_stages], disabled ones included; the last is the selector. Their parameters stand behind them
};

// The recipes of a run, and what all of them are made with.
struct recipes {
    struct catalog catalog;
    struct vocab texts;
    const struct vocab *vocab; // texts once it is loaded, else NULL
    struct trie *trie;         // of the vocabulary, once a grammar was asked for; NULL before
    struct shared_set recipe, order, biases, breakers, bans, rules, reasoning;
    bool warned_breakers, warned_typ_p; // of several chains one warning is enough
    bool of_model[CATALOG_MOST];        // by number of the catalog: its value is what the model recommends
};

// No recipe may be left when they are freed.
void recipes_init(struct recipes *r);
void recipes_free(struct recipes *r);

// The trie of the vocabulary, made when first wanted. NULL when memory is short.
const struct trie *recipes_trie(struct recipes *r);

// Loads the vocabulary, if one is given, and makes the recipe that the arguments describe; the caller drops it. What the model's file
// recommends holds for options that were not given. NULL with *e.
const struct recipe *recipe_from_args(struct recipes *r, const struct args *a, struct err *e);

// The recipes of the variants but the first, which the caller drops whatever comes of it: recipe[1..v->n), NULL at first. recipe[0] is there.
// Where the engine is swept, options that it has no stage for are left out.
bool recipes_of_variants(struct recipes *r, struct variants *v, const struct recipe **recipe, struct err *e);

// Before a run: notes which of a variant's options were typed and have no effect on its recipe. base: the arguments whose options, where they are the same,
// were looked at before; NULL for the base itself.
void recipe_say_idle(const struct recipe *r, const struct variant *x, const struct args *base);

// The name of a variant as a message has it, for %.*s.
#define VARIANT_NAME(x) err_clip((x)->name, 80), (x)->name

// Forgets the options that the engine has no stage for, and adds their names.
bool args_leave_out(struct args *a, struct builder *names, struct err *e);

// The recipe with the "params" of a JSON row in place of some of its parts, which the caller drops: llama-server's request parameters, by
// the server's names, read as its request reader does: null is absent, some values are brought into their range silently, others are
// refused. What is unknown is refused too, except members that have no bearing on sampling. Errors are of status STATUS_DATA and name the
// member; NULL then.
const struct recipe *recipe_with_params(struct recipes *r, const struct recipe *from, const cJSON *params,
                                        struct err *e);

void recipe_drop(const struct recipe *recipe);

// The rules of its reasoning budget; NULL: it has none.
const struct budget_rules *recipe_budget(const struct recipe *recipe);

// Is an enabled stage of this sampler among the recipe's?
bool recipe_runs(const struct recipe *recipe, const struct sampler *sampler);

// The place of the stage that a text names: a stage's name or another one of its sampler's, and if there are several, '#' and which one.
bool recipe_find_stage(const struct recipe *recipe, const char *text, size_t *at, struct err *e);

// Which of the stages with its name the one at a place is, from 1; 0: there is no other. And its name then, top_k or top_k#2; returns text.
size_t recipe_stage_nth(const struct recipe *recipe, size_t at);
const char *stage_name(const struct sampler *sampler, size_t nth, char text[NUMBER_TEXT]);

// Has the recipe's engine a use for this option?
bool recipe_listens(const struct recipe *recipe, const char *option);

// Prints the effective chain, in the way a->how says: text and json, with every parameter; preset (options that make the same recipe);
// llama (llama.cpp's flags where they differ from its defaults) and server (llama-server's request), which are errors when those have no
// such thing.
bool print_chain(const struct args *a, const struct recipe *r, struct err *e);

// Prints the grammar in GBNF; there is one.
bool print_grammar(const struct recipe *r, struct err *e);

// ---- drafts: whatever describes a chain fills one

// It holds a user of all that its parts share, and ends with draft_make or parts_drop.
struct draft {
    struct recipes *of;
    struct parts parts;
    bool of_row; // of a row's parameters
    bool random; // its seed is still to be drawn
};

// One user more, and one less, of all that the parts share.
void parts_keep(struct parts *p);
void parts_drop(struct parts *p);

// Takes a seed as it is given, if the engine does.
bool draft_seed(struct draft *d, int64_t seed, struct err *e);

// The recipe, which the caller drops when done; NULL with *e. The draft is gone either way.
const struct recipe *draft_make(struct draft *d, struct err *e);

// These replace a part of the draft. After a failure it can only be dropped.

// The samplers by their names, separated by ';', each maybe with =VALUE; or by their letters. NULL: the default chain, which foreign
// samplers join, each at its place in list.def, where a parameter of their own makes them run; so when values change, do it again.
bool draft_samplers(struct draft *d, const char *text, bool by_letter, struct err *e);

// Banned tokens of the vocabulary are added. An ignore_eos without a vocabulary is an error.
bool draft_biases(struct draft *d, const struct bias *bias, size_t n, bool ignore_eos, struct err *e);

// A token that biases by its text: *id is the one that says text[0..len), escapes resolved.
bool recipes_find_token(const struct recipes *r, const char *text, size_t len, uint32_t *id, struct err *e);

// The tokens that spell a text, as vocab_split has them; none for an empty one. *ids is the caller's, zeroed at first. Errors begin with
// what names the text.
bool recipes_split_text(const struct recipes *r, const char *name, const char *text, bool escapes, struct ids *ids,
                        struct err *e);

// Notes, to be said later, which tokens spell a text, if it is several; and says all that was noted.
void note_spelling(struct builder *notes, const char *name, const char *text, const struct ids *ids);
bool say_spellings(const struct builder *notes, struct err *e);

// Sequences of tokens, and behind them texts, as they are given. A zeroed struct holds none.
struct given {
    struct builder key; // of each its length, and its ids or bytes
    size_t n, n_texts;  // sequences, texts
};

void give_tokens(struct given *g, const uint32_t *id, size_t n);

// DRY's breakers. A text is cut with a warning if it is too long.
void give_breaker(struct given *g, const char *text, size_t len);

// Frees what was given, as those that follow do.
bool draft_breakers(struct draft *d, struct given *g, struct err *e);

// The tokens that end a text beside the vocabulary's, as one sequence; then those whose last token is masked behind the others.
bool draft_bans(struct draft *d, struct given *g, struct err *e);

// A budget of so many tokens, or -1: none. It needs a start tag and an end tag.
bool draft_reasoning(struct draft *d, int64_t tokens, struct given *g, struct err *e);

// The grammar that the source gives, which is not GRAMMAR_NONE. Errors begin with the option's name.
bool draft_grammar(struct draft *d, enum grammar_source source, const char *given, struct err *e);

// For these: the thing with this key, whose user the caller is; it is `known`, or zeroed but for its key and to be filled. The key is freed.
// NULL with *e.
void *draft_share(struct shared_set *set, struct builder *key, size_t size, void (*free)(void *), bool *known,
                  struct err *e);

#endif
