// SPDX-License-Identifier: MIT
// SillyTavern: presets of chat completion. Their keys for sampling are those of a request to OpenAI's kind of server;
// the others are of prompts and connections.
#include "programs/openai.h"

static const struct field_row fields[] = {
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"top_a", "top-a"},
    {"min_p", "min-p"},
    {"repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"seed", "seed", FIELD_SEED},
    {"*", .form = FIELD_OTHER},
    {NULL},
};

static void finish(struct file_view *v)
{
    if (view_active(v, "top-a"))
        view_chain(v, "top_a");
    openai_note_history(v);
}

const struct program program_sillytavern_chat = {
    .name = "SillyTavern-chat",
    .reads = "preset of chat completion",
    .as_of = "1.12, 2024-09",
    .source = "public/scripts/openai.js",
    .marks = {{"chat_completion_source"}, {"openai_max_context"}},
    .fields = fields,
    .absent = "repeat-last-n=-1",
    .order = OPENAI_ORDER,
    .finish = finish,
};
