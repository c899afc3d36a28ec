// SPDX-License-Identifier: MIT
// bans, before the chain: masks the last token of a sequence whose other tokens were just accepted (Hugging Face's
// bad_words_ids), and the tokens that end a text while fewer than N were accepted behind the prompt (vLLM's min_tokens,
// Hugging Face's min_new_tokens). Engines differ in the history that a sequence is looked for in:
// bans_bad_words (transformers) wants a history of the sequence's whole length, and lets sequences of one token alone
// that end a text; bans_output (vllm, vllm-v2, sglang) looks behind the prompt only.
#include "sample/sampler.h"

static const struct param params[] = {
    {"min-tokens", "mask the tokens that end a text until N tokens follow the prompt", INT_AT(count_params, count),
     RANGE(0, INT32_MAX), .also = "min-new-tokens", SLIDER(0, 64, 1)},
    {NULL},
};

enum { ANY_HISTORY, WHOLE_HISTORY, BEHIND_PROMPT }; // where sequences are looked for

static const struct param bad_words_params[] = {{"min-tokens", INT_AT(count_params, count)}, {NULL}};
static const struct param output_params[] = {{"min-tokens", INT_AT(count_params, count)}, {NULL}};

static bool enabled(const struct stage *stage)
{
    return ((const struct count_params *)stage->params)->count > 0 || stage->context->bans->n > 0;
}

// The number of accepted tokens counts as reading, too: rows cannot be sampled apart then.
static size_t window(const struct stage *stage)
{
    const size_t before = stage->context->bans->longest;
    return ((const struct count_params *)stage->params)->count > 0 && before < 2 ? 1 : before ? before - 1 : 0;
}

static float mask(float logit, size_t j, const void *arg) { return -INFINITY; }

// Returns whether bans_bad_words leaves this sequence alone.
static bool exempt(const struct bans *bans, const struct tokens *s, size_t total)
{
    for (size_t i = 0; s->n == 1 && i < bans->n_ends; i++)
        if (bans->end[i] == s->id[0])
            return true;
    return s->n > 1 && total < s->n;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct history *const h = c->history;
    const struct bans *const bans = stage->context->bans;
    struct idmap *const masked = self;
    const size_t output = h->total - h->n_prompt, seen = history_len(h, bans->longest ? bans->longest - 1 : 0),
                 n = stage->sampler->variant == BEHIND_PROMPT && output < seen ? output : seen;
    uint32_t *const recent = cand_scratch(c, n + 1, sizeof *recent);
    const bool early = output < (size_t)((const struct count_params *)stage->params)->count;
    bool ok = recent;
    if (!recent)
        return;
    history_copy(h, recent, n);
    idmap_clear(masked);
    for (size_t i = 0; ok && i < bans->n; i++) {
        const struct tokens *const s = &bans->sequence[i];
        const size_t before = s->n - 1; // the tokens without the last
        if (before <= n && tokens_oldest(s->id, before, recent, before) &&
            (stage->sampler->variant != WHOLE_HISTORY || !exempt(bans, s, h->total)))
            ok = idmap_add(masked, s->id[before]) != IDMAP_NONE;
    }
    for (size_t i = 0; ok && early && i < bans->n_ends; i++)
        ok = idmap_add(masked, bans->end[i]) != IDMAP_NONE;
    if (ok)
        cand_edit(c, masked, mask, NULL);
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

static void explain(struct account *a)
{
    const struct idmap *const masked = a->state;
    if (a->unchanged && !masked->n)
        account_say(a, "did not act: the accepted tokens begin no banned sequence");
    else if (a->unchanged)
        account_none(a, masked->id, masked->n, "banned");
}

static void release(void *self) { idmap_free(self); }

#define BANS(NAME, ROWS, VARIANT, ...)                                                                    \
    {                                                                                                     \
        .name = (NAME), .variant = (VARIANT), PARAMS(ROWS, count_params), .size = sizeof(struct idmap),   \
        .enabled = enabled, .window = window, .lists = LISTS_BANS, .counts_tokens = true, .apply = apply, \
        .explain = explain, .partial = {apply_partial}, .release = release, __VA_ARGS__                   \
    }

const struct sampler sampler_bans = BANS("bans", params, ANY_HISTORY, .in_llama = LLAMA_IMPLIES);
const struct sampler sampler_bans_bad_words =
    BANS("bans_bad_words", bad_words_params, WHOLE_HISTORY, .in_llama = LLAMA_HAS);
const struct sampler sampler_bans_output = BANS("bans_output", output_params, BEHIND_PROMPT, .in_llama = LLAMA_HAS);
