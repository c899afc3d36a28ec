// SPDX-License-Identifier: MIT
#include "recipe/derive.h"

#include "base/mem.h"
#include "recipe/chainspec.h"
#include "recipe/enginespec.h"
#include "recipe/grammar_options.h"
#include "recipe/vocab_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

const char *derive_keep(struct options *o, char *word)
{
    if (!word || !mem_grow(&o->word, &o->words_cap, o->n_words + 1, sizeof *o->word)) {
        free(word);
        return NULL;
    }
    return o->word[o->n_words++] = word;
}

// A copy of n elements, or *failed.
static void *copied(const void *from, size_t n, size_t size, bool *failed)
{
    void *const to = n ? malloc(n * size) : NULL;
    if (to)
        memcpy(to, from, n * size);
    *failed = *failed || (n && !to);
    return to;
}

static void copy_breakers(struct options *to, const struct options *from, bool *failed)
{
    const size_t n = from->params.n_dry_breakers;
    to->breaker = copied(from->breaker, n, sizeof *to->breaker, failed);
    to->params.dry_breakers = to->breaker;
    to->params.n_dry_breakers = to->breaker_cap = to->breaker ? n : 0;
    for (size_t i = 0; i < to->params.n_dry_breakers; i++)
        to->breaker[i].ids = copied(from->breaker[i].ids, from->breaker[i].n, sizeof *from->breaker[i].ids, failed);
}

static void copy_texts(struct options *to, const struct options *from, bool *failed)
{
    to->samplers = derive_keep(to, strdup(from->samplers));
    to->dry_text = copied(from->dry_text, from->n_dry_texts, sizeof *to->dry_text, failed);
    to->n_dry_texts = to->dry_text_cap = to->dry_text ? from->n_dry_texts : 0;
    *failed = *failed || !to->samplers;
    for (size_t i = 0; i < to->n_dry_texts; i++) {
        to->dry_text[i] = derive_keep(to, strdup(from->dry_text[i]));
        *failed = *failed || !to->dry_text[i];
    }
}

bool derive(struct options *to, const struct options *from, struct err *e)
{
    bool failed = false;
    *to = *from;
    to->prompt = to->accept = (struct ids){0};
    to->files = NULL;
    to->grammar_given = NULL;
    to->grammar_shared = to->trie_shared = true;
    to->choice = to->plan = NULL;
    to->n_choices = to->choice_cap = to->n_plan = 0;
    to->bias_text = NULL; // what came of these stays with the first of all options, which outlives every other
    to->n_bias_texts = to->bias_text_cap = 0;
    to->dry_piece = NULL;
    vocab_init(&to->texts);
    to->word = NULL;
    to->n_words = to->words_cap = 0;
    to->params.n_bias = from->params.n_bias - from->n_vocab_bias;
    to->n_vocab_bias = 0;
    to->bias = copied(from->bias, to->params.n_bias, sizeof *to->bias, &failed);
    to->bias_cap = to->bias ? to->params.n_bias : 0;
    to->params.bias = to->bias;
    to->gbnf = from->gbnf ? strdup(from->gbnf) : NULL;
    failed = failed || (from->gbnf && !to->gbnf);
    copy_breakers(to, from, &failed);
    copy_texts(to, from, &failed);
    return !failed || err_from_fault(e, fault_memory());
}

void derive_forget_bias(struct options *o)
{
    o->params.n_bias = o->n_bias_texts = 0;
}

void derive_forget_breakers(struct options *o)
{
    for (size_t i = 0; i < o->params.n_dry_breakers; i++)
        free((void *)(uintptr_t)o->breaker[i].ids);
    o->params.n_dry_breakers = 0;
    o->n_dry_texts = 0;
}

void derive_forget_grammar(struct options *o)
{
    free(o->gbnf);
    o->gbnf = NULL;
    o->grammar = NULL;
}

// Reads the grammar that has been given since, if any. The one there was goes on when it is given again.
static bool derive_grammar(struct options *o, struct err *e)
{
    if (!o->grammar_given || (o->gbnf && !strcmp(o->gbnf, o->grammar_given)))
        return true;
    derive_forget_grammar(o);
    o->grammar_shared = false;
    o->trie_shared = o->trie != NULL;
    return grammar_options_apply(o, e);
}

bool derive_plan(struct options *o, struct err *e)
{
    if (o->params.seed == UINT32_MAX && getrandom(&o->params.seed, sizeof o->params.seed, 0) != sizeof o->params.seed)
        return err_set(e, STATUS_IO, "no random seed to be had from the system");
    if (!vocab_options_resolve(o, e) || !derive_grammar(o, e))
        return false;
    return o->engine->options ? enginespec_build(o, e) : chainspec_build(o, e);
}
