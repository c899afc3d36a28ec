// SPDX-License-Identifier: MIT
#include "schema/range.h"

#include "schema/digits.h"

#include <string.h>

#define FRACTION_MOST 60 // each digit takes two brackets

// A decimal's digits before and after the point.
struct parts {
    struct digits whole;
    int n; // digits of the fraction
    char fraction[FRACTION_MOST];
};

static bool split(const struct decimal *x, struct parts *p)
{
    *p = (struct parts){0};
    if (x->point > DIGITS_MOST || x->n - x->point > FRACTION_MOST)
        return false;
    for (int i = 0; i < x->point; i++)
        p->whole.d[p->whole.n++] = i < x->n ? x->d[i] : '0';
    if (!p->whole.n)
        p->whole.d[p->whole.n++] = '0';
    for (int64_t i = x->point; i < 0; i++)
        p->fraction[p->n++] = '0';
    for (int64_t i = x->point > 0 ? x->point : 0; i < x->n; i++)
        p->fraction[p->n++] = x->d[i];
    return true;
}

static bool is_zero(const struct digits *x)
{
    return x->d[0] == '0';
}

// A bound on integers: sign and size.
struct bound {
    bool given, negative;
    struct digits size;
};

// The least integer at or above the limit; for a limit from above, the negative of it is given and taken.
static bool round_up(const struct limit *at, bool negate, struct bound *b)
{
    struct parts p;
    *b = (struct bound){.given = at->given};
    if (!at->given)
        return true;
    if (!split(&at->x, &p))
        return false;
    b->negative = at->x.n && at->x.negative != negate;
    b->size = p.whole;
    if (!b->negative && (p.n || at->exclusive))
        digits_add_one(&b->size);
    if (b->negative && !p.n && at->exclusive)
        digits_take_one(&b->size);
    b->negative = negate != (b->negative && !is_zero(&b->size));
    if (is_zero(&b->size))
        b->negative = false;
    return true;
}

static bool is_below(const struct bound *a, const struct bound *b)
{
    if (a->negative != b->negative)
        return a->negative;
    const int order = digits_compare(&a->size, &b->size);
    return a->negative ? order > 0 : order < 0;
}

enum range range_integers(struct text *t, const struct limit *lo_limit, const struct limit *hi_limit)
{
    const struct digits zero = {1, "0"};
    struct bound lo, hi;
    if (!round_up(lo_limit, false, &lo) || !round_up(hi_limit, true, &hi))
        return RANGE_LARGE;
    if (lo.given && hi.given && is_below(&hi, &lo))
        return RANGE_EMPTY;
    if (!t)
        return RANGE_OK;
    const bool negative = !lo.given || lo.negative, positive = !hi.given || !hi.negative;
    if (negative) {
        text_string(t, "\"-\" (");
        digits_naturals(t, hi.given && hi.negative ? &hi.size : &zero, lo.given ? &lo.size : NULL);
        text_string(t, positive ? ") | " : ")");
    }
    if (positive)
        digits_naturals(t, lo.given && !lo.negative ? &lo.size : &zero, hi.given ? &hi.size : NULL);
    return RANGE_OK;
}

// Numbers from lo to hi, none negative; NULL: from 0, or without end.
struct sizes {
    const struct parts *lo, *hi;
    bool lo_strict, hi_strict;
};

static void add_alternative(struct text *t, bool *first)
{
    text_string(t, *first ? "" : " | ");
    *first = false;
}

static void add_whole(struct text *t, const struct digits *x)
{
    text_string(t, "\"");
    text_bytes(t, x->d, (size_t)x->n);
    text_string(t, "\"");
}

static void add_sizes(struct text *t, const struct sizes *s)
{
    const struct digits zero = {1, "0"};
    const struct edge open = {.open = true};
    const struct edge from = s->lo ? (struct edge){false, s->lo_strict, s->lo->fraction, s->lo->n} : open;
    const struct edge to = s->hi ? (struct edge){false, s->hi_strict, s->hi->fraction, s->hi->n} : open;
    struct digits a = s->lo ? s->lo->whole : zero, b = s->hi ? s->hi->whole : zero;
    const bool low = s->lo && (s->lo->n || s->lo_strict); // a binds the fraction after it
    bool first = true;
    if (s->hi && !digits_compare(&a, &b)) {
        add_whole(t, &a);
        fraction_suffix(t, from, to);
        return;
    }
    if (low) {
        add_alternative(t, &first);
        add_whole(t, &a);
        fraction_suffix(t, from, open);
        digits_add_one(&a);
    }
    if (!s->hi || digits_compare(&a, &b) < 0) {
        if (s->hi)
            digits_take_one(&b);
        add_alternative(t, &first);
        text_string(t, "(");
        digits_naturals(t, &a, s->hi ? &b : NULL);
        text_string(t, ")");
        fraction_suffix(t, open, open);
    }
    if (s->hi && fraction_exists(open, to)) {
        add_alternative(t, &first);
        add_whole(t, &s->hi->whole);
        fraction_suffix(t, open, to);
    }
}

enum range range_decimals(struct text *t, const struct limit *lo, const struct limit *hi)
{
    struct parts from, to;
    if ((lo->given && !split(&lo->x, &from)) || (hi->given && !split(&hi->x, &to)))
        return RANGE_LARGE;
    const int order = lo->given && hi->given ? decimal_compare(&lo->x, &hi->x) : -1;
    if (order > 0 || (!order && (lo->exclusive || hi->exclusive)))
        return RANGE_EMPTY;
    if (!t)
        return RANGE_OK;
    const bool below = hi->given && (hi->x.negative || (!hi->x.n && hi->exclusive)); // all are negative
    const bool above = lo->given && !lo->x.negative;                                 // none is
    if (!above) {
        const struct sizes s = {below ? &to : NULL, lo->given ? &from : NULL, below && hi->exclusive, lo->exclusive};
        text_string(t, "\"-\" (");
        add_sizes(t, &s);
        text_string(t, below ? ")" : ") | ");
    }
    if (!below) {
        const struct sizes s = {above ? &from : NULL, hi->given ? &to : NULL, above && lo->exclusive, hi->exclusive};
        add_sizes(t, &s);
    }
    return RANGE_OK;
}
