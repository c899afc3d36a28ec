// SPDX-License-Identifier: MIT
// batch: a pipeline that seeds each sequence of a batch. It has no files that are read.
#include "programs/program.h"

// clang-format off
static const struct engine batch = {
    "batch", .defaults = {{"temp", 0}, {"top-k", 0}, {"top-p", 1}, {"repeat-last-n", -1}},
    .options = "repeat-penalty,repeat-last-n,temp,top-k,top-p,grammar-first", .first_options = ENGINE_GRAMMAR,
    .seeds_each = true,
    .stage = {{&sampler_penalties}, {&sampler_temperature}, {&sampler_top_k}, {&sampler_top_p_past}, {&sampler_dist}}};
// clang-format on

const struct program program_batch = {
    .name = "batch",
    .as_of = "2026-08",
    .source = "sampl-spec(7)",
    .engines = {&batch},
};
