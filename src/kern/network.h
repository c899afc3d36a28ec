// SPDX-License-Identifier: MIT
// Few keys are sorted by a network (Batcher's bitonic one) of as many AVX-512 registers as hold them, whatever they are: branches that are guessed
// wrong would cost more. The keys have 64 or 32 bits, without sign. Key i stands in lane i / n of v[i % n], of n registers, so that most keys
// meet without leaving their lanes.
#ifndef SAMPL_KERN_NETWORK_H
#define SAMPL_KERN_NETWORK_H

#include "kern/vector.h"

#include <immintrin.h>

ALWAYS_INLINE __m512i larger_keys(__m512i a, __m512i b, int bits)
{
    return bits == 64 ? _mm512_max_epu64(a, b) : _mm512_max_epu32(a, b);
}

ALWAYS_INLINE __m512i smaller_keys(__m512i a, __m512i b, int bits)
{
    return bits == 64 ? _mm512_min_epu64(a, b) : _mm512_min_epu32(a, b);
}

// The larger ones of two; in every other run of `distance` lanes the smaller.
ALWAYS_INLINE __m512i met(__m512i a, __m512i b, int distance, int bits)
{
    const __mmask16 lower = distance == 1 ? 0xaaaa : distance == 2 ? 0xcccc : distance == 4 ? 0xf0f0 : 0xff00;
    const __m512i larger = larger_keys(a, b, bits);
    return bits == 64 ? _mm512_mask_min_epu64(larger, (__mmask8)lower, a, b)
                      : _mm512_mask_min_epu32(larger, lower, a, b);
}

// Each lane's other at a distance of up to a quarter of all.
ALWAYS_INLINE __m512i swapped(__m512i v, int distance, int bits)
{
    if (bits == 64)
        return distance == 1 ? _mm512_permutex_epi64(v, 0xb1) : _mm512_permutex_epi64(v, 0x4e);
    return distance == 1   ? _mm512_shuffle_epi32(v, _MM_PERM_CDAB)
           : distance == 2 ? _mm512_shuffle_epi32(v, _MM_PERM_BADC)
                           : _mm512_shuffle_i64x2(v, v, 0xb1);
}

// So many lanes at a time from behind.
ALWAYS_INLINE __m512i reversed(__m512i v, int lanes, int bits)
{
    if (bits == 64)
        return lanes == 2   ? _mm512_permutex_epi64(v, 0xb1)
               : lanes == 4 ? _mm512_permutex_epi64(v, 0x1b)
                            : _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v);
    return lanes == 2   ? _mm512_shuffle_epi32(v, _MM_PERM_CDAB)
           : lanes == 4 ? _mm512_shuffle_epi32(v, _MM_PERM_ABCD)
           : lanes == 8
               ? _mm512_permutexvar_epi32(_mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8), v)
               : _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v);
}

ALWAYS_INLINE void meet(__m512i *a, __m512i *b, int bits)
{
    const __m512i larger = larger_keys(*a, *b, bits);
    *b = smaller_keys(*a, *b, bits);
    *a = larger;
}

// Sorts what rises and then falls, or the other way round, in each lane of `size` registers.
ALWAYS_INLINE void merge_registers(__m512i *v, int n, int size, int bits)
{
    UNROLL
    for (int distance = size / 2; distance; distance /= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            if (!(i & distance))
                meet(&v[i], &v[i + distance], bits);
    }
}

// Two lists that fall, one of them reversed, rise and then fall.
ALWAYS_INLINE void sort_lanes(__m512i *v, int n, int bits)
{
    UNROLL
    for (int size = 2; size <= n; size *= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            if (!(i & (size / 2)))
                meet(&v[i], &v[i ^ (size - 1)], bits);
        merge_registers(v, n, size / 2, bits);
    }
}

ALWAYS_INLINE void merge_lanes(__m512i *v, int n, int lanes, int bits)
{
    __m512i other[8];
    UNROLL
    for (int i = 0; i < n; i++)
        other[i] = reversed(v[n - 1 - i], lanes, bits);
    UNROLL
    for (int i = 0; i < n; i++)
        v[i] = met(v[i], other[i], lanes / 2, bits);
    UNROLL
    for (int distance = lanes / 4; distance; distance /= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            v[i] = met(v[i], swapped(v[i], distance, bits), distance, bits);
    }
    merge_registers(v, n, n, bits);
}

// The lanes of two registers in turn: the first half of each, and the second.
ALWAYS_INLINE void deal_two(__m512i *low, __m512i *high, __m512i a, __m512i b, int bits)
{
    if (bits == 64) {
        *low = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
        *high = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
    } else {
        *low =
            _mm512_permutex2var_epi32(a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b);
        *high = _mm512_permutex2var_epi32(
            a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), b);
    }
}

// From lanes that follow each other to registers that do: in so many turns.
ALWAYS_INLINE void deal(__m512i *v, int n, int bits)
{
    __m512i old[8];
    UNROLL
    for (int i = 0; i < n; i++)
        old[i] = v[i];
    UNROLL
    for (int i = 0; i < n / 2; i++)
        deal_two(&v[2 * i], &v[2 * i + 1], old[i], old[i + n / 2], bits);
}

// The keys in v[0..n) in memory's order, falling, whatever order they were in; n is 2, 4 or 8.
ALWAYS_INLINE void sort_registers(__m512i *v, int n, int bits)
{
    sort_lanes(v, n, bits);
    merge_lanes(v, n, 2, bits);
    merge_lanes(v, n, 4, bits);
    merge_lanes(v, n, 8, bits);
    if (bits == 32)
        merge_lanes(v, n, 16, bits);
    UNROLL
    for (int i = 1; i < n; i *= 2)
        deal(v, n, bits);
}

#endif
