// SPDX-License-Identifier: MIT
// The nearest neighbours of a row's candidates among each other, by the vectors of their tokens.
#ifndef SAMPL_SAMPLE_NEIGHBOURS_H
#define SAMPL_SAMPLE_NEIGHBOURS_H

#include "sample/cand.h"
#include "sample/embeddings.h"

struct neighbour {
    float distance; // as embeddings->metric says
    uint32_t at;    // its position in the list
    double weight;  // exp(-distance^2 / (2 sigma^2))
};

// A neighbour of a candidate is one of the `most` nearest other candidates; of equal distances, that of better rank is
// nearer. A vector of zeros has no neighbours and is none.
struct neighbours {
    size_t n, most;
    struct neighbour *of; // [n * most] those of candidate i from of[i * most] on, the nearest first
    size_t *count;        // [n] how many it has
    double *sum; // [n] 1 and the weights of its neighbours; before neighbours_weigh 0 for a vector of zeros, else 1
};

// Finds the neighbours of the candidates of a sorted list, most > 0. group[i]: only candidates of the same group are
// neighbours; NULL: all are of one. The memory is scratch of c, for which this asks five times. Records a fault when
// memory is short, when the row's width is not e->n, or when a vector is not finite or its squares overflow f32.
// Returns false after a fault. O(n^2 * e->width).
bool neighbours_find(struct neighbours *near, struct cand *c, const struct embeddings *e, const unsigned char *group,
                     size_t most);

// Returns the width that the row's distances suggest: the lower median, over the candidates with neighbours, of the
// distance to the farthest neighbour. 0 if no candidate has neighbours. spare: [n] scratch. O(n^2).
float neighbours_width(const struct neighbours *near, double *spare);

// Sets the weights. sigma 0: no neighbour has weight. O(n * most).
void neighbours_weigh(struct neighbours *near, double sigma);

// q[i] = (p[i] + the neighbours' weight * p, the nearest first) / sum[i]. O(n * most).
void neighbours_mix(const struct neighbours *near, double *q, const double *p);

#endif
