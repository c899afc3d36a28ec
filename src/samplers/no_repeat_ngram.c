// SPDX-License-Identifier: MIT
// no_repeat_ngram (Hugging Face, text-generation-webui, Aphrodite): no N tokens in a row come twice. What followed the newest N-1 tokens
// where they were before, in the prompt or behind it, is masked.
#include "sample/sampler.h"

#include <string.h>

struct ngram_params {
    int32_t n;
};

static const struct param params[] = {
    {"no-repeat-ngram", "mask tokens that would repeat N tokens in a row; 0: none", INT_AT(ngram_params, n), RANGE(0, INT32_MAX),
     .also = "no-repeat-ngram-size", .server = "no_repeat_ngram_size"},
    {NULL},
};

static size_t window(const struct stage *stage)
{
    return HISTORY_ALL;
}

static float ban(float logit, size_t j, const void *arg)
{
    return -INFINITY;
}

// As the window is all of the history, its ring has never come round.
static void apply(void *self, struct cand *c, const struct stage *stage)
{
    struct idmap *const banned = self;
    const struct history *const h = c->history;
    const size_t n = (size_t)((const struct ngram_params *)stage->params)->n, context = n - 1;
    if (c->n < 2 || h->total < n)
        return;
    const uint32_t *const newest = h->token + h->total - context;
    idmap_clear(banned);
    for (size_t i = 0; i + context < h->total; i++) {
        const uint32_t *const at = h->token + i;
        if (context && (at[context - 1] != newest[context - 1] || memcmp(at, newest, context * sizeof *at) != 0))
            continue;
        if (idmap_add(banned, at[context]) == IDMAP_NONE) {
            cand_fail(c, FAULT_MEMORY, 0);
            return;
        }
    }
    cand_edit(c, banned, ban, NULL);
}

static void release(void *self)
{
    idmap_free(self);
}

const struct sampler sampler_no_repeat_ngram = {.name = "no_repeat_ngram",
                                                .letter = 'n',
                                                .foreign = true,
                                                PARAMS(params, ngram_params),
                                                .size = sizeof(struct idmap),
                                                .runs = {ABOVE, 0},
                                                .window = window,
                                                .apply = apply,
                                                .release = release};
