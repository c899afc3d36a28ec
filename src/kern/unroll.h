// SPDX-License-Identifier: MIT
// UNROLL before a short loop of a constant length makes the compiler write it out.
#ifndef SAMPL_KERN_UNROLL_H
#define SAMPL_KERN_UNROLL_H

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
