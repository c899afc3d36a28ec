// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void hash_free(struct hash_table *t)
{
    free(t->slot);
    *t = (struct hash_table){0};
}

static void place_slot(struct hash_slot *slot, size_t slots, struct hash_slot s)
{
    size_t at = s.hash & (slots - 1);
    while (slot[at].item)
        at = (at + 1) & (slots - 1);
    slot[at] = s;
}

static bool enlarge(struct hash_table *t)
{
    const size_t slots = t->slots ? t->slots * 2 : 16;
    struct hash_slot *const slot = slots > t->slots ? calloc(slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    for (size_t i = 0; i < t->slots; i++)
        if (t->slot[i].item)
            place_slot(slot, slots, t->slot[i]);
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    return true;
}

bool hash_add(struct hash_table *t, uint32_t hash, uint32_t item)
{
    assert(item < UINT32_MAX);
    if (2 * (t->n + 1) > t->slots && !enlarge(t))
        return false;
    place_slot(t->slot, t->slots, (struct hash_slot){hash, item + 1});
    t->n++;
    return true;
}

// Slots after the free one move up unless that would put them before their own place (Knuth, volume 3, algorithm 6.4
// R).
void hash_remove(struct hash_table *t, uint32_t hash, uint32_t item)
{
    const size_t mask = t->slots - 1;
    size_t gap = hash & mask;
    while (t->slot[gap].item != item + 1) {
        assert(t->slot[gap].item);
        gap = (gap + 1) & mask;
    }
    for (size_t at = (gap + 1) & mask; t->slot[at].item; at = (at + 1) & mask) {
        const size_t wanted = t->slot[at].hash & mask;
        if (((at - wanted) & mask) >= ((at - gap) & mask)) {
            t->slot[gap] = t->slot[at];
            gap = at;
        }
    }
    t->slot[gap] = (struct hash_slot){0};
    t->n--;
}

// Eight bytes at a time, each step of the kind that MurmurHash2 takes (Appleby).
uint32_t hash_bytes(const void *p, size_t n)
{
    const unsigned char *const bytes = p;
    uint64_t h = n;
    for (size_t at = 0; at < n; at += sizeof h) {
        uint64_t word = 0;
        if (n - at >= sizeof word)
            memcpy(&word, bytes + at, sizeof word); // one instruction
        else
            memcpy(&word, bytes + at, n - at);
        h = (h ^ word) * UINT64_C(0xc6a4a7935bd1e995);
        h ^= h >> 47;
    }
    return (uint32_t)(h ^ h >> 29);
}

void idmap_free(struct idmap *m)
{
    free(m->id);
    hash_free(&m->numbers);
    *m = (struct idmap){0};
}

// A table that once held many more ids than now goes, so that it is not swept for the few.
void idmap_clear(struct idmap *m)
{
    struct hash_table *const t = &m->numbers;
    if (t->slots > 64 * t->n)
        hash_free(t);
    else if (t->slots)
        memset(t->slot, 0, t->slots * sizeof *t->slot);
    t->n = m->n = 0;
}

size_t idmap_find(const struct idmap *m, uint32_t id)
{
    const uint32_t hash = hash_id(id);
    size_t at = hash, i = IDMAP_NONE;
    while (m->n && (i = hash_next(&m->numbers, hash, &at)) != IDMAP_NONE && m->id[i] != id)
        continue;
    return i;
}

size_t idmap_add(struct idmap *m, uint32_t id)
{
    const size_t known = idmap_find(m, id);
    if (known != IDMAP_NONE)
        return known;
    if (!mem_grow(&m->id, &m->cap, m->n + 1, sizeof *m->id) || !hash_add(&m->numbers, hash_id(id), (uint32_t)m->n))
        return IDMAP_NONE;
    m->id[m->n] = id;
    return m->n++;
}
