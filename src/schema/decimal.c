// SPDX-License-Identifier: MIT
#include "schema/decimal.h"

#include <string.h>

#define POINT_MOST 1000000000 // exponents are cut to this; nothing that large or small is ever written out

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int64_t read_exponent(const char *text)
{
    const bool negative = *text == '-';
    int64_t e = 0;
    for (text += *text == '-' || *text == '+'; is_digit(*text); text++)
        if (e < POINT_MOST)
            e = e * 10 + (*text - '0');
    return negative ? -e : e;
}

bool decimal_read(struct decimal *x, const char *text)
{
    bool point = false;
    *x = (struct decimal){.negative = *text == '-'};
    for (text += *text == '-'; is_digit(*text) || *text == '.'; text++) {
        if (*text == '.') {
            point = true;
        } else if (!x->n && *text == '0') {
            x->point -= point;
        } else {
            if (x->n == DECIMAL_DIGITS)
                return false;
            x->d[x->n++] = *text;
            x->point += !point;
        }
    }
    while (x->n && x->d[x->n - 1] == '0')
        x->n--;
    if (*text == 'e' || *text == 'E')
        x->point += read_exponent(text + 1);
    if (!x->n)
        *x = (struct decimal){0};
    return true;
}

static int compare_size(const struct decimal *a, const struct decimal *b)
{
    if (!a->n || !b->n)
        return (a->n > 0) - (b->n > 0);
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    const int order = memcmp(a->d, b->d, (size_t)(a->n < b->n ? a->n : b->n));
    return order ? order : a->n - b->n;
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? compare_size(b, a) : compare_size(a, b);
}

bool decimal_is_integer(const struct decimal *x)
{
    return x->point >= x->n;
}
