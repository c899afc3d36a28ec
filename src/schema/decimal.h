// SPDX-License-Identifier: MIT
// Decimal numbers as they are written in JSON, exactly.
#ifndef SAMPL_SCHEMA_DECIMAL_H
#define SAMPL_SCHEMA_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#define DECIMAL_DIGITS 64

// (negative ? -1 : 1) * 0.d[0]d[1]...d[n-1] * 10^point. d[0] and d[n-1] are not '0'; zero has n = 0, point = 0 and no sign.
struct decimal {
    bool negative;
    int n;
    int64_t point;
    char d[DECIMAL_DIGITS];
};

// Reads a JSON number. False when it has more digits than fit.
bool decimal_read(struct decimal *x, const char *text);

// Negative, zero or positive as a < b, a = b, a > b.
int decimal_compare(const struct decimal *a, const struct decimal *b);

bool decimal_is_integer(const struct decimal *x);

#endif
