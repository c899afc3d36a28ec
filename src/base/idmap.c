// SPDX-License-Identifier: MIT
#include "base/idmap.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void idmap_free(struct idmap *m)
{
    free(m->id);
    free(m->slot);
    memset(m, 0, sizeof *m);
}

// Where id is, or the free slot where it belongs. The middle bits of id * 2^64/phi spread runs and multiples alike over the table.
static size_t probe(const struct idmap *m, uint32_t id)
{
    size_t at = (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->slots - 1);
    while (m->slot[at] && m->id[m->slot[at] - 1] != id)
        at = (at + 1) & (m->slots - 1);
    return at;
}

void idmap_clear(struct idmap *m)
{
    // Emptying slot by slot would break the probing of ids not yet removed, so free the slots of the newest ids first: an id's
    // probe sequence only ever passes over ids that were added before it.
    while (m->n) {
        m->slot[probe(m, m->id[m->n - 1])] = 0;
        m->n--;
    }
}

size_t idmap_find(const struct idmap *m, uint32_t id)
{
    if (!m->n)
        return IDMAP_NONE;
    const uint32_t found = m->slot[probe(m, id)];
    return found ? found - 1 : IDMAP_NONE;
}

static bool enlarge(struct idmap *m)
{
    const size_t slots = m->slots ? m->slots * 2 : 64;
    if (slots > SIZE_MAX / sizeof *m->slot)
        return false;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    free(m->slot);
    m->slot = slot;
    m->slots = slots;
    for (size_t i = 0; i < m->n; i++)
        m->slot[probe(m, m->id[i])] = (uint32_t)i + 1;
    return true;
}

size_t idmap_add(struct idmap *m, uint32_t id)
{
    if (2 * (m->n + 1) > m->slots && !enlarge(m))
        return IDMAP_NONE;
    const size_t at = probe(m, id);
    if (m->slot[at])
        return m->slot[at] - 1;
    if (!mem_grow(&m->id, &m->cap, m->n + 1, sizeof *m->id))
        return IDMAP_NONE;
    m->id[m->n] = id;
    m->slot[at] = (uint32_t)++m->n;
    return m->n - 1;
}
