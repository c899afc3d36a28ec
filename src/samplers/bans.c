// SPDX-License-Identifier: MIT
// bans, before the chain: masks the last token of a sequence whose other tokens were just accepted (Hugging Face's
// bad_words_ids), and the tokens that end a text while fewer than N were accepted behind the prompt (vLLM's min_tokens,
// Hugging Face's min_new_tokens).
#include "sample/sampler.h"

#include <string.h>

struct bans_params {
    int32_t min_tokens;
};

static const struct param params[] = {
    {"min-tokens", "mask the tokens that end a text until N were accepted behind the prompt",
     INT_AT(bans_params, min_tokens), RANGE(0, INT32_MAX), .also = "min-new-tokens"},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    return ((const struct bans_params *)stage->params)->min_tokens > 0 || stage->context->bans->n > 0;
}

// The number of accepted tokens counts as looking back, too: rows cannot be sampled apart then.
static size_t window(const struct stage *stage)
{
    const size_t before = stage->context->bans->longest;
    return ((const struct bans_params *)stage->params)->min_tokens > 0 && before < 2 ? 1 : before ? before - 1 : 0;
}

static float mask(float logit, size_t j, const void *arg)
{
    return -INFINITY;
}

// Are the tokens of the sequence, but for its last, the newest tokens? recent: the n newest, the newest first.
static bool begun(const struct tokens *s, const uint32_t *recent, size_t n)
{
    bool same = s->n - 1 <= n;
    for (size_t i = 0; same && i + 1 < s->n; i++)
        same = s->id[i] == recent[s->n - 2 - i];
    return same;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct history *const h = c->history;
    const struct bans *const bans = stage->context->bans;
    struct idmap *const masked = self;
    const size_t n = history_len(h, bans->longest ? bans->longest - 1 : 0);
    uint32_t *const recent = cand_scratch(c, n + 1, sizeof *recent);
    const bool early = h->total - h->n_prompt < (size_t)((const struct bans_params *)stage->params)->min_tokens;
    bool ok = recent;
    if (!recent)
        return;
    history_copy(h, recent, n);
    idmap_clear(masked);
    for (size_t i = 0; ok && i < bans->n; i++)
        ok = !begun(&bans->sequence[i], recent, n) ||
             idmap_add(masked, bans->sequence[i].id[bans->sequence[i].n - 1]) != IDMAP_NONE;
    for (size_t i = 0; ok && early && i < bans->n_ends; i++)
        ok = idmap_add(masked, bans->end[i]) != IDMAP_NONE;
    if (ok)
        cand_edit(c, masked, mask, NULL);
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

static void release(void *self)
{
    idmap_free(self);
}

const struct sampler sampler_bans = {.name = "bans",
                                     .internal = true,
                                     PARAMS(params, bans_params),
                                     .size = sizeof(struct idmap),
                                     .enabled = enabled,
                                     .window = window,
                                     .apply = apply,
                                     .release = release};
