// SPDX-License-Identifier: MIT
// Requests of OpenAI's shape. A request chooses the pipeline of a server only by a key that no other server's requests
// have; this program is for those that have none.
#include "programs/openai.h"

static const struct field_row fields[] = {
    {OPENAI_OTHERS, .form = FIELD_OTHER},
    {"ignore_eos", "ignore-eos", FIELD_EOS},
    OPENAI_FIELDS,
    {NULL},
};

bool openai_key(struct file_view *v, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    (void)v;
    return (is_key(item, "repetition_penalty") && !view_is_on(item)) ||
           (is_key(item, "response_format") && type && !strcmp(type, "text"));
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

static void finish(struct file_view *v)
{
    openai_note_history(v);
    if (!v->engine_named)
        view_note(v, "no key says which server the request is for, so llama.cpp's samplers run; --engine names another "
                     "pipeline");
}

const struct program program_openai = {
    .name = "OpenAI",
    .engines = {NULL},
    .marks = {{"model", "messages"}, {"model", "prompt"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp transformers Ollama llama-server SGLang "
              "vLLM mlx_lm",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=-1",
    .order = OPENAI_ORDER,
    .key = openai_key,
    .finish = finish,
};
