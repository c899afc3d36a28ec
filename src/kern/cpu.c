// SPDX-License-Identifier: MIT
#include "kern/cpu.h"

#ifdef __x86_64__

#include <cpuid.h>

// __builtin_cpu_supports also asks the operating system (XCR0), but not every compiler's knows F16C, whose registers are AVX's.
static bool has_f16c(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

bool cpu_has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && has_f16c();
}

bool cpu_has_avx512(void)
{
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

#else

bool cpu_has_avx2(void)
{
    return false;
}

bool cpu_has_avx512(void)
{
    return false;
}

#endif

bool cpu_has_neon(void)
{
#ifdef __aarch64__
    return true; // part of the base architecture
#else
    return false;
#endif
}
