// SPDX-License-Identifier: MIT
// Makes a sparse row of a position of a reply.
#include "base/bits.h"
#include "base/mem.h"
#include "in/reply_position.h"
#include "in/token_list.h"
#include "kern/kern.h"
#include "kern/libm.h"
#include "json/json.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define MASKED -9999.0f // vLLM writes this log-probability for -inf
#define ABOVE  0.0198f  // ln 1.02: a log-probability that was rounded to bf16 or f16 may be as far above 0

// Reads a number that is named a log-probability: below MASKED it is masked; of a reply of probabilities it is one.
static void interpret(const struct json_reply *reply, const struct reply_position *p, struct reply_token *t)
{
    if (p->kind == LIST_LOGITS || t->probability || isnan(t->logit))
        return;
    if (t->logit <= MASKED) {
        t->logit = -INFINITY;
    } else if (reply->as_probs) {
        t->logit = libm_logf(t->number);
        t->probability = true;
    }
}

// Reads the tokens of a position's list to reply->token.
static bool read_list(struct json_reply *reply, const struct reply_position *p, struct err *e)
{
    const bool columns = p->n_list > 0, keyed = cJSON_IsObject(p->list);
    const bool ids = p->shape->form == TOKEN_ID || (p->shape->form == TOKEN_TEXT && cJSON_IsNumber(p->chosen));
    const cJSON *number = p->numbers;
    reply->n_tokens = 0;
    for (const cJSON *value = columns ? p->list : p->list->child; value && !(columns && reply->n_tokens == p->n_list);
         value = value->next) {
        const size_t n = reply->n_tokens;
        if (!mem_grow(&reply->token, &reply->tokens_cap, n + 2, sizeof *reply->token)) // and the chosen token
            return err_from_fault(e, fault_memory());
        if (!(columns ? reply_token_pair(value, number, p->kind == LIST_PROBS, &reply->token[n])
                      : reply_token_listed(value, keyed && ids, &reply->token[n])))
            return err_set(e, STATUS_DATA,
                           "position %zu of the reply: element %zu of its list is not a token with a probability",
                           p->index, n);
        interpret(reply, p, &reply->token[n]);
        number = number ? number->next : NULL;
        reply->n_tokens++;
    }
    return true;
}

// Returns whether the numbers of the reply, which are named log-probabilities, are probabilities: none is negative or
// above 1, some is positive, and no list adds up to more than 1 but for rounding. llama-server of December 2024 and
// cortex write so.
static bool lists_probabilities(struct json_reply *reply)
{
    struct unit_fit fit = {0};
    struct err e;
    bool some = false;
    for (const struct reply_position *p = reply->position; p < reply->position + reply->n; p++) {
        double sum = 0.0;
        if (!p->list || p->kind == LIST_LOGITS || !read_list(reply, p, &e))
            continue;
        for (const struct reply_token *t = reply->token; t < reply->token + reply->n_tokens; t++) {
            if (t->probability || t->logit < 0.0f || t->logit > 1.0f)
                return false;
            unit_add(&fit, t->number);
            some = some || t->number > 0.0f;
            sum += (double)t->number;
        }
        if (fit.some && sum > 1.0 + 1e-6 + (double)reply->n_tokens * (double)unit_of(&fit).decimal)
            return false;
    }
    return some;
}

// Returns whether the position lists tokens that the request named (vLLM's logprob_token_ids): the request says so, or
// the ranks of the tokens do.
static bool lists_named_ids(const struct json_reply *reply, const struct reply_position *p)
{
    const cJSON *const tree = reply->piece->tree, *value;
    const cJSON *const asked = reply_path(tree, "request.logprob_token_ids request.body.logprob_token_ids "
                                                "request.sampling_params.logprob_token_ids "
                                                "body.logprob_token_ids sampling_params.logprob_token_ids");
    const int n = cJSON_GetArraySize(p->list);
    bool first = true;
    if (cJSON_GetArraySize(asked) > 0)
        return true;
    const cJSON *const list = p->n_list ? NULL : p->list;
    cJSON_ArrayForEach(value, list)
    {
        const cJSON *const rank = cJSON_IsObject(value) ? json_member(value, "rank") : NULL;
        if (!first && cJSON_IsNumber(rank) && rank->valuedouble > (double)n) // the first one is the chosen token
            return true;
        first = false;
    }
    return false;
}

// Reads the chosen token of a position. A masked one is not known.
static bool read_chosen(const struct json_reply *reply, const struct reply_position *p, struct reply_token *chosen,
                        struct err *e)
{
    *chosen = (struct reply_token){.id = -1, .logit = NAN};
    if (p->chosen && !(p->shape->form == TOKEN_STEPS || (p->numbers && !p->list)
                           ? reply_token_pair(p->chosen, p->numbers, p->kind == LIST_PROBS, chosen)
                           : reply_token_read(p->chosen, p->shape->form, chosen)))
        return err_set(e, STATUS_DATA, "position %zu of the reply is not a token", p->index);
    if (p->id >= 0)
        chosen->id = p->id;
    if (!isnan(p->logit))
        chosen->logit = chosen->number = p->logit;
    if (!p->list && chosen->logit > ABOVE && p->kind != LIST_LOGITS)
        return err_set(e, STATUS_DATA, "position %zu of the reply: its log-probability is %g, above 0", p->index,
                       (double)chosen->logit);
    if (p->list) {
        interpret(reply, p, chosen);
        chosen->logit = chosen->logit == -INFINITY && chosen->number <= MASKED ? NAN : chosen->logit;
    }
    return true;
}

// Fails with STATUS_DATA if a position has no list, and its chosen token alone makes no row: because others have lists,
// because it has no number, or because the run needs lists.
static bool check_list(const struct json_reply *reply, const struct input_config *config,
                       const struct reply_position *p, const struct reply_token *chosen, struct err *e)
{
    if (p->list)
        return true;
    if (reply->listed)
        return err_set(e, STATUS_DATA,
                       "position %zu of the reply has no list of tokens, as others have: a server that drafts tokens "
                       "lists none for those that it accepts from the draft",
                       p->index);
    if (config->reply == NEEDS_CHOSEN && chosen->logit == -INFINITY)
        return err_set(e, STATUS_DATA, "position %zu of the reply: its log-probability is null, which is no number",
                       p->index);
    if (config->reply == NEEDS_CHOSEN && chosen->logit > -INFINITY && chosen->logit <= MASKED)
        return err_set(e, STATUS_DATA,
                       "position %zu of the reply: its log-probability is %g, which stands for an unknown number",
                       p->index, (double)chosen->logit);
    if (config->reply == NEEDS_CHOSEN && chosen->logit > -INFINITY)
        return true;
    const char *const alone = !(chosen->logit > -INFINITY) ? "" : " (--emit score reads the chosen token alone)";
    return p->shape->request
               ? err_set(e, STATUS_DATA,
                         "position %zu of the reply has no list of tokens; ask the server for it with %s%s", p->index,
                         p->shape->request, alone)
               : err_set(e, STATUS_DATA, "position %zu of the reply has no list of tokens: the server lists none%s",
                         p->index, alone);
}

// Returns whether several tokens may have this text.
static bool is_no_name(const char *text) { return text && (!*text || strstr(text, "\xEF\xBF\xBD")); }

// Finds the chosen token in the list, and gives it the chosen token's id if it has none. Appends a chosen token that is
// missing but has a logit. Returns the token's index; the length of the list if it is missing and has no logit. Several
// tokens may have the same text, such as parts of a character; then the one with the chosen token's logit is preferred.
// Adds ROW_TWO_NUMBERS to *facts if the list has the chosen token with two numbers, ROW_OTHER_NUMBER if it has another
// one than the chosen token, which may be one after sampling.
//
// A text without characters, or with U+FFFD, is that of several tokens. In an object keyed by text one of them hides
// the others: if its number is not that of the chosen token, it is another token.
static size_t merge_chosen(struct json_reply *reply, const struct reply_token *chosen, bool keyed, unsigned *facts)
{
    struct reply_token *const token = reply->token;
    const bool known = !isnan(chosen->logit);
    const size_t n = reply->n_tokens;
    size_t at = n;
    bool sure = false;
    for (size_t i = 0; i < n && !sure; i++) {
        if (!reply_token_same(&token[i], chosen))
            continue;
        sure = !known || token[i].logit == chosen->logit;
        if (!sure && keyed && token[i].id < 0 && is_no_name(token[i].text))
            continue;
        at = sure || at == n ? i : at;
    }
    if (at < n && known && fabsf(token[at].logit - chosen->logit) > 1e-5f * fmaxf(1.0f, fabsf(chosen->logit)))
        *facts |= ROW_OTHER_NUMBER;
    if (at == n && known)
        token[reply->n_tokens++] = *chosen;
    else if (at < n && token[at].id < 0)
        token[at].id = chosen->id;
    for (size_t i = 0; i < at && at < n && token[at].id >= 0; i++)
        at = token[i].id == token[at].id ? i : at;
    for (size_t i = at + 1; i < reply->n_tokens; i++) // some servers list the chosen token twice
        if (token[i].id >= 0 && token[i].id == token[at].id) {
            *facts |= token[i].logit != token[at].logit ? ROW_TWO_NUMBERS : 0u;
            token[at].logit = fmaxf(token[at].logit, token[i].logit);
            token[i--] = token[--reply->n_tokens];
        }
    return at;
}

// Sets a token's id to that of its bytes in the vocabulary.
static bool find_token_id(struct json_reply *reply, struct reply_token *t, const struct vocab *vocab, struct err *e)
{
    const char *const text = t->text ? t->text : "";
    struct builder *const bytes = &reply->bytes;
    if (!vocab)
        return err_set(e, STATUS_DATA,
                       "token '%s' has no id; give the texts with --vocab, or number the tokens with --ids rank", text);
    if ((!reply->lookup.vocab && !lookup_build(&reply->lookup, vocab)) || !reply_token_bytes(t, bytes))
        return err_from_fault(e, fault_memory());
    // Every unused id has the empty text, so the empty text stands for no token.
    const uint32_t id = bytes->len ? lookup_find(&reply->lookup, bytes->text, bytes->len) : VOCAB_NONE;
    t->id = id;
    return id != VOCAB_NONE || err_set(e, STATUS_DATA, "token '%s' is not in the vocabulary", text);
}

// Adds the texts of the list's tokens to the vocabulary of known texts.
static bool add_texts(struct json_reply *reply, struct vocab *texts, struct err *e)
{
    for (const struct reply_token *t = reply->token; t < reply->token + reply->n_tokens; t++)
        if ((t->bytes || t->text) && !(t->text && reply_token_text_id(t->text) >= 0) &&
            !(reply_token_bytes(t, &reply->bytes) &&
              vocab_set_text(texts, (uint32_t)t->id, reply->bytes.text, reply->bytes.len)))
            return err_from_fault(e, fault_memory());
    return true;
}

// Numbers the tokens by falling logit; those with equal logits in the order of the list.
static bool number_by_rank(struct json_reply *reply, struct err *e)
{
    const size_t n = reply->n_tokens;
    uint64_t *const key = sparse_scratch(&reply->row, n);
    if (!key)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++)
        key[i] = rank_key(reply->token[i].logit, (uint32_t)i);
    kern_scalar.sort(key, n, n, key + n);
    for (size_t i = 0; i < n; i++)
        reply->token[rank_id(key[i])].id = (int64_t)i;
    return true;
}

// Returns a bound of the logits that are not listed: the smallest logit of the list. The chosen token does not count,
// since servers list it besides. If it ties with the smallest, unlisted tokens may rank before it.
static float least_listed(const struct json_reply *reply, size_t chosen, size_t listed)
{
    float least = INFINITY;
    for (size_t i = 0; i < reply->n_tokens && i < listed; i++)
        if (i != chosen && reply->token[i].logit > -INFINITY && reply->token[i].logit < least)
            least = reply->token[i].logit;
    const bool tied = chosen < reply->n_tokens && reply->token[chosen].logit == least;
    return tied ? nextafterf(least, INFINITY) : least;
}

// Returns whether unlisted tokens may be likelier than the least listed one. A dict keyed by text has lost tokens if
// several have its text, as those have that are no whole characters; it is then shorter than others, or has U+FFFD.
static bool may_lack_tokens(struct json_reply *reply, const struct reply_position *p, size_t chosen, size_t listed)
{
    size_t below = 0;
    bool broken = false;
    if (!cJSON_IsObject(p->list) || p->shape->form == TOKEN_ID)
        return false;
    for (size_t i = 0; i < listed; i++) {
        below += i != chosen && chosen < listed && reply->token[chosen].logit < reply->token[i].logit;
        broken = broken || is_no_name(reply->token[i].text);
    }
    const size_t n = listed > 1 && below == listed - 1 ? listed - 1 : listed; // without a chosen token from outside
    const bool shorter = n < reply->longest;
    reply->longest = shorter ? reply->longest : n;
    return broken || shorter;
}

// Returns true if the token's probability was rounded to 0. It is not masked, and counts among the unlisted tokens.
static bool is_rounded_away(const struct reply_token *t) { return t->probability && t->number == 0.0f; }

// The logarithm of the largest probability that is rounded to 0.
static float least_of(const struct list_unit *unit)
{
    const float f16 = unit->binary == 0x1p-11f ? 0x1p-25f : 0.0f, most = fmaxf(unit->decimal, f16);
    return most < INFINITY ? libm_logf(fmaxf(most, FLT_TRUE_MIN)) : INFINITY;
}

// Adds the numbers of a position to those of its sequence. Returns their unit.
static struct list_unit add_numbers(struct json_reply *reply, bool fresh)
{
    if (fresh)
        reply->unit = (struct unit_fit){0};
    for (const struct reply_token *t = reply->token; t < reply->token + reply->n_tokens; t++) {
        reply->unit.of_probs = t->probability;
        unit_add(&reply->unit, t->number);
    }
    return unit_of(&reply->unit);
}

bool json_reply_next(struct json_reply *reply, const struct input_config *config, struct input_row *r, struct err *e)
{
    assert(reply->next < reply->n);
    const struct reply_position *const p = &reply->position[reply->next++];
    struct reply_token chosen;
    if (reply->next == 1) {
        reply->longest = p->fresh ? 0 : reply->longest;
        reply->as_probs = false;
        reply->as_probs = lists_probabilities(reply);
    }
    if (p->fresh)
        r->place.first = reply->first = r->number;
    if (!read_chosen(reply, p, &chosen, e) || !check_list(reply, config, p, &chosen, e))
        return false;
    reply->n_tokens = 0;
    if (p->list && !read_list(reply, p, e))
        return false;
    if (!mem_grow(&reply->token, &reply->tokens_cap, 1, sizeof *reply->token))
        return err_from_fault(e, fault_memory());
    r->fresh = p->fresh;
    r->seq = reply->seq;
    if (p->fresh && p->n_before && config->ids == IDS_GIVEN)
        r->before = (struct tokens){reply->prompt + p->before, p->n_before};
    r->facts = reply->facts;
    const bool keyed = cJSON_IsObject(p->list) && p->shape->form != TOKEN_ID;
    const size_t listed = reply->n_tokens, at = merge_chosen(reply, &chosen, keyed, &r->facts);
    if (config->ids == IDS_RANK && !number_by_rank(reply, e))
        return false;
    struct list_unit unit = add_numbers(reply, p->fresh);
    float least = may_lack_tokens(reply, p, at, listed) ? INFINITY : least_listed(reply, at, listed);
    bool some = false; // of the tokens is not rounded to 0
    for (size_t i = 0; i < reply->n_tokens; i++)
        some = some || !is_rounded_away(&reply->token[i]);
    const bool after = !strncmp(p->shape->kind, "llama-server", 12) && reply->n_tokens && reply->token->probability &&
                       !reply->as_probs;
    const bool named = p->list && lists_named_ids(reply, p);
    r->facts |=
        (after ? ROW_AFTER_SAMPLING : 0u) | (named ? ROW_CHOSEN_IDS : 0u) | (reply->as_probs ? ROW_PROBABILITIES : 0u);
    if (after || named)
        unit.decimal = INFINITY;
    reply->row.n = 0;
    for (struct reply_token *t = reply->token; t < reply->token + reply->n_tokens; t++)
        if (some && is_rounded_away(t))
            least = fminf(least, least_of(&unit));
        else if ((t->id < 0 && !find_token_id(reply, t, config->vocab, e)) ||
                 !sparse_add(&reply->row, (uint32_t)t->id, t->logit, e))
            return false;
    if (config->texts && !add_texts(reply, config->texts, e))
        return false;
    r->facts |= config->texts && config->texts->n ? ROW_TEXTS : 0u;
    if (at < reply->n_tokens)
        r->recorded = reply->token[at].id;
    else if (config->ids == IDS_GIVEN)
        r->recorded = chosen.id;
    const struct row_unlisted unlisted = token_list_unlisted(reply->row.x, reply->row.n, least, &unit);
    const size_t n_vocab = config->n_vocab || config->ids == IDS_RANK ? config->n_vocab : config->n_tokens;
    if (!sparse_row(&reply->row, n_vocab, &r->logits, e))
        return false;
    if (p->kind != LIST_LOGITS) // a list of logits is the whole row
        r->logits.unlisted = r->logits.n == n_vocab ? token_list_complete(unlisted) : unlisted;
    r->logits.unlisted.alone = !p->list;
    return true;
}
