// SPDX-License-Identifier: MIT
// random.h: random numbers of the checks. A run with the same random_state gets the same numbers.
#ifndef SAMPL_TEST_RANDOM_H
#define SAMPL_TEST_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state = 1;

// splitmix64 (Steele, Lea and Flood 2014)
static inline uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Returns a number from 0 to n - 1; 0 < n < 2^32.
static inline uint32_t random_below(size_t n) { return (uint32_t)(random_bits() % n); }

// Returns a number in [0, 1).
static inline double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

#endif
