// SPDX-License-Identifier: MIT
// Requests to servers of OpenAI's kind. A request chooses the pipeline of a server only by a key that no other server's
// requests have.
#include "cli/dialects.h"

#include <math.h>
#include <string.h>

bool openai_key(struct foreign *f, const cJSON *item)
{
    const char *const type = cJSON_GetStringValue(json_member(item, "type"));
    return (is_key(item, "repetition_penalty") && !foreign_is_on(item)) || // mlx_lm.server's off
           (is_key(item, "response_format") && type && !strcmp(type, "text"));
}

// Notes that penalties of llama's chain count the tokens of a prompt, if the file sets penalties that its server counts
// over generated tokens only.
static void note_history(struct foreign *f)
{
    const bool amounts = foreign_active(f, "presence-penalty") || foreign_active(f, "frequency-penalty");
    const bool sglang = !strcmp(f->dialect->name, "SGLang");
    if (f->engine->options)
        return;
    if (sglang && (amounts || foreign_active(f, "repeat-penalty")))
        f->with_prompt = "penalties look back on the prompt, too; with --engine sglang only on generated tokens";
    else if (!sglang && amounts)
        f->with_prompt = "presence and frequency penalties look back on the prompt, too; with --engine vllm only on "
                         "generated tokens";
}

void openai_finish(struct foreign *f)
{
    note_history(f);
    if (!f->typed)
        foreign_note(f,
                     "no key says which server the request is for, so llama.cpp's samplers run; --engine names another "
                     "pipeline");
}

// Adds the schema that an item is, under which the server masks the row before its chain runs.
static void add_schema_first(struct foreign *f, const cJSON *item)
{
    cJSON schema = *item;
    char name[] = "json_schema";
    schema.string = name;
    foreign_setting(f, &schema);
    foreign_set(f, "grammar-first", NULL);
}

// Reads the constraints of structured outputs.
bool vllm_key(struct foreign *f, const cJSON *item)
{
    if (!is_key(item, "structured_outputs"))
        return openai_key(f, item);
    for (const cJSON *rule = item->child; rule; rule = rule->next) {
        if (rule->string && is_key(rule, "json") && foreign_is_on(rule))
            add_schema_first(f, rule);
        else if (rule->string && foreign_is_on(rule))
            foreign_unsupported(f, rule);
    }
    return true;
}

void ends_finish(struct foreign *f)
{
    foreign_end_tokens(f, "stop_token_ids");
    note_history(f);
}

bool sglang_key(struct foreign *f, const cJSON *item)
{
    const bool schema = is_key(item, "json_schema") && foreign_is_on(item);
    if (schema)
        add_schema_first(f, item);
    return schema;
}

// Reads the window of the penalties. The engine has one for all three, so that another one is refused.
bool mlx_key(struct foreign *f, const cJSON *item)
{
    const double size = foreign_number(f, "repetition_context_size", 20.0);
    const bool other = is_key(item, "presence_context_size") || is_key(item, "frequency_context_size");
    if (is_key(item, "repetition_context_size"))
        foreign_set_json(f, "repeat-last-n", item);
    else
        return (other && foreign_number(f, item->string, NAN) == size) || openai_key(f, item);
    return true;
}
