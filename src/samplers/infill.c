// SPDX-License-Identifier: MIT
// infill (ggerganov, llama.cpp PR 9896): for fill-in-the-middle. Ends the text when that is likely enough; else adds up tokens of which
// one begins the other, and keeps those that are likely then.
#include "base/mem.h"
#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct infill_state {
    uint32_t *by_text; // [n] ranks of the candidates, by their texts
    uint32_t *place;   // [c->n] where each rank stands there
    uint32_t *match;   // ranks of the candidates that one candidate begins
    size_t by_text_cap, place_cap, match_cap;
};

struct text_order {
    const struct vocab *vocab;
    const struct cand *c;
};

static struct piece text_of(const struct vocab *v, const struct cand *c, size_t i)
{
    return vocab_output(v, c->id[i]);
}

// By text, bytewise, so that the texts that begin with one text stand together behind it.
static int compare_texts(const void *a, const void *b, void *arg)
{
    const struct text_order *const o = arg;
    const struct piece x = vocab_output(o->vocab, o->c->id[*(const uint32_t *)a]);
    const struct piece y = vocab_output(o->vocab, o->c->id[*(const uint32_t *)b]);
    const int less = memcmp(x.p, y.p, x.len < y.len ? x.len : y.len);
    return less ? less : (x.len > y.len) - (x.len < y.len);
}

static int compare_ranks(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool begins(struct piece x, struct piece y)
{
    return x.len <= y.len && !memcmp(x.p, y.p, x.len);
}

// Keeps the candidates that are at least this likely, or end a generation. Counts the others among them, and returns the sum of p.
static float keep(struct cand *c, const struct vocab *v, float floor, size_t *n_text)
{
    size_t n = 0;
    float sum = 0.0f;
    *n_text = 0;
    for (size_t i = 0; i < c->n; i++) {
        const bool ends = vocab_ends(v, c->id[i]);
        if (c->p[i] < floor && !ends)
            continue;
        *n_text += !ends;
        sum += c->p[i];
        c->id[n] = c->id[i];
        c->logit[n] = c->logit[i];
        c->p[n++] = c->p[i];
    }
    cand_truncate(c, n);
    return sum;
}

static void normalise(struct cand *c, float sum)
{
    for (size_t i = 0; i < c->n; i++)
        c->p[i] /= sum;
}

// Is ending the text likely enough? Then only that is kept.
static bool end_text(struct cand *c, const struct vocab *v)
{
    float p_end = 0.0f, p_text = 0.0f;
    size_t n_text;
    for (size_t i = 0; i < c->n; i++)
        *(vocab_ends(v, c->id[i]) ? &p_end : &p_text) += c->p[i];
    if (!(3.0f * p_end * (float)c->n > p_text))
        return false;
    normalise(c, keep(c, v, INFINITY, &n_text));
    return true;
}

// The candidates by their texts; those without one stay out. Returns how many there are.
static size_t sort_by_text(struct infill_state *s, const struct cand *c, const struct vocab *v)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->logit[i] > -INFINITY && text_of(v, c, i).len)
            s->by_text[n++] = (uint32_t)i;
    qsort_r(s->by_text, n, sizeof *s->by_text, compare_texts, &(struct text_order){v, c});
    for (size_t k = 0; k < n; k++)
        s->place[s->by_text[k]] = (uint32_t)k;
    return n;
}

// Notes the candidates still alive whose text begins with that of candidate i, itself left out, in rank order.
static size_t find_matches(struct infill_state *s, const struct cand *c, const struct vocab *v, size_t i, size_t n)
{
    const struct piece text = text_of(v, c, i);
    size_t first = s->place[i], found = 0;
    while (first && text_of(v, c, s->by_text[first - 1]).len == text.len && begins(text, text_of(v, c, s->by_text[first - 1])))
        first--;
    for (size_t k = first; k < n && begins(text, text_of(v, c, s->by_text[k])); k++)
        if (s->by_text[k] != i && c->logit[s->by_text[k]] > -INFINITY)
            s->match[found++] = s->by_text[k];
    qsort(s->match, found, sizeof *s->match, compare_ranks);
    return found;
}

// Of two candidates of which one begins the other, the less likely is added to the other. The order of the additions is that of all
// pairs by rank, as it decides their rounding and who is the more likely.
static void merge(struct infill_state *s, struct cand *c, const struct vocab *v)
{
    const size_t n = sort_by_text(s, c, v);
    for (size_t i = 0; i < c->n; i++) {
        if (c->logit[i] == -INFINITY || !text_of(v, c, i).len)
            continue;
        const size_t found = find_matches(s, c, v, i, n);
        for (size_t k = 0; k < found && c->logit[i] > -INFINITY; k++) {
            const size_t other = s->match[k], to = c->p[other] > c->p[i] ? other : i, from = to == i ? other : i;
            c->p[to] += c->p[from];
            c->logit[from] = -INFINITY;
            c->p[from] = 0.0f;
        }
    }
}

// One candidate: the token that ends a turn, or else a sequence.
static struct fault only_end(struct cand *c, const struct vocab *v)
{
    const uint32_t id = v->eot != VOCAB_NONE ? v->eot : v->eos;
    if (id == VOCAB_NONE || (c->n_vocab && id >= c->n_vocab))
        return (struct fault){FAULT_NO_EOT, 0};
    cand_truncate(c, 1);
    c->id[0] = id;
    c->logit[0] = c->p[0] = 1.0f;
    return fault_none();
}

static struct fault apply(void *self, struct cand *c, const struct stage *stage, const struct history *h)
{
    const struct vocab *const v = stage->context->vocab;
    struct infill_state *const s = self;
    size_t n_text;
    const struct fault fault = cand_softmax(c, true);
    if (fault.code || end_text(c, v))
        return fault;
    if (!mem_grow(&s->by_text, &s->by_text_cap, c->n, sizeof *s->by_text) ||
        !mem_grow(&s->place, &s->place_cap, c->n, sizeof *s->place) ||
        !mem_grow(&s->match, &s->match_cap, c->n, sizeof *s->match))
        return fault_memory();
    merge(s, c, v);
    float sum = keep(c, v, 0.2f, &n_text);
    if (!n_text)
        return only_end(c, v);
    normalise(c, sum);
    sum = keep(c, v, (float)(1.0 / (double)(n_text + 1)), &n_text);
    normalise(c, sum);
    if (c->logit[0] == -INFINITY) // an ending that was added to another token
        c->order = CAND_UNSORTED;
    return fault;
}

static void release(void *self)
{
    struct infill_state *const s = self;
    free(s->by_text);
    free(s->place);
    free(s->match);
}

const struct sampler sampler_infill = {.name = "infill",
                                       .letter = 'i',
                                       .needs_vocab = true,
                                       .size = sizeof(struct infill_state),
                                       .apply = apply,
                                       .release = release};
