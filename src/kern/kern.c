// SPDX-License-Identifier: MIT
#include "kern/kern.h"

#include <stdbool.h>
#include <string.h>

static bool always(void)
{
    return true;
}

#ifdef __x86_64__

#include <cpuid.h>

// __builtin_cpu_supports also asks the operating system (XCR0), but not every compiler's knows F16C, whose registers are AVX's.
static bool has_avx2(void)
{
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

#endif

// One row a tier, worst first: a new instruction set is one file (see kern_template.h) and one row here.
static const struct {
    const struct kern *kern;
    bool (*present)(void); // does this machine have it?
} tiers[] = {
    {&kern_scalar, always},
#ifdef __x86_64__
    {&kern_avx2, has_avx2},
    {&kern_avx512, has_avx512},
#endif
#ifdef __aarch64__
    {&kern_neon, always}, // part of the base architecture
#endif
};

const struct kern *kern_tier(size_t i)
{
    for (size_t t = 0; t < sizeof tiers / sizeof *tiers; t++)
        if (tiers[t].present() && i-- == 0)
            return tiers[t].kern;
    return NULL;
}

const struct kern *kern_select(const char *name)
{
    const struct kern *best = NULL;
    for (size_t i = 0; kern_tier(i); i++)
        if (!name || !strcmp(name, kern_tier(i)->name))
            best = kern_tier(i);
    return best;
}
