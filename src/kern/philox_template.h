// SPDX-License-Identifier: MIT
// Philox4x32-10 of consecutive ids. A part of kern_template.h; needs times_low of numbers_template.h, too.
//
// Plain algorithm: philox_folded for each id, ten rounds of two products each, and compare.
// Why it is too slow: 100 operations a token, for each token of the vocabulary.
// Idea: a product of 32 by 32 bits fills a 64-bit lane, and a product ignores the upper half of its lanes. So each word
// of the state has a 64-bit lane, whose upper half is never cleared. The counter is (id, 0, 0, 0) and the key (key, 0):
// the first two rounds have one product each, as the others are 0 or the same for all ids; and the last two rounds
// compute only what word 0 needs.
// Why the bits are the same: integers are exact.
#ifndef SAMPL_KERN_PHILOX_TEMPLATE_H
#define SAMPL_KERN_PHILOX_TEMPLATE_H

#include "kern/counter_noise.h"

enum { PHILOX_ROUNDS = 10, PHILOX_SIDE = 2 }; // PHILOX_SIDE: vectors side by side

#define U64(x) ((uint64_t)(x) - (vu64){0}) // in every lane

struct philox_keys {
    vu64 word_0[PHILOX_ROUNDS], word_2[PHILOX_ROUNDS]; // what a round adds to words 0 and 2
    vu64 factor_0, factor_2;
};

// Round 1 computes no product for word 2, as it is `key`; its upper half is added to the key of word 2, and its lower
// half, which becomes word 3, to the key of the round behind it.
static inline void philox_prepare(struct philox_keys *k, uint32_t key)
{
    const uint64_t product = (uint64_t)PHILOX_FACTOR_0 * key;
    for (uint32_t r = 0; r < PHILOX_ROUNDS; r++) {
        uint32_t other = r * PHILOX_STEP_1;
        other ^= r == 1 ? (uint32_t)(product >> 32) : r == 2 ? (uint32_t)product : 0;
        k->word_0[r] = U64(key + r * PHILOX_STEP_0);
        k->word_2[r] = U64(other);
    }
    k->factor_0 = U64(PHILOX_FACTOR_0);
    k->factor_2 = U64(PHILOX_FACTOR_2);
}

// Word 0 of each id in the lower halves; the upper halves are undefined.
ALWAYS_INLINE void philox_vectors(vu64 w[PHILOX_SIDE], const vu64 id[PHILOX_SIDE], const struct philox_keys *k)
{
    vu64 c0[PHILOX_SIDE], c1[PHILOX_SIDE], c2[PHILOX_SIDE], c3[PHILOX_SIDE], a[PHILOX_SIDE], b[PHILOX_SIDE];
#define BOTH \
    UNROLL   \
    for (size_t i = 0; i < PHILOX_SIDE; i++)
    BOTH a[i] = times_low(id[i], k->factor_0);      // round 0: words 1 to 3 are 0
    BOTH b[i] = times_low(a[i] >> 32, k->factor_2); // round 1: word 0 is the key, words 1 and 2 of the key are 0
    BOTH c0[i] = b[i] >> 32 ^ k->word_0[1];
    BOTH c1[i] = b[i];
    BOTH c2[i] = a[i] ^ k->word_2[1];
    BOTH a[i] = times_low(c0[i], k->factor_0); // round 2: word 3 is in the key
    BOTH b[i] = times_low(c2[i], k->factor_2);
    BOTH c0[i] = b[i] >> 32 ^ c1[i] ^ k->word_0[2];
    BOTH c1[i] = b[i];
    BOTH c2[i] = a[i] >> 32 ^ k->word_2[2];
    BOTH c3[i] = a[i];
    UNROLL
    for (size_t r = 3; r < PHILOX_ROUNDS - 2; r++) {
        BOTH a[i] = times_low(c0[i], k->factor_0);
        BOTH b[i] = times_low(c2[i], k->factor_2);
        BOTH c0[i] = b[i] >> 32 ^ c1[i] ^ k->word_0[r];
        BOTH c1[i] = b[i];
        BOTH c2[i] = a[i] >> 32 ^ c3[i] ^ k->word_2[r];
        BOTH c3[i] = a[i];
    }
    BOTH a[i] = times_low(c0[i], k->factor_0);
    BOTH b[i] = times_low(c2[i], k->factor_2);
    BOTH c2[i] = a[i] >> 32 ^ c3[i] ^ k->word_2[PHILOX_ROUNDS - 2];
    BOTH w[i] = times_low(c2[i], k->factor_2) >> 32 ^ b[i] ^ k->word_0[PHILOX_ROUNDS - 1];
#undef BOTH
}

// A vector has the even ids, another the odd ones; the words of both fill one vector.
static size_t row_philox_hot(uint32_t *hot, uint32_t first, size_t n, uint32_t key, uint32_t most)
{
    struct philox_keys keys;
    size_t found = 0, i = 0;
    philox_prepare(&keys, key);
    for (; i + LANES <= n; i += LANES) {
        const vu32 id = lane_numbers() + (first + (uint32_t)i);
        vu64 w[PHILOX_SIDE];
        philox_vectors(w, (const vu64[PHILOX_SIDE]){(vu64)id, (vu64)id >> 32}, &keys);
        const vu32 word = (vu32)((w[0] & UINT32_MAX) | w[1] << 32);
        const vi32 is_hot = (word ^ (vu32)((vi32)word >> 31)) <= most;
        if (any(is_hot))
            for (unsigned hit = signs_32(is_hot); hit; hit &= hit - 1)
                hot[found++] = first + (uint32_t)i + (uint32_t)__builtin_ctz(hit);
    }
    if (i < n)
        found += kern_scalar.philox_hot(hot + found, first + (uint32_t)i, n - i, key, most);
    return found;
}

#endif
