// SPDX-License-Identifier: MIT
#include "schema/digits.h"

#include <string.h>

void digits_add_one(struct digits *x)
{
    int i = x->n;
    while (i > 0 && x->d[i - 1] == '9')
        x->d[--i] = '0';
    if (i > 0) {
        x->d[i - 1]++;
        return;
    }
    memmove(x->d + 1, x->d, (size_t)x->n++);
    x->d[0] = '1';
}

void digits_take_one(struct digits *x)
{
    int i = x->n;
    while (x->d[i - 1] == '0')
        x->d[--i] = '9';
    x->d[i - 1]--;
    if (x->n > 1 && x->d[0] == '0')
        memmove(x->d, x->d + 1, (size_t)--x->n);
}

int digits_compare(const struct digits *a, const struct digits *b)
{
    return a->n != b->n ? a->n - b->n : memcmp(a->d, b->d, (size_t)a->n);
}

static void add_class(struct text *t, char lo, char hi)
{
    const char between[5] = {'[', lo, '-', hi, ']'}, one[3] = {'"', lo, '"'};
    if (lo == hi)
        text_bytes(t, one, sizeof one);
    else
        text_bytes(t, between, sizeof between);
}

static void add_any(struct text *t, uint64_t min, uint64_t max)
{
    if (!max)
        return;
    text_string(t, " ");
    text_repeat(t, "[0-9]", min, max);
}

static bool all_are(const char *d, int n, char c)
{
    for (int i = 0; i < n; i++)
        if (d[i] != c)
            return false;
    return true;
}

// Strings of n digits from a to b, n > 0, a <= b. Brackets where alternatives stand within a sequence.
static void same_length(struct text *t, const char *a, const char *b, int n, bool within)
{
    int same = 0;
    while (same < n && a[same] == b[same])
        same++;
    if (same) {
        text_string(t, "\"");
        text_bytes(t, a, (size_t)same);
        text_string(t, "\"");
        if (same < n) {
            text_string(t, " ");
            same_length(t, a + same, b + same, n - same, true);
        }
        return;
    }
    char least[DIGITS_MOST + 2], most[DIGITS_MOST + 2];
    memset(least, '0', sizeof least);
    memset(most, '9', sizeof most);
    const bool low = !all_are(a + 1, n - 1, '0'), high = !all_are(b + 1, n - 1, '9');
    const char lo = (char)(a[0] + low), hi = (char)(b[0] - high);
    within = within && (low || high);
    text_string(t, within ? "(" : "");
    if (low) {
        add_class(t, a[0], a[0]);
        text_string(t, " ");
        same_length(t, a + 1, most, n - 1, true);
    }
    if (lo <= hi) {
        text_string(t, low ? " | " : "");
        add_class(t, lo, hi);
        add_any(t, (uint64_t)n - 1, (uint64_t)n - 1);
    }
    if (high) {
        text_string(t, low || lo <= hi ? " | " : "");
        add_class(t, b[0], b[0]);
        text_string(t, " ");
        same_length(t, least, b + 1, n - 1, true);
    }
    text_string(t, within ? ")" : "");
}

void digits_naturals(struct text *t, const struct digits *a, const struct digits *b)
{
    char least[DIGITS_MOST + 2], most[DIGITS_MOST + 2];
    memset(least, '0', sizeof least);
    memset(most, '9', sizeof most);
    least[0] = '1';
    if (b && a->n == b->n) {
        same_length(t, a->d, b->d, a->n, false);
        return;
    }
    const uint64_t longer = (uint64_t)a->n; // digits after the first, of the next length
    if (a->n == 1 && a->d[0] == '0' && !b) {
        text_string(t, "\"0\" | [1-9] [0-9]*");
        return;
    }
    same_length(t, a->d, most, a->n, false);
    if (!b) {
        text_string(t, " | [1-9]");
        add_any(t, longer, UINT64_MAX);
        return;
    }
    if (b->n - a->n > 1) {
        text_string(t, " | [1-9]");
        add_any(t, longer, (uint64_t)b->n - 2);
    }
    text_string(t, " | ");
    same_length(t, least, b->d, b->n, false);
}

bool fraction_exists(struct edge lo, struct edge hi)
{
    if (hi.open)
        return true;
    if (lo.open)
        return hi.n || !hi.strict;
    const int order = memcmp(lo.d, hi.d, (size_t)(lo.n < hi.n ? lo.n : hi.n));
    const int difference = order ? order : lo.n - hi.n;
    return difference < 0 || (!difference && !lo.strict && !hi.strict);
}

static struct edge next_edge(struct edge e)
{
    if (!e.open && e.n) {
        e.d++;
        e.n--;
    }
    return e;
}

// Is 0, that is, no more digits, above or at lo?
static bool takes_zero(struct edge lo)
{
    return lo.open || (!lo.n && !lo.strict);
}

// One or more digits of a fraction from lo to hi. One exists.
static void add_fraction(struct text *t, struct edge lo, struct edge hi);

static void add_rest(struct text *t, struct edge lo, struct edge hi)
{
    const bool zero = takes_zero(lo);
    text_string(t, zero ? " (" : " ");
    add_fraction(t, lo, hi);
    text_string(t, zero ? ")?" : "");
}

static void add_fraction(struct text *t, struct edge lo, struct edge hi)
{
    const struct edge open = {.open = true};
    if (hi.open && !lo.open && !lo.n) {
        text_string(t, lo.strict ? "\"0\"* [1-9] [0-9]*" : "[0-9]+");
        return;
    }
    if (hi.open && lo.open) {
        text_string(t, "[0-9]+");
        return;
    }
    if (!hi.open && !hi.n) { // only 0 is left
        text_string(t, "\"0\"+");
        return;
    }
    const char from = lo.open || !lo.n ? '0' : lo.d[0], to = hi.open ? '9' : hi.d[0];
    const bool low = !takes_zero(lo), high = !hi.open; // whether `from` and `to` bind the digits after them
    if (from == to && low && high) {
        add_class(t, from, from);
        add_rest(t, next_edge(lo), next_edge(hi));
        return;
    }
    bool first = true;
    text_string(t, "(");
    if (low && fraction_exists(next_edge(lo), from == to ? next_edge(hi) : open)) {
        add_class(t, from, from);
        add_rest(t, next_edge(lo), from == to ? next_edge(hi) : open);
        first = false;
    }
    if (from + low <= to - high) {
        text_string(t, first ? "" : " | ");
        add_class(t, (char)(from + low), (char)(to - high));
        text_string(t, " [0-9]*");
        first = false;
    }
    const struct edge last = next_edge(hi);
    if (high && !(low && from == to) && fraction_exists(open, last)) {
        text_string(t, first ? "" : " | ");
        add_class(t, to, to);
        add_rest(t, open, last);
    }
    text_string(t, ")");
}

void fraction_suffix(struct text *t, struct edge lo, struct edge hi)
{
    const bool zero = takes_zero(lo);
    text_string(t, zero ? " (" : " ");
    text_string(t, "\".\" ");
    add_fraction(t, lo, hi);
    text_string(t, zero ? ")?" : "");
}
