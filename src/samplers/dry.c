// SPDX-License-Identifier: MIT
// dry ("don't repeat yourself", p-e-w, text-generation-webui PR 5677): a token that would continue a repetition of the
// newest tokens is penalised, exponentially in the length of the repetition.
#include "base/mem.h"
#include "kern/libm.h"
#include "sample/sampler.h"
#include "sample/suffixes.h"

#include <inttypes.h>
#include <stdlib.h>

struct dry_params {
    float multiplier, base;
    int32_t allowed_length, last_n; // last_n: -1: the whole history
};

static const struct param params[] = {
    {"dry-multiplier", "strength of the DRY penalty on repetitions; 0: off", .common = true,
     FLOAT_AT(dry_params, multiplier), FINITE, SLIDER(0, 2, 0.05)},
    {"dry-base", "factor by which the DRY penalty grows with each repeated token", FLOAT_AT(dry_params, base),
     RANGE(1, FLT_MAX), .ignores_low = true, .def = 1.75f, DEFAULTED(1, INFINITY), SLIDER(1, 4, 0.05)},
    {"dry-allowed-length", "shortest repetition that DRY penalises", INT_AT(dry_params, allowed_length), ANY_INT,
     .def = 2, REFUSED(0, INFINITY), SLIDER(1, 10, 1)},
    {"dry-penalty-last-n", "how many tokens DRY looks back; 0: off, -1: all", INT_AT(dry_params, last_n),
     RANGE(-1, INT32_MAX), .def = 64, REFUSED(0, INFINITY), SLIDER(-1, 512, 1)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    const struct dry_params *const p = stage->params;
    return p->multiplier != 0.0f && p->base >= 1.0f && p->last_n != 0;
}

static size_t window(const struct stage *stage)
{
    return window_of(((const struct dry_params *)stage->params)->last_n);
}

// Fills z: z[k] is how many of the newest tokens occur again, in order, ending k tokens earlier. recent has the newest
// token first.
//
// Plain algorithm: for each k, compare token by token. Too slow: O(n^2) for a repetitive text. Idea (the Z-algorithm):
// [left, right) is the match found so far that reaches furthest. Inside it, recent[k..] equals recent[k - left..],
// whose z is known; only what lies beyond `right` is compared. Each comparison that succeeds moves `right`, hence O(n).
// The values are the same as the plain ones.
static void repetitions(size_t *z, const uint32_t *recent, size_t n)
{
    size_t left = 0, right = 0; // the match [left, right) that reaches furthest
    for (size_t k = 1; k < n; k++) {
        size_t len = 0;
        if (k < right)
            len = z[k - left] < right - k ? z[k - left] : right - k;
        while (k + len < n && recent[len] == recent[k + len])
            len++;
        z[k] = len;
        if (k + len > right) {
            left = k;
            right = k + len;
        }
    }
}

// length - allowed, held where base^exponent still fits an f32.
static size_t exponent_of(const struct dry_params *p, size_t length)
{
    size_t exponent = (size_t)((int64_t)length - p->allowed_length);
    if (p->base > 1.000001f) {
        const size_t most = (size_t)(88.7228391f / libm_logf(p->base)); // ln FLT_MAX
        if (most > 0 && exponent > most)
            exponent = most;
    }
    return exponent;
}

// multiplier * base^(length - allowed)
static float penalty(const struct dry_params *p, size_t length)
{
    const size_t exponent = exponent_of(p, length);
    return (float)((double)p->multiplier * libm_pow((double)p->base, (double)exponent));
}

struct dry_state {
    struct idmap next; // the tokens that continue a repetition
    size_t *length;    // [next.n] the longest one's
    size_t length_cap;
    size_t limit;             // tokens behind the last breaker, which a repetition may have
    struct suffixes suffixes; // of a whole history that is long
    // tokens by their numbers in the history, from 0
    size_t searched;                   // breakers have been looked for in the tokens before this one
    size_t breaker_begin, breaker_end; // the last breaker is [begin, end); end is 0 if there is none
};

struct dry_job {
    const struct dry_params *p;
    const size_t *length;
};

static float subtract(float logit, size_t j, const void *arg)
{
    const struct dry_job *const job = arg;
    return logit - penalty(job->p, job->length[j]);
}

// Returns how many of the n newest tokens stand behind the last breaker. Earlier rows have looked for breakers in all
// but the new tokens, so that only one that ends in a new token is looked for.
static size_t since_breaker(struct dry_state *s, struct cand *c, const struct breakers *b, size_t n)
{
    const size_t total = c->history->total, open = total - s->searched + breakers_longest(b),
                 look = open < n ? open : n;
    uint32_t *const recent = cand_scratch(c, look, sizeof *recent); // the newest first
    size_t begin;
    if (!recent && look)
        return 0;
    history_copy(c->history, recent, look);
    const size_t since = breakers_since(b, recent, look, &begin);
    if (begin < look) {
        s->breaker_begin = total - 1 - begin;
        s->breaker_end = total - since;
    }
    s->searched = total;
    return s->breaker_end && s->breaker_begin >= total - n ? total - s->breaker_end : n;
}

// Records that a token continued a repetition of this length. Returns false when memory is short.
static bool note_continuation(struct dry_state *s, uint32_t token, size_t length)
{
    const size_t known = s->next.n, i = idmap_add(&s->next, token);
    if (i == IDMAP_NONE || !mem_grow(&s->length, &s->length_cap, i + 1, sizeof *s->length))
        return false;
    if (i == known || s->length[i] < length)
        s->length[i] = length;
    return true;
}

// Records the tokens that continued a repetition in the n newest tokens, at O(n). Returns false when memory is short.
static bool find_in_window(struct dry_state *s, struct cand *c, const struct breakers *breakers, size_t n, size_t limit,
                           size_t allowed)
{
    uint32_t *const recent = cand_scratch(c, n, sizeof *recent); // the newest first
    size_t *const z = cand_scratch(c, n, sizeof *z);
    if (c->fault.code)
        return false;
    history_copy(c->history, recent, n);
    repetitions(z, recent, n);
    for (size_t k = 1; k < n; k++) {
        const size_t len = z[k] < limit ? z[k] : limit;
        if (len >= allowed && !breakers_single(breakers, recent[k - 1]) && !note_continuation(s, recent[k - 1], len))
            return false;
    }
    return true;
}

// Records the same tokens and lengths over the whole history, by the suffix automaton: O(tokens that continued one).
// Walks from the longest repetition to shorter ones, and stops once every token is recorded that continued one of the
// least length: a shorter repetition of the same token changes nothing.
static bool find_in_automaton(struct dry_state *s, const struct history *h, const struct breakers *breakers,
                              size_t limit, size_t allowed)
{
    struct suffixes *const x = &s->suffixes;
    if (!suffixes_update(x, h, allowed))
        return false;
    size_t most = 0;
    for (uint32_t i = x->state[x->at].edge; i != SUFFIX_NONE; i = x->edge[i].next)
        most += !breakers_single(breakers, x->edge[i].token);
    for (uint32_t at = x->whole; s->next.n < most; at = x->state[at].shorter) {
        const size_t all = x->state[at].length, len = all < limit ? all : limit;
        for (uint32_t i = x->state[at].edge; i != SUFFIX_NONE; i = x->edge[i].next)
            if (!breakers_single(breakers, x->edge[i].token) && !note_continuation(s, x->edge[i].token, len))
                return false;
    }
    return true;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    enum { LONG = 100 }; // tokens that are as quickly looked through
    const struct dry_params *const p = stage->params;
    const struct breakers *const breakers = stage->context->breakers;
    const struct history *const h = c->history;
    struct dry_state *const s = self;
    const size_t n = history_len(h, window_of(p->last_n)),
                 allowed = p->allowed_length > 0 ? (size_t)p->allowed_length : 0;
    if (n < h->total)
        suffixes_free(&s->suffixes);
    idmap_clear(&s->next);
    s->limit = n;
    if (n <= allowed)
        return;
    const size_t limit = s->limit = since_breaker(s, c, breakers, n);
    if (limit < allowed || c->fault.code)
        return;
    // The automaton does not count repetitions of length 0. If a logit could overflow, the fault must name the first in
    // the order of the history, which the automaton does not know.
    const bool whole = n == h->total && n >= LONG && allowed && p->multiplier > 0.0f;
    if (whole ? find_in_automaton(s, h, breakers, limit, allowed) : find_in_window(s, c, breakers, n, limit, allowed))
        cand_edit(c, &s->next, subtract, &(struct dry_job){p, s->length});
    else
        cand_fail(c, FAULT_MEMORY, 0);
}

// Returns how many tokens before the newest one the repetition ends that this token continued; 0: it is not found.
static size_t ended_back(const struct history *h, size_t n, uint32_t token, size_t length)
{
    for (size_t k = 1; k + length <= n; k++) {
        size_t same = history_newest(h, k - 1) == token ? 0 : SIZE_MAX;
        while (same < length && history_newest(h, same) == history_newest(h, k + same))
            same++;
        if (same == length)
            return k;
    }
    return 0;
}

// Says why no token was penalised.
static void explain_none(struct account *a, size_t n)
{
    const struct dry_params *const p = a->stage->params;
    const struct dry_state *const s = a->state;
    const size_t allowed = p->allowed_length > 0 ? (size_t)p->allowed_length : 0;
    if (s->next.n)
        account_none(a, s->next.id, s->next.n, "repeating");
    else if (s->limit < n && s->limit < allowed)
        account_say(a, "did not act: %zu token%s after the last breaker", s->limit, s->limit == 1 ? "" : "s");
    else if (n < 2 || n <= allowed)
        account_say(a, "did not act: its window has %zu token%s", n, n == 1 ? "" : "s");
    else
        account_say(a, "did not act: no repetition of %zu token%s among the last %zu", allowed, allowed == 1 ? "" : "s",
                    n);
}

// Shows the repetition of the token that lost most, and the penalty as it was computed.
static void explain(struct account *a)
{
    enum { SHOWN = 12 }; // newest tokens of a repetition
    const struct dry_params *const p = a->stage->params;
    const struct dry_state *const s = a->state;
    const size_t n = history_len(a->history, window_of(p->last_n));
    size_t changed = 0;
    for (size_t j = 0; j < s->next.n; j++)
        changed += account_find(a, (struct finding){.token = s->next.id[j], .length = s->length[j]});
    if (!changed) {
        explain_none(a, n);
        return;
    }
    for (size_t i = 0; i < a->n_findings; i++)
        a->finding[i].back = ended_back(a->history, n, a->finding[i].token, a->finding[i].length);
    const struct finding *const f = a->finding;
    account_say(a, "repeats %zu token%s%s", f->length, f->length == 1 ? "" : "s", f->length > SHOWN ? " ..." : "");
    for (size_t shown = f->length < SHOWN ? f->length : SHOWN, i = shown; i--;)
        account_say(a, "%s%" PRIu32 "%s", i + 1 == shown ? " {" : " ", history_newest(a->history, i), i ? "" : "}");
    account_say(a, " of %zu token%s back, ", f->back, f->back == 1 ? "" : "s");
    account_number(a, -(double)p->multiplier);
    account_say(a, " * ");
    account_number(a, (double)p->base);
    account_say(a, "^%zu = ", exponent_of(p, f->length));
    account_number(a, -(double)penalty(p, f->length));
    account_say(a, " for {%" PRIu32 "}", f->token);
    if (changed > 1)
        account_say(a, ", and %zu more token%s", changed - 1, changed == 2 ? "" : "s");
}

// The breakers may be others now.
static void change(void *self)
{
    struct dry_state *const s = self;
    s->searched = s->breaker_end = 0;
}

static void release(void *self)
{
    struct dry_state *const s = self;
    idmap_free(&s->next);
    free(s->length);
    suffixes_free(&s->suffixes);
}

const struct sampler sampler_dry = {.name = "dry",
                                    .letter = 'd',
                                    PARAMS(params, dry_params),
                                    .size = sizeof(struct dry_state),
                                    .apply = apply,
                                    .partial = {apply_partial},
                                    .enabled = enabled,
                                    .explain = explain,
                                    .lists = LISTS_BREAKERS,
                                    .window = window,
                                    .change = change,
                                    .release = release};
