// SPDX-License-Identifier: MIT
#include "in/reply_shapes.h"

#include "base/names.h"
#include "in/json_value.h"
#include "json/json.h"

#include <string.h>

// Requests that make a server list tokens.
static const char request_llama[] = "\"n_probs\": N", request_chat[] = "\"logprobs\": true, \"top_logprobs\": N",
                  request_legacy[] = "\"logprobs\": N", request_prompt[] = "\"prompt_logprobs\": N",
                  request_python[] = "SamplingParams(logprobs=N)",
                  request_sglang[] = "\"return_logprob\": true, \"top_logprobs_num\": N",
                  request_tgi[] = "\"details\": true, \"top_n_tokens\": N",
                  request_gemini[] = "\"responseLogprobs\": true, \"logprobs\": N",
                  request_responses[] = "\"include\": [\"message.output_text.logprobs\"], \"top_logprobs\": N";

// Field names are those of llama-server (its README; server-task.cpp), OpenAI's API reference, vLLM (protocol.py,
// outputs.py, logprobs.py), SGLang (meta_info), Gemini (GenerateContentResponse) and Ollama (api/types.go). The order
// matters where a reply has several markers.
static const char bedrock[] = "vLLM, a prompt; Bedrock";
static const char openai[] = "OpenAI, vLLM";
#define KIND(name, path, types, ask) .kind = name, .marker = path, .type = types, .request = ask
#define LLAMA(path, types)           KIND("llama-server", path, types, request_llama), .each = "."
#define VLLM                         KIND("vLLM, RequestOutput", "outputs[].token_ids", cJSON_Array, request_python)
#define OUTPUTS                      VLLM, .order = ORDER_EACH, .each = "outputs[]", .ids = "token_ids"
#define PROMPT                       .part = PART_PROMPT, .ids = "prompt_token_ids"
#define OPENAI(ask)                  KIND(openai, "choices", cJSON_Array, ask)
#define CHOICES(ask)                 OPENAI(ask), .order = ORDER_EACH, .each = "choices[]"
#define COLUMNS                      .form = TOKEN_COLUMNS, .tokens = "token_ids"
#define FLAT                         COLUMNS, .numbers = "logprobs", .starts = "start_indices"
#define LEGACY                                                                                                \
    .part = PART_BOTH, .form = TOKEN_TEXT, .within = "logprobs", .tokens = "tokens", .lists = "top_logprobs", \
    .numbers = "token_logprobs", .ids = "token_ids logprobs.token_ids nvext.completion_token_ids"
#define SGLANG KIND("SGLang", "meta_info", cJSON_Object, request_sglang)
#define KOBOLD \
    KIND("KoboldCpp, watsonx", "results", cJSON_Array, request_chat), .order = ORDER_EACH, .each = "results[]"
#define TGI KIND("Text Generation Inference", "details", cJSON_Object, request_tgi)
#define NOVELAI \
    .form = TOKEN_TRIPLE, .each = ".", .tokens = "logprobs", .token = "chosen[]", .lists = "logprobs", .inner = "before"
#define LIGHTLLM   KIND("LightLLM", "count_output_tokens", cJSON_Number | cJSON_Array, NULL)
#define TRAJECTORY KIND("trajectories", "response_ids[] output_tokens[] output_token_ids[]", cJSON_Number, NULL)

const struct reply_shape reply_shapes[] = {
    {LLAMA("completion_probabilities", cJSON_Array), .tokens = "completion_probabilities"},
    {KIND("llama-server before December 2024, streams", "probs[].tok_str", cJSON_String, request_llama),
     .order = ORDER_ON, .each = ".", .tokens = "."},
    {KIND("llama-server's README", "probs[]", cJSON_Object, request_llama), .each = ".", .tokens = "probs"},

    {VLLM, PROMPT, .form = TOKEN_ID, .each = ".", .lists = "prompt_logprobs"},
    {VLLM, PROMPT, FLAT, .each = ".", .within = "prompt_logprobs"},
    {OUTPUTS, .form = TOKEN_ID, .lists = "logprobs"},
    {OUTPUTS, FLAT, .within = "logprobs"},
    {OUTPUTS, .form = TOKEN_STEPS, .tokens = "token_ids", .numbers = "logprobs"},
    {KIND("outputs with records", "outputs[].logprobs", cJSON_Array, request_chat), .order = ORDER_EACH,
     .each = "outputs[]", .tokens = "logprobs"},

    {OPENAI(request_prompt), .part = PART_PROMPT, .form = TOKEN_ID, .each = ".",
     .lists = "prompt_logprobs nvext.prompt_logprobs", .ids = "prompt_token_ids nvext.prompt_token_ids"},
    {CHOICES(request_prompt), PROMPT, .form = TOKEN_ID, .lists = "prompt_logprobs"},
    {CHOICES(request_chat), .part = PART_ASIDE, .within = "logprobs", .tokens = "reasoning_content reasoning thinking"},
    {CHOICES(request_chat), .within = "logprobs", .tokens = "content", .ids = "token_ids nvext.completion_token_ids"},
    {CHOICES(request_chat), .part = PART_ASIDE, .within = "logprobs", .tokens = "refusal"},
    {CHOICES(request_chat), .tokens = "logprobs", .ids = "token_ids"},
    {KIND(openai, "choices[].text", cJSON_String, request_legacy), .order = ORDER_EACH, .each = "choices[]", LEGACY},
    {KIND(openai, "choices[].text", cJSON_String, request_legacy), .order = ORDER_EACH, .each = "choices[]",
     .part = PART_BOTH, .form = TOKEN_STEPS, .tokens = "token_ids", .numbers = "logprobs.token_logprobs"},

    {LIGHTLLM, .each = ".", .tokens = "tokens"},
    {LIGHTLLM, .order = ORDER_EACH, .each = "tokens[]", .tokens = "."},

    {KIND(bedrock, "prompt_logprobs", cJSON_Array, request_prompt), PROMPT, .form = TOKEN_ID, .each = ".",
     .lists = "prompt_logprobs"},
    {KIND(bedrock, "prompt_logprobs", cJSON_Array, request_prompt), .form = TOKEN_ID, .each = ".", .lists = "logprobs",
     .ids = "token_ids"},

    {SGLANG, .part = PART_PROMPT, .form = TOKEN_TRIPLE, .each = ".", .within = "meta_info",
     .tokens = "input_token_logprobs prefill_token_logprobs", .lists = "input_top_logprobs prefill_top_logprobs"},
    {SGLANG, .form = TOKEN_TRIPLE, .each = ".", .within = "meta_info",
     .tokens = "output_token_logprobs decode_token_logprobs", .lists = "output_top_logprobs decode_top_logprobs"},

    {KOBOLD, .part = PART_PROMPT, .tokens = "input_tokens"},
    {KOBOLD, .within = "logprobs", .tokens = "content"},
    {KOBOLD, LEGACY},
    {KOBOLD, .tokens = "generated_tokens"},

    {KIND("Text Generation Inference, streams", "token", cJSON_Object, request_tgi), .order = ORDER_ON, .each = ".",
     .tokens = "token", .lists = "top_tokens"},
    {TGI, .part = PART_PROMPT, .each = ".", .within = "details", .tokens = "prefill", .lists = "prefill_top_tokens"},
    {TGI, .each = ".", .within = "details", .tokens = "tokens", .lists = "top_tokens"},
    {TGI, .order = ORDER_EACH, .each = "details.best_of_sequences[]", .tokens = "tokens", .lists = "top_tokens"},

    {KIND("OpenAI's responses", "output[].content output[].type", cJSON_Array | cJSON_String, request_responses),
     .each = "output[].content[]", .tokens = "logprobs"},

    {KIND("Gemini", "candidates", cJSON_Array, request_gemini), .order = ORDER_EACH, .each = "candidates[]",
     .within = "logprobsResult logprobs_result", .tokens = "chosenCandidates chosen_candidates",
     .lists = "topCandidates top_candidates", .inner = "candidates"},

    {KIND("AI21", "completions[].data.tokens", cJSON_Array, "\"topKReturn\": N"), .part = PART_PROMPT, .each = "prompt",
     .tokens = "tokens", .token = "generatedToken"},
    {KIND("AI21", "completions[].data.tokens", cJSON_Array, "\"topKReturn\": N"), .order = ORDER_EACH,
     .each = "completions[].data", .tokens = "tokens", .token = "generatedToken"},
    {KIND("Aleph Alpha", "completions[].log_probs", cJSON_Array, "\"log_probs\": N"), .order = ORDER_EACH,
     .form = TOKEN_TEXT, .each = "completions[]", .tokens = "completion_tokens", .lists = "log_probs"},

    {KIND("Aleph Alpha, an evaluation", "result.log_perplexity", cJSON_Number, NULL)},
    {KIND("PaLM on Vertex AI", "predictions[].logprobs.tokens", cJSON_Array, request_legacy), .order = ORDER_EACH,
     .part = PART_BOTH, .form = TOKEN_TEXT, .each = "predictions[]", .within = "logprobs", .tokens = "tokens",
     .lists = "topLogProbs", .numbers = "tokenLogProbs"},
    {KIND("NovelAI", "logprobs[].before", cJSON_Array, "\"num_logprobs\": N"), NOVELAI},
    {KIND("NovelAI, streams", "logprobs.before", cJSON_Array, "\"num_logprobs\": N"), .order = ORDER_ON, NOVELAI},
    {KIND("text-generation-webui, /v1/internal/logits", "logits", cJSON_Object,
          "\"use_samplers\": false, \"top_logits\": N"),
     .order = ORDER_ON, .form = TOKEN_TEXT, .each = ".", .lists = "logits"},
    {KIND("Cohere, generations", "generations[].token_likelihoods", cJSON_Array, NULL), .order = ORDER_EACH,
     .part = PART_BOTH, .each = "generations[]", .tokens = "token_likelihoods"},
    {KIND("Cohere", "logprobs[].token_ids", cJSON_Array, NULL), .form = TOKEN_STEPS, .each = "logprobs[]",
     .tokens = "token_ids", .numbers = "logprobs"},

    {KIND("vLLM, CompletionOutput", "logprobs[].#", cJSON_Object | cJSON_Number, request_python), .form = TOKEN_ID,
     .each = ".", .lists = "logprobs", .ids = "token_ids"},
    {KIND("vLLM, CompletionOutput of FlatLogprobs", "logprobs.start_indices", cJSON_Array, request_python), FLAT,
     .each = ".", .within = "logprobs", .ids = "token_ids"},
    {KIND("Llama Stack", "logprobs[].logprobs_by_token", cJSON_Object, "\"logprobs\": {\"top_k\": N}"),
     .form = TOKEN_TEXT, .each = ".", .lists = "logprobs", .inner = "logprobs_by_token"},
    {TRAJECTORY, .part = PART_PROMPT, .each = ".", .ids = "prompt_ids prompt_token_ids"},
    {TRAJECTORY, .form = TOKEN_STEPS, .each = ".", .tokens = "response_ids output_tokens output_token_ids",
     .numbers = "response_logprobs output_log_probs output_logprobs logprobs"},
    {KIND("lists of texts side by side", "tokens[][] token_ids[][] indices[][]", cJSON_String, request_python),
     .form = TOKEN_NESTED, .each = ".", .tokens = "tokens token_ids indices",
     .numbers = "logprobs log_probs probs logits topk_logprobs"},
    {KIND("arrays side by side", "logprobs[] log_probs[] probs[] logits[]", cJSON_Number, request_python),
     .form = TOKEN_COLUMNS, .each = ".", .tokens = "token_ids indices tokens",
     .numbers = "logprobs log_probs probs logits", .starts = "start_indices"},

    {KIND("several choices", "logprobs[][].logprob", cJSON_Number, request_chat), .order = ORDER_EACH,
     .each = "logprobs[]", .tokens = "."},
    {KIND("Ollama", "logprobs tokenLogprobs", cJSON_Array, request_chat), .each = ".",
     .tokens = "logprobs tokenLogprobs"},
    {KIND("tokens as objects", "tokens[].logprob tokens[].logProb tokens[].log_prob", cJSON_Number, request_chat),
     .each = ".", .tokens = "tokens", .lists = "top_logprobs"},
    {KIND("one record",
          "logprob log_prob logProb logProbability log_probability prob top_logprobs[].logprob top_probs[].prob",
          cJSON_Number, request_chat),
     .order = ORDER_ON, .each = ".", .tokens = "."},
    {KIND("vLLM, one position in Python", "#.logprob", cJSON_Number, request_python), .order = ORDER_ON,
     .form = TOKEN_ID, .each = ".", .lists = "."},

    // replies that list no tokens
    {KIND("Ollama", "done", cJSON_True | cJSON_False, request_chat)},
    {KIND("llama-server", "content", cJSON_String, request_llama)},
    {KIND("Triton with TensorRT-LLM", "text_output", cJSON_String, "its API like OpenAI's: \"logprobs\": N")},
};
const size_t n_reply_shapes = sizeof reply_shapes / sizeof *reply_shapes;

const struct token_names reply_names = {
    .id = "id token_id tokenId",
    .text = "token tok_str content text decoded_token",
    .number = "raw_logprob logprob log_prob logProb logProbability log_probability likelihood prob probability",
    .list = "top_logprobs topLogprobs top_probs probs top_tokens topTokens alternative_tokens",
};

const char *const reply_wrappers[] = {
    "response.body",  "response", "body", "result", "output", "data", "response_metadata", "kwargs.response_metadata",
    "generation_info"};
const size_t n_reply_wrappers = sizeof reply_wrappers / sizeof *reply_wrappers;

const cJSON *reply_named(const cJSON *object, const char *names)
{
    const char *name;
    size_t len;
    const cJSON *member = NULL;
    while (!member && name_next(&names, &name, &len))
        for (member = cJSON_IsObject(object) ? object->child : NULL; member; member = member->next)
            if (member->string && !strncmp(member->string, name, len) && !member->string[len])
                break;
    return member;
}

// Returns the member name[0..len) of an object, or what "." and "#" stand for; NULL if it is absent or null.
static const cJSON *step(const cJSON *value, const char *name, size_t len)
{
    const cJSON *member = cJSON_IsObject(value) ? value->child : NULL;
    if (!len)
        return value;
    if (len == 1 && *name == '#')
        return member && member->string && json_written_id(member->string, member->string + strlen(member->string)) >= 0
                   ? member
                   : NULL;
    while (member && !(member->string && !strncmp(member->string, name, len) && !member->string[len]))
        member = member->next;
    return cJSON_IsNull(member) ? NULL : member;
}

// Follows the path name[0..len).
static const cJSON *follow(const cJSON *value, const char *path, size_t len)
{
    const char *const end = path + len;
    while (value && path < end) {
        const char *stop = path;
        while (stop < end && *stop != '.' && *stop != '[')
            stop++;
        value = step(value, path, (size_t)(stop - path));
        const bool element = stop < end && *stop == '[';
        if (element)
            for (value = cJSON_IsArray(value) ? value->child : NULL; value && cJSON_IsNull(value);)
                value = value->next;
        path = stop + (element ? 2 : 0);
        path += path < end && *path == '.';
    }
    return value;
}

const cJSON *reply_path(const cJSON *value, const char *path)
{
    const char *one;
    size_t len;
    const cJSON *found = NULL;
    while (path && !found && name_next(&path, &one, &len))
        found = follow(value, one, len);
    return found;
}

bool reply_has_marker(const cJSON *value, const struct reply_shape *shape)
{
    const char *paths = shape->marker, *one;
    size_t len;
    while (name_next(&paths, &one, &len)) {
        const cJSON *const found = follow(value, one, len);
        if (found && found->type & shape->type)
            return true;
    }
    return false;
}
