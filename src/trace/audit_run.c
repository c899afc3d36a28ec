// SPDX-License-Identifier: MIT
#include "trace/audit_run.h"

#include "base/mem.h"
#include "trace/audit.h"
#include "trace/significance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void audit_run_free(struct audit_run *a) { free(a->row); }

bool audit_run_add(struct audit_run *a, uint64_t sequence, const struct audited *x)
{
    const struct audit_row row = {sequence, x ? audited_clipped(x, a->clip) : NAN};
    if (!mem_push(&a->row, &a->rows, &a->cap, &row, sizeof row))
        return false;
    a->bad += !x;
    if (!x)
        return true;
    if (isnan(row.margin)) {
        a->unknown++;
        return true;
    }
    a->known++;
    a->matches += x->match;
    a->outside += x->place == PLACE_OUTSIDE;
    a->chance += x->chance;
    return true;
}

// ---- means

enum { SEQUENCES_LEAST = 20, GROUP_ROWS = 32, GROUPS_LEAST = 8 };

struct member {
    uint64_t sequence;
    size_t at; // index of the row
    double x;
};

static int by_sequence(const void *a, const void *b)
{
    const struct member *const m = a, *const n = b;
    if (m->sequence != n->sequence)
        return m->sequence < n->sequence ? -1 : 1;
    return m->at < n->at ? -1 : m->at > n->at;
}

// Cuts sorted members into groups of at most `most` of one sequence. Returns the sum of the squares of the groups' sums
// of deviations, and the number of groups in *groups.
static double squared_sums(const struct member *m, size_t n, double mean, size_t most, size_t *groups)
{
    double total = 0.0, sum = 0.0;
    *groups = 0;
    for (size_t i = 0, in_group = 0; i < n; i++) {
        sum += m[i].x - mean;
        if (++in_group < most && i + 1 < n && m[i + 1].sequence == m[i].sequence)
            continue;
        total += sum * sum;
        sum = 0.0;
        in_group = 0;
        ++*groups;
    }
    return total;
}

// Returns the standard error of the mean of n members from the squared sums of k groups.
static double error_of(double squares, size_t k, size_t n)
{
    return k > 1 ? sqrt(squares * (double)k / (double)(k - 1)) / (double)n : NAN;
}

// Sorts the members, and fills in their mean and its error.
static struct audit_mean mean_of(struct member *m, size_t n)
{
    struct audit_mean to = {.mean = NAN, .error = NAN};
    double sum = 0.0;
    size_t groups, rows;
    for (size_t i = 0; i < n; i++)
        sum += m[i].x;
    if (!n)
        return to;
    to.mean = sum / (double)n;
    qsort(m, n, sizeof *m, by_sequence);
    to.error = error_of(squared_sums(m, n, to.mean, 1, &rows), n, n);
    to.df = (double)n - 1.0;
    double squares = squared_sums(m, n, to.mean, SIZE_MAX, &groups);
    if (groups < SEQUENCES_LEAST)
        squares = squared_sums(m, n, to.mean, GROUP_ROWS, &groups);
    const double of_groups = groups < GROUPS_LEAST ? 0.0 : error_of(squares, groups, n);
    if (of_groups > to.error) {
        to.error = of_groups;
        to.df = (double)groups - 1.0;
    }
    return to;
}

bool audit_run_mean(const struct audit_run *a, const struct audit_run *from, uint64_t *n, struct audit_mean *to)
{
    struct member *const m = calloc(a->rows + 1, sizeof *m);
    size_t members = 0;
    assert(!from || from->rows == a->rows);
    for (size_t i = 0; m && i < a->rows; i++) {
        const double x = a->row[i].margin - (from ? from->row[i].margin : 0.0);
        if (!isnan(x))
            m[members++] = (struct member){a->row[i].sequence, i, x};
    }
    *n = members;
    if (m)
        *to = mean_of(m, members);
    free(m);
    return m != NULL;
}

// ---- the comparison with a trusted run

// Welch's test of a mean against a smaller one.
static double welch_p(const struct audit_mean *a, const struct audit_mean *b)
{
    const double v = a->error * a->error, w = b->error * b->error;
    if (isnan(v + w))
        return NAN;
    if (!(v + w > 0.0))
        return a->mean > b->mean ? 0.0 : 1.0;
    return student_p((a->mean - b->mean) / sqrt(v + w), (v + w) * (v + w) / (v * v / a->df + w * w / b->df));
}

// Returns the least drop of the share of matches below the trusted run's with which Fisher's test finds it four times
// in five: the share at which a run has, with that probability, no more matches than the test still rejects.
static double drop_shown(const struct audit_run *a, const struct audit_run *trusted, double limit)
{
    const double share = (double)trusted->matches / (double)trusted->known;
    uint64_t least = 0, most = a->known; // the test rejects fewer than `least` matches, and not `most`
    while (least < most) {
        const uint64_t middle = least + (most - least) / 2;
        if (fisher_p(middle, a->known, trusted->matches, trusted->known) < limit)
            least = middle + 1;
        else
            most = middle;
    }
    if (!least)
        return NAN;
    double low = 0.0, high = share;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2.0;
        *(binomial_p(least - 1, a->known, middle) >= 0.8 ? &low : &high) = middle;
    }
    return share - low;
}

bool audit_compare(const struct audit_run *a, const struct audit_run *trusted, double limit, struct audit_tests *to)
{
    struct audit_mean mean, of_trusted;
    uint64_t n;
    if (!audit_run_mean(a, NULL, &n, &mean) || !audit_run_mean(trusted, NULL, &n, &of_trusted))
        return false;
    to->match = fisher_p(a->matches, a->known, trusted->matches, trusted->known);
    to->outside = fisher_p(a->known - a->outside, a->known, trusted->known - trusted->outside, trusted->known);
    to->margin = welch_p(&mean, &of_trusted);
    to->differs = to->match < limit / 3.0 || to->outside < limit / 3.0 || to->margin < limit / 3.0;
    to->shows = drop_shown(a, trusted, limit / 3.0);
    return true;
}
