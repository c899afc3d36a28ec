// SPDX-License-Identifier: MIT
// json_number_check [COUNT]: the JSON number reader against strtof, on COUNT random texts of each of several kinds, alone and in rows, and on
// texts that are no JSON numbers.
#include "base/number.h"

#include "base/bits.h"
#include "random.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;
static uint64_t numbers; // of rows

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void check(const char *text)
{
    const size_t len = strlen(text);
    char *const exact = malloc(len ? len : 1); // no NUL behind, so that a sanitizer sees any read beyond the end
    float x = 0.0f;
    memcpy(exact, text, len);
    const char *const end = json_number(exact, exact + len, &x);
    const float want = strtof(text, NULL);
    if ((end != exact + len || bits_of_f32(x) != bits_of_f32(want)) && failed++ < 10)
        printf("'%s': %a, strtof %a\n", text, (double)x, (double)want);
    free(exact);
}

static void refuse(const char *text)
{
    float x;
    if (json_number(text, text + strlen(text), &x) && failed++ < 10)
        printf("'%s' was taken for a number\n", text);
}

// A decimal near the midpoint of two floats, where rounding is hardest.
static void midpoint(char *text, size_t size)
{
    const uint32_t bits = (uint32_t)random_bits() % 0x7f000000u;
    const double mid = ((double)f32_of_bits(bits) + (double)f32_of_bits(bits + 1)) / 2;
    snprintf(text, size, "%.*e", (int)(random_bits() % 20 + 5), mid);
}

static void random_text(char *text, size_t size)
{
    const double scale[] = {1, 20, 1e-5, 1e-30, 1e30};
    const float f = f32_of_bits((uint32_t)random_bits() & 0xff7fffffu);
    const double d = ((double)(random_bits() >> 11) * 0x1p-53 - 0.5) * scale[random_bits() % 5];
    switch (random_bits() % 7) {
    case 0:
        snprintf(text, size, "%.9g", (double)f);
        break;
    case 1:
        snprintf(text, size, "%.17g", (double)(float)d);
        break;
    case 2:
        snprintf(text, size, "%.*f", (int)(random_bits() % 25), d);
        break;
    case 3:
        snprintf(text, size, "%" PRIu64 "e%d", random_bits(), (int)(random_bits() % 90) - 60);
        break;
    case 4:
        snprintf(text, size, "%.6g", d);
        break;
    case 5:
        snprintf(text, size, "%" PRIu64, random_bits() >> random_bits() % 64);
        break;
    default:
        midpoint(text, size);
    }
}

// Many texts in a row, with white space and words between them, against the reader of one; the last is cut off or broken.
static void check_row(void)
{
    enum { MOST = 300, TEXT = 140 };
    static const char *const spaces[] = {"", "", "", "", " ", "\n", " \t\r\n  "}, *const broken[] = {"1.",  "01",   "1.2.3", "x",
                                                                                                     "1/2", "\xb2", "1 ",    ""};
    static char text[MOST * TEXT];
    static const char *token[MOST + 1];
    static float x[MOST];
    const size_t n = random_bits() % (MOST - 1), kind = random_bits() % 4, most = random_bits() % 4 ? MOST : random_bits() % MOST;
    size_t len = random_bits() % 30;
    memset(text, '7', len);
    const size_t begin = len;
    for (size_t i = 0; i < n; i++) {
        len += (size_t)sprintf(text + len, "%s", spaces[kind ? kind - 1 : random_bits() % COUNT(spaces)]);
        token[i] = text + len;
        char number[128] = "null";
        if (random_bits() % 50)
            random_text(number, sizeof number);
        len += (size_t)sprintf(text + len, "%s,", number);
    }
    token[n] = text + len;
    len += (size_t)sprintf(text + len, "%s", broken[random_bits() % COUNT(broken)]);
    if (random_bits() % 2)
        len += (size_t)sprintf(text + len, ",%0100d", 0);
    char *const exact = malloc(len + 1);
    memcpy(exact, text, len);
    const char *at = exact + begin;
    const size_t got = json_numbers(exact, &at, exact + len, x, most);
    bool ok = got <= n && got <= most && at >= exact + (got ? token[got - 1] - text : (ptrdiff_t)begin) &&
              at <= exact + (token[got] - text);
    for (size_t i = 0; i < got && ok; i++) {
        float want;
        if (!json_number(token[i], text + len, &want))
            json_word(token[i], text + len, &want);
        ok = bits_of_f32(x[i]) == bits_of_f32(want);
    }
    if (!ok && failed++ < 10)
        printf("%zu of %zu (at %td, token %td) numbers of '%.*s'\n", got, n, at - exact, token[got] - text, (int)len, text);
    numbers += got;
    free(exact);
}

int main(int argc, char **argv)
{
    static const char *const good[] = {"0",
                                       "-0",
                                       "0.0",
                                       "-0.0e5",
                                       "1",
                                       "1.5",
                                       "0.1",
                                       "1e10",
                                       "1E+2",
                                       "1e-2",
                                       "16777217",
                                       "16777219",
                                       "9007199791611905",
                                       "3.4028235e38",
                                       "3.4028236e38",
                                       "1e39",
                                       "-1e400",
                                       "1e-45",
                                       "7e-46",
                                       "1e-400",
                                       "1.17549435e-38",
                                       "0.000000000000000000000000000000000000000000001401298464324817070923729583",
                                       "123456789012345678901234567890",
                                       "0.30000001192092896",
                                       "1.00000005960464477539062499999999"};
    static const char *const bad[] = {"", "-", "+1", ".5", "1.", "1.e5", "01", "-01", "1e", "1e+", "abc", "--1", "e5", "1.x"};
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check(good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(bad[i]);
    for (long i = 0; i < count; i++) {
        char text[128];
        random_text(text, sizeof text);
        check(text);
    }
    for (long i = 0; i < count / 100; i++)
        check_row();
    printf("%ld passed, %d failed, %" PRIu64 " numbers in rows\n", count, failed, numbers);
    return failed != 0 || numbers < (uint64_t)count / 10;
}
