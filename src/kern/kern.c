// SPDX-License-Identifier: MIT
#include "kern/kern.h"

#include <stdbool.h>
#include <string.h>

static bool always(void) { return true; }

#ifdef __x86_64__

#include <cpuid.h>

// Returns whether the processor has instructions (bits of CPUID's leaves 1 and 7), and the system saves their registers
// (bits of XCR0). Asked by hand: __builtin_cpu_supports needs a library of the compiler's that not every system has,
// and not every compiler's knows F16C.
static bool cpu_has(unsigned leaf1, unsigned leaf7, unsigned saved)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || ~c & (leaf1 | bit_OSXSAVE) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        ~b & leaf7)
        return false;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return !(~low & saved);
}

static bool has_avx2(void) { return cpu_has(bit_POPCNT | bit_F16C, bit_AVX2 | bit_BMI, 0x06); }

static bool has_avx512(void)
{
    return has_avx2() && cpu_has(0, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL, 0xe6);
}

#endif

// One row a tier, worst first: a new instruction set is one file (see kern_template.h) and one row here.
static const struct {
    const struct kern *kern;
    bool (*present)(void); // Returns true if this machine has it
} tiers[] = {
    {&kern_scalar, always},
#ifdef __x86_64__
    {&kern_avx2, has_avx2},  {&kern_avx512, has_avx512},
#endif
#ifdef __wasm__
    {&kern_simd128, always}, // a machine without it cannot load the module
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
