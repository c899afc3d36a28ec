// SPDX-License-Identifier: MIT
// What llama-server v0.5.0 checks of the members of a request that do not choose a token: it refuses the request if one
// of them is not as it wants it (tools/server: server-schema.cpp, server-common.cpp; common/chat.cpp). What depends on
// the model, its chat template, its vocabulary and its images, is not checked.
#include "programs/llama.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- values

static bool is_integer(const cJSON *item) { return cJSON_IsRaw(item) && !strpbrk(item->valuestring, ".eE"); }

static bool is_number(const cJSON *item) { return cJSON_IsRaw(item) || cJSON_IsBool(item); }

// Returns a member of an object also if it is null. NULL: there is none.
static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(json_member(object, name));
}

// Returns true if a member is absent or a text; null is neither.
static bool is_text_or_absent(const cJSON *object, const char *name)
{
    const cJSON *const item = member(object, name);
    return !item || cJSON_IsString(item);
}

// ---- the prompt

// Returns true for a list of tokens and texts in which no token is below 0. One without a text must have tokens only.
static bool is_token_list(const cJSON *list)
{
    bool texts = false, integers = false, others = false, numbers = true;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        texts = texts || cJSON_IsString(item);
        integers = integers || is_integer(item);
        others = others || !is_integer(item);
        numbers = numbers && (cJSON_IsString(item) || is_number(item));
        if (is_integer(item) && (int32_t)(uint32_t)strtoll(item->valuestring, NULL, 10) < 0)
            return false;
    }
    return cJSON_IsArray(list) && (texts && integers ? numbers : !others);
}

static bool is_one_prompt(const cJSON *prompt)
{
    const cJSON *const text = member(prompt, "prompt_string"), *item;
    bool mixed = true; // a list in an object need not have both tokens and texts
    cJSON_ArrayForEach(item, text) { mixed = mixed && (cJSON_IsString(item) || is_number(item)); }
    return cJSON_IsString(prompt) || is_token_list(prompt) ||
           (text && (member(prompt, "multimodal_data") || cJSON_IsString(text) || (cJSON_IsArray(text) && mixed)));
}

static void check_prompt(struct file_view *v, const cJSON *prompt)
{
    const cJSON *item;
    bool tokens = !cJSON_IsArray(prompt), good = true;
    cJSON_ArrayForEach(item, prompt) { tokens = tokens || is_integer(item); }
    if (tokens || !prompt->child)
        good = tokens && is_one_prompt(prompt);
    else
        cJSON_ArrayForEach(item, prompt) { good = good && is_one_prompt(item); }
    if (!good)
        view_refuse(v, "prompt is no text, no list of tokens from 0 up and no list of prompts");
}

// ---- the messages

static bool is_call(const cJSON *call)
{
    const cJSON *const function = member(call, "function");
    return llama_is_text(member(call, "type"), "function") && cJSON_IsString(member(function, "name")) &&
           member(function, "arguments") && is_text_or_absent(call, "id");
}

// Returns true for a content: a text, null, or a list of parts. Images and sound depend on the model.
static bool is_content(const cJSON *content)
{
    const cJSON *part;
    if (!cJSON_IsArray(content))
        return cJSON_IsString(content) || cJSON_IsNull(content);
    bool good = true;
    cJSON_ArrayForEach(part, content)
    {
        const char *const type = text_of(part, "type");
        good = good && type &&
               (strcmp(type, "text")
                    ? name_find("image_url input_audio input_video video_url", NAME_EXACT, type, strlen(type)) >= 0
                    : cJSON_IsString(member(part, "text")));
    }
    return good;
}

static void check_messages(struct file_view *v, const cJSON *messages)
{
    const cJSON *message, *call;
    if (!cJSON_IsArray(messages)) {
        view_refuse(v, "messages is not an array");
        return;
    }
    cJSON_ArrayForEach(message, messages)
    {
        const cJSON *const content = member(message, "content"), *const calls = member(message, "tool_calls"),
                           *const role = member(message, "role");
        bool good = true;
        cJSON_ArrayForEach(call, calls) { good = good && is_call(call); }
        good = good && (!calls || cJSON_IsNull(calls) || cJSON_IsObject(calls) || cJSON_IsArray(calls));
        if (!cJSON_IsString(role))
            view_refuse(v, "messages: one has no role");
        else if (!content && (!calls || !llama_is_text(role, "assistant")))
            view_refuse(v, "messages: one of %.40s has no content", role->valuestring);
        else if (content && !is_content(content))
            view_refuse(v, "messages: a content is no text and no list of parts that llama-server knows");
        else if (!good || !is_text_or_absent(message, "reasoning_content") || !is_text_or_absent(message, "name") ||
                 !is_text_or_absent(message, "tool_call_id"))
            view_refuse(v, "messages: llama-server refuses the tool calls, the reasoning or the names of one");
    }
}

static void check_tools(struct file_view *v, const cJSON *tools)
{
    const cJSON *tool;
    bool good = !tools || cJSON_IsArray(tools);
    cJSON_ArrayForEach(tool, tools)
    {
        const cJSON *const function = member(tool, "function");
        good = good && llama_is_text(member(tool, "type"), "function") && cJSON_IsString(member(function, "name")) &&
               is_text_or_absent(function, "description");
    }
    if (!good)
        view_refuse(v, "tools is not a list of functions with names");
}

static void check_chat(struct file_view *v)
{
    const cJSON *const root = v->settings, *const tools = json_member(root, "tools"),
                       *const last = member(root, "continue_final_message");
    const char *const choice = text_of(root, "tool_choice"), *const name = cJSON_GetStringValue(last);
    const bool continues =
        cJSON_IsTrue(last) || (name && name_find("content reasoning_content", NAME_EXACT, name, strlen(name)) >= 0);
    const bool many = cJSON_IsArray(tools) && tools->child, logprobs = view_is_true(v, "logprobs");
    if (!is_text_or_absent(root, "reasoning_format"))
        view_refuse(v, "reasoning_format is not a text");
    if (has_key(root, "messages"))
        check_messages(v, json_member(root, "messages"));
    check_tools(v, tools);
    if (choice && name_find("auto none required", NAME_EXACT, choice, strlen(choice)) < 0)
        view_refuse(v, "tool_choice is not auto, none or required");
    if (cJSON_IsString(member(json_member(root, "chat_template_kwargs"), "enable_thinking")))
        view_refuse(v, "chat_template_kwargs: enable_thinking is not true or false");
    if (logprobs && many && view_is_true(v, "stream"))
        view_refuse(v, "logprobs, tools and stream exclude each other");
    if (!logprobs && json_member(root, "top_logprobs"))
        view_refuse(v, "top_logprobs needs logprobs");
    if (continues && !cJSON_IsFalse(member(root, "add_generation_prompt")))
        view_refuse(v, "continue_final_message needs add_generation_prompt to be false");
}

// ---- members of both endpoints

// Returns true if the elements of a member are texts. Where it is no list, it is its own element.
static bool has_texts(const cJSON *item)
{
    bool good = !item || cJSON_IsString(item) || cJSON_IsArray(item) || cJSON_IsObject(item);
    for (const cJSON *text = good && item ? item->child : NULL; text; text = text->next)
        good = good && cJSON_IsString(text);
    return good;
}

// Returns true for a list of words, of which those that are empty lists or null are passed over.
static bool has_words(const cJSON *stop)
{
    const cJSON *word;
    bool good = true;
    if (!cJSON_IsArray(stop))
        return true;
    cJSON_ArrayForEach(word, stop)
    {
        const bool empty = cJSON_IsNull(word) || ((cJSON_IsArray(word) || cJSON_IsObject(word)) && !word->child);
        good = good && (empty || cJSON_IsString(word));
    }
    return good;
}

static void check_completion(struct file_view *v)
{
    const cJSON *const root = v->settings, *const prompt = member(root, "prompt"), *delimiter, *trigger;
    bool good = true;
    if (prompt)
        check_prompt(v, prompt);
    if (!has_texts(json_member(root, "preserved_tokens")))
        view_refuse(v, "preserved_tokens is not a list of texts");
    if (json_member(root, "chat_format") && !is_number(json_member(root, "chat_format")))
        view_refuse(v, "chat_format is not a number");
    cJSON_ArrayForEach(delimiter, json_array(root, "message_delimiters"))
    {
        good = good && is_text_or_absent(delimiter, "role") && is_text_or_absent(delimiter, "delimiter");
    }
    if (!good)
        view_refuse(v, "message_delimiters has a role or a delimiter that is no text");
    const cJSON *const triggers = json_member(root, "grammar_triggers");
    good = !triggers || cJSON_IsArray(triggers) || cJSON_IsObject(triggers);
    cJSON_ArrayForEach(trigger, triggers)
    {
        good = good && is_number(member(trigger, "type")) && cJSON_IsString(member(trigger, "value"));
    }
    if (!good)
        view_refuse(v, "grammar_triggers: one has no number as type or no text as value");
}

// Refuses a number beyond the range of doubles, wherever it stands: the server's parser does.
static void check_range(struct file_view *v, const cJSON *value)
{
    for (const cJSON *item = value->child; item; item = item->next) {
        if (cJSON_IsRaw(item) && isinf(strtod(item->valuestring, NULL)))
            view_refuse(v, "%.*s is beyond the range of numbers, at which llama-server refuses the request",
                        err_clip(item->valuestring, 40), item->valuestring);
        check_range(v, item);
    }
}

// Returns whether a limit in milliseconds is a number that llama-server stores as one from -1 up, in 64 bits.
static bool is_limit(const cJSON *limit)
{
    uint64_t bits;
    double x;
    if (!cJSON_IsRaw(limit) || !view_is_number(limit, &x))
        return false;
    return number_bits(limit->valuestring, &bits) ? (int64_t)bits >= -1 : x > -2.0 && x < 0x1p63;
}

void llama_check_request(struct file_view *v, bool chat)
{
    static const char *const texts[] = {"generation_prompt", "reasoning_format", "reasoning_budget_start_tag",
                                        "chat_parser"};
    const cJSON *const root = v->settings, *const tags = json_member(root, "reasoning_budget_end_tags"),
                       *const lora = json_member(root, "lora"), *const tag = member(root, "reasoning_budget_end_tag"),
                       *const limit = json_member(root, "t_max_predict_ms"),
                       *const usage = json_member(json_member(root, "stream_options"), "include_usage");
    const char *const format = text_of(root, "reasoning_format");
    check_range(v, root);
    (chat ? check_chat : check_completion)(v);
    for (size_t i = chat; i < sizeof texts / sizeof *texts; i++)
        if (json_member(root, texts[i]) && !text_of(root, texts[i]))
            view_refuse(v, "%s is not a text", texts[i]);
    if (format && name_find("none auto deepseek deepseek-legacy", NAME_EXACT, format, strlen(format)) < 0)
        view_refuse(v, "reasoning_format is not none, auto, deepseek or deepseek-legacy");
    if (!has_texts(tags) || (!tags && tag && !cJSON_IsNull(tag) && !cJSON_IsString(tag)))
        view_refuse(v, "reasoning_budget_end_tags is not a list of texts");
    if (limit && !is_limit(limit))
        view_refuse(v, "t_max_predict_ms is not a number from -1 up");
    if (usage && !cJSON_IsBool(usage))
        view_refuse(v, "stream_options: include_usage is not true or false");
    if (lora && !cJSON_IsArray(lora))
        view_refuse(v, "lora is not a list");
    if (!has_words(json_member(root, "stop")))
        view_refuse(v, "stop has an element that is no text");
}
