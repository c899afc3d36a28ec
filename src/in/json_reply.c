// SPDX-License-Identifier: MIT
#include "in/json_reply.h"

#include "base/mem.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const ask[] = {
    [REPLY_LLAMA] = "\"n_probs\": N",
    [REPLY_OPENAI] = "\"logprobs\": true, \"top_logprobs\": N",
    [REPLY_LEGACY] = "\"logprobs\": N",
    [REPLY_PROMPT] = "\"prompt_logprobs\": N",
    [REPLY_SGLANG] = "\"return_logprob\": true, \"top_logprobs_num\": N",
    [REPLY_OLLAMA] = "\"logprobs\": true, \"top_logprobs\": N",
};

// The members by which replies are told apart, the most telling ones first.
static const struct {
    const char *marker;
    int type; // of cJSON's
    enum reply_kind kind;
} markers[] = {
    {"completion_probabilities", cJSON_Array, REPLY_LLAMA},
    {"probs", cJSON_Array, REPLY_LLAMA},
    {"choices", cJSON_Array, REPLY_OPENAI},
    {"prompt_logprobs", cJSON_Array, REPLY_OPENAI},
    {"meta_info", cJSON_Object, REPLY_SGLANG},
    {"logprobs", cJSON_Array, REPLY_OLLAMA},
    {"done", cJSON_True | cJSON_False, REPLY_OLLAMA},
    {"content", cJSON_String, REPLY_LLAMA},
};

enum text_part {
    PART_OUTPUT,
    PART_PROMPT, // its first token has no list: nothing precedes it
    PART_BOTH,   // perhaps the prompt first, echoed
};

// Where a reply with some marker holds its positions: arrays side by side, one element a position.
static const struct track {
    const char *marker;
    enum reply_kind kind; // what to ask for
    enum token_shape shape;
    enum text_part part;
    const char *within;  // the member that holds tokens, lists and logits; NULL: the object itself
    const char *tokens;  // what became of the positions
    const char *lists;   // what they could have become; NULL: within the tokens, under one of several names
    const char *logits;  // of the tokens, where they do not tell them, or NULL
    const char *own_ids; // the object's member with the tokens' ids, where they do not tell them, or NULL
} tracks[] = {
    // llama-server, by its own API; "probs" is the array's name in its README
    {"completion_probabilities", REPLY_LLAMA, TOKEN_RECORD, PART_OUTPUT, NULL, "completion_probabilities"},
    {"probs", REPLY_LLAMA, TOKEN_RECORD, PART_OUTPUT, NULL, "probs"},
    // vLLM's view of the prompt: lists by id, in each of which the prompt's own token comes first
    {"prompt_logprobs", REPLY_PROMPT, TOKEN_ID, PART_PROMPT, NULL, "prompt_logprobs", "prompt_logprobs", NULL,
     "prompt_token_ids"},
    // a choice of OpenAI's chat completions, and of the older ones
    {"choices", REPLY_OPENAI, TOKEN_RECORD, PART_OUTPUT, "logprobs", "content", NULL, NULL, "token_ids"},
    {"choices", REPLY_LEGACY, TOKEN_TEXT, PART_BOTH, "logprobs", "tokens", "top_logprobs", "token_logprobs", "token_ids"},
    {"meta_info", REPLY_SGLANG, TOKEN_TRIPLE, PART_PROMPT, "meta_info", "input_token_logprobs", "input_top_logprobs"},
    {"meta_info", REPLY_SGLANG, TOKEN_TRIPLE, PART_OUTPUT, "meta_info", "output_token_logprobs", "output_top_logprobs"},
    {"logprobs", REPLY_OLLAMA, TOKEN_RECORD, PART_OUTPUT, NULL, "logprobs"},
};

static const cJSON *first(const cJSON *list)
{
    return list ? list->child : NULL;
}

static const cJSON *next(const cJSON *value)
{
    return value ? value->next : NULL;
}

static int64_t id_of(const cJSON *value)
{
    return value && json_is_id(value) ? (int64_t)value->valuedouble : -1;
}

static bool add(struct json_reply *reply, const struct reply_position *position, struct err *e)
{
    if (!mem_grow(&reply->position, &reply->cap, reply->n + 1, sizeof *reply->position))
        return err_from_fault(e, fault_memory());
    reply->position[reply->n++] = *position;
    return true;
}

// Notes the prompt's tokens, ids or tokens of a shape; from one of another kind on they are not known. p starts behind them, if any.
static bool take_prompt(struct json_reply *reply, const cJSON *tokens, enum token_shape shape, struct reply_position *p,
                        struct err *e)
{
    const size_t before = reply->n_prompt;
    const cJSON *value;
    cJSON_ArrayForEach(value, tokens)
    {
        struct token t;
        int64_t id = id_of(value);
        if (shape != TOKEN_ID)
            id = token_read(value, shape, &t) ? t.id : -1;
        if (id < 0)
            break;
        if (!mem_grow(&reply->prompt, &reply->prompt_cap, reply->n_prompt + 1, sizeof *reply->prompt))
            return err_from_fault(e, fault_memory());
        reply->prompt[reply->n_prompt++] = (uint32_t)id;
    }
    if (reply->n_prompt > before) {
        p->before = before;
        p->n_before = reply->n_prompt - before;
    }
    return true;
}

// A position's list of tokens if it is one of this shape and not empty, or NULL.
static const cJSON *list_of(const cJSON *list, enum token_shape shape)
{
    const int type = shape == TOKEN_TEXT || shape == TOKEN_ID ? cJSON_Object : cJSON_Array;
    return list && list->type & type && list->child ? list : NULL;
}

// The list within a record: llama-server's, old and new, OpenAI's and Ollama's.
static const cJSON *list_within(const cJSON *record)
{
    static const char *const names[] = {"top_logprobs", "top_probs", "probs"};
    const cJSON *list = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !list; i++)
        list = json_array(record, names[i]);
    return list;
}

// Adds the positions of one track of an object. p is what they have in common; behind a position no sequence starts.
static bool add_track(struct json_reply *reply, const struct track *k, const cJSON *object, struct reply_position *p,
                      struct err *e)
{
    const cJSON *const within = k->within ? json_member(object, k->within) : object;
    const cJSON *const tokens = json_array(within, k->tokens), *const ids = k->own_ids ? json_array(object, k->own_ids) : NULL;
    const cJSON *list = k->lists ? first(json_array(within, k->lists)) : NULL;
    const cJSON *logit = k->logits ? first(json_array(within, k->logits)) : NULL;
    const bool prompt = k->part == PART_PROMPT;
    const cJSON *id = prompt || cJSON_GetArraySize(ids) == cJSON_GetArraySize(tokens) ? first(ids) : NULL;
    if (prompt && !take_prompt(reply, k->own_ids ? ids : tokens, k->shape, p, e))
        return false;
    size_t index = 0;
    for (const cJSON *t = prompt && !list ? NULL : first(tokens); t; t = t->next, index++) {
        struct reply_position at = *p;
        at.kind = k->kind;
        at.shape = k->shape;
        at.list = list_of(k->lists ? list : list_within(t), k->shape);
        at.chosen = k->shape == TOKEN_ID ? NULL : t;
        at.number = cJSON_IsNumber(logit) ? logit : NULL;
        at.id = id_of(id);
        if (k->shape == TOKEN_ID && at.id < 0 && at.list)
            at.id = token_key(at.list->child);
        at.index = index;
        if (prompt && index < at.n_before)
            at.n_before = index;
        const bool start = !index && k->part != PART_OUTPUT && cJSON_IsNull(list);
        if (!start && !add(reply, &at, e))
            return false;
        p->fresh = p->fresh && start;
        list = next(list);
        logit = next(logit);
        id = next(id);
    }
    return true;
}

static bool add_tracks(struct json_reply *reply, const char *marker, const cJSON *object, struct reply_position *p, struct err *e)
{
    for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++)
        if (!strcmp(tracks[i].marker, marker) && !add_track(reply, &tracks[i], object, p, e))
            return false;
    return true;
}

// Parts of several choices, or of several prompts, come as they are ready.
static bool not_mixed(const cJSON *numbered, bool part, struct err *e)
{
    const cJSON *const index = json_member(numbered, "index");
    return !part || !cJSON_IsNumber(index) || index->valuedouble <= 0 ||
           err_set(e, STATUS_DATA, "the choices of a stream come mixed; ask the server for one, or without \"stream\"");
}

// Chat and other completions in OpenAI's shape; vLLM adds the prompt, to the reply or to each choice. The first choice goes on from the
// reply's prompt.
static bool add_choices(struct json_reply *reply, const cJSON *root, bool part, struct reply_position *p, struct err *e)
{
    const bool fresh = p->fresh;
    const cJSON *choice;
    p->n_before = reply->n_prompt; // what an earlier part of the stream told
    if (!add_tracks(reply, "prompt_logprobs", root, p, e))
        return false;
    cJSON_ArrayForEach(choice, json_array(root, "choices"))
    {
        struct reply_position own = *p;
        if (!not_mixed(choice, part, e) || !add_tracks(reply, "prompt_logprobs", choice, &own, e) ||
            !add_tracks(reply, "choices", choice, &own, e))
            return false;
        p->fresh = fresh;
    }
    return true;
}

// A server's own words for what went wrong.
static bool server_error(const cJSON *error, struct err *e)
{
    const char *text = cJSON_GetStringValue(error);
    if (!text)
        text = cJSON_GetStringValue(json_member(error, "message"));
    return text ? err_set(e, STATUS_DATA, "the server replied with an error: '%s'", text)
                : err_set(e, STATUS_DATA, "the server replied with an error");
}

// The first marker that a reply has, or NULL. *kind only where there is one.
static const char *find_marker(const cJSON *root, enum reply_kind *kind)
{
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        const cJSON *const value = json_member(root, markers[i].marker);
        if (value && value->type & markers[i].type) {
            *kind = markers[i].kind;
            return markers[i].marker;
        }
    }
    return NULL;
}

// One position of an old llama-server's stream, by itself.
static bool is_old_position(const cJSON *root)
{
    return json_member(first(json_array(root, "probs")), "tok_str");
}

static bool find_positions(struct json_reply *reply, const cJSON *root, bool part, enum reply_kind *kind, bool *found,
                           struct err *e)
{
    const char *const object = cJSON_GetStringValue(json_member(root, "object"));
    const char *const marker = find_marker(root, kind);
    struct reply_position p = {.id = -1, .fresh = !reply->goes_on};
    *found = marker;
    if (json_member(root, "error"))
        return server_error(json_member(root, "error"), e);
    if (object && !strcmp(object, "error")) // vLLM and SGLang, in their own terms
        return server_error(root, e);
    if (!marker)
        return !json_member(root, "detail") || server_error(json_member(root, "detail"), e); // FastAPI, in front of many a server
    if (!strcmp(marker, "completion_probabilities") && !not_mixed(root, part, e))
        return false;
    if (!strcmp(marker, "probs") && is_old_position(root)) {
        p.kind = *kind;
        p.shape = TOKEN_RECORD;
        p.chosen = root;
        p.list = json_array(root, "probs");
        return add(reply, &p, e);
    }
    if (*kind == REPLY_OPENAI)
        return add_choices(reply, root, part, &p, e);
    if (*kind == REPLY_SGLANG && part)
        return err_set(e, STATUS_DATA, "SGLang's streams repeat what they have sent; ask for the reply without \"stream\"");
    return add_tracks(reply, marker, root, &p, e);
}

// Does the next reply go on with this one's sequence?
static bool goes_on(const cJSON *root, bool part)
{
    const cJSON *const done = json_member(root, "done");
    if (cJSON_IsBool(done))
        return cJSON_IsFalse(done);
    return (part && !cJSON_IsTrue(json_member(root, "stop"))) || is_old_position(root);
}

bool json_reply_open(struct json_reply *reply, const cJSON *root, bool part, bool *found, struct err *e)
{
    enum reply_kind kind = REPLY_LLAMA;
    reply->n = reply->next = 0;
    reply->n_prompt = part ? reply->held : 0;
    reply->held = 0;
    if (!find_positions(reply, root, part, &kind, found, e))
        return false;
    if (!*found)
        return true;
    if (reply->n) {
        reply->any = true;
        reply->goes_on = goes_on(root, part);
        return true;
    }
    reply->goes_on = reply->goes_on && goes_on(root, part);
    reply->held = part ? reply->n_prompt : 0;
    reply->missing = ask[kind];
    return part || cJSON_IsBool(json_member(root, "done")) || // another part of a stream may list some
           err_set(e, STATUS_DATA, "the reply lists no tokens; ask the server for them with %s", reply->missing);
}

bool json_reply_next(struct json_reply *reply, const struct input_config *config, struct input_row *r, struct err *e)
{
    assert(reply->next < reply->n);
    const struct reply_position *const p = &reply->position[reply->next++];
    struct token chosen = {.id = -1};
    int64_t bad;
    if (!p->list)
        return err_set(e, STATUS_DATA, "position %zu of the reply has no list of tokens; ask the server for it with %s", p->index,
                       ask[p->kind]);
    if (!token_list_read(&reply->tokens, p->list, p->shape, &bad))
        return bad < 0 ? err_from_fault(e, fault_memory())
                       : err_set(e, STATUS_DATA,
                                 "position %zu of the reply: element %" PRId64 " of its list is no token with a "
                                 "probability",
                                 p->index, bad);
    if (p->chosen && !token_read(p->chosen, p->shape, &chosen))
        return err_set(e, STATUS_DATA, "position %zu of the reply is no token", p->index);
    if (p->id >= 0)
        chosen.id = p->id;
    if (p->number) {
        chosen.logit = (float)p->number->valuedouble;
        chosen.has_logit = true;
    }
    r->fresh = p->fresh;
    if (p->fresh && p->n_before && !config->ranks) {
        r->before = reply->prompt + p->before;
        r->n_before = p->n_before;
    }
    return token_list_row(&reply->tokens, p->chosen || p->id >= 0 ? &chosen : NULL, config, r, e);
}

void json_reply_stop(struct json_reply *reply)
{
    reply->goes_on = false;
    reply->held = 0;
}

bool json_reply_end(const struct json_reply *reply, struct err *e)
{
    return reply->any || !reply->missing ||
           err_set(e, STATUS_DATA, "the replies list no tokens; ask the server for them with %s", reply->missing);
}

void json_reply_free(struct json_reply *reply)
{
    token_list_free(&reply->tokens);
    free(reply->position);
    free(reply->prompt);
}
