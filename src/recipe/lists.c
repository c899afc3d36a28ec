// SPDX-License-Identifier: MIT
// The lists of a draft: samplers, biases, breakers.
#include "base/mem.h"
#include "cli/value.h"
#include "out/message.h"
#include "recipe/recipe.h"
#include "vocab/spelling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- samplers

// An unknown name, or letter, with those that can be used.
static bool unknown(bool by_letter, const char *name, size_t len, struct err *e)
{
    char known[600] = "", *at = known;
    for (size_t i = 0; samplers[i]; i++) {
        const struct sampler *const s = samplers[i];
        if (at + strlen(s->name) + 3 > known + sizeof known)
            break;
        if (!by_letter && !s->internal)
            at = stpcpy(stpcpy(at, at == known ? "" : ", "), s->name);
        if (by_letter && s->letter)
            *at++ = s->letter;
    }
    *at = '\0';
    return err_set(e, STATUS_USAGE, "%s: unknown sampler '%.*s', known are %s", by_letter ? "--sampler-seq" : "--samplers",
                   (int)(len < 40 ? len : 40), name, known);
}

static bool add_choice(struct order *o, size_t *cap, const struct sampler *s, const struct vocab *v, struct err *e)
{
    if (s->needs_vocab && !v)
        return err_set(e, STATUS_USAGE, "--samplers: %s needs --vocab", s->name);
    for (size_t i = 0; s->selector && i < o->n; i++)
        if (choice_sampler(&o->choice[i])->selector)
            return err_set(e, STATUS_USAGE, "--samplers: two selectors, %s and %s", choice_sampler(&o->choice[i])->name, s->name);
    if (!mem_grow(&o->choice, cap, o->n + 1, sizeof *o->choice))
        return err_from_fault(e, fault_memory());
    o->choice[o->n++] = (struct choice){.place = sampler_place(s)};
    return true;
}

// Gives the newest choice its own first parameter.
static bool give_value(const struct catalog *c, struct choice *choice, const char *value, size_t len, struct err *e)
{
    const struct sampler *const s = choice_sampler(choice);
    char text[64];
    if (!s->params)
        return err_set(e, STATUS_USAGE, "--samplers: %s takes no value", s->name);
    if (len >= sizeof text)
        return err_set(e, STATUS_USAGE, "--samplers: the value of %s is too long", s->name);
    memcpy(text, value, len);
    text[len] = '\0';
    choice->own = true;
    return value_parse(c->param[c->number[choice->place][0]], text, &choice->value, e) || err_prefix(e, "--samplers");
}

static bool add_named(struct order *o, size_t *cap, const struct recipes *r, const char *text, size_t len, struct err *e)
{
    const char *const equals = memchr(text, '=', len);
    const size_t name_len = equals ? (size_t)(equals - text) : len;
    const struct sampler *const s = sampler_by_name(text, name_len);
    if (!s)
        return unknown(false, text, name_len, e);
    return add_choice(o, cap, s, r->vocab, e) &&
           (!equals || give_value(&r->catalog, &o->choice[o->n - 1], equals + 1, len - name_len - 1, e));
}

static bool read_order(struct order *o, const struct recipes *r, const char *text, bool by_letter, struct err *e)
{
    size_t cap = 0;
    for (const char *at = text; by_letter && *at; at++) {
        const struct sampler *const s = sampler_by_letter(*at);
        if (!(s ? add_choice(o, &cap, s, r->vocab, e) : unknown(true, at, 1, e)))
            return false;
    }
    for (const char *at = text; !by_letter && *at;) {
        const size_t len = strcspn(at, ";");
        if (!add_named(o, &cap, r, at, len, e))
            return false;
        at += len + (at[len] == ';');
    }
    return true;
}

static void order_free(void *thing)
{
    struct order *const o = thing;
    free((void *)(uintptr_t)o->shared.key);
    free(o->choice);
    free(o);
}

bool draft_samplers(struct draft *d, const char *text, bool by_letter, struct err *e)
{
    char *const key = malloc(strlen(text) + 2);
    uint32_t hash;
    struct order *o = calloc(1, sizeof *o);
    if (!key || !o) {
        free(key);
        free(o);
        return err_from_fault(e, fault_memory());
    }
    *key = by_letter ? 'l' : 'n';
    strcpy(key + 1, text);
    o->shared = (struct shared){.key = key, .len = strlen(key), .free = order_free};
    struct order *const known = shared_find(&d->of->order, key, o->shared.len, &hash);
    if (known || !read_order(o, d->of, text, by_letter, e)) {
        order_free(o);
        o = known;
        if (!known)
            return false;
    } else if (!(o = shared_add(&d->of->order, &o->shared, hash))) {
        return err_from_fault(e, fault_memory());
    }
    shared_drop(d->parts.order);
    d->parts.order = o;
    return true;
}

// ---- biases

bool recipes_find_token(const struct recipes *r, const char *text, size_t len, uint32_t *id, struct err *e)
{
    const int shown = len < 40 ? (int)len : 40;
    uint32_t other = VOCAB_NONE;
    if (!r->vocab)
        return err_set(e, STATUS_USAGE, "--logit-bias: the text '%.*s' needs --vocab", shown, text);
    unsigned char *const plain = malloc(len + 1);
    if (!plain)
        return err_from_fault(e, fault_memory());
    const size_t n = text_unescape(plain, text, len);
    *id = n ? vocab_find_only(r->vocab, plain, n, &other) : VOCAB_NONE;
    free(plain);
    if (*id == VOCAB_NONE)
        return err_set(e, STATUS_USAGE, "--logit-bias: no token of the vocabulary says '%.*s'", shown, text);
    if (other != VOCAB_NONE)
        return err_set(e, STATUS_USAGE, "--logit-bias: tokens %" PRIu32 " and %" PRIu32 " both say '%.*s'; name one by its id",
                       *id, other, shown, text);
    return true;
}

static void biases_free(void *thing)
{
    struct biases *const b = thing;
    bias_table_free(&b->table);
    free((void *)(uintptr_t)b->shared.key);
    free(b->bias);
    free(b);
}

// Appends a ban for each token of the vocabulary that is never to be chosen.
static bool ban_tokens(struct biases *b, const struct vocab *v)
{
    const unsigned unwanted = VOCAB_BANNED | (b->ignore_eos ? VOCAB_EOG : 0u);
    size_t cap = b->n;
    for (uint32_t id = 0; v && v->any & unwanted && id < v->n; id++) {
        if (!(v->flags[id] & unwanted))
            continue;
        if (!mem_grow(&b->bias, &cap, b->n + 1, sizeof *b->bias))
            return false;
        b->bias[b->n++] = (struct bias){id, -INFINITY};
    }
    return !bias_table_build(&b->table, b->bias, b->n).code;
}

bool draft_biases(struct draft *d, const struct bias *bias, size_t n, bool ignore_eos, struct err *e)
{
    if (ignore_eos && !d->of->vocab)
        return err_set(e, STATUS_USAGE, "--ignore-eos needs --vocab");
    const size_t len = 1 + n * sizeof *bias;
    uint32_t hash;
    char *const key = malloc(len);
    struct biases *b = calloc(1, sizeof *b);
    struct bias *const copy = malloc((n + 1) * sizeof *copy);
    if (!key || !b || !copy) {
        free(key);
        free(b);
        free(copy);
        return err_from_fault(e, fault_memory());
    }
    *key = (char)ignore_eos;
    if (n) {
        memcpy(key + 1, bias, n * sizeof *bias);
        memcpy(copy, bias, n * sizeof *bias);
    }
    *b = (struct biases){
        .shared = {.key = key, .len = len, .free = biases_free}, .n = n, .n_given = n, .bias = copy, .ignore_eos = ignore_eos};
    struct biases *const known = shared_find(&d->of->biases, key, len, &hash);
    if (known || !ban_tokens(b, d->of->vocab)) {
        biases_free(b);
        b = known;
    } else {
        b = shared_add(&d->of->biases, &b->shared, hash);
    }
    if (!b)
        return err_from_fault(e, fault_memory());
    shared_drop(d->parts.biases);
    d->parts.biases = b;
    return true;
}

// ---- breakers

enum { BREAKER_MAX = 40 }; // bytes of a text, as in llama.cpp

static void breakers_drop(void *thing)
{
    struct breaker_list *const b = thing;
    breakers_free(&b->breakers);
    free(b);
}

// The lists, and behind them as the key: how many texts there are, the length and the bytes of each, the length and the ids of each
// sequence.
static struct breaker_list *breakers_new(const struct piece *text, size_t n_texts, const struct breaker *sequence,
                                         size_t n_sequences)
{
    size_t key_len = sizeof n_texts, n_ids = 0;
    for (size_t i = 0; i < n_texts; i++)
        key_len += sizeof text[i].len + text[i].len;
    for (size_t i = 0; i < n_sequences; i++) {
        key_len += sizeof sequence[i].n + sequence[i].n * sizeof(uint32_t);
        n_ids += sequence[i].n;
    }
    const size_t lists = n_texts * sizeof *text + n_sequences * sizeof *sequence + n_ids * sizeof(uint32_t);
    struct breaker_list *const b = calloc(1, sizeof *b + lists + key_len);
    if (!b)
        return NULL;
    struct piece *const texts = (struct piece *)(void *)(b + 1);
    struct breaker *const sequences = (struct breaker *)(void *)(texts + n_texts);
    uint32_t *id = (uint32_t *)(void *)(sequences + n_sequences);
    unsigned char *at = (unsigned char *)(id + n_ids), *const key = at;
    memcpy(at, &n_texts, sizeof n_texts);
    at += sizeof n_texts;
    for (size_t i = 0; i < n_texts; i++) {
        memcpy(at, &text[i].len, sizeof(size_t));
        memcpy(at + sizeof(size_t), text[i].p, text[i].len);
        texts[i] = (struct piece){at + sizeof(size_t), text[i].len};
        at += sizeof(size_t) + text[i].len;
    }
    for (size_t i = 0; i < n_sequences; i++) {
        const size_t bytes = sequence[i].n * sizeof *id;
        memcpy(at, &sequence[i].n, sizeof(size_t));
        memcpy(at + sizeof(size_t), sequence[i].ids, bytes);
        memcpy(id, sequence[i].ids, bytes);
        sequences[i] = (struct breaker){id, sequence[i].n};
        id += sequence[i].n;
        at += sizeof(size_t) + bytes;
    }
    b->shared = (struct shared){.key = key, .len = (size_t)(at - key), .free = breakers_drop};
    b->breakers = (struct breakers){.sequence = sequences, .n_sequences = n_sequences, .text = texts, .n_texts = n_texts};
    return b;
}

bool draft_breakers(struct draft *d, const struct piece *text, size_t n_texts, const struct breaker *sequence, size_t n_sequences,
                    struct err *e)
{
    struct piece *const cut = malloc((n_texts + 1) * sizeof *cut);
    uint32_t hash;
    if (!cut)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n_texts; i++) {
        cut[i] = text[i];
        if (cut[i].len <= BREAKER_MAX)
            continue;
        message_warn("--dry-sequence-breaker: '%.*s...' is cut after %d bytes", BREAKER_MAX, (const char *)cut[i].p, BREAKER_MAX);
        cut[i].len = BREAKER_MAX;
    }
    struct breaker_list *b = breakers_new(cut, n_texts, sequence, n_sequences);
    free(cut);
    if (b) {
        struct breaker_list *const known = shared_find(&d->of->breakers, b->shared.key, b->shared.len, &hash);
        if (known)
            breakers_drop(b);
        b = known ? known : shared_add(&d->of->breakers, &b->shared, hash);
    }
    if (!b)
        return err_from_fault(e, fault_memory());
    shared_drop(d->parts.breakers);
    d->parts.breakers = b;
    return true;
}

bool draft_default_breakers(struct draft *d, struct err *e)
{
#define TEXT(s)                                   \
    {                                             \
        (const unsigned char *)(s), sizeof(s) - 1 \
    }
    static const struct piece defaults[] = {TEXT("\n"), TEXT(":"), TEXT("\""), TEXT("*")};
    return draft_breakers(d, defaults, sizeof defaults / sizeof *defaults, NULL, 0, e);
}
