// SPDX-License-Identifier: MIT
// dry ("don't repeat yourself", p-e-w, text-generation-webui PR 5677): a token that would continue a repetition of the newest tokens
// is penalised, exponentially in the length of the repetition.
#include "kern/libm.h"
#include "sample/sampler.h"

struct dry_params {
    float multiplier, base;
    int32_t allowed_length, last_n; // last_n: -1: the whole history
};

static const struct param params[] = {
    {"dry-multiplier", "strength of the DRY penalty on continuing a repeated sequence; 0: off", FLOAT_AT(dry_params, multiplier),
     FINITE},
    {"dry-base", "base of DRY's exponential growth", FLOAT_AT(dry_params, base), RANGE(1, FLT_MAX), .def = 1.75f,
     DEFAULTED(1, INFINITY)},
    {"dry-allowed-length", "length from which on DRY penalises a repetition", INT_AT(dry_params, allowed_length),
     RANGE(0, INT32_MAX), .def = 2, REFUSED(0, INFINITY)},
    {"dry-penalty-last-n", "tokens that DRY looks back on; 0: off, -1: all", INT_AT(dry_params, last_n), RANGE(-1, INT32_MAX),
     .def = 64, REFUSED(0, INFINITY)},
    {NULL},
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

// multiplier * base^(length - allowed), with the exponent held where base^exponent still fits an f32.
static float penalty(const struct dry_params *p, size_t length)
{
    size_t exponent = length - (size_t)p->allowed_length;
    if (p->base > 1.000001f) {
        const size_t most = (size_t)(88.7228391f / libm_logf(p->base)); // ln FLT_MAX
        if (most > 0 && exponent > most)
            exponent = most;
    }
    return (float)((double)p->multiplier * pow((double)p->base, (double)exponent));
}

struct dry_job {
    const struct dry_params *p;
    const size_t *length; // by token that continued a repetition: the longest one's
};

static float subtract(float logit, size_t j, const void *arg)
{
    const struct dry_job *const job = arg;
    return logit - penalty(job->p, job->length[j]);
}

// self: the tokens that continued a repetition.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct dry_params *const p = stage->params;
    const struct breakers *const breakers = stage->context->breakers;
    struct idmap *const next = self;
    const size_t n = history_len(c->history, window_of(p->last_n)), allowed = (size_t)p->allowed_length;
    uint32_t *const recent = cand_scratch(c, n, sizeof *recent); // the newest first
    size_t *const z = cand_scratch(c, n, sizeof *z), *const length = cand_scratch(c, n, sizeof *length);
    if (n <= allowed || c->fault.code)
        return;
    history_copy(c->history, recent, n);
    const size_t limit = breakers_since(breakers, recent, n);
    if (limit < allowed)
        return;
    repetitions(z, recent, n);
    idmap_clear(next);
    for (size_t k = 1; k < n; k++) {
        const size_t len = z[k] < limit ? z[k] : limit;
        if (len < allowed || breakers_single(breakers, recent[k - 1]))
            continue;
        const size_t known = next->n, i = idmap_add(next, recent[k - 1]);
        if (i == IDMAP_NONE) {
            cand_fail(c, FAULT_MEMORY, 0);
            return;
        }
        if (i == known || length[i] < len)
            length[i] = len;
    }
    cand_edit(c, next, subtract, &(struct dry_job){p, length});
}

static void release(void *self)
{
    idmap_free(self);
}

const struct sampler sampler_dry = {.name = "dry",
                                    .letter = 'd',
                                    PARAMS(params, dry_params),
                                    .size = sizeof(struct idmap),
                                    .apply = apply,
                                    .enabled = enabled,
                                    .window = window,
                                    .release = release};
