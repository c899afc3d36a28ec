// SPDX-License-Identifier: MIT
// Recipes: what a chain is, its stages with their parameters and the lists that stages share. A recipe never changes.
// Equal recipes are one object, so sequences with the same parameters share a recipe. Options, presets, a model's
// metadata and a row's parameters fill a new recipe (settings/new_recipe.h), of which recipe_finish makes a recipe.
#ifndef SAMPL_CHAIN_RECIPE_H
#define SAMPL_CHAIN_RECIPE_H

#include "base/err.h"
#include "base/note.h"
#include "base/number.h"
#include "base/shared.h"
#include "sample/budget.h"
#include "samplers/engine.h"
#include "vocab/vocab.h"

// ---- the parts of a recipe, each shared by the recipes that have it

enum recipe_part {
    PART_ORDER,
    PART_BIASES,
    PART_BREAKERS,
    PART_BANS,
    PART_RULES,
    PART_REASONING,
    PART_GENERATION,
    PART_EMBEDDINGS,
    PARTS
};

// The samplers that --samplers names, in order. order_chain makes stages of them.
struct order {
    struct shared
        shared; // key: 'n' for names, 'l' for letters or 'd' for the names of the default chain, then the text
    size_t n;
    struct order_entry entry[]; // [n]
};

// The biases given, then a ban for each token of the vocabulary that is never to be chosen.
struct biases {
    struct shared shared; // key: ignore_eos and the biases given
    size_t n, n_given;
    struct bias *bias; // [n]
    bool ignore_eos;
    struct bias_table table;
};

// DRY's sequence breakers.
struct breaker_list {
    struct shared shared; // key: token sequences and texts
    struct breakers breakers;
    bool ready; // breakers_find_heads has been called, for a chain with dry
};

// The tokens and sequences that the stage bans may mask.
struct ban_list {
    struct shared shared; // key: ends and sequences as given
    struct bans bans;     // its ends: n_given, then those of the vocabulary
    size_t n_given;
    uint32_t *end;
    struct tokens sequence[]; // [bans.n]
};

struct rules {
    struct shared shared; // key: the grammar in GBNF
    struct grammar *grammar;
    const char *option; // the first option that gave this grammar
    bool of_row;        // the grammar came with a row's parameters
};

// Returns the grammar in GBNF. A NUL stands behind the text.
static inline struct piece rules_text(const struct rules *r) { return (struct piece){r->shared.key, r->shared.len}; }

// The tags of the reasoning budget; end tags follow from REASONING_END on. A tag that was not given is empty.
enum { REASONING_START, REASONING_MESSAGE, REASONING_END };

struct reasoning {
    struct shared shared;      // key: the tags, the number of tokens, and forces
    int64_t tokens;            // -1: no budget
    bool forces;               // the message and an end tag; a row without a message forces nothing
    struct budget_rules rules; // n_ends 0: there is no budget, as its number or a tag is missing
    size_t n;
    struct tokens tag[]; // [n >= REASONING_END]
};

// The generation prompt. The reasoning budget, and with grammar_prefilled the grammar, read it at the beginning of each
// text.
struct generation {
    struct shared shared; // key: the ids
    struct tokens tokens;
};

// The vectors of the tokens, for scatter.
struct embedding_file {
    struct shared shared; // key: the metric, then the name of the file with its NUL
    struct embeddings embeddings;
    void *owner; // of embeddings.data
    void (*close)(void *owner);
};

// Returns the name of the file.
static inline const char *embedding_file_name(const struct embedding_file *f)
{
    return (const char *)f->shared.key + 1;
}

// The parts that make a recipe. The struct is a key, so it has no padding.
struct recipe_key {
    const struct engine *engine;
    union {
        struct {
            struct order *order; // NULL: the engine's order is fixed
            struct biases *biases;
            struct breaker_list *breakers;
            struct ban_list *bans;
            struct rules *rules;               // NULL: no grammar
            struct reasoning *reasoning;       // NULL: neither budget nor tags were given
            struct generation *generation;     // NULL: none
            struct embedding_file *embeddings; // NULL: none
        };
        void *part[PARTS]; // by enum recipe_part
    };
    uint64_t grammar_first; // 1: the grammar masks the row before the chain runs
    uint64_t
        grammar_prefilled; // 1: the generation prompt moves the grammar, which is that of a schema or of tool calls
    uint64_t seed;
    uint64_t seed_named;        // 1: a row's parameters gave the seed
    double value[CATALOG_MOST]; // by number of the catalog, as given: engine->adjust changes a copy for the stages
};

// ---- recipes

struct recipe {
    struct shared shared;
    const struct recipes *of;
    struct recipe_key key;
    struct context context;
    size_t n_stages;
    struct stage stage[]; // [n_stages] disabled stages included; the last is the selector. Their parameters follow
};

// All recipes of a run, and the data that they share.
struct recipes {
    struct catalog catalog;
    struct vocab texts;
    const struct vocab *vocab; // &texts once a vocabulary is loaded; NULL before
    struct trie *trie;         // of the vocabulary; NULL before recipes_trie
    struct shared_set recipe, part[PARTS];

    // What becomes of names of samplers that are not known, which are left out with a warning or else an error; and of
    // grammars and schemas that llama.cpp refuses, which have a note or else are errors.
    enum { UNKNOWN_IS_ERROR, UNKNOWN_IS_LEFT_OUT } unknown;
    enum { REFUSED_IS_NOTED, REFUSED_IS_ERROR } refused;

    struct builder notes; // on new recipes (base/note.h); the program prints and clears them

    struct builder once;         // notes that the program prints once for several chains, one a line
    bool of_model[CATALOG_MOST]; // by number of the catalog: the value is what the model's metadata recommends
};

// Every recipe must be dropped before recipes_free.
void recipes_init(struct recipes *r);
void recipes_free(struct recipes *r);

// Adds a note to r->notes, unless another chain of the run had a note with the same text.
__attribute__((format(printf, 3, 4))) void note_once(struct recipes *r, enum note_kind kind, const char *format, ...);

// Returns the trie of the vocabulary, which the first call makes. NULL if there is no vocabulary or memory is short.
const struct trie *recipes_trie(struct recipes *r);

// Returns the recipe, which may be NULL, if its enabled stages have the data that their parameters need. Otherwise
// drops it and returns NULL with *e (STATUS_USAGE).
const struct recipe *recipe_checked(const struct recipe *recipe, struct err *e);

// Releases a recipe, which may be NULL.
void recipe_drop(const struct recipe *recipe);

// Returns the rules of the reasoning budget. NULL: there is no budget.
const struct budget_rules *recipe_budget(const struct recipe *recipe);

// Returns the enabled stage behind s, or the first one if s is NULL. NULL: there is none.
const struct stage *recipe_next(const struct recipe *recipe, const struct stage *s);

// Returns whether an enabled stage of the chain has this sampler.
bool recipe_runs(const struct recipe *recipe, const struct sampler *sampler);

// Returns true if an enabled stage reads these lists; goes against the odds in this way; has a temperature above 0.
bool recipe_reads(const struct recipe *recipe, enum sampler_lists lists);
bool recipe_defies(const struct recipe *recipe, enum odds odds);
bool recipe_has_temperature(const struct recipe *recipe);

// Returns true if mirostat runs in place of the samplers.
bool recipe_has_mirostat(const struct recipe *recipe);

// Returns the name of the first enabled stage's sampler of which llama.cpp has this. NULL: there is none.
const char *recipe_in_llama(const struct recipe *recipe, enum in_llama in_llama);

// Returns true if an enabled stage learns from a list of logits what a list of log-probabilities does not tell.
bool recipe_wants_logits(const struct recipe *recipe);

// Returns the name of a stage for which the distribution that the chain leaves depends on numbers drawn before the
// selector's draw; "the grammar" if a second pass may follow a draw. NULL: the row and the history decide it.
const char *recipe_by_chance(const struct recipe *recipe);

// Returns whether the chain leaves only the largest logit: what it chooses does not depend on the seed, unless
// recipe_by_chance names a stage.
bool recipe_is_greedy(const struct recipe *recipe);

// Returns whether the stage would run if the parameter of this row of its sampler had this value.
bool stage_runs_with(const struct stage *stage, const struct param *row, double value);

// Returns whether the stage multiplies negative logits, and divides positive ones, by a factor other than 1.
bool stage_has_factor(const struct stage *stage);

// Returns the first stage that runs and depends on the size or the sign of the row's logits, which log-probabilities do
// not tell. NULL: there is none, or a stage before it writes ln p in any row.
const struct stage *recipe_reads_logits(const struct recipe *recipe);

// Returns how many tokens a list should have for a chain: a few more than the largest top-k keeps. 0: a list of any
// length leaves a tail, as a draw from all tokens does. scale: that of the list; logits come with the size of the tail.
size_t recipe_list_wanted(const struct recipe *recipe, enum logit_scale scale);

// Returns the measures of the first enabled sampler that has some, or NULL.
const struct row_measure *recipe_measures(const struct recipe *recipe);

// Returns whether the recipe's engine has a stage for an option. With a grammar, some engines lack some stages.
bool recipe_listens(const struct recipe *recipe, const char *option);

// Finds the stage that --after names: a name of its sampler, and '#' with a number from 1 if several stages have that
// name. *at becomes the stage's index.
bool recipe_find_stage(const struct recipe *recipe, const char *text, size_t *at, struct err *e);

// Returns the number of a stage among those with the same name, from 1; 0 if no other stage has the name.
size_t recipe_stage_nth(const struct recipe *recipe, size_t at);

// Writes the name of a stage with that number, as top_k or top_k#2. Returns text.
const char *stage_name(const struct sampler *sampler, size_t nth, char text[NUMBER_TEXT]);

#endif
