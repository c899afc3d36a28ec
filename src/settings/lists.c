// SPDX-License-Identifier: MIT
// The lists of a new recipe: biases, breakers, bans, and the tags of the reasoning budget.
#include "base/mem.h"
#include "settings/new_recipe.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *recipe_share(struct new_recipe *d, enum recipe_part part, const struct builder *key, size_t size,
                   void (*free)(void *), bool *ok, struct err *e)
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
    shared_drop(d->key.part[part]);
    d->key.part[part] = old ? old : new;
    *ok = old || new || err_from_fault(e, fault_memory());
    return new;
}

void recipe_key_keep(struct recipe_key *p)
{
    for (size_t i = 0; i < PARTS; i++)
        shared_keep(p->part[i]);
}

void recipe_key_drop(struct recipe_key *p)
{
    for (size_t i = 0; i < PARTS; i++)
        shared_drop(p->part[i]);
}

// ---- texts as tokens

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

// Lists become parts of a new recipe. A list that was not given is the new recipe's own, or the default. The key of a
// part is a list, too, whose entries are resolved: ids, or the bytes of a breaker. An entry has the kind of its list in
// place of a bias, unless the part is that of the biases.
struct making {
    struct new_recipe *d;
    const struct settings *s;
    struct err *e;
    struct list key;            // of the part that is made
    struct builder note;        // on texts that several tokens spell
    struct ids ids;             // scratch
    struct token_tables tables; // of the vocabulary's tokenizer, once a text needs them
};

// Returns a list that was given; NULL: it was not. In a row without a budget, tags count as not given.
static const struct list *given(const struct making *m, enum list_kind kind)
{
    const bool tag = kind == LIST_START || kind == LIST_MESSAGE || kind == LIST_END_TAGS;
    const bool counts = !tag || !m->d->of_row || m->s->reasoning_budget >= 0;
    return counts && m->s->list[kind].name ? &m->s->list[kind] : NULL;
}

// Returns the entry of a part's key behind x, or the first if x is NULL. NULL: there is none.
static const struct list_entry *next_of_key(const struct shared *part, const struct list_entry *x)
{
    const struct list key = {.n = 1, .entries = {.text = (char *)(uintptr_t)part->key, .len = part->len}};
    return list_next_entry(&key, x);
}

static bool is_of_list(const struct list_entry *x, enum list_kind kind) { return x->bias == (float)kind; }

static struct tokens tokens_of(const struct list_entry *x) { return (struct tokens){x->of, x->n}; }

// Sets the part of the key, as recipe_share does. A row prints the notes on its texts if the part is new; if other
// recipes have the part, the notes were printed for them.
static void *make_part(struct making *m, enum recipe_part part, size_t size, void (*free)(void *), bool *ok)
{
    void *const new = recipe_share(m->d, part, &m->key.entries, size, free, ok, m->e);
    const struct shared *const shared = m->d->key.part[part];
    if (m->d->of_row && shared && shared->users == 1)
        notes_move(&m->d->of->notes, &m->note);
    builder_clear(&m->note);
    list_begin(&m->key, NULL);
    return new;
}

// Notes where the model's tokenizer makes other tokens of the text of --logit-bias than the one that has it.
static bool note_tokenizer(struct making *m, const char *text, size_t len, bool escapes, uint32_t id)
{
    struct ids ids = {0};
    struct builder list = {0};
    bool known;
    const bool ok = recipes_tokenize(m->d->of, &m->tables, VOCAB_DEFINED, text, len, escapes, &ids, &known, m->e);
    for (size_t i = 0; known && i < ids.n; i++)
        builder_format(&list, "%s%" PRIu32, i ? "," : "", ids.id[i]);
    if (known && ids.n && (ids.n > 1 || *ids.id != id) && !list.failed)
        note_once(m->d->of, NOTE_PLAIN,
                  "--logit-bias: '%.*s' is token %" PRIu32 "; the model's tokenizer makes %s of it",
                  err_clip_part(text, len, 40), text, id, list.text);
    builder_free(&list);
    free(ids.id);
    return ok;
}

// Finds the tokens of a bias by text in a row or a request: those of the model's tokenizer, if its vocabulary says
// enough; else as recipes_split_text does.
static bool find_bias(struct making *m, const char *name, const char *text, size_t len, bool escapes)
{
    bool known;
    const bool ok = recipes_tokenize(m->d->of, &m->tables, VOCAB_DEFINED, text, len, escapes, &m->ids, &known, m->e);
    if (!ok || known)
        return ok;
    if (m->tables.vocab)
        return err_set(m->e, STATUS_USAGE,
                       "%s: '%.*s' needs the model's tokenizer: give ids (llama-tokenize, or POST /tokenize)", name,
                       err_clip_part(text, len, 40), text);
    return recipes_split_text(m->d->of, name, text, escapes, &m->ids, m->e);
}

// Drops the first token of a generation prompt if its text begins with white space and the prompt does not, as in
// llama.cpp: tokenizers put a space before a text.
static void drop_space(const struct vocab *v, const char *text, struct ids *ids)
{
    const struct piece first = ids->n ? vocab_text(v, *ids->id) : (struct piece){NULL, 0};
    if (first.len && isspace(*first.p) && !isspace((unsigned char)*text))
        memmove(ids->id, ids->id + 1, --ids->n * sizeof *ids->id);
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
        if (!recipes_find_token(m->d->of, entry_text(x), x->n, escapes, ids->id, m->e) ||
            !note_tokenizer(m, entry_text(x), x->n, escapes, *ids->id))
            return false;
    } else if (list == m->s->list) {
        if (!find_bias(m, name, entry_text(x), x->n, escapes))
            return false;
        if (m->tables.vocab)
            return *tokens = (struct tokens){ids->id, ids->n}, true;
    } else if (list - m->s->list >= LIST_START) {
        bool known;
        if (!recipes_tag_tokens(m->d->of, &m->tables, name, entry_text(x), escapes, ids, &known, m->e))
            return false;
        if (list - m->s->list == LIST_GENERATION)
            drop_space(m->d->of->vocab, entry_text(x), ids);
        if (known)
            return *tokens = (struct tokens){ids->id, ids->n}, true;
    } else if (!recipes_split_text(m->d->of, name, entry_text(x), escapes, ids, m->e)) {
        return false;
    }
    note_spelling(m->d->of_row ? &m->note : &m->d->of->notes, list->name, entry_text(x), ids);
    *tokens = (struct tokens){ids->id, ids->n};
    return true;
}

// Adds the entries of a list to the key; if it was not given, those that the old part has of it. old: NULL if there is
// no part.
static bool add_entries(struct making *m, enum list_kind kind, const struct shared *old)
{
    const struct list *const list = given(m, kind);
    struct tokens tokens;
    for (const struct list_entry *x = NULL; list && (x = list_next_entry(list, x));) {
        if (list->unknown == UNKNOWN_IDS_LEFT_OUT && x->form == ENTRY_IDS && m->d->of->vocab &&
            *x->of >= m->d->of->vocab->n)
            continue;
        if (!find_tokens(m, list, x, x->form == ENTRY_ESCAPED && kind == LIST_BIASES && !m->d->of_row, &tokens))
            return false;
        list_add_ids(&m->key, tokens.id, tokens.n, kind == LIST_BIASES ? x->bias : (float)kind);
    }
    for (const struct list_entry *x = NULL; !list && old && (x = next_of_key(old, x));)
        if (x->n && (kind == LIST_BIASES || is_of_list(x, kind)))
            list_add_ids(&m->key, x->of, x->n, x->bias);
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
    bool ok = true;
    for (const struct list_entry *x = NULL; ok && (x = next_of_key(&b->shared, x));)
        for (size_t i = 0; ok && i < x->n; i++)
            ok = mem_push(&b->bias, &b->n, &cap, &(struct bias){x->of[i], x->bias}, sizeof *b->bias);
    b->n_given = b->n;
    for (uint32_t id = 0; ok && v && v->any & unwanted && id < v->n; id++)
        if (v->flags[id] & unwanted)
            ok = mem_push(&b->bias, &b->n, &cap, &(struct bias){id, -INFINITY}, sizeof *b->bias);
    return ok && bias_table_build(&b->table, b->bias, b->n);
}

// Makes the biases. An entry of the key without ids has ignore_eos.
static bool make_biases(struct making *m)
{
    const struct biases *const old = m->d->key.biases;
    const struct vocab *const v = m->d->of->vocab;
    const bool ignore_eos = m->s->ignore_eos;
    bool ok;
    if (old && !given(m, LIST_BIASES) && ignore_eos == old->ignore_eos)
        return true;
    list_add_ids(&m->key, NULL, 0, ignore_eos ? 1.0f : 0.0f);
    if (!add_entries(m, LIST_BIASES, old ? &old->shared : NULL))
        return false;
    if (ignore_eos && !v)
        return err_set(m->e, STATUS_USAGE, "--ignore-eos needs --vocab");
    if (ignore_eos && !m->d->of_row && !(v->any & VOCAB_EOG))
        note_add(&m->d->of->notes, NOTE_WARNING, "--ignore-eos: the vocabulary has no end-of-generation token");
    struct biases *const b = make_part(m, PART_BIASES, sizeof *b, biases_free, &ok);
    if (!b)
        return ok;
    b->ignore_eos = ignore_eos;
    return fill_biases(b, v) || err_from_fault(m->e, fault_memory());
}

// ---- breakers

static void breakers_drop(void *thing)
{
    struct breaker_list *const b = thing;
    breakers_free(&b->breakers);
    free(b);
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
    list_add_text(&m->key, ENTRY_TEXT, (const char *)text, len, LIST_BREAKERS);
    free(text);
    return true;
}

// Makes the breakers: sequences, then texts. llama.cpp's hold if none are given.
static bool make_breakers(struct making *m)
{
    const struct list *const texts = given(m, LIST_BREAKERS), *const ids = given(m, LIST_BREAKER_IDS);
    bool ok;
    if (!texts && !ids && m->d->key.breakers)
        return true;
    if (!add_entries(m, LIST_BREAKER_IDS, NULL))
        return false;
    const size_t n = m->key.n;
    for (const struct list_entry *x = NULL; texts && (x = list_next_entry(texts, x));)
        if (!add_breaker(m, x))
            return false;
    for (const char *text = "\n:\"*"; !texts && !ids && *text; text++)
        list_add_text(&m->key, ENTRY_TEXT, text, 1, LIST_BREAKERS);
    const size_t texts_at = sizeof(struct breaker_list) + n * sizeof(struct tokens);
    struct breaker_list *const b =
        make_part(m, PART_BREAKERS, texts_at + (m->key.n - n) * sizeof(struct piece), breakers_drop, &ok);
    if (!b)
        return ok;
    struct tokens *const sequence = (struct tokens *)(void *)(b + 1);
    struct piece *const text = (struct piece *)(void *)(sequence + n);
    for (const struct list_entry *x = NULL; (x = next_of_key(&b->shared, x));)
        if (x->form == ENTRY_TEXT)
            text[b->breakers.n_texts++] = (struct piece){(const unsigned char *)entry_text(x), x->n};
        else
            sequence[b->breakers.n_sequences++] = tokens_of(x);
    b->breakers.sequence = sequence;
    b->breakers.text = text;
    return true;
}

// ---- bans

static void bans_free(void *thing)
{
    struct ban_list *const b = thing;
    free(b->end);
    free(b);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// Fills the bans, and their ends: those given, then those of the vocabulary.
static bool fill_bans(struct ban_list *b, const struct vocab *v)
{
    size_t cap = 0;
    bool ok = true;
    for (const struct list_entry *x = NULL; ok && (x = next_of_key(&b->shared, x));) {
        if (is_of_list(x, LIST_BANS)) {
            b->sequence[b->bans.n++] = tokens_of(x);
            b->bans.longest = larger(b->bans.longest, x->n);
        }
        for (size_t i = 0; ok && is_of_list(x, LIST_ENDS) && i < x->n; i++)
            ok = mem_push(&b->end, &b->bans.n_ends, &cap, &x->of[i], sizeof *b->end);
    }
    b->n_given = b->bans.n_ends;
    for (uint32_t id = 0; ok && v && id < v->n; id++)
        if (v->flags[id] & VOCAB_EOG)
            ok = mem_push(&b->end, &b->bans.n_ends, &cap, &id, sizeof id);
    b->bans.sequence = b->sequence;
    b->bans.end = b->end;
    return ok;
}

static bool make_bans(struct making *m)
{
    const struct ban_list *const old = m->d->key.bans;
    const struct shared *const shared = old ? &old->shared : NULL;
    bool ok;
    if (old && !given(m, LIST_ENDS) && !given(m, LIST_BANS))
        return true;
    if (!add_entries(m, LIST_ENDS, shared) || !add_entries(m, LIST_BANS, shared))
        return false;
    struct ban_list *const b = make_part(m, PART_BANS, sizeof *b + m->key.n * sizeof *b->sequence, bans_free, &ok);
    return b ? fill_bans(b, m->d->of->vocab) || err_from_fault(m->e, fault_memory()) : ok;
}

// ---- the reasoning budget

// Fills the tags. Writes the forced tokens, message and end tag, behind the tags, where as many bytes as the key has
// are free.
static void fill_reasoning(struct reasoning *r, const struct vocab *v)
{
    struct tokens *const start = &r->tag[REASONING_START], *const message = &r->tag[REASONING_MESSAGE],
                         *const end = &r->tag[REASONING_END];
    size_t longest = 0;
    r->n = REASONING_END;
    for (const struct list_entry *x = NULL; (x = next_of_key(&r->shared, x));) {
        if (is_of_list(x, LIST_START))
            *start = tokens_of(x);
        if (is_of_list(x, LIST_MESSAGE))
            *message = tokens_of(x);
        if (is_of_list(x, LIST_END_TAGS))
            r->tag[r->n++] = tokens_of(x);
        longest = larger(longest, is_of_list(x, LIST_START) || is_of_list(x, LIST_END_TAGS) ? x->n : 0);
    }
    if (r->tokens < 0 || r->n == REASONING_END || !start->n)
        return;
    uint32_t *const forced = (uint32_t *)(void *)&r->tag[r->n];
    const size_t n_forced = r->forces ? message->n + end->n : 0;
    if (message->n)
        memcpy(forced, message->id, message->n * sizeof *forced);
    memcpy(forced + message->n, end->id, end->n * sizeof *forced);
    r->rules = (struct budget_rules){.most = (uint32_t)r->tokens,
                                     .start = *start,
                                     .end = end,
                                     .n_ends = r->n - REASONING_END,
                                     .forced = {forced, n_forced},
                                     .longest = longest,
                                     .vocab = v};
}

// Makes the budget. Without a start tag or an end tag there is none. As in the server, only a row with the message,
// which may be empty, makes the budget force tokens. The first entry of the key is in none of the lists.
static bool make_reasoning(struct making *m)
{
    const struct reasoning *const old = m->d->key.reasoning;
    const struct shared *const shared = old ? &old->shared : NULL;
    const int64_t budget = m->s->reasoning_budget;
    const struct list *const message = given(m, LIST_MESSAGE);
    const bool forces = message || (m->d->of_row ? old && old->forces : budget >= 0);
    const uint32_t head[] = {(uint32_t)budget, forces};
    bool ok;
    if (!given(m, LIST_START) && !message && !given(m, LIST_END_TAGS) && (old ? old->tokens == budget : budget < 0))
        return true;
    list_add_ids(&m->key, head, 2, (float)LISTS);
    if (!add_entries(m, LIST_START, shared) || !add_entries(m, LIST_MESSAGE, shared) ||
        !add_entries(m, LIST_END_TAGS, shared))
        return false;
    const size_t tags = (REASONING_END + m->key.n) * sizeof(struct tokens);
    struct reasoning *const r = make_part(m, PART_REASONING, sizeof *r + tags + m->key.entries.len, free, &ok);
    if (r) {
        r->tokens = budget;
        r->forces = forces;
        fill_reasoning(r, m->d->of->vocab);
    }
    return ok;
}

// Makes the generation prompt. Without a budget, and without a grammar that it moves, it is ignored.
static bool make_generation(struct making *m)
{
    struct recipe_key *const p = &m->d->key;
    bool ok = true;
    if (!given(m, LIST_GENERATION) || (m->s->reasoning_budget < 0 && !(p->rules && p->grammar_prefilled)))
        return true;
    if (!add_entries(m, LIST_GENERATION, NULL))
        return false;
    const struct list_entry *const x = list_next_entry(&m->key, NULL);
    if (x && !x->n) {
        list_begin(&m->key, NULL);
        shared_drop(p->generation);
        p->generation = NULL;
        return true;
    }
    struct generation *const g = make_part(m, PART_GENERATION, sizeof *g, free, &ok);
    if (g)
        g->tokens = tokens_of(next_of_key(&g->shared, NULL));
    return ok;
}

bool recipe_set_lists(struct new_recipe *d, const struct settings *s, struct err *e)
{
    struct making m = {.d = d, .s = s, .e = e};
    bool ok = true;
    for (size_t i = 0; i < LISTS; i++)
        ok = ok && (!s->list[i].entries.failed || err_from_fault(e, fault_memory()));
    ok = ok && make_biases(&m) && make_breakers(&m) && make_bans(&m) && make_reasoning(&m) && make_generation(&m);
    free(m.ids.id);
    token_tables_free(&m.tables);
    list_free(&m.key);
    builder_free(&m.note);
    return ok;
}
