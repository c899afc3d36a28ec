// SPDX-License-Identifier: MIT
// The report of --expect: rows that differ from the expected ones, and why. If all rows agree, the report is empty.
#include "out/output.h"

#include <inttypes.h>
#include <math.h>

// Returns the number of decimals of shares and draws: four, or nine if a bound is so near to the draw that four could
// not tell them apart.
static int decimals(const struct expected *x)
{
    const double bound[] = {x->wanted.low, x->wanted.high, x->chosen.low, x->chosen.high};
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        if (fabs(bound[i] - x->draw) < 1e-3 && bound[i] > 0.0 && bound[i] < 1.0)
            return 9;
    return 4;
}

// Prints what a stage compared with its limit when it removed the token.
static void print_limit(FILE *f, const struct expected *x, const char *limit)
{
    if (!x->rank)
        fprintf(f, ", %s%s%s\n", x->listed ? "below the list" : "not listed", *limit ? "; its limit is " : "", limit);
    else if (x->limits == LIMITS_SUM && isnan(x->reached))
        fprintf(f, ": %s was reached at rank %zu, it has rank %zu\n", limit, x->last, x->rank);
    else if (x->limits == LIMITS_SUM)
        fprintf(f, ": %s was reached at rank %zu (%.8f), it has rank %zu\n", limit, x->last, x->reached, x->rank);
    else if (x->limits == LIMITS_RATIO)
        fprintf(f, ": %.*g of the largest, limit %s\n", x->margin < 1e-4 ? 9 : 3, x->reached, limit);
    else if (x->limits == LIMITS_RANK)
        fprintf(f, ": rank %zu of %s\n", x->rank, limit);
    else
        fprintf(f, " (rank %zu%s%s)\n", x->rank, *limit ? ", limit " : "", limit);
}

static void explain(struct output *out, const struct record *r)
{
    const struct expected *const x = r->expected;
    FILE *const f = out->f;
    const int n = decimals(x);
    char room[NUMBER_TEXT];
    const char *const limit = x->limit.name ? named_text(&x->limit, room) : "";
    if (x->kept && isnan(x->draw))
        fprintf(f, "  %" PRIu32 " is among the %zu kept\n", x->id, r->kept);
    else if (x->kept)
        fprintf(f, "  %" PRIu32 " is among the %zu kept, its share is [%.*f, %.*f)\n", x->id, r->kept, n, x->wanted.low,
                n, x->wanted.high);
    else if (!x->removed_by && !x->listed && r->partial)
        fprintf(f, "  %" PRIu32 " is not listed; it may be among the tokens that are left\n", x->id);
    else if (!x->removed_by)
        fprintf(f, "  %" PRIu32 " is masked in the row\n", x->id);
    else {
        fprintf(f, "  %" PRIu32 " is not among the %zu kept: %s removed it", x->id, r->kept, x->removed_by);
        print_limit(f, x, limit);
    }
    if (!isnan(x->draw))
        fprintf(f, "  draw %.*f lies in %" PRIu32 "'s share [%.*f, %.*f)\n", n, x->draw, r->chosen, n, x->chosen.low, n,
                x->chosen.high);
    if (x->noisy)
        fprintf(f, "  with noise %" PRIu32 " has %.9g, %" PRIu32 " has %.9g, %.3g more\n", x->id, x->wanted_value,
                r->chosen, x->chosen_value, x->chosen_value - x->wanted_value);
    if (x->edge_of)
        fprintf(f, "  without %" PRIu32 ", the last that %s keeps (limit %s), the draw lies in %" PRIu32 "'s\n",
                x->edge, x->edge_of, limit, x->id);
}

static void id(struct output *out, const struct record *r)
{
    if (r->chosen == r->expected->id)
        return;
    if (r->expected->margin <= r->expected->tolerance) {
        out->within++;
        return;
    }
    out->differing++;
    fprintf(out->f, "row %" PRIu64 ": expected ", r->row);
    output_name(out, r->expected->id);
    fputs(", the chain gives ", out->f);
    output_name(out, r->chosen);
    putc('\n', out->f);
    explain(out, r);
}

// Does a number agree with the expected one? A masked token agrees only with a masked one.
static bool agrees(const struct output *out, float got, float expected, double tolerance)
{
    const float masked = out->emit == EMIT_PROBS ? 0.0f : -INFINITY;
    if (got == masked || expected == masked)
        return got == expected;
    return fabs((double)got - expected) <= tolerance * fmax(1.0, fabs((double)expected));
}

static void values(struct output *out, const struct record *r)
{
    const struct expected *const x = r->expected;
    char text[NUMBER_TEXT];
    size_t differ = 0, first = 0;
    for (size_t i = r->n_vocab; i--;)
        if (!agrees(out, r->values[i], x->values[i], x->tolerance)) {
            differ++;
            first = i;
        }
    if (!differ)
        return;
    out->differing++;
    fprintf(out->f, "row %" PRIu64 ": %zu of %zu numbers differ, the first:\n  ", r->row, differ, r->n_vocab);
    output_name(out, (uint32_t)first);
    fprintf(out->f, ": expected %s", number_text(x->values[first], text));
    fprintf(out->f, ", the chain gives %s\n", number_text(r->values[first], text));
    if (x->removed_by && !strcmp(x->removed_by, "row"))
        fprintf(out->f, "  %" PRIu32 " is masked in the row\n", x->id);
    else if (x->removed_by)
        fprintf(out->f, "  %" PRIu32 " is gone: %s removed it\n", x->id, x->removed_by);
}

static void bad(struct output *out, const struct record *r)
{
    out->differing++;
    fprintf(out->f, "row %" PRIu64 ": the chain gives nothing: %s\n", r->row, r->error);
}

static bool finish(struct output *out, bool whole, struct err *e)
{
    (void)whole;
    (void)e;
    if (out->differing || out->within)
        fprintf(out->f, "%" PRIu64 " of %" PRIu64 " rows differ", out->differing, out->records);
    if (out->within)
        fprintf(out->f, ", %" PRIu64 " more within the tolerance", out->within);
    if (out->differing || out->within)
        putc('\n', out->f);
    return true;
}

const struct output_format output_expect = {.name = "expect", .id = id, .values = values, .bad = bad, .finish = finish};
