// SPDX-License-Identifier: MIT
#include "in/reply_stream.h"

#include "base/mem.h"
#include "in/reply_arrays.h"
#include "json/json.h"

#include <string.h>

static const char *text_of(const cJSON *object, const char *path)
{
    return cJSON_GetStringValue(reply_path(object, path));
}

static double number_of(const cJSON *object, const char *path)
{
    const cJSON *const value = reply_path(object, path);
    return cJSON_IsNumber(value) ? value->valuedouble : 0.0;
}

bool reply_is_chunk(const struct json_reply *reply, const cJSON *root)
{
    const char *const object = text_of(root, "object"), *const id = text_of(root, "id responseId");
    const bool continues = id && reply->id.len && !strcmp(id, reply->id.text);
    if (reply_path(root, "candidates[]"))
        return continues || !reply_path(root, "candidates[].finishReason candidates[].finish_reason");
    if (!object || strcmp(object, "text_completion") != 0)
        return object && !strcmp(object, "chat.completion.chunk");
    return continues || cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(reply_path(root, "choices[]"), "finish_reason"));
}

void json_reply_stop(struct json_reply *reply)
{
    reply->goes_on = false;
    reply->n_carried = 0;
}

bool reply_note_stream(struct json_reply *reply, const cJSON *root, bool chunk)
{
    const char *const own = text_of(root, "id responseId"), *const id = !chunk ? NULL : own ? own : "?";
    if (reply->id.len && !(id && !strcmp(id, reply->id.text)))
        json_reply_stop(reply);
    builder_clear(&reply->id);
    if (id)
        builder_string(&reply->id, id);
    return !reply->id.failed;
}

bool reply_goes_on(const struct reply_shape *kind, const cJSON *root, bool part)
{
    const cJSON *const done = json_member(root, "done");
    if (cJSON_IsBool(done))
        return cJSON_IsFalse(done);
    if (kind && kind->order == ORDER_ON)
        return !reply_path(root, "generated_text details"); // Text Generation Inference's last event
    const char *const type = text_of(root, "type");
    if ((type && (!strcmp(type, "response.completed") || !strcmp(type, "transcript.text.done"))) ||
        reply_path(root, "candidates[].finishReason candidates[].finish_reason"))
        return false;
    return part && !cJSON_IsTrue(json_member(root, "stop"));
}

bool reply_check_part(const struct json_reply *reply, const struct reply_shape *kind, const cJSON *root, struct err *e)
{
    const cJSON *const sent = reply_path(root, "meta_info.output_token_logprobs"), *const all = reply_path(
                                                                                       root,
                                                                                       "meta_info.completion_tokens");
    if (kind->order != ORDER_ON && number_of(root, "index") > 0.0)
        return err_set(e, STATUS_DATA,
                       "the choices of a stream come mixed; ask the server for one, or without \"stream\"");
    // A part that has as many tokens as the server has generated begins with those of the parts before it.
    if (reply->n_streamed && cJSON_IsArray(sent) && sent->child &&
        !(cJSON_IsNumber(all) && cJSON_GetArraySize(sent) + (double)reply->n_streamed <= all->valuedouble))
        return err_set(e, STATUS_DATA,
                       "this stream of SGLang repeats what it has sent; ask for the reply without \"stream\"");
    return true;
}

// ---- OpenAI's responses

// Returns whether an event is one of a spoken conversation. Each item of one is transcribed for itself.
static bool is_conversation(const char *type) { return !strncmp(type, "conversation.", strlen("conversation.")); }

bool reply_is_event(const cJSON *root)
{
    const char *const type = text_of(root, "type");
    return type && (!strncmp(type, "response.", strlen("response.")) ||
                    !strncmp(type, "transcript.", strlen("transcript.")) || is_conversation(type));
}

// Returns what the stream has sent of a part of a message. NULL if memory is short.
static struct response_part *find_part(struct json_reply *reply, double output, double content)
{
    const struct response_part part = {output, content, 0};
    for (size_t i = 0; i < reply->n_parts; i++)
        if (reply->part[i].output == output && reply->part[i].content == content)
            return &reply->part[i];
    return mem_push(&reply->part, &reply->n_parts, &reply->parts_cap, &part, sizeof part)
               ? &reply->part[reply->n_parts - 1]
               : NULL;
}

// Adds the positions of a part of a message, unless earlier events have sent them. delta: the part is a piece, which
// continues what was sent.
static bool add_part(struct json_reply *reply, const cJSON *part, double output, double content, bool delta,
                     struct reply_position *p, struct err *e)
{
    const struct reply_shape *shape = reply_shapes;
    const size_t before = reply->n;
    const bool fresh = p->fresh;
    struct response_part *const sent = find_part(reply, output, content);
    while (!shape->each || strcmp(shape->each, "output[].content[]") != 0)
        shape++;
    if (!sent)
        return err_from_fault(e, fault_memory());
    if (!reply_arrays_add(reply, shape, part, false, p, e))
        return false;
    const size_t n = reply->n - before;
    if (delta || !sent->n) {
        for (size_t i = before; i < reply->n; i++)
            reply->position[i].index += sent->n;
        sent->n += n;
        return true;
    }
    reply->n = before;
    p->fresh = fresh;
    return !n || n == sent->n ||
           err_set(e, STATUS_DATA, "the stream sent %zu tokens, and repeats %zu: some were lost", sent->n, n);
}

// Adds the positions of a message, whose parts are in its "content".
static bool add_message(struct json_reply *reply, const cJSON *message, double output, struct reply_position *p,
                        struct err *e)
{
    const cJSON *part;
    double content = 0.0;
    cJSON_ArrayForEach(part, json_array(message, "content"))
    {
        if (!add_part(reply, part, output, content, false, p, e))
            return false;
        content++;
    }
    return true;
}

bool reply_add_event(struct json_reply *reply, const cJSON *root, struct reply_position *p, struct err *e)
{
    const char *const type = text_of(root, "type");
    const double output = number_of(root, "output_index"), content = number_of(root, "content_index");
    const cJSON *const response = json_member(root, "response"), *const item = json_member(root, "item"),
                       *const part = json_member(root, "part"), *message;
    if (!item && !part && !response) {
        const bool delta = strstr(type, ".delta");
        if (!add_part(reply, root, output, content, delta, p, e))
            return false;
        if (is_conversation(type) && !delta)
            reply->n_parts = 0;
        return true;
    }
    if (part)
        return add_part(reply, part, output, content, false, p, e);
    if (item)
        return add_message(reply, item, output, p, e);
    double index = 0.0;
    cJSON_ArrayForEach(message, json_array(response, "output"))
    {
        if (!add_message(reply, message, index, p, e))
            return false;
        index++;
    }
    return true;
}
