// SPDX-License-Identifier: MIT
// text-generation-webui: presets, which are flat YAML.
#include "programs/program.h"

// Cut-offs stand in units of 1e-4.
static const struct field_row fields[] = {
    {"do_sample dynamic_temperature temperature_last dynatemp_low dynatemp_high sampler_priority truncation_length "
     "max_* auto_max_new_tokens add_bos_token skip_special_tokens ban_eos_token_* prompt_lookup_num_tokens "
     "static_cache stream prompt messages "
     "mode character instruction_template* preset name* context greeting user* bot_name stop n model "
     "custom_stopping_strings logprobs",
     .form = FIELD_OTHER},
    {"temperature", "temp", OFF_AT(1)},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"typical_p", "typical"},
    {"repetition_penalty", "repeat-penalty", OFF_AT(1)},
    {"repetition_penalty_range", "repeat-last-n"},
    {"frequency_penalty", "frequency-penalty", OFF_AT(0)},
    {"presence_penalty", "presence-penalty", OFF_AT(0)},
    {"encoder_repetition_penalty", "encoder-repeat-penalty"},
    {"no_repeat_ngram_size", "no-repeat-ngram"},
    {"top_n_sigma", "top-nsigma"},
    {"tfs", "tfs"},
    {"epsilon_cutoff", "epsilon-cutoff", .factor = 1e-4},
    {"eta_cutoff", "eta-cutoff", .factor = 1e-4},
    {"dynatemp_exponent", "dynatemp-exp"},
    {"mirostat_mode", "mirostat", OFF_AT(0)},
    {"mirostat_tau", "mirostat-ent"},
    {"mirostat_eta", "mirostat-lr"},
    {"adaptive_target", "adaptive-target", OFF_UP_TO(0)},
    {"min_tokens", "min-tokens", OFF_UP_TO(0)},
    {"seed", "seed", FIELD_SEED},
    {"logit_bias", "logit-bias", FIELD_BIASES},
    {"ban_eos_token", "ignore-eos", FIELD_EOS},
    {"dry_sequence_breakers", "dry-sequence-breaker", FIELD_BREAKERS},
    {"custom_token_bans", "bad-word-tokens", FIELD_BANS},
    {"grammar_string", "grammar", FIELD_GRAMMAR},
    {"penalty_alpha min_length", NULL, OFF_AT(0)},
    {"guidance_scale num_beams", NULL, OFF_AT(1)},
    {"*", .form = FIELD_SAMPLER},
    {NULL},
};

extern const struct program program_text_generation_webui;

// YAML is its preset if a key sets something; a seed alone has many a file.
static bool find_settings(struct file_view *v)
{
    const cJSON *const tree = json_member(v->root, "yaml");
    bool sets = false;
    for (const cJSON *item = cJSON_IsObject(tree) ? tree->child : NULL; item; item = item->next) {
        size_t number;
        const struct field_row *const f =
            program_field(&program_text_generation_webui, v->catalog, item->string, &number);
        sets = sets || (f && !field_is_other(f) && f->form != FIELD_SEED) || !strcmp(item->string, "sampler_priority");
    }
    if (sets)
        v->settings = tree;
    return sets;
}

// Reads a range, which is that of DRY, too; 0 is the whole text.
static bool read_key(struct file_view *v, const cJSON *item)
{
    double x;
    if (!is_key(item, "repetition_penalty_range") || !view_is_number(item, &x))
        return false;
    if (x == 0.0)
        view_note(v, "repetition_penalty_range 0 is the whole text, as in the HF loaders; the llama.cpp loader has no "
                     "penalties then");
    view_set_number(v, "repeat-last-n", x == 0.0 ? -1.0 : x);
    view_set_number(v, "dry-penalty-last-n", x == 0.0 ? -1.0 : x);
    return true;
}

// Appends the samplers of sampler_priority, a list or lines of a text. temperature_last moves the temperature and what
// stands in its place to the end.
static void add_priority(struct file_view *v, const cJSON *priority, bool temp_last)
{
    static const char moved[] = "temperature dynamic_temperature quadratic_sampling";
    char *const list = view_check_text(v, cJSON_PrintUnformatted(priority)), *rest = NULL;
    static const char between[] = " \t,;[]\"'";
    for (char *at = list; at && *at; at++) // line ends of a text are \n there
        if (*at == '\\' && at[1] == 'n')
            memset(at, ' ', 2);
    for (char *name = list ? strtok_r(list, between, &rest) : NULL; name; name = strtok_r(NULL, between, &rest))
        if (!temp_last || name_find(moved, NAME_EXACT, name, strlen(name)) < 0)
            view_chain(v, name);
    if (temp_last)
        view_chain(v, "temperature;smoothing");
    cJSON_free(list);
    view_note_idle(v);
}

static void finish(struct file_view *v)
{
    static const char last[] =
        "penalties;dry;top_n_sigma;top_k;top_p;typ_p;epsilon_cutoff;eta_cutoff;tfs;top_a;min_p;xtc";
    static const char first[] = "penalties;dry;top_n_sigma;temperature;smoothing;top_k;top_p;typ_p;"
                                "epsilon_cutoff;eta_cutoff;tfs;top_a;min_p;xtc";
    const bool temp_last = view_is_true(v, "temperature_last");
    view_dynamic_temp(v, "dynamic_temperature", "dynatemp_low", "dynatemp_high");
    if (cJSON_IsFalse(json_member(v->settings, "do_sample"))) {
        view_chain(v, "encoder_penalty;penalties;dry;no_repeat_ngram;temperature");
        view_set(v, "temp", "0");
    } else {
        const cJSON *const priority = json_member(v->settings, "sampler_priority");
        if (view_is_on(priority))
            add_priority(v, priority, temp_last);
        else
            view_chain(v, temp_last ? last : first);
        view_chain(v, temp_last && !view_is_on(priority)
                          ? "temperature;smoothing;encoder_penalty;no_repeat_ngram;adaptive_p"
                          : "encoder_penalty;no_repeat_ngram;adaptive_p");
    }
}

const struct program program_text_generation_webui = {
    .name = "text-generation-webui",
    .reads = "preset",
    .as_of = "4.9, 2026-05",
    .source = "modules/presets.py, modules/sampler_hijack.py, modules/llama_cpp_server.py",
    .find = find_settings,
    .marks_text = "YAML with a key for sampling",
    .marks = {{"truncation_length", "repetition_penalty_range"},
              {"auto_max_new_tokens"},
              {"instruction_template", "messages"},
              {"instruction_template", "temperature"}},
    .yields = "sampl-chain llama-server-reply LM-Studio SillyTavern KoboldCpp TabbyAPI",
    .fields = fields,
    .any_case = true,
    .absent = "repeat-last-n=1024 dry-penalty-last-n=1024",
    .order_text = "sampler_priority, or penalties;dry;top_n_sigma;temperature;top_k;top_p;typ_p;min_p;xtc",
    .tfs = "tfs_tg",
    .key = read_key,
    .finish = finish,
};
