// SPDX-License-Identifier: MIT
#include "in/json_reply.h"

#include "base/mem.h"
#include "in/json_row.h"

#include <cjson/cJSON.h>
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

// A member that is there and not null.
static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *const value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNull(value) ? NULL : value;
}

static const cJSON *array(const cJSON *object, const char *name)
{
    const cJSON *const value = member(object, name);
    return cJSON_IsArray(value) ? value : NULL;
}

static const cJSON *first(const cJSON *list)
{
    return list ? list->child : NULL;
}

static const cJSON *next(const cJSON *value)
{
    return value ? value->next : NULL;
}

static bool add(struct json_reply *reply, const struct position *position, struct err *e)
{
    if (!mem_grow(&reply->position, &reply->cap, reply->n + 1, sizeof *reply->position))
        return err_from_fault(e, fault_memory());
    reply->position[reply->n++] = *position;
    return true;
}

// Takes in token ids that precede the positions; of another shape they are not known.
static bool take_prompt(struct json_reply *reply, const cJSON *ids, enum token_shape shape, size_t *n, struct err *e)
{
    const cJSON *value;
    *n = 0;
    cJSON_ArrayForEach(value, ids)
    {
        struct token t;
        const bool good = shape == TOKEN_TRIPLE ? token_read(value, shape, &t) : json_is_id(value);
        if (!good)
            break;
        if (!mem_grow(&reply->prompt, &reply->prompt_cap, reply->n_prompt + 1, sizeof *reply->prompt))
            return err_from_fault(e, fault_memory());
        reply->prompt[reply->n_prompt++] = (uint32_t)(shape == TOKEN_TRIPLE ? t.id : (int64_t)value->valuedouble);
        ++*n;
    }
    return true;
}

// The ids of chosen tokens, which vLLM tells apart from them: the first, if there are as many as tokens.
static const cJSON *first_id(const cJSON *ids, const cJSON *tokens)
{
    return cJSON_GetArraySize(ids) == cJSON_GetArraySize(tokens) ? first(ids) : NULL;
}

static int64_t id_of(const cJSON *id)
{
    return id && json_is_id(id) ? (int64_t)id->valuedouble : -1;
}

// Records that hold their lists: llama-server's, old and new, OpenAI's chat and Ollama's. ids: of the chosen tokens, or NULL.
static bool add_records(struct json_reply *reply, struct position p, const cJSON *records, const cJSON *ids, struct err *e)
{
    static const char *const lists[] = {"top_logprobs", "top_probs", "probs"};
    const cJSON *id = first_id(ids, records);
    p.shape = TOKEN_RECORD;
    for (const cJSON *r = first(records); r; r = r->next, id = next(id), p.index++, p.fresh = false) {
        p.chosen = r;
        p.list = NULL;
        for (size_t i = 0; i < sizeof lists / sizeof *lists && !p.list; i++)
            p.list = array(r, lists[i]);
        if (p.list && !p.list->child) // an empty list is none
            p.list = NULL;
        p.id = id_of(id);
        if (!add(reply, &p, e))
            return false;
    }
    return true;
}

// OpenAI's old completions: parallel arrays. The first token of an echoed prompt has no list.
static bool add_legacy(struct json_reply *reply, struct position p, const cJSON *logprobs, const cJSON *ids, struct err *e)
{
    const cJSON *id = first_id(ids, array(logprobs, "tokens"));
    const cJSON *list = first(array(logprobs, "top_logprobs")), *number = first(array(logprobs, "token_logprobs"));
    p.kind = REPLY_LEGACY;
    p.shape = TOKEN_TEXT;
    for (const cJSON *t = first(array(logprobs, "tokens")); t; t = t->next, id = next(id), p.index++) {
        const bool start = !p.index && cJSON_IsNull(list);
        p.chosen = t;
        p.list = cJSON_IsObject(list) && list->child ? list : NULL;
        p.number = cJSON_IsNumber(number) ? number : NULL;
        p.id = id_of(id);
        if (!start && !add(reply, &p, e))
            return false;
        p.fresh = p.fresh && start;
        list = next(list);
        number = next(number);
    }
    return true;
}

// vLLM's view of the prompt: an object by id for each position but the first; the prompt's own token comes first in it.
static bool add_prompt(struct json_reply *reply, struct position p, const cJSON *list, const cJSON *ids, struct err *e)
{
    const size_t before = reply->n_prompt;
    size_t n;
    if (!take_prompt(reply, ids, TOKEN_ID, &n, e))
        return false;
    p.kind = REPLY_PROMPT;
    p.shape = TOKEN_ID;
    p.chosen = NULL;
    p.before = before;
    for (const cJSON *v = first(list); v; v = v->next, p.index++) {
        if (!p.index && cJSON_IsNull(v))
            continue;
        p.list = cJSON_IsObject(v) && v->child ? v : NULL;
        p.id = p.index < n ? (int64_t)reply->prompt[before + p.index] : p.list ? token_key(p.list->child) : -1;
        p.n_before = p.index < n ? p.index : 0;
        if (!add(reply, &p, e))
            return false;
        p.fresh = false;
    }
    return true;
}

static struct position begin(const struct json_reply *reply, enum reply_kind kind)
{
    return (struct position){.kind = kind, .id = -1, .fresh = !reply->goes_on};
}

static bool choice_tokens(struct json_reply *reply, struct position p, const cJSON *choice, struct err *e)
{
    const cJSON *const logprobs = member(choice, "logprobs");
    if (array(logprobs, "content"))
        return add_records(reply, p, array(logprobs, "content"), array(choice, "token_ids"), e);
    return add_legacy(reply, p, logprobs, array(choice, "token_ids"), e);
}

// Parts of several choices, or of several prompts, come as they are ready.
static bool not_mixed(const cJSON *numbered, bool part, struct err *e)
{
    const cJSON *const index = member(numbered, "index");
    return !part || !cJSON_IsNumber(index) || index->valuedouble <= 0 ||
           err_set(e, STATUS_DATA, "the choices of a stream come mixed; ask the server for one, or without \"stream\"");
}

// Chat and other completions in OpenAI's shape; vLLM adds the prompt, to the reply or to each choice.
static bool open_choices(struct json_reply *reply, const cJSON *root, bool part, struct err *e)
{
    const cJSON *choice;
    size_t n = 0, number = 0;
    if (!add_prompt(reply, begin(reply, REPLY_PROMPT), array(root, "prompt_logprobs"), array(root, "prompt_token_ids"), e))
        return false;
    n = reply->n_prompt;
    cJSON_ArrayForEach(choice, array(root, "choices"))
    {
        struct position p = begin(reply, REPLY_OPENAI);
        const size_t rows = reply->n, own = reply->n_prompt;
        if (!not_mixed(choice, part, e))
            return false;
        if (!add_prompt(reply, p, array(choice, "prompt_logprobs"), array(choice, "prompt_token_ids"), e))
            return false;
        p.fresh = p.fresh && reply->n == rows && (number || !rows);
        p.before = reply->n_prompt > own ? own : 0;
        p.n_before = reply->n_prompt > own ? reply->n_prompt - own : n;
        if (!choice_tokens(reply, p, choice, e))
            return false;
        number++;
    }
    return true;
}

static bool open_sglang(struct json_reply *reply, const cJSON *meta, bool part, struct err *e)
{
    const cJSON *const input = array(meta, "input_token_logprobs");
    struct position p = begin(reply, REPLY_SGLANG);
    p.shape = TOKEN_TRIPLE;
    if (part)
        return err_set(e, STATUS_DATA, "SGLang's streams repeat what they have sent; ask for the reply without \"stream\"");
    if (!take_prompt(reply, input, TOKEN_TRIPLE, &p.n_before, e))
        return false;
    const size_t n_prompt = p.n_before;
    const cJSON *list = first(array(meta, "input_top_logprobs"));
    for (const cJSON *t = list ? first(input) : NULL; t; t = t->next, list = next(list), p.index++) {
        if (!p.index && cJSON_IsNull(list))
            continue;
        p.chosen = t;
        p.list = cJSON_IsArray(list) && list->child ? list : NULL;
        p.n_before = p.index < n_prompt ? p.index : n_prompt;
        if (!add(reply, &p, e))
            return false;
        p.fresh = false;
    }
    p.index = 0;
    p.n_before = n_prompt;
    list = first(array(meta, "output_top_logprobs"));
    for (const cJSON *t = first(array(meta, "output_token_logprobs")); t; t = t->next, list = next(list), p.index++) {
        p.chosen = t;
        p.list = cJSON_IsArray(list) && list->child ? list : NULL;
        if (!add(reply, &p, e))
            return false;
        p.fresh = false;
    }
    return true;
}

// A server's own words for what went wrong.
static bool server_error(const cJSON *error, struct err *e)
{
    const char *text = cJSON_GetStringValue(error);
    if (!text)
        text = cJSON_GetStringValue(member(error, "message"));
    return text ? err_set(e, STATUS_DATA, "the server replied with an error: '%s'", text)
                : err_set(e, STATUS_DATA, "the server replied with an error");
}

// Tells replies apart by their members. *kind only where there is one.
static bool open_kind(struct json_reply *reply, const cJSON *root, bool part, enum reply_kind *kind, bool *found, struct err *e)
{
    const cJSON *const completion = array(root, "completion_probabilities"), *const probs = array(root, "probs");
    const cJSON *const logprobs = array(root, "logprobs"), *const meta = member(root, "meta_info");
    const char *const object = cJSON_GetStringValue(member(root, "object"));
    *found = true;
    *kind = REPLY_LLAMA;
    if (member(root, "error"))
        return server_error(member(root, "error"), e);
    if (object && !strcmp(object, "error")) // vLLM and SGLang, in their own terms
        return server_error(root, e);
    if (completion)
        return not_mixed(root, part, e) && add_records(reply, begin(reply, *kind), completion, NULL, e);
    if (probs && member(first(probs), "tok_str")) { // one position of an old llama-server's, by itself
        struct position p = begin(reply, *kind);
        p.shape = TOKEN_RECORD;
        p.chosen = root;
        p.list = probs;
        return add(reply, &p, e);
    }
    if (probs) // so the array is called in llama-server's README
        return add_records(reply, begin(reply, *kind), probs, NULL, e);
    *kind = REPLY_OPENAI;
    if (array(root, "choices") || array(root, "prompt_logprobs"))
        return open_choices(reply, root, part, e);
    *kind = REPLY_SGLANG;
    if (cJSON_IsObject(meta))
        return open_sglang(reply, meta, part, e);
    *kind = REPLY_OLLAMA;
    if (logprobs)
        return add_records(reply, begin(reply, *kind), logprobs, NULL, e);
    if (cJSON_IsBool(member(root, "done")))
        return true;
    *kind = REPLY_LLAMA;
    *found = cJSON_IsString(member(root, "content"));
    if (!*found && member(root, "detail")) // FastAPI, in front of many a server
        return server_error(member(root, "detail"), e);
    return true;
}

// Does a reply without rows belong to a stream that may have some elsewhere? And does the stream end with this part?
static bool may_lack(const cJSON *root, bool part)
{
    return part || cJSON_IsBool(member(root, "done"));
}

static bool goes_on(const cJSON *root, bool part)
{
    const cJSON *const done = member(root, "done");
    const bool old_position = member(first(array(root, "probs")), "tok_str") != NULL;
    return cJSON_IsBool(done) ? cJSON_IsFalse(done) : (part && !cJSON_IsTrue(member(root, "stop"))) || old_position;
}

bool json_reply_open(struct json_reply *reply, const cJSON *root, bool part, bool *found, struct err *e)
{
    enum reply_kind kind;
    reply->n = reply->next = 0;
    reply->n_prompt = part ? reply->held : 0;
    reply->held = 0;
    if (!open_kind(reply, root, part, &kind, found, e))
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
    return may_lack(root, part) ||
           err_set(e, STATUS_DATA, "the reply lists no tokens; ask the server for them with %s", reply->missing);
}

bool json_reply_next(struct json_reply *reply, const struct input_config *config, struct input_row *r, struct err *e)
{
    const struct position *const p = &reply->position[reply->next++];
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
