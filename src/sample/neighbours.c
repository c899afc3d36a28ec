// SPDX-License-Identifier: MIT
#include "sample/neighbours.h"

#include "base/mem.h"
#include "kern/libm.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Writes a token's vector to `to`, [width] numbers. id < e->n.
static void write_vector(const struct embeddings *e, const struct kern *kern, size_t id, float *to)
{
    const unsigned char *from = e->data + id * e->bytes;
    assert(id < e->n);
    if (!e->blocks) {
        kern->widen[e->type](to, from, e->width);
        return;
    }
    for (size_t i = 0; i < e->width; i += EMBEDDING_BLOCK, from += EMBEDDING_BLOCK_BYTES) {
        const float scale = row_element(from, DTYPE_F16, 0);
        for (size_t k = 0; k < EMBEDDING_BLOCK; k++)
            to[i + k] = scale * (float)(signed char)from[2 + k];
    }
}

// ---- vectors of length 1

// Returns how many numbers a vector has in memory: its width, rounded up for the kernel.
static size_t padded_width(const struct embeddings *e)
{
    return (e->width + KERN_DOT_LANES - 1) / KERN_DOT_LANES * KERN_DOT_LANES;
}

// Writes the vector of a token, scaled to length 1, with zeros behind it. Returns its length before; 0 for zeros. The
// length is not finite if a number is not, or if the sum of the squares overflows f32.
static float load_unit(float *to, const struct embeddings *e, const struct kern *kern, size_t id)
{
    const size_t width = padded_width(e);
    float square;
    memset(to + e->width, 0, (width - e->width) * sizeof *to);
    write_vector(e, kern, id, to);
    kern->dots(&square, to, 1, to, 1, width);
    const float length = sqrtf(square);
    if (length > 0.0f)
        kern->multiply(to, width, 1.0f / length);
    return length;
}

// Begins to fetch the vector of a token into the cache, as vectors lie anywhere in the memory.
static void prefetch_vector(const struct embeddings *e, size_t id)
{
    enum { LINE = 64 };
    for (size_t at = 0; id < e->n && at < e->bytes; at += LINE)
        __builtin_prefetch(e->data + id * e->bytes + at);
}

// Loads the vectors of all candidates. Sets near->sum. Returns NULL after a fault.
static float *load_vectors(struct neighbours *near, struct cand *c, const struct embeddings *e)
{
    const size_t width = padded_width(e);
    float *const vector = cand_scratch(c, near->n * width, sizeof *vector);
    for (size_t i = 0; i < near->n && !c->fault.code; i++) {
        const uint32_t id = c->id[i];
        if (id >= e->n || (c->n_vocab && c->n_vocab != e->n)) {
            cand_fail(c, FAULT_EMBEDDINGS, e->n);
            break;
        }
        if (i + 1 < near->n)
            prefetch_vector(e, c->id[i + 1]);
        const float length = load_unit(vector + i * width, e, c->kern, id);
        near->sum[i] = length > 0.0f;
        if (!(length < INFINITY))
            cand_fail(c, FAULT_VECTOR, id);
    }
    return c->fault.code ? NULL : vector;
}

// ---- neighbours

// Returns the distance of two vectors of length 1 by their dot product, which rounding may take beyond 1.
static float distance_of(float dot, enum distance_metric metric)
{
    const float d = metric == METRIC_L2 ? 2.0f - 2.0f * dot : 1.0f - dot, floor = d > 0.0f ? d : 0.0f;
    return metric == METRIC_L2 ? sqrtf(floor) : floor;
}

// Adds a candidate to the neighbours of candidate i, unless as many are nearer. Candidates come by rank, so that of
// equal ones the first stays before the other.
static void add_neighbour(struct neighbours *near, size_t i, size_t at, float distance)
{
    struct neighbour *const of = near->of + i * near->most;
    size_t n = near->count[i];
    if (n == near->most && !(distance < of[n - 1].distance))
        return;
    n -= n == near->most;
    near->count[i] = n + 1;
    for (; n && distance < of[n - 1].distance; n--)
        of[n] = of[n - 1];
    of[n] = (struct neighbour){.distance = distance, .at = (uint32_t)at};
}

enum { TILE = 4 }; // vectors whose dot products with all others are computed at a time

// Visits each pair (i, k) once, when i is in the tile. Each candidate meets the others by rank: first those before it,
// as their k, then those behind it.
static void find_pairs(struct neighbours *near, const struct kern *kern, const struct embeddings *e,
                       const float *vector, const unsigned char *group, float *dot)
{
    const size_t n = near->n, width = padded_width(e);
    for (size_t first = 0; first < n; first += TILE) {
        const size_t rows = n - first < TILE ? n - first : TILE, columns = n - first;
        kern->dots(dot, vector + first * width, rows, vector + first * width, columns, width);
        for (size_t i = first; i < first + rows; i++)
            for (size_t k = i + 1; k < n; k++) {
                if (near->sum[i] == 0.0 || near->sum[k] == 0.0 || (group && group[i] != group[k]))
                    continue;
                const float distance = distance_of(dot[(i - first) * columns + k - first], e->metric);
                add_neighbour(near, i, k, distance);
                add_neighbour(near, k, i, distance);
            }
    }
}

bool neighbours_find(struct neighbours *near, struct cand *c, const struct embeddings *e, const unsigned char *group,
                     size_t most)
{
    const size_t n = c->n;
    assert(n > 1 && most);
    *near = (struct neighbours){.n = n, .most = most < n ? most : n - 1};
    near->of = cand_scratch(c, n * near->most, sizeof *near->of);
    near->count = cand_scratch(c, n, sizeof *near->count);
    near->sum = cand_scratch(c, n, sizeof *near->sum);
    float *const dot = cand_scratch(c, n * TILE, sizeof *dot);
    const float *const vector = c->fault.code ? NULL : load_vectors(near, c, e);
    if (!vector)
        return false;
    memset(near->count, 0, n * sizeof *near->count);
    find_pairs(near, c->kern, e, vector, group, dot);
    return true;
}

// ---- weights

float neighbours_width(const struct neighbours *near, double *spare)
{
    size_t n = 0;
    for (size_t i = 0; i < near->n; i++)
        if (near->count[i])
            spare[n++] = near->of[i * near->most + near->count[i] - 1].distance;
    qsort(spare, n, sizeof *spare, order_f64);
    return n ? (float)spare[(n - 1) / 2] : 0.0f;
}

void neighbours_weigh(struct neighbours *near, double sigma)
{
    for (size_t i = 0; i < near->n; i++) {
        struct neighbour *const of = near->of + i * near->most;
        if (sigma == 0.0)
            near->count[i] = 0;
        near->sum[i] = 1.0;
        for (size_t k = 0; k < near->count[i]; k++) {
            const double d = of[k].distance;
            of[k].weight = libm_exp(-d * d / (2.0 * sigma * sigma));
            near->sum[i] += of[k].weight;
        }
    }
}

void neighbours_mix(const struct neighbours *near, double *q, const double *p)
{
    for (size_t i = 0; i < near->n; i++) {
        const struct neighbour *const of = near->of + i * near->most;
        double sum = p[i];
        for (size_t k = 0; k < near->count[i]; k++)
            sum += of[k].weight * p[of[k].at];
        q[i] = sum / near->sum[i];
    }
}
