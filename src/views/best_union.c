// SPDX-License-Identifier: MIT
#include "views/best_union.h"

#include "base/mem.h"
#include "out/token_text.h"

#include <math.h>
#include <stdlib.h>

void best_union_free(struct best_union *u)
{
    idmap_free(&u->ids);
    free(u->token);
    free(u->p);
}

// Adds the ids of a record that every table of the row has: the best, the chosen and the accepted one. False if memory
// is short.
static bool add_ids(struct idmap *ids, const struct record *r)
{
    bool ok = idmap_add(ids, r->chosen) != IDMAP_NONE;
    for (size_t k = 0; ok && k < r->shown; k++)
        ok = idmap_add(ids, r->ranked[k].id) != IDMAP_NONE;
    return ok && (r->accepted < 0 || idmap_add(ids, (uint32_t)r->accepted) != IDMAP_NONE);
}

bool best_union_find(struct best_union *u, const struct job *j, const struct result *res)
{
    const size_t chains = j->variants->n;
    idmap_clear(&u->ids);
    for (size_t i = 0; i < chains; i++)
        if (res[i].ok && !add_ids(&u->ids, &res[i].record))
            return false;
    const size_t n = u->ids.n;
    if (!mem_grow(&u->token, &u->token_cap, n + 1, sizeof *u->token) ||
        !mem_grow(&u->p, &u->p_cap, n * chains + 1, sizeof *u->p))
        return false;
    for (size_t k = 0; k < n * chains; k++)
        u->p[k] = -1.0f; // removed
    for (size_t k = 0; k < n; k++)
        u->token[k] = (struct union_token){.best.id = u->ids.id[k], .p = u->p + k * chains};
    for (size_t i = 0; i < chains; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.kept; k++) {
            const struct ranked *const c = &res[i].record.ranked[k];
            const size_t at = idmap_find(&u->ids, c->id);
            if (at == IDMAP_NONE)
                continue;
            u->p[at * chains + i] = c->p;
            u->token[at].best.p = fmaxf(u->token[at].best.p, c->p);
        }
    qsort(u->token, n, sizeof *u->token, ranked_order); // `best` is the first member
    u->n = n;
    return true;
}

const char *chain_removed_by(const struct result *res, uint32_t id, char text[NUMBER_TEXT])
{
    return res->record.error ? "-" : result_removed_by(res, id, text);
}

// ---- columns of text

size_t names_width(const struct job *j, size_t most)
{
    size_t width = 4;
    for (size_t i = 0; i < j->variants->n; i++) {
        const size_t wide = text_clip(NULL, text_piece(variant_label(j->variants, i)), 0, most);
        width = wide > width ? wide : width;
    }
    return width;
}

size_t block_end(const struct dest *d, size_t (*width)(const void *arg, size_t column), const void *arg, size_t n,
                 size_t first, size_t used)
{
    size_t last = first;
    do
        used += 1 + width(arg, last++);
    while (last < n && used + 1 + width(arg, last) <= window_columns(d));
    return last;
}
