// SPDX-License-Identifier: MIT
#include "samplers/plan.h"

#include <assert.h>
#include <string.h>

static struct choice plain(const struct sampler *s)
{
    return (struct choice){.place = sampler_place(s)};
}

// The temperature without its range.
static struct choice plain_temperature(void)
{
    struct choice c = plain(&sampler_temperature);
    c.own = true;
    while (strcmp(sampler_temperature.params[c.param].flag, "dynatemp-range") != 0)
        c.param++;
    return c;
}

size_t plan_chain(const struct choice *choice, size_t n, int mirostat, struct choice *plan)
{
    assert(mirostat >= 0 && mirostat <= 2);
    size_t stages = 0;
    plan[stages++] = plain(&sampler_logit_bias);
    if (mirostat) {
        plan[stages++] = plain_temperature();
        plan[stages++] = plain(mirostat == 1 ? &sampler_mirostat : &sampler_mirostat_v2);
        return stages;
    }
    struct choice selector = plain(&sampler_dist);
    for (size_t i = 0; i < n; i++) {
        if (choice_sampler(&choice[i])->selector)
            selector = choice[i];
        else
            plan[stages++] = choice[i];
    }
    plan[stages++] = selector;
    return stages;
}
