// SPDX-License-Identifier: MIT
// Requests of OpenAI's shape. A request chooses the pipeline of a server only by a key that no other server's requests
// have; this program is for those that have none.
#include "programs/openai.h"

static const struct field_row fields[] = {
    {OPENAI_OTHERS, .form = FIELD_OTHER},
    {"ignore_eos", "ignore-eos", FIELD_EOS},
    OPENAI_FIELDS,
    {"guided_*", NULL, OFF_AT(0)},
    {NULL},
};

// Reads the format of the answer: any object, or that of a schema.
static void read_format(struct file_view *v, const cJSON *format)
{
    const char *const type = cJSON_GetStringValue(json_member(format, "type"));
    const cJSON *const nested = json_member(json_member(format, "json_schema"), "schema"), *const schema =
                                                                                               nested ? nested
                                                                                                      : json_member(
                                                                                                            format,
                                                                                                            "schema");
    if (!type || !strcmp(type, "text"))
        return;
    if (schema && (!strcmp(type, "json_schema") || !strcmp(type, "json_object")))
        view_read(v, "json_schema", schema);
    else if (!strcmp(type, "json_object") || !strcmp(type, "json_schema"))
        view_set(v, "json-schema", "{\"type\":\"object\"}");
    else
        view_unsupported(v, format);
}

bool openai_key(struct file_view *v, const cJSON *item)
{
    const bool text = is_key(item, "text") && cJSON_IsObject(item); // of the Responses API
    if (!is_key(item, "response_format") && !text)
        return is_key(item, "repetition_penalty") && !view_is_on(item);
    read_format(v, text ? json_member(item, "format") : item);
    return true;
}

void openai_schema_first(struct file_view *v, const cJSON *item)
{
    view_read(v, "json_schema", item);
    view_set(v, "grammar-first", NULL);
}

void openai_note_history(struct file_view *v)
{
    if (!v->engine->options && (view_active(v, "presence-penalty") || view_active(v, "frequency-penalty")))
        v->with_prompt = "presence and frequency penalties look back on the prompt, too; with --engine vllm only on "
                         "generated tokens";
}

// Returns true if the file sets a sampler that OpenAI's servers lack: the request is for llama-server, whose chat
// endpoint takes all fields of /completion.
static bool has_others(const struct file_view *v)
{
    static const char *const others[] = {"dry-multiplier",  "top-nsigma", "typical", "xtc-probability",
                                         "adaptive-target", "top-a",      "tfs",     "smoothing-factor"};
    bool any = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        any = any || view_active(v, others[i]);
    return any;
}

static void finish(struct file_view *v)
{
    view_chain(v, has_others(v)
                      ? "penalties;dry;top_n_sigma;top_k;top_a;tfs;typ_p;top_p;min_p;xtc;temperature;smoothing;"
                        "adaptive_p"
                      : OPENAI_ORDER);
    openai_note_history(v);
    if (!v->engine_named)
        view_note(v, "no key says which server the request is for, so llama.cpp's samplers run; --engine names another "
                     "pipeline");
}

const struct program program_openai = {
    .name = "OpenAI",
    .reads = "request",
    .as_of = "2026-08",
    .source = "the API reference",
    .engines = {NULL},
    .marks = {{"model", "messages"}, {"model", "prompt"}, {"model", "input"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers Ollama llama-server SGLang "
              "vLLM mlx_lm",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=-1",
    .order_text = OPENAI_ORDER,
    .key = openai_key,
    .finish = finish,
};
