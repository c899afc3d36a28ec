// SPDX-License-Identifier: MIT
// Sorts up to 64 keys of 64 bits in AVX-512 registers by Batcher's bitonic network. A network compares the same places
// whatever the keys are: it has no branches, and half of the branches of another sort would be guessed wrong. Key i of
// 8 n stands in lane i / n of v[i % n], so that most comparisons are between registers and move no lanes.
#ifndef SAMPL_KERN_NETWORK_H
#define SAMPL_KERN_NETWORK_H

#include "kern/vector.h"

#include <immintrin.h>

// The smaller of a and b in every other run of `distance` lanes, from the second run on; the larger in the other runs.
ALWAYS_INLINE __m512i compare_lanes(__m512i a, __m512i b, int distance)
{
    const __mmask8 smaller = distance == 1 ? 0xaa : distance == 2 ? 0xcc : 0xf0;
    return _mm512_mask_min_epu64(_mm512_max_epu64(a, b), smaller, a, b);
}

// Reverses each run of 2, 4 or 8 lanes.
ALWAYS_INLINE __m512i reverse_lanes(__m512i v, int lanes)
{
    return lanes == 2   ? _mm512_permutex_epi64(v, 0xb1)
           : lanes == 4 ? _mm512_permutex_epi64(v, 0x1b)
                        : _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v);
}

// Leaves the larger of each lane's keys in *a, the smaller in *b.
ALWAYS_INLINE void compare_registers(__m512i *a, __m512i *b)
{
    const __m512i larger = _mm512_max_epu64(*a, *b);
    *b = _mm512_min_epu64(*a, *b);
    *a = larger;
}

// Sorts the keys of each lane in each run of `size` registers, where they are bitonic: rise and then fall, or fall and
// then rise.
ALWAYS_INLINE void merge_registers(__m512i *v, int n, int size)
{
    UNROLL
    for (int distance = size / 2; distance; distance /= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            if (!(i & distance))
                compare_registers(&v[i], &v[i + distance]);
    }
}

// Sorts the keys of each lane. Of two falling runs, the second is compared in reverse, which makes both bitonic.
ALWAYS_INLINE void sort_lanes(__m512i *v, int n)
{
    UNROLL
    for (int size = 2; size <= n; size *= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            if (!(i & (size / 2)))
                compare_registers(&v[i], &v[i ^ (size - 1)]);
        merge_registers(v, n, size / 2);
    }
}

// Makes each run of `lanes` lanes one falling list, where each half of it is one.
ALWAYS_INLINE void merge_lanes(__m512i *v, int n, int lanes)
{
    __m512i other[8];
    UNROLL
    for (int i = 0; i < n; i++)
        other[i] = reverse_lanes(v[n - 1 - i], lanes);
    UNROLL
    for (int i = 0; i < n; i++)
        v[i] = compare_lanes(v[i], other[i], lanes / 2);
    UNROLL
    for (int distance = lanes / 4; distance; distance /= 2) {
        UNROLL
        for (int i = 0; i < n; i++)
            v[i] = compare_lanes(
                v[i], distance == 1 ? _mm512_permutex_epi64(v[i], 0xb1) : _mm512_permutex_epi64(v[i], 0x4e), distance);
    }
    merge_registers(v, n, n);
}

// Interleaves the first n / 2 registers with the others, lane by lane. Doing so for each factor 2 of n brings keys into
// memory's order.
ALWAYS_INLINE void interleave(__m512i *v, int n)
{
    __m512i old[8];
    UNROLL
    for (int i = 0; i < n; i++)
        old[i] = v[i];
    UNROLL
    for (int i = 0; i < n; i++) {
        const __m512i lanes =
            i % 2 ? _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15) : _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        v[i] = _mm512_permutex2var_epi64(old[i / 2], lanes, old[i / 2 + n / 2]);
    }
}

// Sorts the keys in v[0..n), falling, for memory's order; n is 2, 4 or 8.
ALWAYS_INLINE void sort_registers(__m512i *v, int n)
{
    sort_lanes(v, n);
    merge_lanes(v, n, 2);
    merge_lanes(v, n, 4);
    merge_lanes(v, n, 8);
    UNROLL
    for (int i = 1; i < n; i *= 2)
        interleave(v, n);
}

#endif
