// SPDX-License-Identifier: MIT
#include "base/idmap.h"

#include "base/mem.h"

#include <stdlib.h>

void idmap_free(struct idmap *m)
{
    free(m->id);
    hash_free(&m->numbers);
    *m = (struct idmap){0};
}

// A table that once held many more ids than now is not swept for the few.
void idmap_clear(struct idmap *m)
{
    if (m->numbers.slots <= 16 * m->n)
        hash_clear(&m->numbers);
    else
        for (size_t i = 0; i < m->n; i++)
            hash_remove(&m->numbers, hash_id(m->id[i]), (uint32_t)i);
    m->n = 0;
}

static inline size_t find(const struct idmap *m, uint32_t id, uint32_t hash, size_t *at)
{
    size_t i;
    *at = hash;
    do
        i = hash_next(&m->numbers, hash, at);
    while (i != HASH_NONE && m->id[i] != id);
    return i;
}

size_t idmap_find(const struct idmap *m, uint32_t id)
{
    size_t at;
    return m->n ? find(m, id, hash_id(id), &at) : IDMAP_NONE;
}

size_t idmap_add(struct idmap *m, uint32_t id)
{
    const uint32_t hash = hash_id(id);
    size_t at;
    const size_t known = find(m, id, hash, &at);
    if (known != IDMAP_NONE)
        return known;
    if (!mem_grow(&m->id, &m->cap, m->n + 1, sizeof *m->id) || !hash_add_at(&m->numbers, hash, (uint32_t)m->n, at))
        return IDMAP_NONE;
    m->id[m->n] = id;
    return m->n++;
}
