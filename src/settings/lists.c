// SPDX-License-Identifier: MIT
// The lists of a draft: biases, breakers, bans, and the tags of the reasoning budget.
#include "base/mem.h"
#include "settings/draft.h"
#include "vocab/spelling.h"
#include "vocab/split.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *draft_share(struct draft *d, enum recipe_part part, const struct builder *key, size_t size, void (*free)(void *),
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

// ---- texts as tokens

// Copies a text as bytes, which the caller frees. NULL with *e if memory is short.
static unsigned char *plain_text(const char *text, size_t len, bool escapes, size_t *n, struct err *e)
{
    unsigned char *const plain = malloc(len + 1);
    if (plain)
        *n = escapes ? text_unescape(plain, text, len) : (memcpy(plain, text, len), len);
    else
        err_from_fault(e, fault_memory());
    return plain;
}

static bool text_needs_vocab(const struct recipes *r, const char *name, const char *text, size_t len, struct err *e)
{
    return r->vocab ||
           err_set(e, STATUS_USAGE, "%s: the text '%.*s' needs --vocab", name, err_clip_part(text, len, 40), text);
}

// Finds the only token that has a text.
static bool find_token(const struct recipes *r, const char *text, size_t len, bool escapes, uint32_t *id, struct err *e)
{
    const int shown = err_clip_part(text, len, 40);
    uint32_t other = VOCAB_NONE;
    size_t n;
    unsigned char *const plain =
        text_needs_vocab(r, "--logit-bias", text, len, e) ? plain_text(text, len, escapes, &n, e) : NULL;
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
    unsigned char *const plain = text_needs_vocab(r, name, text, len, e) ? plain_text(text, len, escapes, &n, e) : NULL;
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

// Notes which tokens spell a text, if there are several.
static void note_spelling(struct builder *notes, const char *name, const char *text, const struct ids *ids)
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

// ---- parts of lists

// Lists become parts of a draft. A list that was not given is the draft's own, or the default.
struct making {
    struct draft *d;
    const struct settings *s;
    struct ids ids;      // scratch
    struct builder key;  // of the part that is made
    struct builder note; // on texts that several tokens spell
    struct err *e;
};

static const struct list *given(const struct making *m, enum list_kind kind)
{
    return m->s->list[kind].name ? &m->s->list[kind] : NULL;
}

// Sets the part of the key, as draft_share does. A row prints the notes on its texts if the part is new; if other
// recipes have the part, the notes were printed for them.
static void *make_part(struct making *m, enum recipe_part part, size_t size, void (*free)(void *), bool *ok)
{
    void *const new = draft_share(m->d, part, &m->key, size, free, ok, m->e);
    const struct shared *const shared = m->d->parts.part[part];
    if (m->d->of_row && shared && shared->users == 1)
        notes_move(&m->d->of->notes, &m->note);
    builder_clear(&m->note);
    builder_clear(&m->key);
    return new;
}

// Finds the tokens of an entry; m->ids holds those of a text. one: a text is one token.
static bool find_tokens(struct making *m, const struct list *list, const struct list_entry *x, bool one,
                        struct tokens *tokens)
{
    struct ids *const ids = &m->ids;
    const bool escapes = x->form == ENTRY_ESCAPED;
    const char *const name = list == m->s->list ? list_options[LIST_BIASES] : list->name;
    *tokens = (struct tokens){x->of, x->n};
    if (x->form == ENTRY_IDS) {
        for (size_t i = 0; list - m->s->list >= LIST_START && m->d->of->vocab && i < x->n; i++)
            if (x->of[i] >= m->d->of->vocab->n)
                return err_set(m->e, STATUS_USAGE, "%s: the vocabulary has no token %" PRIu32, name, x->of[i]);
        return true;
    }
    if (one) {
        ids->n = 1;
        if (!mem_grow(&ids->id, &ids->cap, 1, sizeof *ids->id))
            return err_from_fault(m->e, fault_memory());
        if (!find_token(m->d->of, entry_text(x), x->n, escapes, ids->id, m->e))
            return false;
    } else if (!recipes_split_text(m->d->of, name, entry_text(x), escapes, ids, m->e)) {
        return false;
    }
    note_spelling(m->d->of_row ? &m->note : &m->d->of->notes, list->name, entry_text(x), ids);
    *tokens = (struct tokens){ids->id, ids->n};
    return true;
}

// ---- biases

static void biases_free(void *thing)
{
    struct biases *const b = thing;
    bias_table_free(&b->table);
    free(b->bias);
    free(b);
}

// Makes the list of biases: those given, then a ban for each token of the vocabulary that is never to be chosen.
static bool fill_biases(struct biases *b, const struct vocab *v)
{
    const unsigned unwanted = VOCAB_BANNED | (b->ignore_eos ? VOCAB_EOG : 0u);
    size_t cap = 0;
    if (!mem_grow(&b->bias, &cap, b->n_given + 1, sizeof *b->bias))
        return false;
    memcpy(b->bias, (const char *)b->shared.key + 1, b->n_given * sizeof *b->bias);
    b->n = b->n_given;
    for (uint32_t id = 0; v && v->any & unwanted && id < v->n; id++)
        if (v->flags[id] & unwanted && !mem_push(&b->bias, &b->n, &cap, &(struct bias){id, -INFINITY}, sizeof *b->bias))
            return false;
    return bias_table_build(&b->table, b->bias, b->n);
}

static bool make_biases(struct making *m)
{
    const struct biases *const old = m->d->parts.biases;
    const struct list *const list = given(m, LIST_BIASES);
    const struct vocab *const v = m->d->of->vocab;
    const bool ignore_eos = m->s->ignore_eos;
    struct tokens tokens;
    bool ok;
    if (old && !list && ignore_eos == old->ignore_eos)
        return true;
    builder_byte(&m->key, (char)ignore_eos);
    if (old && !list)
        builder_bytes(&m->key, old->bias, old->n_given * sizeof *old->bias);
    for (const struct list_entry *x = NULL; list && (x = list_next_entry(list, x));) {
        if (!find_tokens(m, list, x, !m->d->of_row, &tokens))
            return false;
        for (size_t i = 0; i < tokens.n; i++)
            builder_bytes(&m->key, &(struct bias){tokens.id[i], x->bias}, sizeof(struct bias));
    }
    if (ignore_eos && !v)
        return err_set(m->e, STATUS_USAGE, "--ignore-eos needs --vocab");
    if (ignore_eos && !m->d->of_row && !(v->any & VOCAB_EOG))
        note_add(&m->d->of->notes, NOTE_WARNING, "--ignore-eos: the vocabulary has no end-of-generation token");
    const size_t n = m->key.len / sizeof(struct bias);
    struct biases *const b = make_part(m, PART_BIASES, sizeof *b, biases_free, &ok);
    if (!b)
        return ok;
    b->n_given = n;
    b->ignore_eos = ignore_eos;
    return fill_biases(b, v) || err_from_fault(m->e, fault_memory());
}

// ---- sequences

// Adds a sequence to the key.
static void add_sequence(struct making *m, const uint32_t *id, size_t n)
{
    builder_bytes(&m->key, &n, sizeof n);
    builder_bytes(&m->key, id, n * sizeof *id);
}

// Adds the sequences of a list, or n others if the list was not given, and counts them.
static bool add_sequences(struct making *m, const struct list *list, const struct tokens *old, size_t n, size_t *count)
{
    for (size_t i = 0; !list && i < n; i++)
        add_sequence(m, old[i].id, old[i].n);
    for (const struct list_entry *x = NULL; list && (x = list_next_entry(list, x));) {
        struct tokens tokens;
        if (!find_tokens(m, list, x, false, &tokens))
            return false;
        add_sequence(m, tokens.id, tokens.n);
    }
    *count += list ? list->n : n;
    return true;
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

enum { BREAKER_MAX = 40 }; // bytes of a text, as in llama.cpp

// Adds the text of a breaker to the key. A text that is too long is cut, with a warning.
static bool add_breaker(struct making *m, const struct list_entry *x)
{
    size_t len;
    unsigned char *const text =
        plain_text(entry_text(x), x->n, x->form == ENTRY_ESCAPED && !m->s->no_escape, &len, m->e);
    if (!text)
        return false;
    if (len > BREAKER_MAX) {
        note_add(&m->d->of->notes, NOTE_WARNING, "--dry-sequence-breaker: '%.*s...' is cut after %d bytes", BREAKER_MAX,
                 (const char *)text, BREAKER_MAX);
        len = BREAKER_MAX;
    }
    builder_bytes(&m->key, &len, sizeof len);
    builder_bytes(&m->key, text, len);
    free(text);
    return true;
}

// Makes the breakers: sequences, then texts. llama.cpp's hold if none are given.
static bool make_breakers(struct making *m)
{
    const struct list *const texts = given(m, LIST_BREAKERS), *const ids = given(m, LIST_BREAKER_IDS);
    size_t n = 0, n_texts = texts ? texts->n : 0;
    bool ok;
    if (!texts && !ids && m->d->parts.breakers)
        return true;
    if (!add_sequences(m, ids, NULL, 0, &n))
        return false;
    for (const struct list_entry *x = NULL; texts && (x = list_next_entry(texts, x));)
        if (!add_breaker(m, x))
            return false;
    for (const char *text = "\n:\"*"; !texts && !ids && *text; text++, n_texts++) {
        builder_bytes(&m->key, &(size_t){1}, sizeof(size_t));
        builder_byte(&m->key, *text);
    }
    builder_bytes(&m->key, &n, sizeof n); // so that sequences and texts of the same bytes have different keys
    const size_t texts_at = sizeof(struct breaker_list) + n * sizeof(struct tokens);
    struct breaker_list *const b =
        make_part(m, PART_BREAKERS, texts_at + n_texts * sizeof(struct piece), breakers_drop, &ok);
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
    for (uint32_t id = 0; v && id < v->n; id++)
        if (v->flags[id] & VOCAB_EOG && !mem_push(&b->end, &b->bans.n_ends, &cap, &id, sizeof id))
            return false;
    b->bans.end = b->end;
    return true;
}

// Makes the bans. The first sequence of the key has the ends that were given.
static bool make_bans(struct making *m)
{
    const struct ban_list *const old = m->d->parts.bans;
    const struct list *const ends = given(m, LIST_ENDS), *const bans = given(m, LIST_BANS);
    size_t n = 0, n_ends = 0;
    bool ok;
    if (old && !ends && !bans)
        return true;
    for (const struct list_entry *x = NULL; ends && (x = list_next_entry(ends, x));)
        n_ends += x->n;
    if (!ends)
        add_sequence(m, old ? old->end : NULL, old ? old->n_given : 0);
    else
        builder_bytes(&m->key, &n_ends, sizeof n_ends);
    for (const struct list_entry *x = NULL; ends && (x = list_next_entry(ends, x));)
        builder_bytes(&m->key, x->of, x->n * sizeof *x->of);
    if (!add_sequences(m, bans, old ? old->bans.sequence : NULL, old ? old->bans.n : 0, &n))
        return false;
    struct ban_list *const b = make_part(m, PART_BANS, sizeof *b + n * sizeof *b->sequence, bans_free, &ok);
    if (!b)
        return ok;
    const char *at = b->shared.key;
    const uint32_t *const id = next_entry(&at, &b->n_given, sizeof *id);
    b->bans.sequence = b->sequence;
    b->bans.n = n;
    b->bans.longest = read_sequences(&at, b->sequence, n);
    return fill_ends(b, id, m->d->of->vocab) || err_from_fault(m->e, fault_memory());
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

// Makes the budget. Without a start tag or an end tag there is none. A row without a budget has no tags; as in the
// server, only a row with the message, which may be empty, makes the budget force tokens.
static bool make_reasoning(struct making *m)
{
    const struct reasoning *const old = m->d->parts.reasoning;
    const int64_t budget = m->s->reasoning_budget;
    const bool of_row = m->d->of_row, tags = !of_row || budget >= 0;
    const struct list *const start = tags ? given(m, LIST_START) : NULL,
                             *const message = tags ? given(m, LIST_MESSAGE) : NULL,
                             *const end = tags ? given(m, LIST_END_TAGS) : NULL;
    const struct tokens none[REASONING_END] = {{0}}, *const tag = old ? old->tag : none;
    const bool forces = message || (of_row ? old && old->forces : budget >= 0);
    size_t n = 0;
    bool ok;
    if (!start && !message && !end && (old ? old->tokens == budget : budget < 0))
        return true;
    if (!add_sequences(m, start, &tag[REASONING_START], 1, &n) ||
        !add_sequences(m, message, &tag[REASONING_MESSAGE], 1, &n) ||
        !add_sequences(m, end, tag + REASONING_END, old ? old->n - REASONING_END : 0, &n))
        return false;
    builder_bytes(&m->key, &budget, sizeof budget);
    builder_bytes(&m->key, &(uint32_t){forces}, sizeof(uint32_t));
    const size_t size = sizeof *old + n * sizeof(struct tokens) + m->key.len; // a multiple of an id's size
    struct reasoning *const r = make_part(m, PART_REASONING, size, free, &ok);
    if (r) {
        r->tokens = budget;
        r->forces = forces;
        r->n = n;
        fill_reasoning(r, m->d->of->vocab);
    }
    return ok;
}

// Makes the generation prompt. Without a budget, and without a grammar that it moves, it is ignored.
static bool make_generation(struct making *m)
{
    struct parts *const p = &m->d->parts;
    const struct list *const list = given(m, LIST_GENERATION);
    struct tokens tokens;
    bool ok = true;
    if (!list || (m->s->reasoning_budget < 0 && !(p->rules && p->grammar_prefilled)))
        return true;
    if (!find_tokens(m, list, list_next_entry(list, NULL), false, &tokens))
        return false;
    if (!tokens.n) {
        shared_drop(p->generation);
        p->generation = NULL;
        return true;
    }
    builder_bytes(&m->key, tokens.id, tokens.n * sizeof *tokens.id);
    struct generation *const g = make_part(m, PART_GENERATION, sizeof *g, free, &ok);
    if (g)
        g->tokens = (struct tokens){(const uint32_t *)(const void *)g->shared.key, g->shared.len / sizeof(uint32_t)};
    return ok;
}

enum { KEY_ROOM = 240 }; // that most keys need

bool draft_lists(struct draft *d, const struct settings *s, struct err *e)
{
    struct making m = {.d = d, .s = s, .e = e};
    for (size_t i = 0; i < LISTS; i++)
        if (s->list[i].entries.failed || (s->list[i].n && !mem_grow(&m.key.text, &m.key.cap, KEY_ROOM, 1))) {
            builder_free(&m.key);
            return err_from_fault(e, fault_memory());
        }
    const bool ok = make_biases(&m) && make_breakers(&m) && make_bans(&m) && make_reasoning(&m) && make_generation(&m);
    free(m.ids.id);
    builder_free(&m.key);
    builder_free(&m.note);
    return ok;
}
