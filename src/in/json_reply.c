// SPDX-License-Identifier: MIT
#include "in/json_reply.h"

#include "base/names.h"
#include "in/reply_arrays.h"
#include "in/reply_inside.h"
#include "in/reply_stream.h"
#include "json/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the kind of a reply

// Rows shape[0..n) of the table, of one kind. The reply may be one of the objects of their `each` alone, or even what
// `within` leads to.
struct kind {
    const struct reply_shape *shape; // NULL: none
    size_t n;
    enum { KIND_WHOLE, KIND_ALONE, KIND_BARE } extent;
};

static bool same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

// Returns how many rows from k on are of its kind; by_each: and have its `each`.
static size_t count_rows(const struct reply_shape *k, bool by_each)
{
    size_t n = 1;
    while (k + n < reply_shapes + n_reply_shapes && same(k[n].kind, k->kind) && (!by_each || same(k[n].each, k->each)))
        n++;
    return n;
}

static struct kind find_whole(const cJSON *root)
{
    for (const struct reply_shape *k = reply_shapes; k < reply_shapes + n_reply_shapes; k++)
        if (reply_has_marker(root, k)) {
            while (k > reply_shapes && same(k[-1].kind, k->kind))
                k--;
            return (struct kind){k, count_rows(k, false), KIND_WHOLE};
        }
    return (struct kind){0};
}

// Finds the kind of a reply that is only a part of a whole one.
static struct kind find_alone(const struct json_reply *reply, const cJSON *root)
{
    size_t n;
    for (const struct reply_shape *k = reply_shapes; k < reply_shapes + n_reply_shapes; k += n) {
        n = count_rows(k, true);
        for (size_t i = 0; i < n; i++) {
            if (k->each && strcmp(k->each, ".") != 0 && reply_arrays_fit(reply, &k[i], root, false))
                return (struct kind){k, n, KIND_ALONE};
            if (k[i].within && reply_arrays_fit(reply, &k[i], root, true))
                return (struct kind){k, n, KIND_BARE};
        }
    }
    return (struct kind){0};
}

static struct kind find_kind(const struct json_reply *reply, const cJSON *root)
{
    const struct kind whole = find_whole(root);
    return whole.shape ? whole : find_alone(reply, root);
}

// Returns the reply that the root wraps, or an array of replies; the root itself if it is a reply, or none is inside.
static const cJSON *unwrap(const struct json_reply *reply, const cJSON *root)
{
    for (size_t i = 0; i < n_reply_wrappers && !reply_is_event(root) && !find_kind(reply, root).shape; i++) {
        const cJSON *const inside = reply_path(root, reply_wrappers[i]);
        const cJSON *const one = cJSON_IsArray(inside) ? inside->child : inside;
        // Only a line of OpenAI's batches has the first one.
        if (cJSON_IsObject(one) && (!i || find_kind(reply, one).shape || json_member(one, "error")))
            return inside;
    }
    return root;
}

// Returns whether a value inside another one is a reply: a number named so makes none without a token beside it.
static bool lists_tokens(const void *self, const cJSON *value)
{
    const struct kind kind = find_kind(self, value);
    const bool record = kind.shape && kind.shape->order == ORDER_ON && kind.shape->form == TOKEN_RECORD;
    return kind.shape && kind.shape->each &&
           (!record || reply_named(value, reply_names.text) || reply_named(value, reply_names.id));
}

// Fails with STATUS_DATA if the value, which is no reply, holds one.
static bool check_inside(struct json_reply *reply, struct err *e)
{
    struct builder *const filter = &reply->bytes;
    if (!reply_find_inside(reply->piece->tree, reply->depth, lists_tokens, reply, filter))
        return true;
    return builder_whole(filter)
               ? err_set(e, STATUS_DATA, "the object is no reply, but holds one: jq -rc '%.600s' FILE | sampl",
                         filter->text)
               : err_from_fault(e, fault_memory());
}

// Fails with STATUS_DATA if the reply is a server's error message, which is quoted. marked: the reply has a marker.
static bool check_server_error(const cJSON *root, bool marked, struct err *e)
{
    const char *const object = cJSON_GetStringValue(json_member(root, "object"));
    const cJSON *error = json_member(root, "error");
    const char *const type = cJSON_GetStringValue(json_member(root, "type"));
    if (!error && ((object && !strcmp(object, "error")) || (type && !strcmp(type, "error")))) // vLLM, SGLang; an event
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

// ---- the positions of a reply

// Returns whether the arrays of these rows include a member.
static bool is_read(const struct reply_shape *k, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        const char *const names[] = {k[i].tokens, k[i].lists, k[i].numbers};
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (names[j] && name_find(names[j], NAME_EXACT, name, strlen(name)) >= 0)
                return true;
    }
    return false;
}

// Returns whether the object that has the arrays of rows k[0..n) has tokens with numbers in another array, too.
static bool has_unread(const struct reply_shape *k, size_t n, const cJSON *object)
{
    const char *within = NULL;
    const cJSON *member;
    for (size_t i = 0; i < n && !within; i++)
        within = k[i].within;
    const cJSON *const holder = reply_path(object, within);
    cJSON_ArrayForEach(member, holder)
    {
        if (cJSON_IsArray(member) && cJSON_IsObject(member->child) && member->string &&
            reply_named(member->child, reply_names.number) && !is_read(k, n, member->string))
            return true;
    }
    return false;
}

// Adds the positions of rows k[0..n) in one object of their `each`. KoboldCpp writes the output in both shapes of
// OpenAI's API.
static bool add_object(struct json_reply *reply, const struct reply_shape *k, size_t n, bool bare, const cJSON *object,
                       struct reply_position *p, struct err *e)
{
    bool output = false;
    for (size_t i = 0; i < n; i++) {
        const size_t before = reply->n;
        if (!(k[i].part == PART_BOTH && output) && !reply_arrays_add(reply, &k[i], object, bare, p, e))
            return false;
        output = output || (k[i].part != PART_PROMPT && reply->n > before);
    }
    if (!bare && has_unread(k, n, object))
        reply->facts |= ROW_UNREAD;
    return true;
}

// A walk over the objects that the shapes k[0..n) name in `each`.
struct reply_walk {
    struct json_reply *reply;
    const struct reply_shape *k;
    size_t n;
    bool part;  // of a stream
    bool fresh; // objects after the first begin sequences
    struct reply_position *p;
    struct err *e;
};

static bool walk_object(const struct reply_walk *w, const cJSON *object)
{
    const bool each = w->k->order == ORDER_EACH;
    struct reply_position begin = *w->p;
    if ((w->part && each && !reply_check_part(w->reply, w->k, object, w->e)) ||
        !add_object(w->reply, w->k, w->n, false, object, each ? &begin : w->p, w->e))
        return false;
    w->p->fresh = each ? w->fresh : w->p->fresh;
    return true;
}

// Calls walk_object for each object that the rest of the path leads to.
static bool walk_path(const struct reply_walk *w, const cJSON *value, const char *path)
{
    char array[64];
    const char *const brackets = strstr(path, "[]");
    if (!brackets)
        return walk_object(w, *path ? reply_path(value, path) : value);
    const size_t len = (size_t)(brackets - path);
    assert(len < sizeof array);
    memcpy(array, path, len);
    array[len] = '\0';
    const cJSON *const elements = reply_path(value, array), *element;
    for (element = cJSON_IsArray(elements) ? elements->child : NULL; element; element = element->next)
        if (!walk_path(w, element, brackets + (brackets[2] == '.' ? 3 : 2)))
            return false;
    return true;
}

// Adds the positions of a reply of this kind. The first object of its `each` continues the reply's prompt; each other
// begins a sequence.
static bool add_reply(struct json_reply *reply, const struct kind *kind, const cJSON *root, bool part,
                      struct reply_position *p, struct err *e)
{
    const struct reply_shape *const k = kind->shape;
    const bool fresh = p->fresh || !part;
    for (size_t i = 0; i < kind->n; i++)
        if (k[i].part == PART_PROMPT)
            p->n_before = reply->n_prompt; // tokens of earlier parts of the stream
    if (part && !reply_check_part(reply, k, root, e))
        return false;
    if (kind->extent != KIND_WHOLE)
        return add_object(reply, k, kind->n, kind->extent == KIND_BARE, root, p, e);
    for (size_t i = 0, n; i < kind->n; i += n) {
        n = count_rows(&k[i], true);
        const cJSON *const choice = k[i].order == ORDER_EACH ? reply_path(root, k[i].each) : NULL;
        reply->alone = choice && !choice->next && choice->prev == choice ? root : NULL;
        const struct reply_walk w = {reply, &k[i], n, part, fresh, p, e};
        if (k[i].each && !walk_path(&w, root, k[i].each))
            return false;
    }
    return true;
}

// Of a prompt that has numbers, but no lists, beside positions with lists: removes its positions. A sequence that began
// there begins with the next position.
static void drop_spare(struct json_reply *reply)
{
    size_t n = 0;
    bool fresh = false;
    for (size_t i = 0; i < reply->n; i++) {
        struct reply_position *const p = &reply->position[i];
        fresh = fresh || p->fresh;
        if (p->spare) {
            reply->facts |= ROW_PROMPT_NUMBERS;
            continue;
        }
        p->fresh = fresh;
        fresh = false;
        reply->position[n++] = *p;
    }
    reply->n = n;
}

// Returns whether an object has the tokens that its server's filters left: SGLang's and vLLM's sampling mask.
static bool has_mask(const cJSON *root)
{
    return cJSON_IsArray(reply_path(root, "meta_info.output_token_sampling_mask "
                                          "choices[].meta_info.output_token_sampling_mask")) ||
           cJSON_IsObject(reply_path(root, "sampling_mask choices[].sampling_mask"));
}

// Fails with STATUS_DATA if a trajectory has tokens that the model did not write, such as answers of tools: their
// numbers are placeholders.
static bool check_mask(const cJSON *root, struct err *e)
{
    const cJSON *const mask = reply_path(root, "response_mask"), *value;
    size_t index = 0;
    cJSON_ArrayForEach(value, mask)
    {
        if (cJSON_IsFalse(value) || (cJSON_IsNumber(value) && value->valuedouble == 0.0))
            return err_set(
                e, STATUS_DATA,
                "\"response_mask\" is 0 at element %zu: the model did not write this token, and its number is "
                "a placeholder",
                index);
        index++;
    }
    return true;
}

// Adds the positions of one reply. *k: the row that tells what to ask the server for.
static bool open_reply(struct json_reply *reply, const cJSON *root, bool part, const struct reply_shape **k,
                       struct err *e)
{
    const bool event = reply_is_event(root);
    struct kind kind = {0};
    if (!event)
        kind = find_kind(reply, root);
    struct reply_position p = {.id = -1, .logit = NAN, .fresh = !reply->goes_on && !reply->piece->continued};
    const size_t before = reply->n;
    if (!check_server_error(event && json_member(root, "response") ? json_member(root, "response") : root,
                            kind.shape || event, e))
        return false;
    if (event)
        return reply_add_event(reply, root, &p, e);
    if (!kind.shape)
        return check_inside(reply, e) && err_set(e, STATUS_DATA, "an object without logits, logprobs or probs");
    if (!add_reply(reply, &kind, root, part, &p, e))
        return false;
    *k = kind.shape;
    for (size_t i = 0; i < kind.n; i++) // that of the row whose own marker is there
        *k = kind.extent != KIND_WHOLE || reply_has_marker(root, &kind.shape[i]) ? &kind.shape[i] : *k;
    if (!check_mask(root, e))
        return false;
    if (has_mask(root))
        reply->facts |= ROW_MASKED;
    if (reply_path(root, "count_output_tokens") && reply_path(root, "prompt_logprobs[]")) // LightLLM: [[id, {next: x}]]
        reply->facts |= ROW_PROMPT_NUMBERS;
    for (size_t i = before; part && i < reply->n; i++)
        reply->n_streamed += reply->position[i].shape->part != PART_PROMPT;
    return true;
}

bool json_reply_open(struct json_reply *reply, const struct json_value *value, bool part, struct err *e)
{
    reply->piece = value;
    reply->reached = false;
    reply->alone = NULL;
    reply->facts = 0;
    const cJSON *const root = unwrap(reply, value->tree), *one = cJSON_IsArray(root) ? root->child : root;
    const bool chunk = !part && (reply_is_chunk(reply, root) || reply_is_event(root));
    const struct reply_shape *k = NULL;
    reply->seq = root != value->tree ? cJSON_GetStringValue(reply_path(value->tree, "custom_id key")) : NULL;
    if (reply->seq && strstr(reply->seq, JSON_NUL))
        return err_set(e, STATUS_DATA, "\"custom_id\" holds a NUL, which only texts of tokens may");
    if (!reply_note_stream(reply, root, chunk))
        return err_from_fault(e, fault_memory());
    part = part || chunk;
    if (!reply->goes_on) {
        reply->n_streamed = 0;
        reply->n_parts = 0;
        reply->listed = false;
    }
    reply->n = reply->next = 0;
    reply->n_prompt = part ? reply->n_carried : 0;
    reply->n_carried = 0;
    if (!check_server_error(value->tree, true, e))
        return false;
    for (; one; one = cJSON_IsArray(root) ? one->next : NULL)
        if (!open_reply(reply, one, part, &k, e))
            return false;
    if (reply->listed)
        drop_spare(reply);
    one = root && cJSON_IsArray(root) ? root->child : root;
    if (reply->n) {
        reply->had_positions = true;
        reply->goes_on = reply_goes_on(k, one, part);
        return true;
    }
    reply->goes_on = reply->goes_on && reply_goes_on(k, one, part);
    reply->n_carried = part ? reply->n_prompt : 0;
    if (!k) // an event of a stream
        return true;
    if (part || value->more || value->continued || cJSON_IsBool(json_member(one, "done"))) {
        reply->request = k->request; // another part of the stream may have lists
        return true;
    }
    if (!k->each && !check_inside(reply, e))
        return false;
    return k->request
               ? err_set(e, STATUS_DATA, "the reply lists no tokens; ask the server for them with %s", k->request)
               : err_set(e, STATUS_DATA, "the reply lists no tokens");
}

bool json_reply_is_part(const cJSON *tree)
{
    return tree && (reply_is_event(tree) || cJSON_IsBool(json_member(tree, "done")));
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
    free(reply->part);
    sparse_free(&reply->row);
    builder_free(&reply->bytes);
    builder_free(&reply->id);
    lookup_free(&reply->lookup);
}
