// SPDX-License-Identifier: MIT
// json_number_check [COUNT]: compares the JSON number reader with strtof on COUNT random texts of each kind, alone and in rows. Also tests
// texts that are not JSON numbers.
#include "base/number.h"

#include "base/bits.h"
#include "kern/kern.h"
#include "random.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;
static uint64_t numbers; // compared in rows

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void check(const char *text)
{
    const size_t len = strlen(text);
    char *const exact = malloc(len ? len : 1); // no NUL at the end, so that a sanitizer finds any read beyond the end
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
        printf("'%s' was read as a number\n", text);
}

// Makes a decimal near the midpoint of two floats, where rounding is hardest.
static void midpoint(char *text, size_t size)
{
    const uint32_t bits = (uint32_t)random_bits() % 0x7f000000u;
    const double mid = ((double)f32_of_bits(bits) + (double)f32_of_bits(bits + 1)) / 2;
    snprintf(text, size, "%.*e", (int)(random_bits() % 20 + 5), mid);
}

enum { KINDS = 13 };

static void random_text(size_t kind, char *text, size_t size)
{
    const double scale[] = {1, 20, 1e-5, 1e-30, 1e30};
    const float f = f32_of_bits((uint32_t)random_bits() & 0xff7fffffu),
                logit = (float)((double)(random_bits() >> 40) * 0x1p-19 - 24);
    const double d = ((double)(random_bits() >> 11) * 0x1p-53 - 0.5) * scale[random_bits() % 5];
    char fewest[NUMBER_TEXT];
    switch (kind) {
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
    case 6:
        midpoint(text, size);
        break;
    case 7:
        snprintf(text, size, "%.6g", (double)logit);
        break;
    case 8:
        snprintf(text, size, "%.16g", (double)logit);
        break;
    case 9:
        snprintf(text, size, "%s", number_text(logit, fewest));
        break;
    case 10: // as JavaScript writes it
        snprintf(text, size, "%.*fe%s%d", (int)(random_bits() % 9), d, random_bits() % 2 ? "-" : "+",
                 (int)(random_bits() % 50));
        break;
    case 11: // texts so short that an exponent could belong to the number before
        snprintf(text, size, "%d%s", (int)(random_bits() % 10), random_bits() % 2 ? "e5" : "");
        break;
    default:
        snprintf(text, size, "%d", (int)(random_bits() % 2000) - 1000);
    }
}

static bool only_space(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p))
        p++;
    return p == end;
}

// Makes many texts in a row, with white space and words between them, mostly in one notation; some rows are cut off or have a wrong byte.
// Compares the result of each tier with the reader of one number.
static void check_row(void)
{
    enum { MOST = 300, TEXT = 140, UNSURE = 100 }; // UNSURE: a tier may stop this many bytes before the end
    static const char *const spaces[] = {
        "", "", "", " ", " ", "\n", " \t\r\n  ", "\n                                                  "};
    static const char bytes[] = "-+.eE,,  0019n]\"\xb2\x01/:";
    static char text[MOST * TEXT];
    static float want[MOST], x[MOST];
    const size_t n = random_bits() % MOST, most = random_bits() % 4 ? MOST : random_bits() % MOST;
    const size_t spaced = random_bits() % (COUNT(spaces) + 1), one = random_bits() % 4 ? random_bits() % KINDS : KINDS;
    const size_t begin = random_bits() % 30;
    size_t len = begin;
    memset(text, '7', len);
    for (size_t i = 0; i < n; i++) {
        char number[128] = "null";
        if (random_bits() % 200)
            random_text(one == KINDS ? random_bits() % KINDS : one, number, sizeof number);
        len += (size_t)sprintf(text + len, "%s%s,",
                               spaces[spaced < COUNT(spaces) ? spaced : random_bits() % COUNT(spaces)], number);
    }
    if (random_bits() % 2)
        len += (size_t)sprintf(text + len, ",%0150d", 0);
    if (random_bits() % 2 && len > begin)
        text[begin + random_bits() % (len - begin)] = bytes[random_bits() % (sizeof bytes - 1)];
    if (random_bits() % 4 == 0)
        len -= random_bits() % (len - begin + 1);
    char *const exact = malloc(len + 1), *const end = exact + len;
    memcpy(exact, text, len);
    size_t sure = 0, all = 0; // sure: numbers without much white space, and not near the end
    bool near = true;
    const char *comma, *behind[MOST + 1] = {exact + begin};
    while (all < most && (comma = memchr(behind[all], ',', (size_t)(end - behind[all]))) &&
           json_item(behind[all], comma, &want[all])) {
        near = near && comma - behind[all] <= 60 && end - comma > UNSURE;
        sure += near;
        behind[++all] = comma + 1;
    }
    const struct kern *kern;
    for (size_t t = 0; (kern = kern_tier(t)); t++) {
        const char *at = exact + begin;
        const size_t got = kern->numbers(&at, end, x, most);
        bool ok = got >= sure && got <= all && at >= behind[got] && only_space(behind[got], at);
        for (size_t i = 0; i < got && ok; i++)
            ok = bits_of_f32(x[i]) == bits_of_f32(want[i]);
        if (!ok && failed++ < 10)
            printf("%s: %zu of %zu (%zu) numbers, at %td, of '%.*s'\n", kern->name, got, all, sure, at - exact,
                   (int)len, text);
        numbers += got;
    }
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
    static const char *const bad[] = {"",    "-",  "+1",  ".5",  "1.",  "1.e5", "01",
                                      "-01", "1e", "1e+", "abc", "--1", "e5",   "1.x"};
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check(good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(bad[i]);
    for (long i = 0; i < count; i++) {
        char text[128];
        random_text((size_t)i % KINDS, text, sizeof text);
        check(text);
    }
    for (long i = 0; i < count / 100; i++)
        check_row();
    printf("%ld passed, %d failed, %" PRIu64 " numbers in rows\n", count, failed, numbers);
    return failed != 0 || numbers < (uint64_t)count / 2;
}
