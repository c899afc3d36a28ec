// SPDX-License-Identifier: MIT
// Every sampler's parameters, under llama.cpp's names. Defaults and ranges live in the option table (cli/option_table.c).
#ifndef SAMPL_SAMPLE_PARAMS_H
#define SAMPL_SAMPLE_PARAMS_H

#include "vocab/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bias {
    uint32_t id;
    float bias; // finite, or -inf to ban
};

// Token sequences that DRY does not match across.
struct breaker {
    const uint32_t *ids; // [n], n >= 1
    size_t n;
};

struct params {
    uint32_t seed;
    int32_t min_keep; // for top_p, min_p, typ_p, xtc

    float temp, dynatemp_range, dynatemp_exp;
    int32_t top_k;
    float top_p, min_p, typical, top_nsigma;
    float xtc_probability, xtc_threshold;

    int32_t repeat_last_n; // -1: the whole history
    float repeat_penalty, frequency_penalty, presence_penalty;

    float dry_multiplier, dry_base;
    int32_t dry_allowed_length, dry_penalty_last_n; // -1: the whole history
    const struct breaker *dry_breakers;             // [n_dry_breakers]
    size_t n_dry_breakers;
    const struct piece *dry_texts; // [n_dry_texts] more breakers, as texts, none empty; without vocab they match nothing
    size_t n_dry_texts;

    int32_t mirostat; // 0, 1 or 2
    float mirostat_lr, mirostat_ent;
    float adaptive_target, adaptive_decay;

    int32_t scatter_k, scatter_steps;
    float scatter_strength, scatter_radius;
    bool scatter_adaptive;
    float scatter_strength_min, scatter_strength_max, scatter_entropy_target;
    float scatter_absorption, scatter_collision;
    int32_t scatter_absorption_last_n; // -1: the whole history

    const struct bias *bias; // [n_bias] in the order given
    size_t n_bias;

    const struct vocab *vocab; // what the tokens say, or NULL
};

#endif
