// SPDX-License-Identifier: MIT
// Constants as llama.cpp writes them: compact JSON as nlohmann's library prints it. The library prints numbers that are
// not integers with Grisu2 (Loitsch, "Printing Floating-Point Numbers Quickly and Accurately with Integers", PLDI
// 2010). Grisu2 sometimes prints one digit more than the fewest that read back, so base/number.h cannot replace it.
#include "base/bits.h"
#include "schema/convert.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// fraction * 2^exponent
struct scaled {
    uint64_t fraction;
    int exponent;
};

// The fractions of 10^-300, 10^-292, ..., 10^324, rounded to 64 bits, of which the highest is set.
#define LOWEST_POWER (-300)
#define POWER_STEP   8
static const uint64_t power_fraction[] = {
    0xab70fe17c79ac6ca, 0xff77b1fcbebcdc4f, 0xbe5691ef416bd60c, 0x8dd01fad907ffc3c, 0xd3515c2831559a83,
    0x9d71ac8fada6c9b5, 0xea9c227723ee8bcb, 0xaecc49914078536d, 0x823c12795db6ce57, 0xc21094364dfb5637,
    0x9096ea6f3848984f, 0xd77485cb25823ac7, 0xa086cfcd97bf97f4, 0xef340a98172aace5, 0xb23867fb2a35b28e,
    0x84c8d4dfd2c63f3b, 0xc5dd44271ad3cdba, 0x936b9fcebb25c996, 0xdbac6c247d62a584, 0xa3ab66580d5fdaf6,
    0xf3e2f893dec3f126, 0xb5b5ada8aaff80b8, 0x87625f056c7c4a8b, 0xc9bcff6034c13053, 0x964e858c91ba2655,
    0xdff9772470297ebd, 0xa6dfbd9fb8e5b88f, 0xf8a95fcf88747d94, 0xb94470938fa89bcf, 0x8a08f0f8bf0f156b,
    0xcdb02555653131b6, 0x993fe2c6d07b7fac, 0xe45c10c42a2b3b06, 0xaa242499697392d3, 0xfd87b5f28300ca0e,
    0xbce5086492111aeb, 0x8cbccc096f5088cc, 0xd1b71758e219652c, 0x9c40000000000000, 0xe8d4a51000000000,
    0xad78ebc5ac620000, 0x813f3978f8940984, 0xc097ce7bc90715b3, 0x8f7e32ce7bea5c70, 0xd5d238a4abe98068,
    0x9f4f2726179a2245, 0xed63a231d4c4fb27, 0xb0de65388cc8ada8, 0x83c7088e1aab65db, 0xc45d1df942711d9a,
    0x924d692ca61be758, 0xda01ee641a708dea, 0xa26da3999aef774a, 0xf209787bb47d6b85, 0xb454e4a179dd1877,
    0x865b86925b9bc5c2, 0xc83553c5c8965d3d, 0x952ab45cfa97a0b3, 0xde469fbd99a05fe3, 0xa59bc234db398c25,
    0xf6c69a72a3989f5c, 0xb7dcbf5354e9bece, 0x88fcf317f22241e2, 0xcc20ce9bd35c78a5, 0x98165af37b2153df,
    0xe2a0b5dc971f303a, 0xa8d9d1535ce3b396, 0xfb9b7cd9a4a7443c, 0xbb764c4ca7a44410, 0x8bab8eefb6409c1a,
    0xd01fef10a657842c, 0x9b10a4e5e9913129, 0xe7109bfba19c0c9d, 0xac2820d9623bf429, 0x80444b5e7aa7cf85,
    0xbf21e44003acdd2d, 0x8e679c2f5e44ff8f, 0xd433179d9c8cb841, 0x9e19db92b4e31ba9,
};

static struct scaled power_of_ten(int k)
{
    assert(k >= LOWEST_POWER && (k - LOWEST_POWER) % POWER_STEP == 0);
    return (struct scaled){power_fraction[(k - LOWEST_POWER) / POWER_STEP],
                           (int)floor(k * 3.321928094887362) - 63}; // log2(10)
}

// The product's upper 64 bits, rounded half up.
static struct scaled multiply(struct scaled a, struct scaled b)
{
    const uint64_t low = UINT32_MAX, ah = a.fraction >> 32, al = a.fraction & low, bh = b.fraction >> 32,
                   bl = b.fraction & low;
    const uint64_t middle = (al * bl >> 32) + (ah * bl & low) + (al * bh & low) + (UINT64_C(1) << 31);
    return (struct scaled){ah * bh + (ah * bl >> 32) + (al * bh >> 32) + (middle >> 32), a.exponent + b.exponent + 64};
}

static struct scaled shifted_up(struct scaled s, int exponent)
{
    assert(exponent <= s.exponent && s.exponent - exponent < 64);
    return (struct scaled){s.fraction << (s.exponent - exponent), exponent};
}

// The digits so far: a number below the upper end of an interval, which must not fall below its lower end.
struct digits {
    char digit[20]; // zeros stand behind the last one
    int n;
    int point; // digits before the decimal point; 0 or less: zeros stand behind the point first
};

// Lowers the last digit while that brings the digits nearer to the wanted number and keeps them in the interval. The
// digits lie `rest` below the upper end of the interval, the wanted number lies `wanted` below it, the lower end
// `width`. Lowering the digit by one subtracts `unit`.
static void approach(struct digits *d, uint64_t wanted, uint64_t width, uint64_t rest, uint64_t unit)
{
    while (rest < wanted && width - rest >= unit && (rest + unit < wanted || wanted - rest > rest + unit - wanted)) {
        d->digit[d->n - 1]--;
        rest += unit;
    }
}

// Generates digits as the paper does: of a number between low and high with the fewest digits, and of those numbers the
// one nearest to value. The three have one exponent. d->point does not count the power of ten by which they are scaled.
static void generate(struct digits *d, struct scaled low, struct scaled value, struct scaled high)
{
    const int shift = -high.exponent;
    assert(shift >= 32 && shift <= 60);
    const uint64_t one = UINT64_C(1) << shift;
    uint64_t width = high.fraction - low.fraction, wanted = high.fraction - value.fraction, rest = high.fraction;
    uint64_t unit = one; // of the next digit
    for (d->n = 0, d->point = 1; rest / unit >= 10; d->point++)
        unit *= 10;
    for (;;) {
        d->digit[d->n++] = (char)('0' + rest / unit);
        rest %= unit;
        if (rest <= width)
            break;
        if (unit > one) {
            unit /= 10;
        } else { // behind the point the numbers grow, because the unit would have a fraction
            rest *= 10;
            width *= 10;
            wanted *= 10;
        }
    }
    approach(d, wanted, width, rest, unit);
}

static void grisu(double x, struct digits *d)
{
    assert(isfinite(x) && x > 0);
    const uint64_t bits = bits_of_f64(x), hidden = UINT64_C(1) << 52, fraction = bits & (hidden - 1);
    const int biased = (int)(bits >> 52);
    const struct scaled v = {biased ? fraction + hidden : fraction, (biased ? biased : 1) - 1075};
    const bool nearer_below = !fraction && biased > 1; // the floats below a power of two lie closer
    struct scaled high = {2 * v.fraction + 1, v.exponent - 1};
    struct scaled low = {(nearer_below ? 4 : 2) * v.fraction - 1, v.exponent - (nearer_below ? 2 : 1)};
    while (!(high.fraction >> 63)) {
        high.fraction *= 2;
        high.exponent--;
    }
    int k = LOWEST_POWER;
    while (power_of_ten(k).exponent + high.exponent + 64 < -60)
        k += POWER_STEP;
    const struct scaled ten = power_of_ten(k), value = multiply(shifted_up(v, high.exponent), ten);
    low = multiply(shifted_up(low, high.exponent), ten);
    high = multiply(high, ten);
    low.fraction++; // each product may be off by one, so the interval is made smaller by one
    high.fraction--;
    generate(d, low, value, high);
    d->point -= k;
}

static void double_text(double x, struct builder *to)
{
    struct digits d;
    if (signbit(x))
        builder_byte(to, '-');
    if (x == 0) {
        builder_string(to, "0.0");
        return;
    }
    memset(d.digit, '0', sizeof d.digit);
    grisu(fabs(x), &d);
    if (d.point > 0 && d.point <= 15) {
        builder_bytes(to, d.digit, (size_t)d.point);
        builder_byte(to, '.');
        builder_bytes(to, d.digit + d.point, d.n > d.point ? (size_t)(d.n - d.point) : 1);
    } else if (d.point > -4 && d.point <= 0) {
        builder_string(to, "0.");
        builder_pad(to, '0', (size_t)-d.point);
        builder_bytes(to, d.digit, (size_t)d.n);
    } else {
        builder_bytes(to, d.digit, 1);
        if (d.n > 1)
            builder_byte(to, '.');
        builder_bytes(to, d.digit + 1, (size_t)(d.n - 1));
        builder_format(to, "e%c%02d", d.point > 0 ? '+' : '-', abs(d.point - 1));
    }
}

bool json_integer(const cJSON *item, uint64_t *value)
{
    const char *const text = item->valuestring;
    char *end;
    *value = strtoull(text, &end, 10); // modulo 2^64 behind a minus, UINT64_MAX for what is beyond
    if (*value == UINT64_MAX)
        return !strcmp(text, "-1") || !strcmp(text, "18446744073709551615");
    return !*end && (*text != '-' || !*value || *value >> 63);
}

// Spells the numbers of a value as nlohmann's library does. Returns false if a number is too large for a double. If
// memory is short, a number has no text. Recurses as deep as the document is nested.
static bool respell_numbers(cJSON *value)
{
    bool ok = true;
    if (cJSON_IsRaw(value)) {
        struct builder text = {0};
        uint64_t integer;
        const double x = strtod(value->valuestring, NULL);
        ok = isfinite(x);
        if (json_integer(value, &integer))
            builder_string(&text, integer ? value->valuestring : "0"); // "-0" is 0
        else
            double_text(ok ? x : 0, &text);
        if (text.failed)
            builder_free(&text);
        cJSON_free(value->valuestring);
        value->valuestring = text.text;
    }
    for (cJSON *item = value->child; item; item = item->next)
        ok = respell_numbers(item) && ok;
    return ok;
}

// Appends a value as cJSON prints it: as nlohmann's library does, but for numbers.
static void print_json(const cJSON *value, struct builder *to)
{
    char *const text = cJSON_PrintUnformatted(value);
    if (text)
        builder_string(to, text);
    to->failed = to->failed || !text;
    cJSON_free(text);
}

void string_text(const char *s, struct builder *to)
{
    cJSON *const string = cJSON_CreateStringReference(s);
    print_json(string, to);
    cJSON_Delete(string);
}

bool constant_text(const cJSON *value, struct builder *to)
{
    cJSON *const copy = cJSON_Duplicate(value, true);
    const bool ok = !copy || respell_numbers(copy);
    print_json(copy, to);
    cJSON_Delete(copy);
    return ok;
}
