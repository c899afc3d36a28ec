// SPDX-License-Identifier: MIT
#include "in/json_reply.h"

#include "base/mem.h"
#include "in/reply_position.h"
#include "json/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Field names are those of llama-server (its README; server-task.cpp), OpenAI's API reference, vLLM (protocol.py),
// SGLang (meta_info) and Ollama (api/types.go).

// Requests that make a server list tokens, for messages.
static const char request_llama[] = "\"n_probs\": N", request_chat[] = "\"logprobs\": true, \"top_logprobs\": N",
                  request_legacy[] = "\"logprobs\": N", request_prompt[] = "\"prompt_logprobs\": N",
                  request_sglang[] = "\"return_logprob\": true, \"top_logprobs_num\": N",
                  request_tgi[] = "\"details\": true, \"top_n_tokens\": N",
                  request_responses[] = "\"include\": [\"message.output_text.logprobs\"], \"top_logprobs\": N";

// Where replies have their positions. The kind of a reply is that of the first row whose marker, a member, it has; then
// all rows with that marker apply.
static const struct track tracks[] = {
    // llama-server, by its own API; "probs" is the array's name in its README
    {"completion_probabilities", cJSON_Array, request_llama, TOKEN_RECORD, PART_OUTPUT, NULL,
     "completion_probabilities"},
    {"probs", cJSON_Array, request_llama, TOKEN_RECORD, PART_OUTPUT, NULL, "probs"},
    // a choice of OpenAI's chat completions, and of the older completions
    {"choices", cJSON_Array, request_chat, TOKEN_RECORD, PART_OUTPUT, "logprobs", "content", NULL, NULL, "token_ids"},
    {"choices", cJSON_Array, request_legacy, TOKEN_TEXT, PART_BOTH, "logprobs", "tokens", "top_logprobs",
     "token_logprobs", "token_ids"},
    {"prompt_logprobs", cJSON_Array, request_chat}, // for messages, if neither part has lists
    // vLLM's prompt: each list is an object by id, and begins with the token of the prompt
    {"prompt_logprobs", cJSON_Array, request_prompt, TOKEN_ID, PART_PROMPT, NULL, "prompt_logprobs", "prompt_logprobs",
     NULL, "prompt_token_ids"},
    {"meta_info", cJSON_Object, request_sglang, TOKEN_TRIPLE, PART_PROMPT, "meta_info", "input_token_logprobs",
     "input_top_logprobs"},
    {"meta_info", cJSON_Object, request_sglang, TOKEN_TRIPLE, PART_OUTPUT, "meta_info", "output_token_logprobs",
     "output_top_logprobs"},
    // KoboldCpp's own API, Text Generation Inference, and a part of the content of OpenAI's responses
    {"results", cJSON_Array, request_chat, TOKEN_RECORD, PART_OUTPUT, "logprobs", "content"},
    {"details", cJSON_Object, request_tgi, TOKEN_RECORD, PART_PROMPT, "details", "prefill", "prefill_top_tokens"},
    {"details", cJSON_Object, request_tgi, TOKEN_RECORD, PART_OUTPUT, "details", "tokens", "top_tokens"},
    {"output", cJSON_Array, request_responses, TOKEN_RECORD, PART_OUTPUT, NULL, "logprobs"},
    // Ollama; and replies without tokens, for messages
    {"logprobs", cJSON_Array, request_chat, TOKEN_RECORD, PART_OUTPUT, NULL, "logprobs"},
    {"done", cJSON_True | cJSON_False, request_chat},
    {"content", cJSON_String, request_llama},
};
enum { N_TRACKS = sizeof tracks / sizeof *tracks };

static const cJSON *first(const cJSON *list) { return list ? list->child : NULL; }

static const cJSON *next(const cJSON *value) { return value ? value->next : NULL; }

// ---- positions

// Appends the prompt's tokens to reply->prompt, up to the first without an id. If there are some, p begins after them.
static bool add_prompt(struct json_reply *reply, const cJSON *tokens, enum token_shape shape, struct reply_position *p,
                       struct err *e)
{
    const size_t before = reply->n_prompt;
    struct reply_token t;
    for (const cJSON *value = first(tokens); value && reply_token_read(value, shape, false, &t) && t.id >= 0;
         value = value->next) {
        const uint32_t id = (uint32_t)t.id;
        if (!mem_push(&reply->prompt, &reply->n_prompt, &reply->prompt_cap, &id, sizeof id))
            return err_from_fault(e, fault_memory());
    }
    if (reply->n_prompt > before) {
        p->before = before;
        p->n_before = reply->n_prompt - before;
    }
    return true;
}

// Returns the list that a chosen token holds, under its name in llama-server (old and new), OpenAI's API or Ollama.
static const cJSON *list_within(const cJSON *record)
{
    static const char *const names[] = {"top_logprobs", "top_probs", "probs"};
    const cJSON *list = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !list; i++)
        list = json_array(record, names[i]);
    return list;
}

// Returns true if the reply is one position of the stream of an old llama-server.
static bool is_old_position(const cJSON *root) { return json_member(first(json_array(root, "probs")), "tok_str"); }

// Returns the name of the array of this track that is cut into pieces: the long array of the reply. Returns "" if it is
// not in this object.
static const char *cut_array(const struct json_reply *reply, const struct track *k, const cJSON *within)
{
    const struct json_value *const piece = reply->piece;
    if (!(piece->more || piece->continued) || reply->reached ||
        reply->in_choice != !strcmp(piece->array->member, "choices"))
        return "";
    const char *const name = piece->array->name;
    const bool mine = (k->tokens && !strcmp(k->tokens, name)) || (k->lists && !strcmp(k->lists, name));
    return mine && json_array(within, name) ? name : "";
}

// Returns the element of an array of this track that the position `index` of the reply has; NULL if there is none.
static const cJSON *position_element(const cJSON *within, const char *name, const char *cut, size_t index)
{
    const cJSON *const array = json_array(within, name);
    return name && !strcmp(name, cut) ? first(array) : cJSON_GetArrayItem(array, (int)index);
}

static bool add_position(struct json_reply *reply, const struct reply_position *p, struct err *e)
{
    return mem_push(&reply->position, &reply->n, &reply->cap, p, sizeof *p) || err_from_fault(e, fault_memory());
}

// Adds the positions of one track of an object. Each begins as a copy of p; only the first may begin a sequence. The
// positions of the first piece are those before the long array, too; those of the last piece are those behind it.
static bool add_track(struct json_reply *reply, const struct track *k, const cJSON *object, struct reply_position *p,
                      struct err *e)
{
    const struct json_value *const piece = reply->piece;
    const int list_type = k->shape == TOKEN_TEXT || k->shape == TOKEN_ID ? cJSON_Object : cJSON_Array;
    const bool prompt = k->part == PART_PROMPT;
    const cJSON *const within = k->within ? json_member(object, k->within) : object;
    const cJSON *const tokens = json_array(within, k->tokens), *const ids = json_array(object, k->ids);
    const char *const cut = cut_array(reply, k, within);
    if (prompt && !add_prompt(reply, k->ids ? ids : tokens, k->shape, p, e))
        return false;
    if (!*cut && (reply->reached ? piece->more : piece->continued))
        return true;
    reply->reached = reply->reached || *cut;
    p->fresh = p->fresh && !(*cut && piece->continued);
    const size_t begin = *cut ? piece->before : 0;
    const size_t end = *cut ? begin + (size_t)cJSON_GetArraySize(json_array(within, cut)) : SIZE_MAX;
    const size_t n_tokens = *cut && !strcmp(cut, k->tokens) ? piece->n_all : (size_t)cJSON_GetArraySize(tokens);
    const cJSON *list = position_element(within, k->lists, cut, begin),
                *logit = position_element(within, k->logits, cut, begin);
    const cJSON *id =
        prompt || (size_t)cJSON_GetArraySize(ids) == n_tokens ? cJSON_GetArrayItem(ids, (int)begin) : NULL;
    const bool old = !strcmp(k->marker, "probs") && is_old_position(object);
    const cJSON *t = old ? object : position_element(within, k->tokens, cut, begin);
    if (prompt && !list)
        return true;
    for (size_t index = begin; t && index < end; t = t->next, index++) {
        struct reply_position at = *p;
        at.track = k;
        at.list = k->lists ? list : list_within(t);
        if (!at.list || !(at.list->type & list_type) || !at.list->child)
            at.list = NULL;
        at.chosen = k->shape == TOKEN_ID ? NULL : t;
        at.logit = (float)cJSON_GetNumberValue(logit);
        at.id = json_id(id);
        if (k->shape == TOKEN_ID && at.id < 0 && at.list)
            at.id = reply_key_id(at.list->child->string);
        at.index = index;
        if (prompt && index < at.n_before)
            at.n_before = index;
        const bool start = !index && k->part != PART_OUTPUT && cJSON_IsNull(list);
        if (!start && !add_position(reply, &at, e))
            return false;
        p->fresh = p->fresh && start;
        list = next(list);
        logit = next(logit);
        id = next(id);
    }
    return true;
}

// Adds the positions of all tracks with this marker. KoboldCpp writes the output in both shapes of OpenAI's API.
static bool add_tracks(struct json_reply *reply, const char *marker, const cJSON *object, struct reply_position *p,
                       struct err *e)
{
    const size_t before = reply->n;
    for (size_t i = 0; i < N_TRACKS; i++)
        if (!strcmp(tracks[i].marker, marker) && !(reply->n > before && tracks[i].part == PART_BOTH) &&
            !add_track(reply, &tracks[i], object, p, e))
            return false;
    return true;
}

// Adds the positions of a reply of OpenAI's responses: a message's content may have several parts.
static bool add_messages(struct json_reply *reply, const cJSON *root, struct reply_position *p, struct err *e)
{
    const cJSON *message, *part;
    cJSON_ArrayForEach(message, json_array(root, "output"))
    {
        cJSON_ArrayForEach(part, json_array(message, "content"))
        {
            if (!add_tracks(reply, "output", part, p, e))
                return false;
        }
    }
    return true;
}

// Adds the positions of all results in KoboldCpp's own reply; each begins a sequence.
static bool add_results(struct json_reply *reply, const cJSON *root, const struct reply_position *p, struct err *e)
{
    const cJSON *result;
    cJSON_ArrayForEach(result, json_array(root, "results"))
    {
        struct reply_position begin = *p;
        if (!add_tracks(reply, "results", result, &begin, e))
            return false;
    }
    return true;
}

// A position that vLLM's Python objects have: an object from ids to records, in no order.
static const struct track track_python = {.marker = "", .request = request_legacy, .shape = TOKEN_ID};

static bool is_python_position(const cJSON *root)
{
    const cJSON *const record = root->child;
    return record && record->string && reply_key_id(record->string) >= 0 && json_member(record, "logprob") &&
           cJSON_IsObject(record);
}

// Returns the reply that a line of OpenAI's batches wraps, or the root itself. *id: the name of the line's request, or
// NULL.
static const cJSON *unwrap_batch(const cJSON *root, const char **id)
{
    const cJSON *const body = json_member(json_member(root, "response"), "body");
    *id = body ? cJSON_GetStringValue(json_member(root, "custom_id")) : NULL;
    return cJSON_IsObject(body) ? body : root;
}

// Fails with STATUS_DATA for a part of a stream that belongs to a second choice or prompt: such parts come in any
// order.
static bool check_order(const cJSON *numbered, bool part, struct err *e)
{
    const cJSON *const index = json_member(numbered, "index");
    return !part || !cJSON_IsNumber(index) || index->valuedouble <= 0 ||
           err_set(e, STATUS_DATA, "the choices of a stream come mixed; ask the server for one, or without \"stream\"");
}

// Adds the positions of a reply in OpenAI's shape. vLLM adds the prompt to the reply or to each choice. The first
// choice continues the reply's prompt; each other choice begins a sequence.
static bool add_choices(struct json_reply *reply, const cJSON *root, bool part, struct reply_position *p, struct err *e)
{
    const bool fresh = p->fresh || !part; // of the choices after the first
    const cJSON *choice;
    p->n_before = reply->n_prompt; // tokens of earlier parts of the stream
    if (!add_tracks(reply, "prompt_logprobs", root, p, e))
        return false;
    cJSON_ArrayForEach(choice, json_array(root, "choices"))
    {
        struct reply_position begin = *p;
        reply->in_choice = true;
        if (!check_order(choice, part, e) || !add_tracks(reply, "prompt_logprobs", choice, &begin, e) ||
            !add_tracks(reply, "choices", choice, &begin, e))
            return false;
        p->fresh = fresh;
    }
    return true;
}

// Fails with STATUS_DATA if the reply is a server's error message, which is quoted. marked: the reply has a marker.
static bool check_server_error(const cJSON *root, bool marked, struct err *e)
{
    const char *const object = cJSON_GetStringValue(json_member(root, "object"));
    const cJSON *error = json_member(root, "error");
    if (!error && object && !strcmp(object, "error")) // vLLM and SGLang
        error = root;
    if (!error && !marked) // FastAPI, in front of many servers
        error = json_member(root, "detail");
    if (!error || cJSON_IsNumber(error)) // a token "error" of a vocab.json has a number
        return true;
    const char *const string = cJSON_GetStringValue(error);
    const char *const text = string ? string : cJSON_GetStringValue(json_member(error, "message"));
    return text ? err_set(e, STATUS_DATA, "the server replied with an error: '%s'", text)
                : err_set(e, STATUS_DATA, "the server replied with an error");
}

// Returns true if the next reply continues the sequence of this one.
static bool goes_on(const cJSON *root, bool part)
{
    const cJSON *const done = json_member(root, "done");
    if (cJSON_IsBool(done))
        return cJSON_IsFalse(done);
    return (part && !cJSON_IsTrue(json_member(root, "stop"))) || is_old_position(root);
}

// Adds the positions of a reply with the marker of k.
static bool find_positions(struct json_reply *reply, const struct track *k, const cJSON *root, bool part, struct err *e)
{
    // Members besides `fresh` are those of a Python object's only position; add_track sets them for other positions.
    struct reply_position p = {
        .track = k, .list = root, .id = -1, .logit = NAN, .fresh = !reply->goes_on && !reply->piece->continued};
    if (!strcmp(k->marker, "choices") || !strcmp(k->marker, "prompt_logprobs"))
        return add_choices(reply, root, part, &p, e);
    if (!strcmp(k->marker, "completion_probabilities") && !check_order(root, part, e))
        return false;
    if (!strcmp(k->marker, "meta_info") && part)
        return err_set(e, STATUS_DATA,
                       "SGLang's streams repeat what they have sent; ask for the reply without \"stream\"");
    if (!strcmp(k->marker, "output"))
        return add_messages(reply, root, &p, e);
    if (!strcmp(k->marker, "results"))
        return add_results(reply, root, &p, e);
    if (!*k->marker)
        return add_position(reply, &p, e);
    return add_tracks(reply, k->marker, root, &p, e);
}

// Returns true if a reply without "data:" names itself a part of a stream. Chat completions do so in "object". An older
// completion is a part if it has no "finish_reason" yet, or the id of the stream before it.
static bool is_chunk(const struct json_reply *reply, const cJSON *root)
{
    const char *const object = cJSON_GetStringValue(json_member(root, "object"));
    const char *const id = cJSON_GetStringValue(json_member(root, "id"));
    if (!object || strcmp(object, "text_completion") != 0)
        return object && !strcmp(object, "chat.completion.chunk");
    return cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(first(json_array(root, "choices")), "finish_reason")) ||
           (id && reply->id.len && !strcmp(id, reply->id.text));
}

// Notes the id of the stream that a chunk belongs to. If the stream is not that of the last reply, ends that one.
// Returns false if memory is short.
static bool note_stream(struct json_reply *reply, const cJSON *root, bool chunk)
{
    const char *id = chunk ? cJSON_GetStringValue(json_member(root, "id")) : NULL;
    if (chunk && !id)
        id = "?";
    if (reply->id.len && !(id && !strcmp(id, reply->id.text)))
        json_reply_stop(reply);
    builder_clear(&reply->id);
    if (id)
        builder_string(&reply->id, id);
    return !reply->id.failed;
}

// Has an object the tokens that its server's filters left: SGLang's and vLLM's sampling mask?
static bool has_mask(const cJSON *object)
{
    const cJSON *const info = json_member(object, "meta_info");
    return cJSON_IsArray(json_member(info, "output_token_sampling_mask")) ||
           cJSON_IsObject(json_member(object, "sampling_mask"));
}

bool json_reply_open(struct json_reply *reply, const struct json_value *value, bool part, struct err *e)
{
    const cJSON *const root = unwrap_batch(value->tree, &reply->seq);
    const bool chunk = !part && is_chunk(reply, root);
    if (reply->seq && strstr(reply->seq, JSON_NUL))
        return err_set(e, STATUS_DATA, "\"custom_id\" holds a NUL, which only texts of tokens may");
    if (!note_stream(reply, root, chunk))
        return err_from_fault(e, fault_memory());
    part = part || chunk;
    reply->piece = value;
    reply->in_choice = reply->reached = false;
    const struct track *k = tracks;
    while (k < tracks + N_TRACKS && !(json_member(root, k->marker) && json_member(root, k->marker)->type & k->type))
        k++;
    if (k == tracks + N_TRACKS && is_python_position(root))
        k = &track_python;
    const bool found = k != tracks + N_TRACKS;
    reply->n = reply->next = 0;
    reply->n_prompt = part ? reply->n_carried : 0;
    reply->n_carried = 0;
    if (!check_server_error(root, found, e))
        return false;
    if (!found)
        return err_set(e, STATUS_DATA, "an object without logits, logprobs or probs");
    if (!find_positions(reply, k, root, part, e))
        return false;
    reply->masked = has_mask(root) || has_mask(first(json_array(root, "choices")));
    if (reply->n) {
        reply->had_positions = true;
        reply->goes_on = goes_on(root, part) || k == &track_python;
        return true;
    }
    reply->goes_on = reply->goes_on && goes_on(root, part);
    reply->n_carried = part ? reply->n_prompt : 0;
    reply->request = k->request;
    return part || value->more || value->continued ||
           cJSON_IsBool(json_member(root, "done")) || // another part of the stream may have lists
           err_set(e, STATUS_DATA, "the reply lists no tokens; ask the server for them with %s", reply->request);
}

void json_reply_stop(struct json_reply *reply)
{
    reply->goes_on = false;
    reply->n_carried = 0;
}

bool json_reply_end(const struct json_reply *reply, struct err *e)
{
    return reply->had_positions || !reply->request ||
           err_set(e, STATUS_DATA, "the replies list no tokens; ask the server for them with %s", reply->request);
}

void json_reply_free(struct json_reply *reply)
{
    free(reply->position);
    free(reply->prompt);
    free(reply->token);
    sparse_free(&reply->row);
    builder_free(&reply->bytes);
    builder_free(&reply->id);
    lookup_free(&reply->lookup);
}
