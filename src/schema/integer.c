// SPDX-License-Identifier: MIT
// The expression of integers between bounds. Without one of the bounds, they have up to 16 digits.
#include "schema/convert.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define TOP_DIGITS 16
// Bounds are int64_t modulo 2^64.
#define LOWEST  (UINT64_C(1) << 63) // no lower bound
#define HIGHEST (LOWEST - 1)        // no upper bound

static uint32_t digit(struct exprs *x, unsigned first, unsigned last)
{
    return expr_character(x, '0' + first, '0' + last);
}

// An expression for min to max digits. EXPR_NOTHING if min > max.
static uint32_t any_digits(struct exprs *x, unsigned min, unsigned max)
{
    return min > max ? EXPR_NOTHING : expr_repeat(x, digit(x, 0, 9), min, max);
}

static uint64_t power(unsigned n)
{
    uint64_t p = 1;
    while (n--)
        p *= 10;
    return p;
}

// The numbers from low to high, each written with exactly n digits (leading zeros included).
static uint32_t same_length(struct exprs *x, uint64_t low, uint64_t high, unsigned n)
{
    assert(low <= high);
    if (!n)
        return expr_literal(x, "");
    const uint64_t unit = power(n - 1);
    unsigned first = (unsigned)(low / unit), last = (unsigned)(high / unit);
    const uint64_t low_rest = low % unit, high_rest = high % unit;
    if (first == last)
        return EXPR_SEQUENCE_OF(x, digit(x, first, first), same_length(x, low_rest, high_rest, n - 1));
    uint32_t below = EXPR_NOTHING, above = EXPR_NOTHING;
    if (low_rest) {
        below = EXPR_SEQUENCE_OF(x, digit(x, first, first), same_length(x, low_rest, unit - 1, n - 1));
        first++;
    }
    if (high_rest != unit - 1) {
        above = EXPR_SEQUENCE_OF(x, digit(x, last, last), same_length(x, 0, high_rest, n - 1));
        last--;
    }
    const uint32_t between =
        first > last ? EXPR_NOTHING : EXPR_SEQUENCE_OF(x, digit(x, first, last), any_digits(x, n - 1, n - 1));
    return EXPR_CHOICE_OF(x, below, between, above);
}

static unsigned length(uint64_t value)
{
    unsigned n = 1;
    for (; value >= 10; value /= 10)
        n++;
    return n;
}

// The numbers from low to high, written without leading zeros.
static uint32_t between(struct exprs *x, uint64_t low, uint64_t high)
{
    const size_t from = x->n_stack;
    assert(low <= high);
    for (unsigned n = length(low); n <= length(high); n++)
        expr_push(x, same_length(x, n == length(low) ? low : power(n - 1), n == length(high) ? high : power(n) - 1, n));
    return expr_pop(x, EXPR_CHOICE, from);
}

// llama.cpp's expression for numbers of up to `left` digits that are at least low. At the top level the first digit
// is not zero. Below it, llama.cpp compares the digits behind the first as a number of their own: therefore "at least
// 100" accepts "10".
static uint32_t at_least(struct exprs *x, uint64_t low, unsigned left, bool top)
{
    const unsigned most = left > 2 ? left - 1 : 1, least_digit = top;
    if (!low)
        return top ? EXPR_CHOICE_OF(x, digit(x, 0, 0), EXPR_SEQUENCE_OF(x, digit(x, 1, 9), any_digits(x, 0, most)))
                   : any_digits(x, 1, left);
    const unsigned n = length(low), first = (unsigned)(low / power(n - 1));
    const bool smaller = n > 1 ? first > 1 : first > least_digit;
    const uint32_t longer =
        smaller ? EXPR_SEQUENCE_OF(x, digit(x, least_digit, first - 1), any_digits(x, n, most)) : EXPR_NOTHING;
    if (n == 1)
        return EXPR_CHOICE_OF(x, longer, EXPR_SEQUENCE_OF(x, digit(x, first, 9), any_digits(x, 0, most)));
    const uint32_t same = EXPR_SEQUENCE_OF(x, digit(x, first, first), at_least(x, low % power(n - 1), most, false));
    return EXPR_CHOICE_OF(x, longer, same, EXPR_SEQUENCE_OF(x, digit(x, first + 1, 9), any_digits(x, n - 1, most)));
}

// Reads a bound. `step` is added to make an exclusive bound inclusive. An integer beyond int64_t wraps around, as in
// llama.cpp; a fraction beyond int64_t becomes the least int64_t.
static uint64_t bound(struct convert *c, const cJSON *item, double (*round)(double), uint64_t step)
{
    uint64_t value;
    if (!cJSON_IsRaw(item)) {
        schema_fail(c, item, "%s is not %s", "a number");
        return 0;
    }
    if (json_integer(item, &value))
        return value + step;
    const double x = round(strtod(item->valuestring, NULL));
    // cppcheck-suppress incorrectLogicOperator ; the condition is true of every int64_t
    return (x >= -0x1p63 && x < 0x1p63 ? (uint64_t)(int64_t)x : LOWEST) + step;
}

static bool negative(uint64_t value) { return value >> 63; }

static uint32_t minus(struct exprs *x, uint32_t expr) { return EXPR_SEQUENCE_OF(x, expr_literal(x, "-"), expr); }

// A minus and the numbers from `from` to -low. llama.cpp reads HIGHEST as "no bound" here, too.
static uint32_t negatives(struct exprs *x, uint64_t low, uint64_t from)
{
    return minus(x, 0 - low == HIGHEST ? at_least(x, from, TOP_DIGITS, true) : between(x, from, 0 - low));
}

static uint32_t any_positive(struct exprs *x)
{
    return EXPR_SEQUENCE_OF(x, digit(x, 1, 9), any_digits(x, 0, TOP_DIGITS - 1));
}

// Returns whether a text consists of this digit.
static bool all(const char *text, char digit)
{
    while (*text == digit)
        text++;
    return !*text;
}

// llama.cpp's expression for numbers whose digits are from `from` to `to`, for bounds in the wrong order. It compares
// digit by digit, so that some numbers fit. What follows the first digits that differ has as many digits as in `from`.
static uint32_t crossed(struct exprs *x, const char *from, const char *to)
{
    struct builder zeros = {0}, nines = {0};
    const size_t start = x->n_stack;
    bool reached = false;
    for (; *from && *from == *to; from++, to++)
        expr_push(x, expr_character(x, (unsigned char)*from, (unsigned char)*from));
    const unsigned a = (unsigned char)*from, b = (unsigned char)*to, left = a && b ? (unsigned)strlen(from + 1) : 0;
    if (a && b && !left)
        expr_push(x, expr_class(x, &(struct range){a, b}, a <= b, false));
    if (!left)
        return expr_pop(x, EXPR_SEQUENCE, start);
    builder_pad(&zeros, '0', left);
    builder_pad(&nines, '9', left);
    x->failed = x->failed || zeros.failed || nines.failed;
    const size_t choice = x->n_stack;
    if (all(from + 1, '0')) {
        expr_push(x, EXPR_SEQUENCE_OF(x, expr_character(x, a, b - 1), any_digits(x, left, left)));
    } else {
        expr_push(x, EXPR_SEQUENCE_OF(x, expr_character(x, a, a), x->failed ? 0 : crossed(x, from + 1, nines.text)));
        reached = a < b - 1 && all(to + 1, '9') && strlen(to + 1) == left;
        if (a < b - 1)
            expr_push(x, EXPR_SEQUENCE_OF(x, expr_character(x, a + 1, reached ? b : b - 1), any_digits(x, left, left)));
    }
    if (!reached)
        expr_push(x, EXPR_SEQUENCE_OF(x, expr_character(x, b, b), x->failed ? 0 : crossed(x, zeros.text, to + 1)));
    expr_push(x, expr_pop(x, EXPR_CHOICE, choice));
    builder_free(&zeros);
    builder_free(&nines);
    return expr_pop(x, EXPR_SEQUENCE, start);
}

// llama.cpp's expression for bounds in the wrong order. No number may fit.
static uint32_t crossed_bounds(struct exprs *x, uint64_t low, uint64_t high)
{
    const bool both = negative(low); // and so is high
    struct builder from = {0}, to = {0}, nines = {0};
    const size_t start = x->n_stack;
    builder_int(&from, (int64_t)(both ? 0 - high : low), 0);
    builder_int(&to, (int64_t)(both ? 0 - low : high), 0);
    for (size_t n = from.len; n < to.len && builder_whole(&from) && !x->failed; n++) {
        builder_clear(&nines);
        builder_pad(&nines, '9', n);
        x->failed = x->failed || nines.failed;
        if (!x->failed)
            expr_push(x, crossed(x, from.text, nines.text));
        builder_clear(&from);
        builder_byte(&from, '1');
        builder_pad(&from, '0', n);
    }
    x->failed = x->failed || from.failed || to.failed;
    if (!x->failed)
        expr_push(x, crossed(x, from.text, to.text));
    builder_free(&from);
    builder_free(&to);
    builder_free(&nines);
    const uint32_t expr = expr_pop(x, EXPR_CHOICE, start);
    return !expr ? expr_impossible(x) : both ? minus(x, expr) : expr;
}

uint32_t integer_expr(struct convert *c, const cJSON *schema)
{
    struct exprs *const x = &c->x;
    const cJSON *const least = schema_member(c, schema, "minimum"), *const above =
                                                                        schema_member(c, schema, "exclusiveMinimum");
    const cJSON *const most = schema_member(c, schema, "maximum"), *const below =
                                                                       schema_member(c, schema, "exclusiveMaximum");
    uint64_t low = LOWEST, high = HIGHEST;
    if (least || above)
        low = least ? bound(c, least, ceil, 0) : bound(c, above, floor, 1);
    if (most || below)
        high = most ? bound(c, most, floor, 0) : bound(c, below, ceil, UINT64_MAX);
    if (low == LOWEST && high == HIGHEST)
        return expr_rule(x, RULE_INTEGER);
    if (high == LOWEST)
        return schema_fail_late(c, schema, "%s: no value satisfies it", NULL);
    if ((low ^ LOWEST) > (high ^ LOWEST)) {
        schema_note(c, schema, &c->out->crossed);
        return crossed_bounds(x, low, high);
    }
    if (low == LOWEST && negative(high))
        return minus(x, at_least(x, 0 - high, TOP_DIGITS, false));
    if (low == LOWEST)
        return EXPR_CHOICE_OF(x, minus(x, any_positive(x)), between(x, 0, high));
    if (high == HIGHEST && negative(low))
        return EXPR_CHOICE_OF(x, negatives(x, low, 0), digit(x, 0, 0), any_positive(x));
    if (high == HIGHEST)
        return at_least(x, low, TOP_DIGITS, true);
    if (negative(high))
        return negatives(x, low, 0 - high);
    if (negative(low))
        return EXPR_CHOICE_OF(x, negatives(x, low, 0), between(x, 0, high));
    return between(x, low, high);
}
