// SPDX-License-Identifier: MIT
#include "sample/bias.h"

#include <stdlib.h>

bool bias_table_build(struct bias_table *t, const struct bias *bias, size_t n)
{
    t->end = calloc(n + 1, sizeof *t->end);
    t->bias = calloc(n + 1, sizeof *t->bias);
    if (!t->end || !t->bias)
        return false;
    for (size_t i = 0; i < n; i++) {
        const size_t j = idmap_add(&t->ids, bias[i].id);
        if (j == IDMAP_NONE)
            return false;
        t->end[j + 1]++;
    }
    for (size_t j = 0; j < t->ids.n; j++)
        t->end[j + 1] += t->end[j];
    for (size_t i = 0; i < n; i++) // end[j] serves as the place to fill and so becomes the end
        t->bias[t->end[idmap_find(&t->ids, bias[i].id)]++] = bias[i].bias;
    return true;
}

void bias_table_free(struct bias_table *t)
{
    idmap_free(&t->ids);
    free(t->end);
    free(t->bias);
}
