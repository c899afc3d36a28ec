// SPDX-License-Identifier: MIT
// What this machine's processor, and its operating system, let a program use.
#ifndef SAMPL_KERN_CPU_H
#define SAMPL_KERN_CPU_H

#include <stdbool.h>

bool cpu_has_avx2(void);   // and F16C, POPCNT
bool cpu_has_avx512(void); // F, BW, DQ, VL, and all of the above
bool cpu_has_neon(void);

#endif
