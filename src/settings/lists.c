// SPDX-License-Identifier: MIT
// The lists of a draft: samplers, biases, breakers, bans, the tags of the reasoning budget, and vectors of tokens.
#include "base/mem.h"
#include "base/utf8.h"
#include "chain/chain.h"
#include "settings/draft.h"
#include "vocab/spelling.h"
#include "vocab/split.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *draft_share(struct draft *d, enum recipe_part part, struct builder *key, size_t size, void (*free)(void *),
                  bool *ok, struct err *e)
{
    struct shared_set *const set = &d->of->part[part];
    uint32_t hash;
    struct shared *const old = key->failed ? NULL : shared_find(set, key->text, key->len, &hash);
    struct shared *new = key->failed || old ? NULL : calloc(1, size + key->len + 1);
    if (new) {
        *new = (struct shared){.key = (char *)new + size, .len = key->len, .free = free};
        memcpy((char *)new + size, key->text, key->len);
        new = shared_add(set, new, hash);
    }
    builder_free(key);
    shared_drop(d->parts.part[part]);
    d->parts.part[part] = old ? old : new;
    *ok = old || new || err_from_fault(e, fault_memory());
    return new;
}

void parts_keep(struct parts *p)
{
    for (size_t i = 0; i < PARTS; i++)
        shared_keep(p->part[i]);
}

void parts_drop(struct parts *p)
{
    for (size_t i = 0; i < PARTS; i++)
        shared_drop(p->part[i]);
}

// ---- samplers

// The error for an unknown name or letter: lists those that are known.
static bool unknown_sampler(bool by_letter, const char *name, size_t len, struct err *e)
{
    char known[600] = "", *at = known;
    if (!by_letter && memchr(name, ',', len))
        return err_set(e, STATUS_USAGE, "--samplers: '%.*s' is no sampler; separate names with ';'",
                       err_clip_part(name, len, 40), name);
    for (size_t i = 0; samplers[i]; i++) {
        const struct sampler *const s = samplers[i];
        if (at + strlen(s->name) + 3 > known + sizeof known)
            break;
        if (!by_letter && !sampler_internal(i))
            at = stpcpy(stpcpy(at, at == known ? "" : ", "), s->name);
        if (by_letter && s->letter)
            *at++ = s->letter;
    }
    *at = '\0';
    return err_set(e, STATUS_USAGE, "%s: unknown sampler '%.*s', known are %s",
                   by_letter ? "--sampler-seq" : "--samplers", err_clip_part(name, len, 40), name, known);
}

static bool add_choice(struct order *o, const struct sampler *s, const struct vocab *v, struct err *e)
{
    if (s->needs_vocab && !v)
        return err_set(e, STATUS_USAGE, "--samplers: %s needs --vocab", s->name);
    for (size_t i = 0; s->selector && i < o->n; i++)
        if (choice_sampler(&o->choice[i])->selector)
            return err_set(e, STATUS_USAGE, "--samplers: two selectors, %s and %s", choice_sampler(&o->choice[i])->name,
                           s->name);
    o->choice[o->n++] = (struct choice){.place = sampler_place(s)};
    return true;
}

// Reads a choice's own value of its sampler's first parameter.
static bool read_own_value(const struct catalog *c, struct choice *choice, const char *value, size_t len, struct err *e)
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

static bool has_choice(const struct order *o, const struct sampler *s)
{
    size_t i = 0;
    while (i < o->n && choice_sampler(&o->choice[i]) != s)
        i++;
    return i < o->n;
}

static bool read_order(struct order *o, struct recipes *r, const char *text, bool by_letter, struct err *e)
{
    for (const char *at = text; *at;) {
        const size_t len = by_letter ? utf8_step(at) : strcspn(at, ";"), name_len = by_letter ? len : strcspn(at, ";=");
        const struct sampler *const s = by_letter ? sampler_by_letter(*at) : sampler_by_name(at, name_len);
        const bool again = s == &sampler_adaptive_p && name_len == len && has_choice(o, s); // llama.cpp runs it once
        if (!s && !r->lenient)
            return unknown_sampler(by_letter, at, name_len, e);
        if (!s)
            note_add(&r->notes, NOTE_WARNING, "%s: unknown sampler '%.*s' is left out",
                     by_letter ? "--sampler-seq" : "--samplers", err_clip_part(at, name_len, 40), at);
        if (s && !again && !add_choice(o, s, r->vocab, e))
            return false;
        if (s && name_len < len &&
            !read_own_value(&r->catalog, &o->choice[o->n - 1], at + name_len + 1, len - name_len - 1, e))
            return false;
        at += len + (!by_letter && at[len] == ';');
    }
    return true;
}

// Returns whether a sampler of another program joins the default chain: the draft's values of its own parameters enable
// it.
static bool joins_default(const struct draft *d, size_t place)
{
    const struct sampler *const s = samplers[place];
    double params[CATALOG_PARAMS]; // large enough for the parameter struct of any sampler
    if (!s->foreign || !s->params[0].help)
        return false;
    catalog_fill(&d->of->catalog, place, d->parts.value, params);
    return stage_enabled(&(struct stage){s, params, NULL});
}

// Appends the names of the default chain, each with a ';' behind it.
static void default_names(const struct draft *d, struct builder *names)
{
    const char *next = DEFAULT_CHAIN;
    for (size_t i = 0; samplers[i]; i++) {
        const char *const name = samplers[i]->name;
        const size_t len = strcspn(next, ";");
        const bool listed = strlen(name) == len && !strncmp(name, next, len);
        next += listed ? len + (next[len] == ';') : 0;
        if (listed || joins_default(d, i))
            builder_format(names, "%s;", name);
    }
}

bool draft_samplers(struct draft *d, const char *text, bool by_letter, struct err *e)
{
    struct builder key = {0};
    bool ok;
    builder_byte(&key, by_letter ? 'l' : text ? 'n' : 'd');
    if (text)
        builder_string(&key, text);
    else
        default_names(d, &key);
    const size_t size = sizeof(struct order) + key.len * sizeof(struct choice); // a sampler has at least one letter
    struct order *const o = draft_share(d, PART_ORDER, &key, size, free, &ok, e);
    return o ? read_order(o, d->of, (const char *)o->shared.key + 1, by_letter, e) : ok;
}

// ---- biases

// Returns the text as bytes, which the caller frees. NULL with *e if memory is short or there is no vocabulary.
static unsigned char *plain_text(const struct recipes *r, const char *name, const char *text, size_t len, bool escapes,
                                 size_t *n, struct err *e)
{
    if (!r->vocab) {
        err_set(e, STATUS_USAGE, "%s: the text '%.*s' needs --vocab", name, err_clip_part(text, len, 40), text);
        return NULL;
    }
    unsigned char *const plain = malloc(len + 1);
    if (plain)
        *n = escapes ? text_unescape(plain, text, len) : (memcpy(plain, text, len), len);
    else
        err_from_fault(e, fault_memory());
    return plain;
}

bool recipes_find_token(const struct recipes *r, const char *text, size_t len, uint32_t *id, struct err *e)
{
    const int shown = err_clip_part(text, len, 40);
    uint32_t other = VOCAB_NONE;
    size_t n;
    unsigned char *const plain = plain_text(r, "--logit-bias", text, len, true, &n, e);
    if (!plain)
        return false;
    *id = n ? vocab_find_only(r->vocab, plain, n, &other) : VOCAB_NONE;
    free(plain);
    if (*id == VOCAB_NONE)
        return err_set(e, STATUS_USAGE, "--logit-bias: no token of the vocabulary has the text '%.*s'", shown, text);
    if (other != VOCAB_NONE)
        return err_set(e, STATUS_USAGE,
                       "--logit-bias: tokens %" PRIu32 " and %" PRIu32 " both have the text '%.*s'; name one by its id",
                       *id, other, shown, text);
    return true;
}

bool recipes_split_text(const struct recipes *r, const char *name, const char *text, bool escapes, struct ids *ids,
                        struct err *e)
{
    const size_t len = strlen(text);
    size_t n;
    ids->n = 0;
    if (!len)
        return true;
    unsigned char *const plain = plain_text(r, name, text, len, escapes, &n, e);
    if (!plain)
        return false;
    const bool ok =
        mem_grow(&ids->id, &ids->cap, n + 1, sizeof *ids->id) && vocab_split(r->vocab, plain, n, ids->id, &ids->n);
    free(plain);
    if (!ok)
        return err_from_fault(e, fault_memory());
    return ids->n ||
           err_set(e, STATUS_USAGE, "%s: no tokens of the vocabulary spell '%.*s'", name, err_clip(text, 40), text);
}

void note_spelling(struct builder *notes, const char *name, const char *text, const struct ids *ids)
{
    struct builder note = {0};
    if (ids->n < 2)
        return;
    builder_format(&note, "%s: '%.*s' is spelt by the tokens ", name, err_clip(text, 60), text);
    for (size_t i = 0; i < ids->n; i++)
        builder_format(&note, "%s%" PRIu32, i ? "," : "", ids->id[i]);
    if (!note.failed)
        note_add(notes, NOTE_PLAIN, "%s", note.text);
    notes->failed = notes->failed || note.failed;
    builder_free(&note);
}

static void biases_free(void *thing)
{
    struct biases *const b = thing;
    bias_table_free(&b->table);
    free(b->bias);
    free(b);
}

// Makes the list of biases: those given, then a ban for each token of the vocabulary that is never to be chosen.
static bool fill_biases(struct biases *b, const struct bias *bias, const struct vocab *v)
{
    const unsigned unwanted = VOCAB_BANNED | (b->ignore_eos ? VOCAB_EOG : 0u);
    size_t cap = 0;
    if (!mem_grow(&b->bias, &cap, b->n_given + 1, sizeof *bias))
        return false;
    if (b->n_given)
        memcpy(b->bias, bias, b->n_given * sizeof *bias);
    b->n = b->n_given;
    for (uint32_t id = 0; v && v->any & unwanted && id < v->n; id++) {
        if (!(v->flags[id] & unwanted))
            continue;
        if (!mem_grow(&b->bias, &cap, b->n + 1, sizeof *bias))
            return false;
        b->bias[b->n++] = (struct bias){id, -INFINITY};
    }
    return bias_table_build(&b->table, b->bias, b->n);
}

bool draft_biases(struct draft *d, const struct bias *bias, size_t n, bool ignore_eos, struct err *e)
{
    struct builder key = {0};
    bool ok;
    if (ignore_eos && !d->of->vocab)
        return err_set(e, STATUS_USAGE, "--ignore-eos needs --vocab");
    builder_byte(&key, (char)ignore_eos);
    builder_bytes(&key, bias, n * sizeof *bias);
    struct biases *const b = draft_share(d, PART_BIASES, &key, sizeof *b, biases_free, &ok, e);
    if (!b)
        return ok;
    b->n_given = n;
    b->ignore_eos = ignore_eos;
    return fill_biases(b, bias, d->of->vocab) || err_from_fault(e, fault_memory());
}

// ---- breakers

enum { BREAKER_MAX = 40 }; // bytes of a text, as in llama.cpp

void sequences_add(struct sequences *s, const uint32_t *id, size_t n)
{
    assert(!s->n_texts);
    builder_bytes(&s->key, &n, sizeof n);
    builder_bytes(&s->key, id, n * sizeof *id);
    s->n++;
}

void sequences_add_text(struct sequences *s, const char *text, size_t len, struct builder *notes)
{
    if (len > BREAKER_MAX) {
        note_add(notes, NOTE_WARNING, "--dry-sequence-breaker: '%.*s...' is cut after %d bytes", BREAKER_MAX, text,
                 BREAKER_MAX);
        len = BREAKER_MAX;
    }
    builder_bytes(&s->key, &len, sizeof len);
    builder_bytes(&s->key, text, len);
    s->n_texts++;
}

static void breakers_drop(void *thing)
{
    struct breaker_list *const b = thing;
    breakers_free(&b->breakers);
    free(b);
}

// Returns the next entry of a key of sequences, *len elements of that size, and moves *at behind it.
static const void *next_entry(const char **at, size_t *len, size_t size)
{
    memcpy(len, *at, sizeof *len);
    const char *const entry = *at + sizeof *len;
    *at = entry + *len * size;
    return entry;
}

// Reads n token sequences of a key and moves *at behind them. Returns the length of the longest.
static size_t read_sequences(const char **at, struct tokens *sequence, size_t n)
{
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        sequence[i].id = next_entry(at, &sequence[i].n, sizeof(uint32_t));
        longest = sequence[i].n > longest ? sequence[i].n : longest;
    }
    return longest;
}

bool draft_breakers(struct draft *d, struct sequences *s, struct err *e)
{
    const size_t n = s->n, n_texts = s->n_texts, texts_at = sizeof(struct breaker_list) + n * sizeof(struct tokens);
    bool ok;
    builder_bytes(&s->key, &n, sizeof n); // so that sequences and texts of the same bytes have different keys
    struct breaker_list *const b =
        draft_share(d, PART_BREAKERS, &s->key, texts_at + n_texts * sizeof(struct piece), breakers_drop, &ok, e);
    if (!b)
        return ok;
    struct tokens *const sequence = (struct tokens *)(void *)(b + 1);
    struct piece *const text = (struct piece *)(void *)(sequence + n);
    const char *at = b->shared.key;
    read_sequences(&at, sequence, n);
    for (size_t i = 0; i < n_texts; i++)
        text[i].p = next_entry(&at, &text[i].len, 1);
    b->breakers = (struct breakers){.sequence = sequence, .n_sequences = n, .text = text, .n_texts = n_texts};
    return true;
}

// ---- bans

static void bans_free(void *thing)
{
    struct ban_list *const b = thing;
    free(b->end);
    free(b);
}

// Makes the ends: those given, then those of the vocabulary.
static bool fill_ends(struct ban_list *b, const uint32_t *given, const struct vocab *v)
{
    size_t cap = 0;
    if (!mem_grow(&b->end, &cap, b->n_given + 1, sizeof *b->end))
        return false;
    memcpy(b->end, given, b->n_given * sizeof *b->end);
    b->bans.n_ends = b->n_given;
    for (uint32_t id = 0; v && id < v->n; id++) {
        if (!(v->flags[id] & VOCAB_EOG))
            continue;
        if (!mem_grow(&b->end, &cap, b->bans.n_ends + 1, sizeof *b->end))
            return false;
        b->end[b->bans.n_ends++] = id;
    }
    b->bans.end = b->end;
    return true;
}

bool draft_bans(struct draft *d, struct sequences *s, struct err *e)
{
    const size_t n = s->n - 1;
    bool ok;
    assert(s->n);
    struct ban_list *const b =
        draft_share(d, PART_BANS, &s->key, sizeof *b + n * sizeof *b->sequence, bans_free, &ok, e);
    if (!b)
        return ok;
    const char *at = b->shared.key;
    const uint32_t *const given = next_entry(&at, &b->n_given, sizeof *given);
    b->bans.sequence = b->sequence;
    b->bans.n = n;
    b->bans.longest = read_sequences(&at, b->sequence, n);
    return fill_ends(b, given, d->of->vocab) || err_from_fault(e, fault_memory());
}

// ---- the reasoning budget

// Reads the tags from the key. Writes the forced tokens, message and end tag, behind the tags, where as many bytes
// as the key has are free.
static void fill_reasoning(struct reasoning *r, const struct vocab *v)
{
    const struct tokens *const start = &r->tag[REASONING_START], *const message = &r->tag[REASONING_MESSAGE],
                               *const end = &r->tag[REASONING_END];
    uint32_t *const forced = (uint32_t *)(void *)&r->tag[r->n];
    const char *at = r->shared.key;
    read_sequences(&at, r->tag, REASONING_END);
    const size_t longest = read_sequences(&at, &r->tag[REASONING_END], r->n - REASONING_END);
    if (r->tokens < 0 || r->n == REASONING_END || !start->n)
        return;
    const size_t n_forced = r->forces ? message->n + end->n : 0;
    memcpy(forced, message->id, message->n * sizeof *forced);
    memcpy(forced + message->n, end->id, end->n * sizeof *forced);
    r->rules = (struct budget_rules){.most = (uint32_t)r->tokens,
                                     .start = *start,
                                     .end = end,
                                     .n_ends = r->n - REASONING_END,
                                     .forced = {forced, n_forced},
                                     .longest = start->n > longest ? start->n : longest,
                                     .vocab = v};
}

bool draft_reasoning(struct draft *d, int64_t tokens, bool forces, struct sequences *s, struct err *e)
{
    bool ok;
    assert(s->n >= REASONING_END);
    builder_bytes(&s->key, &tokens, sizeof tokens);
    builder_bytes(&s->key, &(uint32_t){forces}, sizeof(uint32_t));
    const size_t size =
        sizeof(struct reasoning) + s->n * sizeof(struct tokens) + s->key.len; // a multiple of an id's size
    struct reasoning *const r = draft_share(d, PART_REASONING, &s->key, size, free, &ok, e);
    if (r) {
        r->tokens = tokens;
        r->forces = forces;
        r->n = s->n;
        fill_reasoning(r, d->of->vocab);
    }
    return ok;
}

// ---- the generation prompt

bool draft_generation(struct draft *d, const uint32_t *id, size_t n, struct err *e)
{
    struct builder key = {0};
    bool ok = true;
    if (!n) {
        shared_drop(d->parts.generation);
        d->parts.generation = NULL;
        return true;
    }
    builder_bytes(&key, id, n * sizeof *id);
    struct generation *const g = draft_share(d, PART_GENERATION, &key, sizeof *g, free, &ok, e);
    if (g)
        g->tokens = (struct tokens){(const uint32_t *)(const void *)g->shared.key, n};
    return ok;
}

// ---- embeddings

static void embeddings_drop(void *thing)
{
    struct embedding_file *const f = thing;
    if (f->owner)
        f->close(f->owner);
    free(f);
}

bool draft_embeddings(struct draft *d, const char *file, enum distance_metric metric, embeddings_open_fn *open,
                      void (*close)(void *owner), struct err *e)
{
    struct builder key = {0};
    bool ok;
    builder_byte(&key, (char)metric);
    builder_bytes(&key, file, strlen(file) + 1);
    struct embedding_file *const f = draft_share(d, PART_EMBEDDINGS, &key, sizeof *f, embeddings_drop, &ok, e);
    if (!f)
        return ok;
    f->close = close;
    f->embeddings.metric = metric;
    return open(&f->embeddings, &f->owner, embedding_file_name(f), e);
}
