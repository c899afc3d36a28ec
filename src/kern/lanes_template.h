// SPDX-License-Identifier: MIT
// Operations of the tiers that compare without mask registers, and of the two tiers of four floats: names that
// kern_template.h and numbers_template.h need. A tier's file includes this behind its signs_32 and signs_64.
#ifndef SAMPL_KERN_LANES_TEMPLATE_H
#define SAMPL_KERN_LANES_TEMPLATE_H

#include "kern/expf.h"
#include "kern/vector.h"

#include <math.h>
#include <string.h>

OPERATION(unsigned, equal_64(vf64 a, double b), signs_64(a == b))
OPERATION(unsigned, equal_bits(vi64 a, vi64 b), signs_64(a == b))
OPERATION(unsigned, at_least_32(vf32 a, float b), signs_32(a >= b))
OPERATION(vf32, masked_below(vf32 x, float floor), select_f32(x < floor, splat(-INFINITY), x))
OPERATION(vf32, zero_below(vf32 y, vf32 x, float floor), (vf32)((vi32)y &(x >= floor)))

#if VECTOR == 16

OPERATION(uint64_t, lowest_bit(uint64_t bits), bits ? (uint64_t)__builtin_ctzll(bits) : 64)
OPERATION(vf64, entry_of(const double *table, vi64 i), ((vf64){table[i[0]], table[i[1]]}))
OPERATION(vf64, entry_16(const double *table, vi64 i), entry_of(table, i))
OPERATION(vi64, expf_entry(vi64 k), ((vi64)(vu64){expf_table[k[0] & 31], expf_table[k[1] & 31]}))

static inline vf32 load_first(const void *at, size_t n, vf32 rest)
{
    memcpy(&rest, at, n * sizeof(float));
    return rest;
}

static inline void store_first(void *at, size_t n, vf32 v) { memcpy(at, &v, n * sizeof(float)); }

static inline vu32 four_bytes(const char *base, vi32 at)
{
    vu32 v;
    UNROLL
    for (size_t i = 0; i < LANES; i++)
        memcpy((char *)&v + i * sizeof(uint32_t), base + at[i], sizeof(uint32_t));
    return v;
}

#endif

#endif
