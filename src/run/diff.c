// SPDX-License-Identifier: MIT
#include "run/diff.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void diff_free(struct diff *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->worst[i].text.text);
    free(d->worst);
    free(d->choice);
    idmap_free(&d->ids);
    free(d->token);
    free(d->p);
}

// ---- --diff

// The rank of a token among the kept, from 1; 0 if it is not among them.
static size_t kept_rank(const struct record *r, uint32_t id)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == id)
            return i + 1;
    return 0;
}

static struct choice_beside choice_of(const struct result *res, size_t variant)
{
    const struct record *const base = &res->record, *const r = &res[variant].record;
    struct choice_beside c = {variant, 0.0f, kept_rank(base, r->chosen), "-", "-"};
    if (c.base_rank)
        c.base_p = base->ranked[c.base_rank - 1].p;
    else
        result_removed_by(res, r->chosen, c.removed_in_base);
    if (!kept_rank(r, base->chosen))
        result_removed_by(&res[variant], base->chosen, c.base_removed);
    return c;
}

// Keeps the row if it is among those with the least overlap.
static bool keep_worst(struct diff *d, const struct chains_record *r, double overlap, struct err *e)
{
    const size_t most = (size_t)d->job->args->diff_most;
    size_t at = d->n;
    while (at && d->worst[at - 1].overlap > overlap)
        at--;
    if (at == most)
        return output_chains(d->out, COMPARED_CHOICES, &(struct chains_record){0}, NULL, e);
    struct worst w = {.overlap = overlap};
    if (!output_chains(d->out, COMPARED_CHOICES, r, &w.text, e) ||
        !mem_grow(&d->worst, &d->cap, d->n + 1, sizeof *d->worst)) {
        free(w.text.text);
        return err_from_fault(e, fault_memory());
    }
    if (d->n == most)
        free(d->worst[--d->n].text.text);
    memmove(d->worst + at + 1, d->worst + at, (d->n - at) * sizeof *d->worst);
    d->worst[at] = w;
    d->n++;
    return true;
}

bool diff_choices(struct diff *d, const struct result *res, struct chains_record *r, struct err *e)
{
    const bool worst = d->job->args->diff_most;
    double least = 2.0;
    if (!mem_grow(&d->choice, &d->choice_cap, d->job->n_variants, sizeof *d->choice))
        return err_from_fault(e, fault_memory());
    for (size_t i = 1; res->ok && i < d->job->n_variants; i++) {
        if (!res[i].ok || (!worst && res[i].record.chosen == res->record.chosen))
            continue;
        d->choice[r->n_choices++] = choice_of(res, i);
        least = res[i].record.overlap < least ? res[i].record.overlap : least;
    }
    r->choice = d->choice;
    if (worst && least <= 1.0)
        return keep_worst(d, r, least, e);
    r->n_choices = worst ? 0 : r->n_choices; // a sum of shares may be rounded to more than 1
    return output_chains(d->out, COMPARED_CHOICES, r, NULL, e);
}

bool diff_end(struct diff *d, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < d->n; i++)
        ok = output_kept(d->out, &d->worst[i].text, e);
    return ok;
}

// ---- --dump-probs

static int by_most(const void *a, const void *b)
{
    const struct united *const x = a, *const y = b;
    if (x->most != y->most)
        return x->most < y->most ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

bool diff_unite(struct diff *d, const struct result *res, struct chains_record *r)
{
    const size_t variants = d->job->n_variants;
    idmap_clear(&d->ids);
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.shown; k++)
            if (idmap_add(&d->ids, res[i].record.ranked[k].id) == IDMAP_NONE)
                return false;
    const size_t n = d->ids.n;
    if (!mem_grow(&d->token, &d->token_cap, n + 1, sizeof *d->token) ||
        !mem_grow(&d->p, &d->p_cap, n * variants + 1, sizeof *d->p))
        return false;
    for (size_t k = 0; k < n * variants; k++)
        d->p[k] = -1.0f; // removed
    for (size_t k = 0; k < n; k++)
        d->token[k] = (struct united){.id = d->ids.id[k], .p = d->p + k * variants};
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.kept; k++) {
            const struct ranked *const c = &res[i].record.ranked[k];
            const size_t at = idmap_find(&d->ids, c->id);
            if (at == IDMAP_NONE)
                continue;
            d->p[at * variants + i] = c->p;
            d->token[at].most = c->p > d->token[at].most ? c->p : d->token[at].most;
        }
    qsort(d->token, n, sizeof *d->token, by_most);
    r->token = d->token;
    r->n_tokens = n;
    return true;
}
