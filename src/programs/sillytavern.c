// SPDX-License-Identifier: MIT
// SillyTavern: presets of text completion.
#include "programs/program.h"

// Cut-offs stand in units of 1e-4.
static const struct field_row fields[] = {
    {"temperature_last min_temp max_temp dynatemp streaming n negative_prompt do_sample "
     "add_bos_token skip_special_tokens spaces_between_special_tokens speculative_ngram include_reasoning sampler* "
     "rep_pen_size genamt max_length max_context* truncation_length extensions *_send_banned_tokens "
     "send_banned_tokens type preset",
     .form = FIELD_OTHER},
    {"temp temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical_p typ_p", "typical"},
    {"rep_pen repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"rep_pen_range", "repeat-last-n"},
    {"rep_pen_slope", "repeat-penalty-slope", OFF_AT(1)},
    {"freq_pen frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_pen presence_penalty", "presence-penalty", OFF_AT(0)},
    {"encoder_rep_pen", "encoder-repeat-penalty"},
    {"no_repeat_ngram_size", "no-repeat-ngram"},
    {"nsigma top_n_sigma", "top-nsigma"},
    {"tfs", "tfs"},
    {"epsilon_cutoff", "epsilon-cutoff", .factor = 1e-4},
    {"eta_cutoff", "eta-cutoff", .factor = 1e-4},
    {"mirostat mirostat_mode", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"adaptive_target", "adaptive-target", OFF_UP_TO(0)},
    {"min_tokens", "min-tokens", OFF_UP_TO(0)},
    {"seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"ban_eos_token ignore_eos_token", "ignore-eos", FIELD_EOS},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"custom_token_bans", "bad-word-tokens", FIELD_BANS},
    {"grammar_string grammar", "grammar", FIELD_GRAMMAR},
    {"json_schema", "json-schema", FIELD_SCHEMA},
    {"penalty_alpha rep_pen_decay diversity_penalty banned_tokens banned_strings", NULL, OFF_AT(0)},
    {"num_beams* length_penalty", .form = FIELD_IGNORED, OFF_AT(1)},
    {"min_length early_stopping", .form = FIELD_IGNORED},
    {"guidance_scale", NULL, OFF_AT(1)},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

enum { SILLY_MOST = 64 }; // samplers of a list

// Adds the samplers of a list, completed in the way of SillyTavern's script: the k-th sampler of its default order is
// inserted at index k if the list lacks it. llama.cpp knows typ_p and not typical_p, its former name, which the
// completed list has beside it. adaptive_p is the last wherever it stands.
static void add_completed(struct file_view *v, const cJSON *list)
{
    static const char *const usual[] = {"penalties", "dry",   "top_n_sigma", "top_k",       "typ_p",
                                        "top_p",     "min_p", "xtc",         "temperature", "adaptive_p"};
    enum { USUAL = sizeof usual / sizeof *usual };
    const char *name[SILLY_MOST + USUAL];
    size_t n = 0;
    for (const cJSON *item = list->child; item && n < SILLY_MOST; item = item->next)
        if (cJSON_IsString(item))
            name[n++] = item->valuestring;
    for (size_t k = 0; k < USUAL; k++) {
        size_t at = 0;
        while (at < n && strcmp(name[at], usual[k]) != 0)
            at++;
        if (at < n)
            continue;
        memmove(name + k + 1, name + k, (n++ - k) * sizeof *name);
        name[k] = usual[k];
    }
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(name[i], "tfs_z") && view_active(v, "tfs") && !v->engine->options)
            view_note(v, "tfs runs, which llama.cpp would skip");
        if (strcmp(name[i], "typical_p") != 0 && strcmp(name[i], "adaptive_p") != 0)
            view_chain(v, name[i]);
    }
    view_chain(v, "adaptive_p");
}

// Notes the orders of the samplers that are for other backends than llama.cpp.
static void note_orders(struct file_view *v)
{
    static const char *const orders[][2] = {{"sampler_order", "KoboldCpp"},
                                            {"sampler_priority", "text-generation-webui"},
                                            {"samplers_priorities", "Aphrodite"}};
    struct builder note = {0};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (view_is_on(json_member(v->settings, orders[i][0])))
            builder_format(&note, "%s%s is the order for %s", note.len ? ", " : "", orders[i][0], orders[i][1]);
    if (note.text && !v->engine->options)
        view_note(v, note.text);
    v->note.failed = v->note.failed || note.failed;
    builder_free(&note);
}

static void finish(struct file_view *v)
{
    view_dynamic_temp(v, "dynatemp", "min_temp", "max_temp");
    if (json_array(v->settings, "samplers")) {
        add_completed(v, json_array(v->settings, "samplers"));
    } else if (has_key(v->settings, "samplers") || view_active(v, "adaptive-target")) {
        view_order(v, "samplers",
                   "penalties;encoder_penalty;dry;no_repeat_ngram;top_n_sigma;top_k;top_a;tfs;typ_p;top_p;"
                   "epsilon_cutoff;eta_cutoff;min_p;xtc;temperature;smoothing;skew");
        view_chain(v, "adaptive_p");
    }
    if (has_key(v->settings, "samplers"))
        view_note_idle(v);
    note_orders(v);
}

const struct program program_sillytavern = {
    .name = "SillyTavern",
    .reads = "preset",
    .as_of = "1.18.0",
    .source = "public/scripts/textgen-settings.js",
    .marks = {{"rep_pen", "typical_p"}, {"rep_pen", "temperature_last"}},
    .yields = "sampl-chain llama-server-reply LM-Studio",
    .fields = fields,
    .any_case = true,
    .order_text = "samplers, the one of the file's three orders that is for llama.cpp",
    .finish = finish,
};
