// SPDX-License-Identifier: MIT
// infill (ggerganov, llama.cpp PR 9896): for fill-in-the-middle. Ends the text when that is likely enough; else adds up
// tokens of which one begins the other, and keeps those that are likely then.
#include "base/mem.h"
#include "sample/sampler.h"

#include <stdlib.h>
#include <string.h>

struct text {
    struct piece piece;
    uint32_t rank;
};

// The candidates that have a text, sorted by it.
struct by_text {
    const struct vocab *vocab;
    struct cand *c;
    size_t n;
    struct text *text; // [n]
    uint32_t *place;   // [c->n] where each rank stands in text
    uint32_t *match;   // room for n ranks
};

static struct piece text_of(const struct by_text *t, size_t rank) { return vocab_output(t->vocab, t->c->id[rank]); }

// Compares bytes, so that the texts that begin with a text stand directly behind it.
static int compare_texts(const void *a, const void *b)
{
    const struct piece x = ((const struct text *)a)->piece, y = ((const struct text *)b)->piece;
    const int less = memcmp(x.p, y.p, x.len < y.len ? x.len : y.len);
    return less ? less : (x.len > y.len) - (x.len < y.len);
}

static bool is_prefix(struct piece x, struct piece y) { return x.len <= y.len && !memcmp(x.p, y.p, x.len); }

// Keeps the candidates with p >= floor and those that end a generation, and scales p to sum 1. Returns how many of the
// kept do not end a generation.
static size_t keep_texts(struct cand *c, const struct vocab *v, float floor)
{
    size_t n = 0, texts = 0;
    float sum = 0.0f;
    for (size_t i = 0; i < c->n; i++) {
        const bool ends = vocab_ends(v, c->id[i]);
        if (c->p[i] < floor && !ends)
            continue;
        texts += !ends;
        sum += c->p[i];
        c->id[n] = c->id[i];
        c->logit[n] = c->logit[i];
        c->p[n++] = c->p[i];
    }
    c->n = n;
    for (size_t i = 0; i < n; i++)
        c->p[i] /= sum;
    return texts;
}

// Returns whether ending the text is likely enough to keep only that.
static bool ends_text(const struct cand *c, const struct vocab *v)
{
    float p_end = 0.0f, p_text = 0.0f;
    for (size_t i = 0; i < c->n; i++)
        *(vocab_ends(v, c->id[i]) ? &p_end : &p_text) += c->p[i];
    return 3.0f * p_end * (float)c->n > p_text;
}

static void sort_by_text(struct by_text *t)
{
    for (size_t i = 0; i < t->c->n; i++)
        if (t->c->logit[i] > -INFINITY && text_of(t, i).len)
            t->text[t->n++] = (struct text){text_of(t, i), (uint32_t)i};
    qsort(t->text, t->n, sizeof *t->text, compare_texts);
    for (size_t k = 0; k < t->n; k++)
        t->place[t->text[k].rank] = (uint32_t)k;
}

// Writes the ranks of the unmasked candidates whose text begins with that of candidate i, without i, in rank order.
// Returns how many.
static size_t find_matches(const struct by_text *t, size_t i)
{
    const struct piece text = text_of(t, i);
    size_t first = t->place[i], found = 0;
    while (first && t->text[first - 1].piece.len == text.len && is_prefix(text, t->text[first - 1].piece))
        first--;
    for (size_t k = first; k < t->n && is_prefix(text, t->text[k].piece); k++)
        if (t->text[k].rank != i && t->c->logit[t->text[k].rank] > -INFINITY)
            t->match[found++] = t->text[k].rank;
    qsort(t->match, found, sizeof *t->match, order_u32);
    return found;
}

// Adds up each pair of candidates of which one text begins the other: the likelier keeps both probabilities, the other
// is masked. The additions follow the order of all pairs by rank, which decides their rounding and which of two is the
// likelier. Plain algorithm: look at all pairs, O(n^2). Sorted by text, the matches of a candidate stand side by side,
// so that only they are visited, in the same order.
static void merge_texts(const struct by_text *t)
{
    struct cand *const c = t->c;
    for (size_t i = 0; i < c->n; i++) {
        if (c->logit[i] == -INFINITY || !text_of(t, i).len)
            continue;
        const size_t found = find_matches(t, i);
        for (size_t k = 0; k < found && c->logit[i] > -INFINITY; k++) {
            const size_t other = t->match[k], to = c->p[other] > c->p[i] ? other : i, from = to == i ? other : i;
            c->p[to] += c->p[from];
            c->logit[from] = -INFINITY;
            c->p[from] = 0.0f;
        }
    }
}

// Keeps one candidate: the token that ends a turn, or else the one that ends a sequence.
static void keep_end_token(struct cand *c, const struct vocab *v)
{
    const uint32_t id = v->eot != VOCAB_NONE ? v->eot : v->eos;
    if (id == VOCAB_NONE || (c->n_vocab && id >= c->n_vocab))
        cand_fail(c, FAULT_NO_EOT, 0);
    c->n = 1;
    c->id[0] = id;
    c->logit[0] = c->p[0] = 1.0f;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct vocab *const v = stage->context->vocab;
    struct by_text t = {v,
                        c,
                        0,
                        cand_scratch(c, c->n, sizeof *t.text),
                        cand_scratch(c, c->n, sizeof *t.place),
                        cand_scratch(c, c->n, sizeof *t.match)};
    cand_sort(c);
    cand_softmax(c);
    if (c->fault.code)
        return;
    if (ends_text(c, v)) {
        keep_texts(c, v, INFINITY);
        return;
    }
    sort_by_text(&t);
    merge_texts(&t);
    const size_t texts = keep_texts(c, v, 0.2f);
    if (texts)
        keep_texts(c, v, (float)(1.0 / (double)(texts + 1)));
    else
        keep_end_token(c, v);
    if (c->logit[0] == -INFINITY) // an ending that was added to another token
        c->order = CAND_UNSORTED;
}

// All are kept only where no text begins another one, and each is likely enough.
static void explain(struct account *a)
{
    const struct vocab *const v = a->stage->context->vocab;
    float lowest = INFINITY;
    size_t texts = 0;
    for (size_t i = 0; i < a->before.n; i++)
        if (!vocab_ends(v, a->before.id[i])) {
            lowest = fminf(lowest, a->before.logit[i]);
            texts++;
        }
    if (a->unchanged && !texts)
        account_say(a, "kept all: each token ends the text");
    else
        account_kept(a, ": the least probability of a text is ", softmax_prob(a->of.softmax, lowest), ", at least ",
                     fmax(0.2, 1.0 / ((double)texts + 1.0)));
}

const struct sampler sampler_infill = {
    .name = "infill", .letter = 'i', .needs_vocab = true, .apply = apply, .explain = explain};
