// SPDX-License-Identifier: MIT
// What a chain is: its stages with their parameters, and what they share. A recipe never changes, and equal recipes are one: sequences
// with the same parameters share theirs. Whatever describes a chain - options, presets, a model's metadata, a row's parameters - fills a
// draft, and the draft becomes a recipe.
#ifndef SAMPL_RECIPE_RECIPE_H
#define SAMPL_RECIPE_RECIPE_H

#include "base/err.h"
#include "base/shared.h"
#include "samplers/engine.h"
#include "samplers/plan.h"
#include "vocab/vocab.h"

// The samplers of a chain as they were named, before plan_chain.
struct order {
    struct shared shared; // key: 'n' or 'l' for names or letters, and the text
    size_t n;
    struct choice *choice; // [n]
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

// A grammar.
struct rules {
    struct shared shared; // key: the text
    char *text;           // [len] GBNF, and a NUL
    size_t len;
    struct grammar *grammar;
};

// What a recipe is made of. It is a key, so no byte of it is padding.
struct parts {
    const struct engine *engine;
    struct order *order; // of engine llama; else NULL
    struct biases *biases;
    struct breaker_list *breakers;
    struct rules *rules; // NULL: no grammar
    uint64_t seed;
    double value[CATALOG_MOST]; // by number of the catalog, as given: an engine's adjustments are in the stages only
};

struct recipe {
    struct shared shared;
    const struct recipes *of;
    struct parts parts;
    struct context context;
    size_t n_stages;
    struct stage *stage; // [n_stages], disabled ones included; the last is the selector
};

// The recipes of a run, and what all of them are made with.
struct recipes {
    struct catalog catalog;
    struct hash_table by_server_name; // numbers of the catalog
    struct vocab texts;
    const struct vocab *vocab; // texts once it is loaded, else NULL
    struct trie *trie;         // of the vocabulary, once a grammar was asked for; NULL before
    struct shared_set recipe, order, biases, breakers, rules;
};

// To be freed either way; nothing may be left of them then.
bool recipes_init(struct recipes *r, struct err *e);
void recipes_free(struct recipes *r);

// The parameter that llama-server knows by this name, or catalog.n.
size_t recipes_by_server_name(const struct recipes *r, const char *name);

struct draft {
    struct recipes *of;
    struct parts parts;
};

// Starts a draft: with every default of llama.cpp, no samplers, no seed and no grammar; or with all that a recipe has. It ends with
// draft_make or draft_drop.
void draft_begin(struct draft *d, struct recipes *r);
void draft_begin_from(struct draft *d, struct recipes *r, const struct recipe *from);
void draft_drop(struct draft *d);

// The samplers by their names, separated by ';', each maybe with =VALUE; or by their letters.
bool draft_samplers(struct draft *d, const char *text, bool by_letter, struct err *e);

// Replace what there was. Banned tokens of the vocabulary are added. An ignore_eos without a vocabulary is an error.
bool draft_biases(struct draft *d, const struct bias *bias, size_t n, bool ignore_eos, struct err *e);

// A token that biases by its text: *id is the one that says text[0..len), escapes resolved.
bool recipes_find_token(const struct recipes *r, const char *text, size_t len, uint32_t *id, struct err *e);

// Replace what there was. Texts have no escapes left; what is longer than llama.cpp takes is cut, with a warning.
bool draft_breakers(struct draft *d, const struct piece *text, size_t n_texts, const struct breaker *sequence, size_t n_sequences,
                    struct err *e);
bool draft_default_breakers(struct draft *d, struct err *e);

// Sets a random seed.
bool draft_random_seed(struct draft *d, struct err *e);

// The recipe, which the caller drops when done; NULL with *e. The draft is gone either way.
const struct recipe *draft_make(struct draft *d, struct err *e);
void recipe_drop(const struct recipe *recipe);

// The trie of the vocabulary, made when first wanted. NULL when memory is short.
const struct trie *recipes_trie(struct recipes *r);

// Is an enabled stage of this sampler among the recipe's?
bool recipe_runs(const struct recipe *recipe, const struct sampler *sampler);

#endif
