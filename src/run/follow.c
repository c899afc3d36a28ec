// SPDX-License-Identifier: MIT
#include "run/follow.h"

#include "base/mem.h"
#include "run/measure.h"

#include <stdlib.h>

void follow_free(struct follow *f)
{
    free(f->p);
}

bool follow_begin(struct follow *f, size_t n_row, size_t n_lines)
{
    f->n_row = n_row;
    return mem_grow(&f->p, &f->cap, (n_lines + 1) * n_row, sizeof *f->p);
}

void follow_step(struct follow *f, size_t step, const double *p)
{
    for (size_t i = 0; i < f->n_row; i++)
        f->p[step * f->n_row + i] = (float)p[i];
}

// The places in the row of those who are followed, by falling probability there.
struct places {
    size_t at[FOLLOWED_MOST], n;
};

static void add_place(const struct follow *f, struct places *s, size_t place, size_t most)
{
    size_t i = s->n;
    for (size_t k = 0; k < s->n; k++)
        if (s->at[k] == place)
            return;
    if (place == f->n_row) // a token that the row lacks
        return;
    while (i && f->p[s->at[i - 1]] < f->p[place])
        i--;
    if (i == most)
        return;
    s->n += s->n < most;
    for (size_t k = s->n - 1; k > i; k--)
        s->at[k] = s->at[k - 1];
    s->at[i] = place;
}

static struct places choose(const struct follow *f, const struct cand *c, const struct record *r, size_t most)
{
    enum { OTHERS = 2 }; // the tokens that were chosen and accepted
    struct places s = {.n = 0};
    const size_t best = most && most < FOLLOWED_MOST / 2 ? most : FOLLOWED_MOST / 2 - OTHERS;
    for (size_t i = 0; i < f->n_row; i++)
        if (f->p[i] >= 0.0f && (s.n < best || f->p[i] > f->p[s.at[s.n - 1]]))
            add_place(f, &s, i, best);
    for (size_t i = 0; i < r->shown && i < best; i++)
        add_place(f, &s, cand_row_place(c, r->ranked[i].id), FOLLOWED_MOST);
    add_place(f, &s, cand_row_place(c, r->chosen), FOLLOWED_MOST);
    if (r->accepted >= 0)
        add_place(f, &s, cand_row_place(c, (uint32_t)r->accepted), FOLLOWED_MOST);
    return s;
}

bool follow_end(const struct follow *f, const struct cand *c, const struct trace_line *line, size_t n_lines, bool all,
                size_t most, struct record *record, void **room, size_t *room_cap)
{
    const struct places s = choose(f, c, record, most);
    if (!mem_grow(room, room_cap, s.n * (sizeof(struct followed) + (n_lines + 1) * sizeof(float)) + 1, 1))
        return false;
    struct followed *const to = *room;
    float *p = (float *)(void *)(to + s.n);
    for (size_t i = 0; i < s.n; i++) {
        const float *now = f->p + s.at[i];
        to[i] = (struct followed){.id = cand_row_id(c, s.at[i]), .p = p};
        *p++ = *now;
        for (size_t k = 0; k < n_lines; k++) {
            if (line[k].enabled) // what is off changes nothing
                now = f->p + (k + 1) * f->n_row + s.at[i];
            if (line[k].enabled || all)
                *p++ = *now;
        }
        if (c->state == CAND_PROBABILITIES && *now >= 0.0f)
            to[i].share = share_of(c, to[i].id, UINT32_MAX);
    }
    record->followed = to;
    record->n_followed = s.n;
    return true;
}
