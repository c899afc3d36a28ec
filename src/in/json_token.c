// SPDX-License-Identifier: MIT
#include "in/json_token.h"

#include "base/bits.h"
#include "base/mem.h"
#include "in/json_text.h"
#include "sample/sort.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t written_id(const char *text)
{
    return json_id(text, text + strlen(text));
}

// null stands for a mask.
static bool read_logit(const cJSON *value, bool probability, struct token *t)
{
    if (!cJSON_IsNumber(value) && !cJSON_IsNull(value))
        return false;
    t->logit = cJSON_IsNull(value) ? -INFINITY : (float)value->valuedouble;
    t->has_logit = true;
    if (probability && !cJSON_IsNull(value)) {
        if (t->logit < 0.0f)
            return false;
        t->logit = logf(t->logit);
    }
    return true;
}

// A text that vLLM's return_tokens_as_token_ids made.
static int64_t id_in_text(const char *text)
{
    static const char start[] = "token_id:";
    return text && !strncmp(text, start, strlen(start)) ? written_id(text + strlen(start)) : -1;
}

static bool read_record(const cJSON *value, struct token *t)
{
    const cJSON *const id = cJSON_GetObjectItemCaseSensitive(value, "id");
    const cJSON *const bytes = cJSON_GetObjectItemCaseSensitive(value, "bytes");
    const cJSON *const logprob = cJSON_GetObjectItemCaseSensitive(value, "logprob");
    const cJSON *const prob = cJSON_GetObjectItemCaseSensitive(value, "prob");
    t->text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(value, "token"));
    if (!t->text)
        t->text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(value, "tok_str"));
    if (!t->text)
        t->text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(value, "content"));
    t->bytes = cJSON_IsArray(bytes) ? bytes : NULL;
    const bool given = id && !cJSON_IsNull(id);
    if (given && !json_is_id(id))
        return false;
    t->id = given ? (int64_t)id->valuedouble : id_in_text(t->text);
    if (t->id < 0 && !t->text && !t->bytes)
        return false;
    return (!logprob && !prob) || read_logit(logprob ? logprob : prob, !logprob, t);
}

static bool read_triple(const cJSON *value, struct token *t)
{
    const cJSON *const logprob = value ? value->child : NULL, *const id = logprob ? logprob->next : NULL;
    if (!cJSON_IsArray(value) || !id || !json_is_id(id))
        return false;
    t->id = (int64_t)id->valuedouble;
    t->text = cJSON_GetStringValue(id->next);
    return read_logit(logprob, false, t);
}

bool token_read(const cJSON *value, enum token_shape shape, struct token *t)
{
    *t = (struct token){.id = -1};
    switch (shape) {
    case TOKEN_RECORD:
        return cJSON_IsObject(value) && read_record(value, t);
    case TOKEN_TRIPLE:
        return read_triple(value, t);
    case TOKEN_TEXT:
        t->text = cJSON_GetStringValue(value);
        t->id = id_in_text(t->text);
        return t->text;
    case TOKEN_ID:
        break;
    }
    return false;
}

int64_t token_key(const cJSON *value)
{
    return written_id(value->string);
}

// An element of a list.
static bool read_element(const cJSON *value, enum token_shape shape, struct token *t)
{
    if (shape == TOKEN_RECORD || shape == TOKEN_TRIPLE)
        return token_read(value, shape, t) && t->has_logit;
    *t = (struct token){.id = shape == TOKEN_ID ? written_id(value->string) : id_in_text(value->string), .text = value->string};
    if (shape == TOKEN_TEXT)
        return read_logit(value, false, t);
    return t->id >= 0 && cJSON_IsObject(value) && read_logit(cJSON_GetObjectItemCaseSensitive(value, "logprob"), false, t);
}

bool token_list_read(struct token_list *l, const cJSON *list, enum token_shape shape, int64_t *bad)
{
    const cJSON *value;
    *bad = -1;
    l->n = 0;
    cJSON_ArrayForEach(value, list)
    {
        if (!mem_grow(&l->token, &l->cap, l->n + 2, sizeof *l->token)) // room for the chosen one, too
            return false;
        if (!read_element(value, shape, &l->token[l->n])) {
            *bad = (int64_t)l->n;
            return false;
        }
        l->n++;
    }
    return true;
}

static bool same_token(const struct token *a, const struct token *b)
{
    if (a->id >= 0 && b->id >= 0)
        return a->id == b->id;
    if (a->bytes && b->bytes && a->bytes->child && b->bytes->child)
        return cJSON_Compare(a->bytes, b->bytes, 1);
    return a->text && b->text && !strcmp(a->text, b->text);
}

// Where in the list the chosen token is, or its length. Texts may come twice, such as that of half a character; then the logit tells.
static size_t find_chosen(const struct token_list *l, const struct token *chosen)
{
    size_t at = l->n;
    for (size_t i = 0; i < l->n; i++) {
        if (!same_token(&l->token[i], chosen))
            continue;
        if (!chosen->has_logit || l->token[i].logit == chosen->logit)
            return i;
        at = at < l->n ? at : i;
    }
    return at;
}

// Finds the chosen token's place in the list, where it goes if it is not there; the list's length when it cannot go there.
static size_t place_chosen(struct token_list *l, const struct token *chosen)
{
    const size_t at = find_chosen(l, chosen);
    if (at == l->n && chosen->has_logit)
        l->token[l->n++] = *chosen;
    else if (at < l->n && l->token[at].id < 0)
        l->token[at].id = chosen->id;
    return at;
}

// A token's bytes, rather those told as such than its text, which cannot hold a part of a character. An empty array tells none.
static bool bytes_of(struct token_list *l, const struct token *t, struct piece *piece, struct err *e)
{
    const cJSON *byte;
    size_t n = 0;
    *piece = (struct piece){(const unsigned char *)t->text, t->text ? strlen(t->text) : 0};
    if (!t->bytes || !t->bytes->child)
        return true;
    if (!mem_grow(&l->bytes, &l->bytes_cap, (size_t)cJSON_GetArraySize(t->bytes) + 1, 1))
        return err_from_fault(e, fault_memory());
    cJSON_ArrayForEach(byte, t->bytes)
    {
        if (!json_is_id(byte) || byte->valuedouble > 255)
            return true;
        l->bytes[n++] = (unsigned char)byte->valuedouble;
    }
    *piece = (struct piece){l->bytes, n};
    return true;
}

static bool look_up(struct token_list *l, struct token *t, const struct input_config *config, struct err *e)
{
    struct piece piece;
    if (!config->vocab)
        return err_set(e, STATUS_DATA, "token '%s' has no id; give the texts with --vocab, or number the tokens with --ids rank",
                       t->text ? t->text : "");
    if (!l->lookup.vocab && !lookup_build(&l->lookup, config->vocab))
        return err_from_fault(e, fault_memory());
    if (!bytes_of(l, t, &piece, e))
        return false;
    // Nothing is said by all ids without a token, so it tells none of them.
    const uint32_t id = piece.len ? lookup_find(&l->lookup, piece.p, piece.len) : VOCAB_NONE;
    t->id = id;
    return id != VOCAB_NONE || err_set(e, STATUS_DATA, "token '%s' is not in the vocabulary", t->text ? t->text : "");
}

// Ids by falling logit, then place.
static bool number_by_rank(struct token_list *l, struct err *e)
{
    struct sparse *const s = &l->sparse;
    if (!sparse_scratch(s, l->n, e))
        return false;
    for (size_t i = 0; i < l->n; i++)
        s->key[i] = (uint64_t)~order_bits(l->token[i].logit) << 32 | i;
    sort_rising(s->key, l->n, s->tmp);
    for (size_t i = 0; i < l->n; i++)
        l->token[(uint32_t)s->key[i]].id = (int64_t)i;
    return true;
}

bool token_list_row(struct token_list *l, const struct token *chosen, const struct input_config *config, struct input_row *r,
                    struct err *e)
{
    const size_t at = chosen ? place_chosen(l, chosen) : l->n;
    if (config->ranks && !number_by_rank(l, e))
        return false;
    l->sparse.n = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct token *const t = &l->token[i];
        if ((t->id < 0 && !look_up(l, t, config, e)) || !sparse_add(&l->sparse, (uint32_t)t->id, t->logit, e))
            return false;
    }
    if (at < l->n)
        r->recorded = l->token[at].id;
    else if (chosen && !config->ranks)
        r->recorded = chosen->id;
    size_t n_vocab = config->n_vocab;
    if (!n_vocab && !config->ranks)
        n_vocab = config->n_tokens;
    return sparse_row(&l->sparse, l->sparse.ids, l->sparse.x, l->n, n_vocab, &r->logits, e);
}

void token_list_free(struct token_list *l)
{
    free(l->token);
    free(l->bytes);
    sparse_free(&l->sparse);
    lookup_free(&l->lookup);
}
