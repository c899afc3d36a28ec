// SPDX-License-Identifier: MIT
// GNU C's vector types for one tier, whose file has defined VECTOR, the size of its registers in bytes, before it
// includes this. Operators work lane by lane; a comparison gives a vector of integers, all ones where it is true, else
// 0. Names that begin with v fill a register, those with h half of one: an hf32 has as many lanes as a vf64.
#ifndef SAMPL_KERN_VECTOR_H
#define SAMPL_KERN_VECTOR_H

#include "kern/kern.h"

enum { LANES = VECTOR / 4, LANES_F64 = VECTOR / 8, LANES_16 = VECTOR / 2 };

// A type, and loads and stores of it at any address.
#define DEFINE_VECTOR(TYPE, ELEMENT, BYTES)                                                     \
    typedef ELEMENT TYPE __attribute__((vector_size(BYTES)));                                   \
    typedef ELEMENT TYPE##_anywhere __attribute__((vector_size(BYTES), aligned(1), may_alias)); \
    static inline TYPE load_##TYPE(const void *at) { return *(const TYPE##_anywhere *)at; }     \
    static inline void store_##TYPE(void *at, TYPE v) { *(TYPE##_anywhere *)at = v; }

DEFINE_VECTOR(vf32, float, VECTOR)
DEFINE_VECTOR(vf64, double, VECTOR)
DEFINE_VECTOR(vi32, int32_t, VECTOR)
DEFINE_VECTOR(vu32, uint32_t, VECTOR)
DEFINE_VECTOR(vi64, int64_t, VECTOR)
DEFINE_VECTOR(vu64, uint64_t, VECTOR)
DEFINE_VECTOR(vi16, int16_t, VECTOR)
DEFINE_VECTOR(vu16, uint16_t, VECTOR)
DEFINE_VECTOR(vi8, int8_t, VECTOR)
DEFINE_VECTOR(vu8, uint8_t, VECTOR)
DEFINE_VECTOR(hf32, float, VECTOR / 2)
DEFINE_VECTOR(hi32, int32_t, VECTOR / 2)
DEFINE_VECTOR(hu32, uint32_t, VECTOR / 2)
DEFINE_VECTOR(hu16, uint16_t, VECTOR / 2)

// An operation of a tier: its type, its name and parameters, its value.
#define OPERATION(TYPE, SIGNATURE, VALUE) \
    static inline TYPE SIGNATURE { return VALUE; }

// UNROLL before a short loop of a constant length makes the compiler write it out.
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

// KEEP keeps a loaded vector in its register. Without it, gcc 12 loads the vector again for each use, and loads bound
// the loop: scatter with 64 vectors of 4096 numbers takes 600 us a row instead of 410.
#if defined __x86_64__ && !defined __clang__
#define KEEP(V) __asm__("" : "+v"(V))
#else
#define KEEP(V) ((void)0)
#endif

// s in every lane. (Subtracting 0 keeps -0; adding it would not.)
OPERATION(vf32, splat(float s), s - (vf32){0})

static inline vu32 lane_numbers(void)
{
    static const uint32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return load_vu32(numbers);
}

// For a value that is used twice: gcc would load it for each use.
static inline vf32 load_once(const void *at) { return *(const volatile vf32_anywhere *)at; }

// yes where mask is all ones, no where it is 0. (Where no is 0, yes & mask says it.)
OPERATION(vf32, select_f32(vi32 mask, vf32 yes, vf32 no), (vf32)((vi32)no ^ (((vi32)yes ^ (vi32)no) & mask)))

OPERATION(vf32, abs_f32(vf32 x), (vf32)(INT32_MAX &(vi32)x))
OPERATION(vf64, abs_f64(vf64 x), (vf64)(INT64_MAX &(vi64)x))

// Rounded to nearest.
OPERATION(hf32, narrow_f64(vf64 x), __builtin_convertvector(x, hf32))

#endif
