// SPDX-License-Identifier: MIT
#include "lib/sampl.h"

#include "base/mem.h"
#include "base/version.h"
#include "session/choose.h"
#include "settings/options.h"
#include "vocab/spelling.h"
#include "json/json.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)SAMPL_DATA == STATUS_DATA && (int)SAMPL_USAGE == STATUS_USAGE && (int)SAMPL_SYSTEM == STATUS_IO &&
                  (int)SAMPL_F32 == DTYPE_F32 && (int)SAMPL_F16 == DTYPE_F16 && (int)SAMPL_BF16 == DTYPE_BF16,
              "sampl.h has the numbers of the core");

const char *sampl_version(void) { return SAMPL_VERSION; }

const char *sampl_tier(void) { return kern_select(NULL)->name; }

// ---- vocabularies

struct sampl_vocab {
    struct vocab texts;
};

struct sampl_vocab *sampl_vocab(const char *const *texts, const size_t *lengths, size_t n)
{
    struct sampl_vocab *const v = n <= INT32_MAX ? malloc(sizeof *v) : NULL;
    bool ok = v;
    if (!v)
        return NULL;
    vocab_init(&v->texts);
    for (size_t i = 0; ok && i < n; i++) {
        const char *const text = texts[i] ? texts[i] : "";
        const size_t len = texts[i] && lengths ? lengths[i] : strlen(text);
        ok = vocab_add_spelt(&v->texts, SPELLING_PLAIN, texts[i] ? TOKEN_NORMAL : TOKEN_CONTROL, text, len);
    }
    if (ok) {
        vocab_finish(&v->texts);
        return v;
    }
    sampl_vocab_free(v);
    return NULL;
}

void sampl_vocab_free(struct sampl_vocab *vocab)
{
    if (vocab)
        vocab_free(&vocab->texts);
    free(vocab);
}

// ---- chains

struct sampl_chain {
    struct recipes recipes;
    struct sessions sessions; // only its recipe is used: sequences are not in the set
    struct chooser chooser;
    struct ranked *ranked; // [ranked_cap] scratch
    struct ranked_scratch sort;
    struct sampl_token *kept; // [n_kept]
    size_t n_kept, ranked_cap, kept_cap;
    struct err e; // of the last call; status STATUS_OK: none
};

struct sampl_sequence {
    struct sampl_chain *chain;
    struct session *session;
};

// Begins a call: there is no error yet. Notes of the call before are dropped.
static struct err *begin_call(struct sampl_chain *chain)
{
    builder_clear(&chain->recipes.notes);
    chain->e.status = STATUS_OK;
    return &chain->e;
}

// Texts of numbers have a point, whatever the locale of the program is: switches the thread to the locale "C". Returns
// the thread's own locale for end_numbers.
static locale_t begin_numbers(void)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? uselocale(c) : (locale_t)0;
}

static void end_numbers(locale_t own)
{
    if (own)
        freelocale(uselocale(own));
}

// Parses the text of an object of parameters. The caller frees the tree.
static cJSON *parse_params(const char *text, struct err *e)
{
    const size_t len = strlen(text);
    cJSON *const params = json_parse(text, len, JSON_LOOSE, e);
    if (params && (cJSON_IsObject(params) || err_set(e, STATUS_USAGE, "not a JSON object")) &&
        json_refuse_nul(params, STATUS_USAGE, e) &&
        (json_keep_spelling(params, text, len) || err_from_fault(e, fault_memory())))
        return params;
    cJSON_Delete(params);
    err_prefix(e, "params");
    return NULL;
}

static void read_chain(struct sampl_chain *chain, const char *const *words, size_t n, const char *params)
{
    struct err *const e = begin_call(chain);
    const struct recipe *const typed = recipe_from_words(&chain->recipes, words, n, e);
    chain->sessions.recipe = typed;
    if (!typed || !params)
        return;
    cJSON *const tree = parse_params(params, e);
    chain->sessions.recipe = tree ? recipe_with_params(&chain->recipes, typed, tree, e) : NULL;
    recipe_drop(typed);
    cJSON_Delete(tree);
}

struct sampl_chain *sampl_chain(const struct sampl_vocab *vocab, const char *const *words, size_t n, const char *params)
{
    struct sampl_chain *const chain = calloc(1, sizeof *chain);
    if (!chain)
        return NULL;
    recipes_init(&chain->recipes);
    chain->recipes.vocab = vocab ? &vocab->texts : NULL;
    chain->sessions.recipes = &chain->recipes;
    cand_init(&chain->chooser.cand, kern_select(NULL));
    const locale_t own = begin_numbers();
    read_chain(chain, words, n, params);
    end_numbers(own);
    return chain;
}

void sampl_chain_free(struct sampl_chain *chain)
{
    if (!chain)
        return;
    recipe_drop(chain->sessions.recipe);
    recipes_free(&chain->recipes);
    chooser_free(&chain->chooser);
    free(chain->sort.memory);
    free(chain->ranked);
    free(chain->kept);
    free(chain);
}

const char *sampl_error(const struct sampl_chain *chain)
{
    if (!chain)
        return "out of memory";
    return chain->e.status ? chain->e.text : NULL;
}

// ---- sequences

struct sampl_sequence *sampl_sequence(struct sampl_chain *chain, uint64_t offset)
{
    if (!chain || !chain->sessions.recipe)
        return NULL; // the error stays
    struct err *const e = begin_call(chain);
    struct sampl_sequence *const s = malloc(sizeof *s);
    struct session *const q = s ? session_new(&chain->sessions, "", 0, e) : NULL;
    if (!s)
        err_from_fault(e, fault_memory());
    if (q) {
        *s = (struct sampl_sequence){chain, q};
        q->seed_offset = offset;
        chain_remember(q->chain);
        chain_reseed(q->chain, session_seed_of(q, q->recipe));
        if (session_restart(q, e))
            return s;
        session_free(q);
    }
    free(s);
    return NULL;
}

void sampl_sequence_free(struct sampl_sequence *sequence)
{
    if (sequence)
        session_free(sequence->session);
    free(sequence);
}

int sampl_params(struct sampl_sequence *sequence, const char *params)
{
    struct sampl_chain *const chain = sequence->chain;
    struct err *const e = begin_call(chain);
    const locale_t own = begin_numbers();
    cJSON *const tree = params ? parse_params(params, e) : NULL;
    if (tree)
        session_change(&chain->sessions, sequence->session, tree, e);
    cJSON_Delete(tree);
    end_numbers(own);
    return (int)e->status;
}

int sampl_prompt(struct sampl_sequence *sequence, const uint32_t *ids, size_t n)
{
    struct err *const e = begin_call(sequence->chain);
    session_accept_prompt(sequence->session, ids, n, e);
    return (int)e->status;
}

int sampl_accept(struct sampl_sequence *sequence, uint32_t id)
{
    struct err *const e = begin_call(sequence->chain);
    session_accept_text(sequence->session, &id, 1, e);
    return (int)e->status;
}

// ---- rows

// Fills *to with the row, or refuses it. vocab may be NULL.
static bool take_row(const struct sampl_row *row, const struct vocab *vocab, struct row *to, struct err *e)
{
    const size_t n_vocab = row->n_vocab || !vocab ? row->n_vocab : vocab->n;
    if (!row->n || row->n > INT32_MAX)
        return err_set(e, STATUS_USAGE, "a row of %zu logits", row->n);
    if (row->type > SAMPL_BF16)
        return err_set(e, STATUS_USAGE, "the type of the logits is not one of enum sampl_type");
    for (size_t i = 0; row->ids && i < row->n; i++)
        if ((i && row->ids[i] <= row->ids[i - 1]) || (n_vocab && row->ids[i] >= n_vocab) || row->ids[i] > INT32_MAX)
            return err_set(e, STATUS_USAGE, "ids[%zu]: the ids of a sparse row rise, and are in the vocabulary", i);
    *to = (struct row){
        .type = (enum dtype)row->type, .data = row->logits, .n = row->n, .ids = row->ids, .n_vocab = n_vocab};
    return true;
}

// Copies the candidates that are left, sorted. False when memory is short.
static bool keep_candidates(struct sampl_chain *chain)
{
    struct cand *const c = &chain->chooser.cand;
    size_t n = 0;
    cand_list(c);
    if (c->fault.code || !mem_grow(&chain->ranked, &chain->ranked_cap, c->n, sizeof *chain->ranked) ||
        !mem_grow(&chain->kept, &chain->kept_cap, c->n, sizeof *chain->kept))
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY)
            chain->ranked[n++] = (struct ranked){.id = c->id[i], .logit = c->logit[i], .p = c->p[i]};
    if (!ranked_sort(chain->ranked, n, c->kern, &chain->sort))
        return false;
    for (size_t i = 0; i < n; i++)
        chain->kept[i] = (struct sampl_token){chain->ranked[i].id, chain->ranked[i].p};
    chain->n_kept = n;
    return true;
}

// Chooses the token of a row that was taken.
static void choose_for_row(struct sampl_chain *chain, struct session *q, const struct row *row, uint32_t flags,
                           struct sampl_token *token)
{
    struct cand *const c = &chain->chooser.cand;
    bool masked;
    c->want_p = c->want_logits = flags & SAMPL_WANT_KEPT;
    c->want = flags & (SAMPL_WANT_P | SAMPL_WANT_KEPT) ? WANT_TOKEN_AND_P : WANT_TOKEN;
    struct fault fault = choose_token(&chain->chooser, q, row, &masked);
    q->rows++;
    if (!fault.code && (flags & SAMPL_WANT_KEPT) && !keep_candidates(chain))
        fault = fault_memory();
    if (masked && fault.code == FAULT_ALL_MASKED)
        session_exhausted(q, false, &chain->e);
    else if (session_fault(q->recipe, fault, &chain->e))
        *token = (struct sampl_token){c->chosen, c->want == WANT_TOKEN_AND_P ? c->chosen_p : NAN};
}

int sampl_row(struct sampl_sequence *sequence, const struct sampl_row *row, struct sampl_token *token)
{
    struct sampl_chain *const chain = sequence->chain;
    struct session *const q = sequence->session;
    struct cand *const c = &chain->chooser.cand;
    struct row taken;
    struct err *const e = begin_call(chain);
    chain->n_kept = 0;
    c->position_known = row->flags & SAMPL_HAS_POSITION;
    c->position = c->position_known ? row->position : (uint32_t)q->rows;
    if (take_row(row, chain->recipes.vocab, &taken, e))
        choose_for_row(chain, q, &taken, row->flags, token);
    return (int)e->status;
}

const struct sampl_token *sampl_kept(const struct sampl_chain *chain, size_t *n)
{
    *n = chain->n_kept;
    return chain->n_kept ? chain->kept : NULL;
}
