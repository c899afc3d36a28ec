// SPDX-License-Identifier: MIT
// akunu: its pipelines on the CPU and on the GPU. It has no files that are read.
#include "programs/program.h"

// clang-format off
static const struct engine akunu = {
    "akunu", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}, {"repeat-last-n", -1}},
    .options = "temp,top-k,top-p,min-p,repeat-penalty,repeat-last-n,grammar-first," ENGINE_GRAMMAR,
    .free_options = "repeat-penalty,repeat-last-n",
    .masks_first = true, .ignores_unknown = true,
    .stage = {{&sampler_round_f16, ENGINE_FREE}, {&sampler_repeat_each, ENGINE_FREE}, {&sampler_greedy, ENGINE_COLD},
              {&sampler_scale, ENGINE_HOT}, {&sampler_softmax_id, ENGINE_HOT}, {&sampler_top_k_prob, ENGINE_HOT},
              {&sampler_min_p_cut, ENGINE_HOT}, {&sampler_top_p_reach, ENGINE_HOT}, {&sampler_draw_mt, ENGINE_HOT}}};

static const struct engine akunu_gpu = {
    "akunu-gpu", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 1}, {"min-p", 0}},
    .options = "temp,top-k,top-p,min-p,grammar-first", .first_options = ENGINE_GRAMMAR,
    .stage = {{&sampler_round_f16}, {&sampler_greedy, ENGINE_COLD}, {&sampler_softmax_scaled, ENGINE_HOT},
              {&sampler_top_k_prob_all, ENGINE_HOT}, {&sampler_min_p_cut, ENGINE_HOT},
              {&sampler_top_p_reach, ENGINE_HOT}, {&sampler_gumbel, ENGINE_HOT}}};
// clang-format on

const struct program program_akunu = {
    .name = "akunu",
    .as_of = "2026-08",
    .source = "sampl-spec(7)",
    .engines = {&akunu, &akunu_gpu},
};
