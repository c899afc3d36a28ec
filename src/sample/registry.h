// SPDX-License-Identifier: MIT
// The table of samplers: the names that --samplers takes and the letters of --sampler-seq.
#ifndef SAMPL_SAMPLE_REGISTRY_H
#define SAMPL_SAMPLE_REGISTRY_H

#include "sample/sampler.h"

struct registry_row {
    const char *name;    // canonical
    const char *aliases; // more names, comma-separated; may be empty
    char letter;         // 0: none
    bool internal;       // comes by other options, cannot be named in a chain
    const char *options; // the long options it listens to, comma-separated; NAME=VALUE in a chain sets the first
    const struct sampler *sampler;
};

// Rows end with a NULL name.
extern const struct registry_row registry[];

// The default chain.
#define REGISTRY_DEFAULT_CHAIN "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;scatter;temperature"

// By name (any case; '_' and '-' do not count), len characters long, or by letter; NULL when there is none or it is internal.
const struct registry_row *registry_by_name(const char *name, size_t len);
const struct registry_row *registry_by_letter(char letter);

// The row of a sampler that is in the table.
const struct registry_row *registry_by_sampler(const struct sampler *sampler);

extern const struct sampler sampler_logit_bias, sampler_penalties, sampler_dry, sampler_top_n_sigma, sampler_top_k, sampler_typ_p,
    sampler_top_p, sampler_min_p, sampler_xtc, sampler_scatter, sampler_temperature, sampler_adaptive_p, sampler_mirostat,
    sampler_mirostat_v2, sampler_dist, sampler_greedy, sampler_infill;
extern const struct sampler sampler_round_f16, sampler_repeat_each, sampler_sort, sampler_scale, sampler_softmax_rank,
    sampler_softmax_id, sampler_top_k_prob, sampler_top_p_above, sampler_top_p_reach, sampler_min_p_cut, sampler_draw_pcg,
    sampler_draw_mt, sampler_gumbel;

#endif
