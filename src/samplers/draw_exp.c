// SPDX-License-Identifier: MIT
// draw_exp (selector of the engines transformers and vllm): torch.multinomial of one sample. Each token of the
// vocabulary gets exponential noise q from two words of mt19937, and the largest p / q wins, which is a draw from p.
// Masked tokens take their words, too. Formulas: sampl-spec(7).
#include "kern/libm.h"
#include "sample/sampler.h"
#include "sample/softmax_wide.h"

// -log1p(-u), rounded to f32, of u = bits / 2^53; 1 - u is exact. Of u = 0 the smallest float.
static float noise_of(uint64_t bits)
{
    const double rest = 1.0 - (double)bits * 0x1p-53;
    return bits ? (float)-libm_log(rest) : 0x1p-149f;
}

static uint64_t bits_of(const uint32_t word[2])
{
    return ((uint64_t)word[0] << 32 | word[1]) & ((UINT64_C(1) << 53) - 1);
}

static struct noised noised(const struct noise *x, size_t i)
{
    const float q = noise_of(x->bits[i]);
    return (struct noised){(double)q, (double)(x->number[i] / q)};
}

// Returns how many candidates from index i on have ids without a gap, at most RUN.
enum { RUN = 256 };
static size_t run_length(const struct cand *c, size_t i)
{
    const size_t most = c->n - i < RUN ? c->n - i : RUN;
    return c->id[i + most - 1] - c->id[i] == most - 1 ? most : 1;
}

// Plain algorithm: compute q of every candidate, take the first largest p / q. Too slow: a logarithm each. Idea:
// -log1p(-u) is at least u, so that a candidate with p <= best * u loses, or ties with an earlier one. Only the others,
// a few of a row, need the logarithm. The slack is more than the roundings of both quotients. Words of candidates
// without a gap between their ids are drawn together.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    struct rng *const r = self;
    float best = -1.0f, best_noise = 1.0f, second = 0.0f; // second: the largest other quotient that was computed
    uint64_t next = 0;                                    // the token whose words are next
    if (!c->n_vocab)
        cand_fail(c, FAULT_NO_SIZE, 0);
    cand_softmax_wide(c);
    struct noise *const keeps = cand_keep_noise(c, noised, c->p);
    for (size_t i = 0, len; i < c->n && !c->fault.code; i += len) {
        uint32_t word[2 * RUN];
        len = run_length(c, i);
        rng_discard(r, 2 * (c->id[i] - next));
        next = (uint64_t)c->id[i] + len;
        rng_words(r, word, 2 * len);
        for (size_t k = 0; k < len; k++) {
            const float p = c->p[i + k];
            const uint64_t bits = bits_of(word + 2 * k);
            if (keeps)
                keeps->bits[i + k] = bits;
            if (!row_is_list(&c->unlisted) && (double)p * (1.0 + 0x1p-20) < (double)best * ((double)bits * 0x1p-53))
                continue;
            const float q = noise_of(bits);
            second = fmaxf(second, fminf(p / q, best));
            if (p / q > best) {
                best = p / q;
                best_noise = q;
                c->chosen = c->id[i + k];
                c->chosen_p = p;
            }
        }
    }
    rng_discard(r, 2 * (c->n_vocab - next));
    unlisted_choose(c, 1.0 - (double)second / (double)best);
    cand_note(c, "noise", best_noise);
}

static void skip(void *self, uint64_t rows, uint64_t width) { rng_discard(self, 2 * rows * width); }

const struct sampler sampler_draw_exp = {.name = "draw_exp",
                                         .selector = true,
                                         .selects = SELECTS_QUOTIENT,
                                         RNG_STATE,
                                         .skips_by_width = true,
                                         .apply = apply,
                                         .partial = {apply_partial},
                                         .skip = skip};
