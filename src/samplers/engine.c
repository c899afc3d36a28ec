// SPDX-License-Identifier: MIT
#include "samplers/engine.h"

#include "base/names.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define GRAMMAR "grammar,grammar-file,json-schema,json-schema-file"

// Clamps the parameter with this flag to [low, high].
static void clamp_param(const struct catalog *c, double *value, const char *flag, double low, double high)
{
    double *const v = &value[catalog_find(c, flag)];
    *v = fmin(fmax(*v, low), high);
}

static void adjust_ollama(const struct catalog *c, double *value)
{
    double *const temp = &value[c->temp];
    *temp = *temp > 0.0 ? fmax(*temp, (double)1e-7f) : 0.0;
    clamp_param(c, value, "top-p", 0.0, 1.0);
    clamp_param(c, value, "min-p", 0.0, 1.0);
}

// A temperature below 1e-5 is greedy; one up to 0.01 is 0.01.
static void adjust_vllm(const struct catalog *c, double *value)
{
    double *const temp = &value[c->temp];
    *temp = *temp < 1e-5 ? 0.0 : fmax(*temp, 0.01);
}

// A temperature below 1e-6 is greedy, and so is top-k 1.
static void adjust_sglang(const struct catalog *c, double *value)
{
    double *const temp = &value[c->temp];
    if (*temp < 1e-6 || value[catalog_find(c, "top-k")] == 1.0)
        *temp = 0.0;
}

#define VLLM_RANGES                                                                                        \
    {                                                                                                      \
        {"temp", 0, 2, false, "0 to 2"}, {"top-p", 0, 1, true, "above 0, up to 1"},                        \
            {"top-k", -1, INFINITY, false, "-1 and above"}, {"min-p", 0, 1, false, "0 to 1"},              \
            {"presence-penalty", -2, 2, false, "-2 to 2"}, {"frequency-penalty", -2, 2, false, "-2 to 2"}, \
    }
#define VLLM_OPTIONS                                                                                                  \
    "temp,top-k,top-p,min-p,repeat-penalty,presence-penalty,frequency-penalty,logit-bias,bad-word-tokens,min-tokens," \
    "eog-tokens,grammar-first"

// clang-format off
const struct engine engines[] = {
    {"llama"},
    {"ollama", .defaults = {{"top-p", 0.9f}, {"min-p", 0}}, .options = "temp,top-k,top-p,min-p,grammar-first," GRAMMAR,
     .adjust = adjust_ollama, .wide_seed = true,
     .stage = {{&sampler_greedy, ENGINE_COLD}, {&sampler_top_k, ENGINE_HOT}, {&sampler_sort, ENGINE_HOT},
               {&sampler_temperature, ENGINE_HOT}, {&sampler_softmax_rank, ENGINE_HOT},
               {&sampler_top_p_above, ENGINE_HOT}, {&sampler_min_p_cut, ENGINE_HOT}, {&sampler_draw_pcg, ENGINE_HOT}}},
    {"akunu", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}, {"repeat-last-n", -1}},
     .options = "temp,top-k,top-p,min-p,repeat-penalty,repeat-last-n,grammar-first," GRAMMAR,
     .free_options = "repeat-penalty,repeat-last-n",
     .masks_first = true, .passes_strangers = true,
     .stage = {{&sampler_round_f16, ENGINE_FREE}, {&sampler_repeat_each, ENGINE_FREE}, {&sampler_greedy, ENGINE_COLD},
               {&sampler_scale, ENGINE_HOT}, {&sampler_softmax_id, ENGINE_HOT}, {&sampler_top_k_prob, ENGINE_HOT},
               {&sampler_min_p_cut, ENGINE_HOT}, {&sampler_top_p_reach, ENGINE_HOT}, {&sampler_draw_mt, ENGINE_HOT}}},
    {"akunu-gpu", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}},
     .options = "temp,top-k,top-p,min-p,grammar-first", .first_options = GRAMMAR,
     .stage = {{&sampler_round_f16}, {&sampler_greedy, ENGINE_COLD}, {&sampler_softmax_scaled, ENGINE_HOT},
               {&sampler_top_k_prob_all, ENGINE_HOT}, {&sampler_min_p_cut, ENGINE_HOT},
               {&sampler_top_p_reach, ENGINE_HOT}, {&sampler_gumbel, ENGINE_HOT}}},
    {"batch", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 1}, {"repeat-last-n", -1}},
     .options = "repeat-penalty,repeat-last-n,temp,top-k,top-p,grammar-first", .first_options = GRAMMAR,
     .seeds_each = true,
     .stage = {{&sampler_penalties}, {&sampler_temperature}, {&sampler_top_k}, {&sampler_top_p_past}, {&sampler_dist}}},
    {"transformers",
     .defaults = {{"temp", 1}, {"top-k", 50}, {"top-p", 1}, {"min-p", 0}, {"repeat-last-n", -1}},
     .ranges = {{"temp", 0, INFINITY, false, "0 and above"}, {"top-k", 0, INFINITY, false, "0 and above"},
                {"top-p", 0, 1, false, "0 to 1"}, {"min-p", 0, 1, false, "0 to 1"},
                {"typical", 0, 1, true, "above 0, up to 1"}},
     .options = "temp,top-k,top-p,min-p,typical,top-h,epsilon-cutoff,eta-cutoff,repeat-penalty,encoder-repeat-penalty,"
                "no-repeat-ngram,logit-bias,bad-word-tokens,min-tokens,eog-tokens,grammar-first",
     .first_options = GRAMMAR, .wide_seed = true,
     .stage = {{&sampler_logit_bias}, {&sampler_encoder_penalty_wide}, {&sampler_penalties},
               {&sampler_no_repeat_ngram_any}, {&sampler_bans_bad_words}, {&sampler_greedy, ENGINE_COLD},
               {&sampler_temperature, ENGINE_HOT}, {&sampler_top_h_ties, ENGINE_HOT}, {&sampler_top_k_ties, ENGINE_HOT},
               {&sampler_top_p_rising, ENGINE_HOT}, {&sampler_min_p_prob, ENGINE_HOT},
               {&sampler_typ_p_ties, ENGINE_HOT}, {&sampler_epsilon_ties, ENGINE_HOT}, {&sampler_eta_ties, ENGINE_HOT},
               {&sampler_draw_exp, ENGINE_HOT}}},
    {"vllm", .defaults = {{"temp", 1}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}}, .ranges = VLLM_RANGES,
     .options = VLLM_OPTIONS, .first_options = GRAMMAR, .adjust = adjust_vllm, .wide_seed = true,
     .stage = {{&sampler_bans_output}, {&sampler_logit_bias}, {&sampler_penalties_vllm}, {&sampler_greedy, ENGINE_COLD},
               {&sampler_temperature, ENGINE_HOT}, {&sampler_min_p_prob, ENGINE_HOT}, {&sampler_top_k_ties, ENGINE_HOT},
               {&sampler_top_p_rising_f32, ENGINE_HOT}, {&sampler_draw_exp, ENGINE_HOT}}},
    {"vllm-v2", .defaults = {{"temp", 1}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}}, .ranges = VLLM_RANGES,
     .options = VLLM_OPTIONS, .first_options = GRAMMAR, .adjust = adjust_vllm, .wide_seed = true,
     .stage = {{&sampler_logit_bias}, {&sampler_penalties_vllm}, {&sampler_bans_output}, {&sampler_greedy, ENGINE_COLD},
               {&sampler_temperature, ENGINE_HOT}, {&sampler_min_p, ENGINE_HOT}, {&sampler_top_k_ties, ENGINE_HOT},
               {&sampler_top_p_rising_f32, ENGINE_HOT}, {&sampler_gumbel_philox, ENGINE_HOT}}},
    {"sglang", .defaults = {{"temp", 1}, {"top-k", -1}, {"top-p", 1}, {"min-p", 0}},
     .ranges = {{"temp", 0, INFINITY, false, "0 and above"}, {"top-k", -1, INFINITY, true, "-1, or 1 and above"},
                {"top-p", 0, 1, true, "above 0, up to 1"}, {"min-p", 0, 1, false, "0 to 1"},
                {"presence-penalty", -2, 2, false, "-2 to 2"}, {"frequency-penalty", -2, 2, false, "-2 to 2"},
                {"repeat-penalty", 0, 2, true, "above 0, up to 2"}},
     .options = "temp,top-k,top-p,min-p,repeat-penalty,presence-penalty,frequency-penalty,logit-bias,min-tokens,"
                "eog-tokens,grammar-first",
     .first_options = GRAMMAR, .adjust = adjust_sglang, .greedy_at_1 = "top-k", .wide_seed = true,
     .stage = {{&sampler_penalties_output}, {&sampler_bans_output}, {&sampler_logit_bias},
               {&sampler_greedy, ENGINE_COLD}, {&sampler_temperature, ENGINE_HOT}, {&sampler_softmax_cut, ENGINE_HOT},
               {&sampler_gumbel_murmur, ENGINE_HOT}}},
    {"mlx", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 0}, {"min-p", 0}, {"repeat-last-n", 20}},
     .ranges = {{"top-k", 0, INFINITY, false, "0 and above"}, {"min-p", 0, 1, false, "0 to 1"}},
     .options = "temp,top-k,top-p,min-p,repeat-penalty,presence-penalty,frequency-penalty,repeat-last-n,logit-bias,"
                "grammar-first",
     .first_options = GRAMMAR,
     .stage = {{&sampler_logit_bias}, {&sampler_penalties_window}, {&sampler_log_softmax},
               {&sampler_greedy, ENGINE_COLD}, {&sampler_top_p_log, ENGINE_HOT}, {&sampler_min_p_log, ENGINE_HOT},
               {&sampler_top_k_id, ENGINE_HOT}, {&sampler_scale_wide, ENGINE_HOT}, {&sampler_dist, ENGINE_HOT}}},
    {NULL},
};
// clang-format on

const struct engine *engine_by_name(const char *name)
{
    for (const struct engine *engine = engines; engine->name; engine++)
        if (!strcmp(engine->name, name))
            return engine;
    return NULL;
}

bool engine_has(const struct engine *engine, bool grammar_first, const char *name, size_t len)
{
    return !engine->options || name_find(engine->options, NAME_EXACT, name, len) >= 0 ||
           (grammar_first && engine->first_options && name_find(engine->first_options, NAME_EXACT, name, len) >= 0);
}

bool engine_has_free(const struct engine *engine, const char *name, size_t len)
{
    return engine->free_options && name_find(engine->free_options, NAME_EXACT, name, len) >= 0;
}

const char *engine_refusal(const struct engine *engine, bool grammar, bool grammar_first, const char *name)
{
    static const char always[] = "seed,neutral,engine,backend-sampling,perf,no-perf,escape,no-escape,"
                                 "gpt-oss-20b-default,gpt-oss-120b-default";
    const size_t len = strlen(name);
    if (grammar && engine_has_free(engine, name, len))
        return "has no stage for it under a grammar";
    if (name_find(always, NAME_EXACT, name, len) >= 0 || engine_has(engine, grammar_first, name, len))
        return NULL;
    if (engine_has(engine, true, name, len))
        return "has no stage for it without --grammar-first";
    return name_find("samplers,sampler-seq", NAME_EXACT, name, len) >= 0 ? "has an order of its own"
                                                                         : "has no stage for it";
}

double engine_default(const struct engine *engine, const struct catalog *c, size_t number)
{
    const struct param *const row = c->param[number];
    for (const struct engine_default *def = engine->defaults; def->flag; def++)
        if (!strcmp(def->flag, row->flag))
            return param_value(row, def->value);
    return param_value(row, row->def);
}

bool engine_has_range(const struct engine *engine, const char *flag)
{
    const struct engine_range *range = engine->ranges;
    while (range->flag && strcmp(range->flag, flag) != 0)
        range++;
    return range->flag != NULL;
}

const struct engine_range *engine_refused(const struct engine *engine, const struct catalog *c, const double *value)
{
    for (const struct engine_range *range = engine->ranges; range->flag; range++) {
        const double x = value[catalog_find(c, range->flag)];
        if (!(x >= range->low && x <= range->high) || (range->but_0 && x == 0.0))
            return range;
    }
    return NULL;
}

// Returns a sampler without a value of its own.
static struct choice sampler_choice(const struct sampler *s) { return (struct choice){.place = sampler_place(s)}; }

size_t plan_engine(const struct engine *engine, double temp, bool grammar, struct choice *plan)
{
    assert(engine->options);
    const unsigned never = (temp > 0.0 ? ENGINE_COLD : ENGINE_HOT) | (grammar ? ENGINE_FREE : 0u);
    size_t n = 0;
    for (const struct engine_stage *stage = engine->stage; stage->sampler; stage++)
        if (!(stage->when & never))
            plan[n++] = sampler_choice(stage->sampler);
    return n;
}

size_t plan_chain(const struct choice *choice, size_t n, int mirostat, struct choice *plan)
{
    assert(mirostat >= 0 && mirostat <= 2);
    size_t stages = 0;
    plan[stages++] = sampler_choice(&sampler_logit_bias);
    plan[stages++] = sampler_choice(&sampler_bans);
    if (mirostat) {
        assert(!strcmp(sampler_temperature.params[1].flag, "dynatemp-range")); // which is left out
        plan[stages++] = (struct choice){sampler_place(&sampler_temperature), true, 1, 0.0};
        plan[stages++] = sampler_choice(mirostat == 1 ? &sampler_mirostat : &sampler_mirostat_v2);
        return stages;
    }
    struct choice selector = sampler_choice(&sampler_dist);
    for (size_t i = 0; i < n; i++) {
        if (choice_sampler(&choice[i])->selector)
            selector = choice[i];
        else
            plan[stages++] = choice[i];
    }
    plan[stages++] = selector;
    return stages;
}
