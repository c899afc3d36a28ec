// SPDX-License-Identifier: MIT
// Sums in order, as one element after the other gives them, without adding one element after the other.
//
// Let s lie in the binade [2^e, 2^(e+1)), where floats are multiples of one ulp u. As long as the sum stays there, adding x moves s by
// q(x), which is x rounded to a multiple of u, whatever s is; and sums of multiples of u are exact in any order. So a run of elements
// may be rounded and added side by side. Only a tie, an x halfway between two multiples, looks at s: it goes to the even neighbour. Let
// q go to the even one of its own two; then s follows q when it is even, and goes one u the other way round when it is odd. After
// a tie s is even, so what parity a tie meets is that of the q's since the tie before it.
//
// ordered_template.h has the vector code of a tier. What is common to all tiers is here and in ordered.c: when a run is taken side by side,
// and when in scalar code because the sum might leave the binade. For sum_squares x is the square, rounded as f64 addition to s rounds
// it; that never depends on s, which is an even multiple of that finer ulp.
#ifndef SAMPL_KERN_ORDERED_H
#define SAMPL_KERN_ORDERED_H

#include <stddef.h>
#include <stdint.h>

#define ORDERED_TIES 64 // elements that a struct ordered_ties is about

// What a run of elements comes to. In each, elements that the sum leaves out count as 0.
struct ordered_run {
    double sum;  // of q
    double size; // of |q|
    double rest; // the largest |x - q|
};

// One bit an element, the first element lowest.
struct ordered_ties {
    uint64_t up;   // x = q + u/2
    uint64_t down; // x = q - u/2
    uint64_t odd;  // q is an odd multiple of u
};

// One ordered sum in one tier. low is 2^e; n is a multiple of ORDERED_TIES; only squares read mean. A run's sums are exact when its size
// is less than low/2. When some |x| is low/2 or more, the size is not less than low/2, or NaN, and nothing else is promised.
struct ordered {
    double ulp; // u / 2^e
    struct ordered_run (*run)(const float *x, size_t n, float mean, double low);
    int (*steps)(const float *x, size_t n, float mean, double low, unsigned odd); // tie_steps of all; odd: s's parity
    double (*plain)(const float *x, size_t n, float mean, double s);              // in scalar code
};

// By how many ulps a sum departs from the sum of q at these ties; *odd is its parity before the elements, and then after them.
static inline int tie_steps(struct ordered_ties t, unsigned *odd)
{
    uint64_t tied = t.up | t.down;   // here, or in the span of elements before that has been looked at
    uint64_t parity = t.odd & ~tied; // of the sum after each element, if even before the span
    for (int span = 1; span < 64; span *= 2) {
        parity ^= (parity << span) & ~tied;
        tied |= tied << span;
    }
    if (*odd)
        parity ^= ~tied;
    const uint64_t before = parity << 1 | *odd;
    *odd = (unsigned)(parity >> 63);
    return __builtin_popcountll(before & t.up) - __builtin_popcountll(before & t.down);
}

// s + the elements of x, in order.
double ordered_sum(const struct ordered *o, const float *x, size_t n, float mean, double s);

// The plain parts of struct ordered: the scalar tier's kernels.
double plain_sum(const float *x, size_t n, float mean, double s);
double plain_sum_wide(const float *x, size_t n, float mean, double s);
double plain_sum_squares(const float *x, size_t n, float mean, double s);

#endif
