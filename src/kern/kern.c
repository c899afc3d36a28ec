// SPDX-License-Identifier: MIT
#include "kern/kern.h"

#include "kern/cpu.h"

#include <stdbool.h>
#include <string.h>

static bool always(void)
{
    return true;
}

// One row a tier, worst first: a new instruction set is one file of kernels and one row here.
static const struct {
    const struct kern *kern;
    bool (*present)(void); // does this machine have it?
} tiers[] = {
    {&kern_scalar, always},
#ifdef __x86_64__
    {&kern_avx2, cpu_has_avx2},
    {&kern_avx512, cpu_has_avx512},
#endif
#ifdef __aarch64__
    {&kern_neon, cpu_has_neon},
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
