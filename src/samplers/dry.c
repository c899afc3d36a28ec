// SPDX-License-Identifier: MIT
// dry ("don't repeat yourself", p-e-w, text-generation-webui PR 5677): a token that would continue a repetition of the newest tokens
// is penalised, exponentially in the length of the repetition.
#include "base/mem.h"
#include "sample/breakers.h"
#include "sample/sampler.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

struct dry_params {
    float multiplier, base;
    int32_t allowed_length, last_n; // last_n: -1: the whole history
};

static const struct param params[] = {
    {"dry-multiplier", "strength of the DRY penalty on continuing a repeated sequence; 0: off", FLOAT_AT(dry_params, multiplier),
     FINITE, .metavar = "X"},
    {"dry-base", "base of DRY's exponential growth", FLOAT_AT(dry_params, base), RANGE(1, FLT_MAX), .def = 1.75f, .metavar = "X",
     DEFAULTED(1, INFINITY)},
    {"dry-allowed-length", "length from which on DRY penalises a repetition", INT_AT(dry_params, allowed_length),
     RANGE(0, INT32_MAX), .def = 2, .metavar = "N", REFUSED(0, INFINITY)},
    {"dry-penalty-last-n", "tokens that DRY looks back on; 0: off, -1: all", INT_AT(dry_params, last_n), RANGE(-1, INT32_MAX),
     .def = 64, .metavar = "N", REFUSED(0, INFINITY)},
    {NULL},
};

struct dry_state {
    uint32_t *recent;  // [n] the history, newest first
    size_t *z;         // [n] see repetitions
    struct idmap next; // tokens that continued a repetition
    size_t *length;    // [next.n] of the longest one
    float *penalty;    // [next.n]
    size_t recent_cap, z_cap, length_cap, penalty_cap;
};

static bool enabled(const struct stage *stage)
{
    const struct dry_params *const p = stage->params;
    return p->multiplier != 0.0f && p->base >= 1.0f && p->last_n != 0;
}

static size_t window(const struct stage *stage)
{
    return window_of(((const struct dry_params *)stage->params)->last_n);
}

// z[k] = how many of the newest tokens occur again, in order, ending k tokens earlier: the Z-algorithm on the reversed history.
static void repetitions(size_t *z, const uint32_t *recent, size_t n)
{
    size_t left = 0, right = 0; // the match [left, right) that reaches furthest
    for (size_t k = 1; k < n; k++) {
        size_t len = 0;
        if (k < right)
            len = z[k - left] < right - k ? z[k - left] : right - k;
        while (k + len < n && recent[len] == recent[k + len])
            len++;
        z[k] = len;
        if (k + len > right) {
            left = k;
            right = k + len;
        }
    }
}

// Notes, for each token that continued a repetition, the length of the longest.
static struct fault continuations(struct dry_state *s, const struct stage *stage, size_t n, size_t limit)
{
    const struct dry_params *const p = stage->params;
    idmap_clear(&s->next);
    for (size_t k = 1; k < n; k++) {
        const size_t len = s->z[k] < limit ? s->z[k] : limit;
        const uint32_t token = s->recent[k - 1];
        if (len < (size_t)p->allowed_length || breakers_single(stage->context->breakers, token))
            continue;
        const size_t known = s->next.n, i = idmap_add(&s->next, token);
        if (i == IDMAP_NONE || !mem_grow(&s->length, &s->length_cap, i + 1, sizeof *s->length))
            return fault_memory();
        if (i == known || s->length[i] < len)
            s->length[i] = len;
    }
    return fault_none();
}

// multiplier * base^(length - allowed), with the exponent held where base^exponent still fits an f32.
static float penalty(const struct dry_params *p, size_t length)
{
    size_t exponent = length - (size_t)p->allowed_length;
    if (p->base > 1.000001f) {
        const size_t most = (size_t)(88.7228391f / logf(p->base)); // ln FLT_MAX
        if (most > 0 && exponent > most)
            exponent = most;
    }
    return (float)((double)p->multiplier * pow((double)p->base, (double)exponent));
}

static float subtract(float logit, size_t j, const void *arg)
{
    return logit - ((const float *)arg)[j];
}

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct dry_params *const p = stage->params;
    struct dry_state *const s = self;
    const size_t n = history_len(h, window_of(p->last_n)), allowed = (size_t)p->allowed_length;
    if (n <= allowed)
        return fault_none();
    if (!mem_grow(&s->recent, &s->recent_cap, n, sizeof *s->recent) || !mem_grow(&s->z, &s->z_cap, n, sizeof *s->z))
        return fault_memory();
    history_copy(h, s->recent, n);
    const size_t limit = breakers_since(stage->context->breakers, s->recent, n);
    if (limit < allowed)
        return fault_none();
    repetitions(s->z, s->recent, n);
    const struct fault fault = continuations(s, stage, n, limit);
    if (fault.code)
        return fault;
    if (!mem_grow(&s->penalty, &s->penalty_cap, s->next.n, sizeof *s->penalty))
        return fault_memory();
    for (size_t i = 0; i < s->next.n; i++)
        s->penalty[i] = penalty(p, s->length[i]);
    return cand_edit(c, s->next.id, s->next.n, subtract, s->penalty);
}

static void release(void *self)
{
    struct dry_state *const s = self;
    idmap_free(&s->next);
    free(s->recent);
    free(s->z);
    free(s->length);
    free(s->penalty);
}

static enum carry carry(const struct stage *stage)
{
    return CARRY_TOKENS;
}

const struct sampler sampler_dry = {.name = "dry",
                                    .letter = 'd',
                                    PARAMS(params, dry_params),
                                    .size = sizeof(struct dry_state),
                                    .enabled = enabled,
                                    .window = window,
                                    .apply = apply,
                                    .carry = carry,
                                    .release = release};
