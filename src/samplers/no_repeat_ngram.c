// SPDX-License-Identifier: MIT
// no_repeat_ngram (Hugging Face, text-generation-webui, Aphrodite): no N tokens in a row come twice. What followed the
// newest N-1 tokens where they were before, in the prompt or behind it, is masked. A single candidate stays;
// no_repeat_ngram_any (the engine transformers) masks it, too.
#include "sample/sampler.h"
#include "sample/suffixes.h"

static const struct param params[] = {
    {"no-repeat-ngram", "mask a token that would repeat N tokens in a row; 0: off", INT_AT(count_params, count),
     RANGE(0, INT32_MAX), .also = "no-repeat-ngram-size", .server = "no_repeat_ngram_size", SLIDER(0, 10, 1)},
    {NULL},
};

static const struct param any_params[] = {{"no-repeat-ngram", INT_AT(count_params, count)}, {NULL}};

static size_t window(const struct stage *stage) { return HISTORY_ALL; }

static float ban(float logit, size_t j, const void *arg) { return -INFINITY; }

struct ngram_state {
    struct suffixes suffixes;
    struct idmap banned;
};

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    struct ngram_state *const s = self;
    const struct suffixes *const x = &s->suffixes;
    const size_t n = (size_t)((const struct count_params *)stage->params)->count;
    if (c->history->total < n)
        return;
    bool ok = suffixes_update(&s->suffixes, c->history, n - 1);
    idmap_clear(&s->banned);
    for (uint32_t i = ok ? x->state[x->at].edge : SUFFIX_NONE; ok && i != SUFFIX_NONE; i = x->edge[i].next)
        ok = idmap_add(&s->banned, x->edge[i].token) != IDMAP_NONE;
    if (ok)
        cand_edit(c, &s->banned, ban, NULL);
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

// If the full row has a single candidate, the list's stays as well.
static void partial(void *self, struct cand *c, const struct stage *stage)
{
    if (stage->sampler->needs_two && !full_has_two_known(c))
        unlisted_remove(c, false);
    apply(self, c, stage);
}

static void explain(struct account *a)
{
    const struct ngram_state *const s = a->state;
    const size_t n = (size_t)((const struct count_params *)a->stage->params)->count;
    if (!a->unchanged)
        return;
    if (a->history->total < n)
        account_say(a, "did not act: %zu token%s accepted, looks at %zu", a->history->total,
                    a->history->total == 1 ? " is" : "s are", n);
    else if (!s->banned.n)
        account_say(a, "did not act: the last %zu token%s not stood there before", n - 1, n == 2 ? " has" : "s have");
    else
        account_none(a, s->banned.id, s->banned.n, "repeating");
}

static void release(void *self)
{
    struct ngram_state *const s = self;
    suffixes_free(&s->suffixes);
    idmap_free(&s->banned);
}

#define NO_REPEAT_NGRAM(NAME, ROWS, ...)                                                                            \
    {                                                                                                               \
        .name = (NAME), PARAMS(ROWS, count_params), .size = sizeof(struct ngram_state), .runs = {ABOVE, 0},         \
        .window = window, .apply = apply, .explain = explain, .partial = {partial}, .release = release, __VA_ARGS__ \
    }

const struct sampler sampler_no_repeat_ngram =
    NO_REPEAT_NGRAM("no_repeat_ngram", params, .letter = 'n', FOREIGN, .joins_default = true);
const struct sampler sampler_no_repeat_ngram_any = NO_REPEAT_NGRAM("no_repeat_ngram_any", any_params, .letter = 0);
