// SPDX-License-Identifier: MIT
// kern_check [--cases N [TURN] | --every-float | --every-noise | --bench]: compares every kernel of every tier of this machine with the
// scalar tier, bit for bit, or measures the kernels. N: number of random cases for ordered sums (default 100000). A smaller N leaves out as
// much of the sweeps of floats and counters, of the wide rows, and, down to a ninth, of the 16-bit patterns. TURN chooses what is left out,
// so that other turns test it.
#include "base/bits.h"
#include "kern/kern.h"
#include "random.h"
#include "timing.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5, LARGEST = 128256 };

static const struct kern *tier;
static uint64_t seed; // random_state at the start of the case
static unsigned long passed, failed;

static float rnd_normal(void)
{
    return (float)(sqrt(-2 * log(1 - random_unit())) * cos(6.283185307179586 * random_unit()));
}

static void check(bool same, const char *slot, size_t n, const char *detail)
{
    if (same) {
        passed++;
        return;
    }
    if (failed++ < 20)
        printf("MISMATCH tier %s slot %s n %zu seed %" PRIu64 " (%s)\n", tier->name, slot, n, seed, detail);
}

// A buffer ends at the end of its memory, so that a sanitizer finds reads past the end. A buffer that kernels write has a guard there.
static void *buffer(size_t size, size_t offset, char **base)
{
    *base = malloc(size + offset + GUARD + 1);
    if (!*base)
        abort();
    memset(*base, GUARD_BYTE, size + offset + GUARD + 1);
    return *base + offset;
}

static bool guarded(const void *at, size_t size)
{
    const unsigned char *end = (const unsigned char *)at + size;
    for (size_t i = 0; i < GUARD; i++)
        if (end[i] != GUARD_BYTE)
            return false;
    return true;
}

static void *copy(const void *src, size_t size, size_t offset, char **base)
{
    *base = malloc(size + offset ? size + offset : 1);
    if (!*base)
        abort();
    if (size)
        memcpy(*base + offset, src, size);
    return *base + offset;
}

// Kinds of data. None has NaN or +inf.
enum kind {
    NORMAL,
    TIES,
    MASKED,
    ALL_MASKED,
    ZEROS,
    NON_POSITIVE,
    SUBNORMAL,
    LARGE,
    ANY_BITS,
    RISING,
    FALLING,
    COARSE,
    COARSER,
    KINDS
};

static const char *const kind_name[KINDS] = {"normal",       "ties",      "masked", "all -inf", "zeros",
                                             "non-positive", "subnormal", "huge",   "bits",     "rising",
                                             "falling",      "f16",       "bf16"};

static float any_finite(void)
{
    const uint32_t u = (uint32_t)random_bits();
    return (u & 0x7f800000u) == 0x7f800000u ? -INFINITY : f32_of_bits(u);
}

static float element(enum kind kind, size_t i)
{
    switch (kind) {
    case TIES:
        return (float)((int)random_below(7) - 3) / 2;
    case MASKED:
        return i / 40 % 2 ? -INFINITY : rnd_normal();
    case ALL_MASKED:
        return -INFINITY;
    case ZEROS:
        return random_bits() % 2 ? -0.0f : 0.0f;
    case NON_POSITIVE:
        return random_bits() % 4 ? -fabsf(rnd_normal()) : random_bits() % 2 ? -0.0f : 0.0f;
    case SUBNORMAL:
        return f32_of_bits((uint32_t)random_bits() & 0x807fffffu);
    case LARGE:
        return random_bits() % 3 ? rnd_normal() * 1e38f : random_bits() % 2 ? FLT_MAX : -FLT_MAX;
    case ANY_BITS:
        return any_finite();
    case COARSE:
        return roundf((rnd_normal() * 2.5f - 3) * 512) / 512;
    case COARSER:
        return f32_of_bits(bits_of_f32(rnd_normal() * 2.5f - 3) & 0xffff0000u);
    default:
        return rnd_normal() * 2.5f;
    }
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int by_value_falling(const void *a, const void *b) { return by_value(b, a); }

static void fill(float *x, size_t n, enum kind kind)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = element(kind, i);
        if (x[i] > FLT_MAX)
            x[i] = FLT_MAX;
    }
    if (n && (kind == RISING || kind == FALLING))
        qsort(x, n, sizeof *x, kind == RISING ? by_value : by_value_falling);
}

static bool same_float(float a, float b) { return bits_of_f32(a) == bits_of_f32(b); }

static bool same_double(double a, double b) { return bits_of_f64(a) == bits_of_f64(b); }

// Checks scan's contract. Other tiers call the scalar tier for bad blocks and blocks of zeros, so that comparing tiers does not test these.
static bool as_promised(const float *x, size_t n, size_t good, const float *block_max)
{
    for (size_t i = 0; i < good; i++)
        if (!(x[i] < INFINITY))
            return false;
    for (size_t start = 0; start < n && good == n; start += KERN_BLOCK) {
        size_t first = start;
        for (size_t i = start + 1; i < n && i < start + KERN_BLOCK; i++)
            first = x[i] > x[first] ? i : first;
        if (!same_float(block_max[start / KERN_BLOCK], x[first]))
            return false;
    }
    return good == n || !(x[good] < INFINITY);
}

static void check_collect(const void *row, size_t n, enum dtype type, float floor, size_t offset, const char *detail)
{
    static const char *const name[] = {"collect[f32]", "collect[f16]", "collect[bf16]"};
    char *base[2];
    const size_t size = n * sizeof(uint64_t);
    uint64_t *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 8, &base[1]);
    const uint32_t first = random_bits() % 2 ? (uint32_t)random_bits() : 0;
    const size_t found_a = kern_scalar.collect[type](a, row, n, first, floor),
                 found_b = tier->collect[type](b, row, n, first, floor);
    check(found_a == found_b && !memcmp(a, b, found_a * sizeof *a) && guarded(b, size), name[type], n, detail);
    free(base[0]);
    free(base[1]);
}

// Checks scan, widen and collect at a byte offset.
static void check_typed(const void *row, size_t n, enum dtype type, size_t offset, const char *detail)
{
    static const char *const scan_name[] = {"scan[f32]", "scan[f16]", "scan[bf16]"};
    static const char *const widen_name[] = {"widen[f32]", "widen[f16]", "widen[bf16]"};
    char *base[5];
    const size_t blocks = (n + KERN_BLOCK - 1) / KERN_BLOCK * sizeof(float), out = n * sizeof(float);
    const void *src = copy(row, n * dtype_size(type), offset, &base[0]);
    float *max_a = buffer(blocks, 0, &base[1]), *max_b = buffer(blocks, 4, &base[2]);
    const size_t good_a = kern_scalar.scan[type](src, n, max_a), good_b = tier->scan[type](src, n, max_b);
    check(good_a == good_b && (good_a < n || !memcmp(max_a, max_b, blocks)) && guarded(max_b, blocks), scan_name[type],
          n, detail);
    float *wide_a = buffer(out, 0, &base[3]), *wide_b = buffer(out, 4 * offset, &base[4]);
    kern_scalar.widen[type](wide_a, src, n);
    check(as_promised(wide_a, n, good_a, max_a), scan_name[type], n, "of the scalar tier");
    tier->widen[type](wide_b, src, n);
    check(!memcmp(wide_a, wide_b, out) && guarded(wide_b, out), widen_name[type], n, detail);
    check_collect(src, n, type, n ? wide_a[n / 3] : 0.0f, offset, detail);
    for (int i = 0; i < 5; i++)
        free(base[i]);
}

// Converts the row to a narrow type by truncation. NaN and +inf become 1.
static uint16_t narrow(float x, enum dtype type)
{
    if (type == DTYPE_BF16)
        return (uint16_t)(bits_of_f32(x) >> 16);
    const uint32_t u = bits_of_f32(x), sign = u >> 16 & 0x8000u;
    if (x == -INFINITY)
        return 0xfc00;
    if (fabsf(x) < 0x1p-14f)
        return (uint16_t)(sign | (uint32_t)(fabsf(x) * 0x1p24f));
    return (uint16_t)(fabsf(x) >= 65536 ? sign | 0x7bffu : sign | (((u & 0x7fffffffu) >> 13) - (112u << 10)));
}

static void check_rows(const float *x, size_t n, size_t offset, const char *detail)
{
    check_typed(x, n, DTYPE_F32, offset, detail);
    char *base;
    uint16_t *h = buffer(n * sizeof *h, 0, &base);
    for (enum dtype t = DTYPE_F16; t < DTYPE_COUNT; t++) {
        for (size_t i = 0; i < n; i++)
            h[i] = narrow(x[i], t);
        check_typed(h, n, t, offset, detail);
    }
    free(base);
}

static void check_max(const float *x, size_t n, const char *detail)
{
    check(same_float(kern_scalar.max(x, n), tier->max(x, n)), "max", n, detail);
    if (n)
        check(kern_scalar.argmax(x, n) == tier->argmax(x, n), "argmax", n, detail);
}

static void check_exp(const float *x, size_t n, float max, size_t offset, const char *detail)
{
    char *base[3];
    const size_t size = n * sizeof(float);
    float *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]),
          *c = buffer(size, offset * 4, &base[2]);
    kern_scalar.exp_sub(a, x, max, n);
    tier->exp_sub(b, x, max, n);
    if (n)
        memcpy(c, x, size);
    tier->exp_sub(c, c, max, n);
    const bool in_place = !memcmp(a, c, size) && guarded(c, size);
    check(!memcmp(a, b, size) && guarded(b, size) && in_place, "exp_sub", n, detail);
    for (int i = 0; i < 3; i++)
        free(base[i]);
}

// Checks sums that start from earlier sums, with more or fewer terms that are negligible or omitted.
static void check_weights(const float *x, size_t n, float max, const char *detail)
{
    const float floors[] = {-INFINITY, -1.0f}, sums[] = {0.0f, 1e-9f, 1.0f};
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
        double a[16], b[16];
        for (size_t k = 0; k < 16; k++)
            a[k] = b[k] = random_unit();
        const size_t n_a = kern_scalar.weigh(a, x, n, max, floors[i]), n_b = tier->weigh(b, x, n, max, floors[i]);
        check(n_a == n_b && !memcmp(a, b, sizeof a), "weigh", n, detail);
    }
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        check(same_float(kern_scalar.exp_sum(x, n, max, sums[i]), tier->exp_sum(x, n, max, sums[i])), "exp_sum", n,
              detail);
}

// Checks sums that continue earlier sums, with logits of their own or of a shifted row.
static void check_softmax_sums(const float *x, size_t n, float max, const char *detail)
{
    double a[16], b[16];
    for (int round = 0; round < 3; round++) {
        const float *const y = round ? x : NULL;
        const float max_y = round == 2 ? max + rnd_normal() : max;
        for (size_t i = 0; i < 16; i++)
            a[i] = b[i] = round ? random_unit() : 0.0;
        kern_scalar.softmax_sums(a, x, max, y, max_y, n);
        tier->softmax_sums(b, x, max, y, max_y, n);
        check(!memcmp(a, b, sizeof a), "softmax_sums", n, detail);
    }
}

// Checks pairs of rows that differ in some places: some probabilities are equal, some 0, some subnormal.
static void check_divergences(const float *x, size_t n, float max, const char *detail)
{
    char *base[4];
    const size_t size = n * sizeof(double);
    double *p[4], a[KERN_LANES], b[KERN_LANES];
    for (int i = 0; i < 4; i++)
        p[i] = (double *)(void *)buffer(size, i % 2 ? 8 : 0, &base[i]);
    const double sum = 1 + 1e5 * random_unit();
    kern_scalar.shares(p[0], x, max, sum, n);
    tier->shares(p[1], x, max, sum, n);
    check(!memcmp(p[0], p[1], size) && guarded(p[1], size), "shares", n, detail);
    for (size_t i = 0; i < n; i++) {
        const unsigned kind = (unsigned)random_below(8);
        p[2][i] = p[3][i] = kind == 0            ? p[0][i]
                            : kind == 1          ? 0.0
                            : kind == 2 && n % 3 ? p[0][i] * 0x1p-1040
                                                 : random_unit();
    }
    for (int lane = 0; lane < KERN_LANES; lane++)
        a[lane] = b[lane] = random_unit();
    kern_scalar.divergences(a, p[0], p[2], n);
    tier->divergences(b, p[1], p[3], n);
    check(!memcmp(a, b, sizeof a), "divergences", n, detail);
    for (int i = 0; i < 4; i++)
        free(base[i]);
}

static void check_sum(const float *x, size_t n, float s, const char *detail)
{
    check(same_float(kern_scalar.sum(x, n, s), tier->sum(x, n, s)), "sum", n, detail);
}

static void check_wide(const float *x, size_t n, double s, const char *detail)
{
    check(same_double(kern_scalar.sum_wide(x, n, s), tier->sum_wide(x, n, s)), "sum_wide", n, detail);
}

static void check_squares(const float *x, size_t n, float mean, float s, const char *detail)
{
    check(same_float(kern_scalar.sum_squares(x, n, mean, s), tier->sum_squares(x, n, mean, s)), "sum_squares", n,
          detail);
}

static void check_sums(const float *x, size_t n, const char *detail)
{
    const float starts[] = {0.0f, -0.0f, 1.0f, -5.5f, 0x1p-140f, 1e30f, rnd_normal() * 1000};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const float s = starts[i];
        check_sum(x, n, s, detail);
        check_squares(x, n, i % 2 ? 0.0f : rnd_normal(), s, detail);
        bool finite = true;
        for (size_t k = 0; k < n && finite; k++)
            finite = x[k] != -INFINITY;
        if (finite)
            check_wide(x, n, i == 6 ? s * (1 + random_unit()) : (double)s, detail);
    }
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

// Checks non-negative numbers with terms that depend on them: the numbers themselves, or terms that rise and fall. Also compares the sum
// with a plain loop over the numbers that qsort sorts.
static void check_falling(const float *x, size_t n, float s, const char *detail)
{
    float *const by = malloc((n + 1) * sizeof *by), *const term = malloc((n + 1) * sizeof *term);
    uint64_t *const key = malloc((n + 1) * sizeof *key), *const tmp = malloc((n + 1) * sizeof *tmp);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < n; i++) {
            by[i] = fabsf(x[i]) < FLT_MAX ? fabsf(x[i]) : 0.0f;
            term[i] = round && by[i] < 1.0f ? by[i] * (1.0f - by[i]) : by[i];
        }
        const float a = kern_scalar.sum_falling(by, term, n, s, key, tmp),
                    b = tier->sum_falling(by, term, n, s, key, tmp);
        float plain = s;
        for (size_t i = 0; i < n; i++)
            key[i] = (uint64_t)bits_of_f32(by[i]) << 32 | bits_of_f32(term[i]);
        qsort(key, n, sizeof *key, by_number);
        for (size_t i = 0; i < n; i++)
            plain += f32_of_bits((uint32_t)key[i]);
        check(same_float(a, b) && same_float(a, plain), "sum_falling", n, detail);
    }
    free(by);
    free(term);
    free(key);
    free(tmp);
}

static void check_pack(const float *x, size_t n, float max, float floor, const char *detail)
{
    float *const a = malloc((n + KERN_BLOCK) * sizeof *a), *const b = malloc((n + KERN_BLOCK) * sizeof *b);
    const size_t n_a = kern_scalar.pack(a, x, n, max, floor), n_b = tier->pack(b, x, n, max, floor);
    check(n_a == n_b && !memcmp(a, b, n_a * sizeof *a), "pack", n, detail);
    free(a);
    free(b);
}

static void check_divide(const float *x, size_t n, float d, size_t offset, const char *detail)
{
    char *base[2];
    const size_t size = n * sizeof(float);
    float *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]);
    if (n) {
        memcpy(a, x, size);
        memcpy(b, x, size);
    }
    kern_scalar.divide(a, n, d);
    tier->divide(b, n, d);
    check(!memcmp(a, b, size) && guarded(b, size), "divide", n, detail);
    free(base[0]);
    free(base[1]);
}

static void check_favour(const float *x, size_t n, float at, const char *detail)
{
    float *const p = malloc((n + 1) * sizeof *p), *const a = malloc((n + 1) * sizeof *a),
                 *const b = malloc((n + 1) * sizeof *b);
    for (size_t i = 0; i < n; i++) {
        p[i] = (float)random_unit();
        a[i] = b[i] = x[i];
    }
    kern_scalar.favour(a, p, n, at, 1 / 0.3f, 5, 10);
    tier->favour(b, p, n, at, 1 / 0.3f, 5, 10);
    check(!memcmp(a, b, n * sizeof *a), "favour", n, detail);
    free(p);
    free(a);
    free(b);
}

static void check_add_cubic(const float *x, size_t n, float square, float cube, size_t offset, const char *detail)
{
    char *base[2];
    const size_t size = n * sizeof(float);
    float *const a = copy(x, size, 0, &base[0]), *const b = buffer(size, offset * 4, &base[1]),
                 top = kern_scalar.max(x, n);
    if (n)
        memcpy(b, x, size);
    kern_scalar.add_cubic(a, n, top, square, cube);
    tier->add_cubic(b, n, top, square, cube);
    check(!memcmp(a, b, size) && guarded(b, size), "add_cubic", n, detail);
    free(base[0]);
    free(base[1]);
}

// Checks the dot products of the vectors that n numbers make, with themselves and with the last of them. A product that is NaN need not
// have the same bits.
static void check_dots(const float *x, size_t n, const char *detail)
{
    char *base[2], *unused;
    for (size_t d = KERN_DOT_LANES; d <= 4 * KERN_DOT_LANES; d *= 2) {
        const size_t most = n / d < 11 ? n / d : 11;
        const float *from = copy(x, n * sizeof *x, 4, &unused);
        for (size_t nx = 0; nx <= most; nx++) {
            const float *y =
                from + most * d - nx * d; // the last vector ends at the end of memory, if n is a multiple of d
            const size_t size = nx * most * sizeof(float);
            float *a = buffer(size, 0, &base[0]), *b = buffer(size, 4, &base[1]);
            kern_scalar.dots(a, y, nx, from, most, d);
            tier->dots(b, y, nx, from, most, d);
            for (size_t i = 0; i < nx * most; i++)
                b[i] = isnan(a[i]) && isnan(b[i]) ? a[i] : b[i];
            check(!memcmp(a, b, size) && guarded(b, size), "dots", n, detail);
            free(base[0]);
            free(base[1]);
        }
        free(unused);
    }
}

static void check_multiply(const float *x, size_t n, float f, size_t offset, const char *detail)
{
    char *base[2];
    const size_t size = n * sizeof(float);
    float *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]);
    if (n) {
        memcpy(a, x, size);
        memcpy(b, x, size);
    }
    kern_scalar.multiply(a, n, f);
    tier->multiply(b, n, f);
    check(!memcmp(a, b, size) && guarded(b, size), "multiply", n, detail);
    if (n)
        memcpy(b, x, size);
    if (n)
        memcpy(a, x, size);
    kern_scalar.round_f16(a, n);
    tier->round_f16(b, n);
    check(!memcmp(a, b, size) && guarded(b, size), "round_f16", n, detail);
    free(base[0]);
    free(base[1]);
}

// Checks the ids whose folded words are small, from none to all.
static void check_philox(size_t n, size_t offset, const char *detail)
{
    char *base[2];
    const size_t size = n * sizeof(uint32_t);
    uint32_t *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]);
    const uint32_t key = (uint32_t)random_bits(), first = random_bits() % 2 ? 0 : (uint32_t)random_bits();
    const uint32_t most[] = {0, INT32_MAX / 100, INT32_MAX / 2, INT32_MAX, (uint32_t)random_bits() / 2};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        const size_t found_a = kern_scalar.philox_hot(a, first, n, key, most[i]),
                     found_b = tier->philox_hot(b, first, n, key, most[i]);
        check(found_a == found_b && !memcmp(a, b, found_a * sizeof *a) && guarded(b, size), "philox_hot", n, detail);
    }
    free(base[0]);
    free(base[1]);
}

// Checks f64 quotients and log-probabilities.
static void check_wide_shares(const float *x, size_t n, float d, size_t offset, const char *detail)
{
    char *base[2];
    const size_t size = n * sizeof(float);
    float *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]);
    const double divisor = (double)d * (1.0 + random_unit()), max = (double)kern_scalar.max(x, n);
    if (n) {
        memcpy(a, x, size);
        memcpy(b, x, size);
    }
    kern_scalar.divide_wide(a, n, divisor);
    tier->divide_wide(b, n, divisor);
    check(!memcmp(a, b, size) && guarded(b, size), "divide_wide", n, detail);
    if (max > -INFINITY) {
        kern_scalar.log_shares(a, x, n, (float)max, divisor);
        tier->log_shares(b, x, n, (float)max, divisor);
        check(!memcmp(a, b, size) && guarded(b, size), "log_shares", n, detail);
    }
    free(base[0]);
    free(base[1]);
}

// Checks the noise of consecutive ids and of random ids.
static void check_gumbel(const float *x, size_t n, float temp, size_t offset, const char *detail)
{
    char *base[4];
    const size_t size = n * sizeof(float);
    float *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]);
    uint32_t *id = buffer(size, offset * 4, &base[2]), *hot = buffer(size, offset * 4, &base[3]);
    const uint32_t s = (uint32_t)random_bits(), first = random_bits() % 2 ? 0 : (uint32_t)random_bits();
    for (size_t i = 0; i < n; i++)
        id[i] = offset % 2 ? (uint32_t)random_bits() : first + (uint32_t)i;
    kern_scalar.gumbel(a, x, id, n, s, temp);
    tier->gumbel(b, x, id, n, s, temp);
    check(!memcmp(a, b, size) && guarded(b, size), "gumbel", n, detail);
    const uint32_t least[] = {0, 1, UINT32_MAX - UINT32_MAX / 100, UINT32_MAX, (uint32_t)random_bits()};
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        const size_t found_a = kern_scalar.gumbel_hot(id, first, n, s, least[i]),
                     found_b = tier->gumbel_hot(hot, first, n, s, least[i]);
        check(found_a == found_b && !memcmp(id, hot, found_a * sizeof *id) && guarded(hot, size), "gumbel_hot", n,
              detail);
    }
    for (int i = 0; i < 4; i++)
        free(base[i]);
}

static void check_mask(const float *x, size_t n, float floor, size_t offset, const char *detail)
{
    char *base[2];
    const size_t size = n * sizeof(float);
    float *a = buffer(size, 0, &base[0]), *b = buffer(size, offset * 4, &base[1]);
    if (n) {
        memcpy(a, x, size);
        memcpy(b, x, size);
    }
    check(tier->count(b, n, floor) == kern_scalar.count(a, n, floor), "count", n, detail);
    kern_scalar.mask_below(a, a, n, floor);
    tier->mask_below(b, b, n, floor);
    check(!memcmp(a, b, size) && guarded(b, size), "mask_below", n, detail);
    tier->mask_below(b, x, n, floor);
    check(!memcmp(a, b, size) && guarded(b, size), "mask_below to another", n, detail);
    free(base[0]);
    free(base[1]);
}

// Checks all kernels on one row.
static void check_row(float *data, size_t n, enum kind kind, size_t offset)
{
    const char *const detail = kind_name[kind];
    seed = random_state;
    fill(data, n, kind);
    check_rows(data, n, offset, detail);
    char *base;
    const float *x = copy(data, n * sizeof *data, offset * sizeof *data, &base);
    const float max = kern_scalar.max(x, n), some = n ? x[random_below(n)] : 0;
    check_max(x, n, detail);
    const float floors[] = {-INFINITY, max, some, 0.0f, -0.0f, 2.5f};
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
        check_collect(x, n, DTYPE_F32, floors[i], offset, detail);
        check_mask(x, n, floors[i], offset, detail);
    }
    check_exp(x, n, max > -INFINITY ? max : 0, offset, detail);
    check_exp(x, n, max > -INFINITY && max < 1e30f ? max - 87 : 0x1p127f, offset, detail);
    check_softmax_sums(x, n, max > -INFINITY ? max : 0, detail);
    check_divergences(x, n, max > -INFINITY ? max : 0, detail);
    check_weights(x, n, max > -INFINITY ? max : 0, detail);
    check_favour(x, n, 0.3f, detail);
    check_pack(x, n, max > -INFINITY ? max : 0, -1.0f, detail);
    check_sums(x, n, detail);
    if (n <= 2000) {
        check_dots(x, n, detail);
        check_falling(x, n, 0.0f, detail);
        check_falling(x, n, 1.5f, detail);
    }
    const float by[] = {1.0f, 0.7f, 3e-39f, -1e38f, fabsf(rnd_normal()) + 0.01f};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        check_divide(x, n, by[i], offset, detail);
        check_wide_shares(x, n, by[i], offset, detail);
        check_multiply(x, n, by[i], offset, detail);
        check_add_cubic(x, n, by[i], i % 2 ? 0 : by[i] * 0.3f, offset, detail);
    }
    const float temp[] = {1.0f, 0.3f, 1e-30f, 30000.0f, FLT_MAX};
    for (size_t i = 0; i < sizeof temp / sizeof *temp; i++)
        check_gumbel(x, n, temp[i], offset, detail);
    check_philox(n, offset, detail);
    free(base);
}

// Checks rows of each kind; of rows above 2000 elements, each `sparser`-th kind.
static void check_lengths(float *data, unsigned long sparser, unsigned long turn)
{
    static const size_t large[] = {255, 256, 257, 511, 512, 513, 1000, 2000, 32000, 50257, LARGEST};
    for (enum kind kind = 0; kind < KINDS; kind++) {
        for (size_t n = 0; n <= 4 * 32 + 3; n++)
            check_row(data, n, kind, n % 4);
        for (size_t i = 0; i < sizeof large / sizeof *large; i++)
            for (size_t offset = 0; offset < 4; offset++)
                if (large[i] <= 2000 || (offset % 2 && (kind + i + turn) % (sparser < KINDS ? sparser : KINDS) == 0))
                    check_row(data, large[i], kind, offset);
    }
}

// Makes rows in which every element is the mean, except possibly the one at `odd`.
static void check_constant(float *data)
{
    enum { N = 300 };
    for (size_t odd = 0; odd <= N; odd += 50) {
        for (size_t i = 0; i < N; i++)
            data[i] = 1.5f;
        check_squares(data, N, 1.5f, 0.0f, "constant");
        check_squares(data, N, 1.5f, -0.0f, "constant, from -0");
        data[odd % N] = odd % 100 ? -INFINITY : 1.25f;
        check_squares(data, N, 1.5f, 0.0f, "constant but one");
    }
}

// A row without elements may be NULL: no kernel may compute an address from it, which a sanitizer would find.
static void check_nothing(void)
{
    const char *const detail = "null";
    for (enum dtype t = DTYPE_F32; t < DTYPE_COUNT; t++) {
        check(tier->scan[t](NULL, 0, NULL) == 0, "scan", 0, detail);
        tier->widen[t](NULL, NULL, 0);
        check(tier->collect[t](NULL, NULL, 0, 0, 0) == 0, "collect", 0, detail);
    }
    check(same_float(tier->max(NULL, 0), -INFINITY), "max", 0, detail);
    check(same_float(tier->sum(NULL, 0, 2), 2), "sum", 0, detail);
    check(same_double(tier->sum_wide(NULL, 0, 2), 2), "sum_wide", 0, detail);
    check(same_float(tier->sum_squares(NULL, 0, 1, 2), 2), "sum_squares", 0, detail);
    check(tier->count(NULL, 0, 0) == 0, "count", 0, detail);
    double sum[2 * KERN_LANES] = {0};
    check(same_float(tier->exp_sum(NULL, 0, 1, 2), 2) && tier->weigh(sum, NULL, 0, 1, 2) == 0, "weights", 0, detail);
    check(tier->gumbel_hot(NULL, 0, 0, 0, 0) == 0, "gumbel_hot", 0, detail);
    check(tier->pack(NULL, NULL, 0, 1, 2) == 0 && same_float(tier->sum_falling(NULL, NULL, 0, 2, NULL, NULL), 2),
          "falling", 0, detail);
    tier->exp_sub(NULL, NULL, 0, 0);
    tier->entropy_terms(NULL, NULL, NULL, 0);
    tier->shares(NULL, NULL, 0, 1, 0);
    tier->divergences(sum, NULL, NULL, 0);
    tier->favour(NULL, NULL, 0, 0, 1, 2, 3);
    check(tier->philox_hot(NULL, 0, 0, 0, 0) == 0, "philox_hot", 0, detail);
    tier->divide_wide(NULL, 0, 1);
    tier->log_shares(NULL, NULL, 0, 1, 2);
    tier->dots(NULL, NULL, 0, NULL, 0, 16);
    tier->divide(NULL, 0, 1);
    tier->multiply(NULL, 0, 1);
    tier->add_cubic(NULL, 0, 0, 1, 1);
    tier->round_f16(NULL, 0);
    tier->mask_below(NULL, NULL, 0, 0);
    tier->gumbel(NULL, NULL, NULL, 0, 0, 1);
}

// Checks each step-th bit pattern alone at one place of a row, and all patterns in one row.
static void check_patterns(enum dtype type, unsigned step, unsigned first)
{
    static uint16_t all[65536];
    uint16_t row[KERN_BLOCK + 40];
    const size_t n = sizeof row / sizeof *row;
    seed = random_state;
    for (unsigned u = 0; u < 65536; u++)
        all[u] = (uint16_t)u;
    for (unsigned u = first; u < 65536; u += step) {
        for (size_t i = 0; i < n; i++)
            row[i] = narrow(u % 2 ? rnd_normal() : -100 * random_unit() < -50 ? -0x1p-15f : -1000.0f, type);
        row[random_below(n)] = (uint16_t)u;
        check_typed(row, n, type, u % 4, "one pattern");
    }
    check_typed(all, 65536, type, 1, "all patterns");
    uint16_t minus_inf = type == DTYPE_F16 ? 0xfc00 : 0xff80;
    for (unsigned u = 0; u < 65536; u++) { // patterns of valid logits, in another order
        const uint16_t h = (uint16_t)(u * 40503u);
        all[u] = (h & 0x7fff) >= (minus_inf & 0x7fff) ? minus_inf : h;
    }
    check_typed(all, 65536, type, 1, "all numbers");
}

// Checks NaN and +inf at every place, with a second one at a random place.
static void check_bad(float *data)
{
    static const uint32_t bad32[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7f800000};
    static const uint16_t bad16[] = {0x7e00, 0xfe00, 0x7c01, 0xfc01, 0x7c00},
                          bad_b16[] = {0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7f80};
    static const size_t sizes[] = {1, 7, 40, 256, 300, 800};
    uint16_t h[800];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t at = 0; at < sizes[k]; at++) {
            const size_t n = sizes[k], second = random_below(n), which = random_below(5), other = random_below(5);
            seed = random_state;
            fill(data, n, random_bits() % 2 ? NORMAL : MASKED);
            for (enum dtype t = DTYPE_F16; t < DTYPE_COUNT; t++) {
                for (size_t i = 0; i < n; i++)
                    h[i] = narrow(data[i], t);
                h[at] = (t == DTYPE_F16 ? bad16 : bad_b16)[which];
                check_typed(h, n, t, at % 4, "bad");
                h[second] = (t == DTYPE_F16 ? bad16 : bad_b16)[other];
                check_typed(h, n, t, at % 4, "two bad");
            }
            memcpy(&data[at], &bad32[which], sizeof *data);
            check_typed(data, n, DTYPE_F32, at % 4, "bad");
            memcpy(&data[second], &bad32[other], sizeof *data);
            check_typed(data, n, DTYPE_F32, at % 4, "two bad");
        }
}

// Checks every step-th float from -inf to 88; on each side of 0 the first one is `first`.
static void check_exp_sweep(float *data, uint32_t step, uint32_t first)
{
    enum { CHUNK = 4096 };
    seed = step;
    for (int negative = 0; negative < 2; negative++) {
        const uint32_t sign = negative ? 0x80000000u : 0, end = negative ? 0x7f800000u : bits_of_f32(88.0f);
        for (uint64_t u = first; u <= end;) {
            size_t n = 0;
            for (; n < CHUNK && u <= end; u += step)
                data[n++] = f32_of_bits(sign | (uint32_t)u);
            data[n++] = f32_of_bits(sign | end);
            check_exp(data, n, 0.0f, 1, "sweep");
        }
    }
}

// Checks every step-th float from the first to the largest.
static void check_log_sweep(float *data, uint32_t step, uint32_t first)
{
    enum { CHUNK = 4099 };
    static float a[CHUNK], b[CHUNK];
    seed = step;
    for (uint64_t u = first; u < 0x7f800000u;) {
        size_t n = 0;
        for (; n < CHUNK && u < 0x7f800000u; u += step)
            data[n++] = f32_of_bits((uint32_t)u);
        kern_scalar.log(a, data, n);
        tier->log(b, data, n);
        check(!memcmp(a, b, n * sizeof *a), "log", n, "sweep");
        kern_scalar.entropy_terms(a, data, a, n);
        tier->entropy_terms(b, data, b, n);
        check(!memcmp(a, b, n * sizeof *a), "entropy_terms", n, "sweep");
    }
}

// Checks shares of a total. Most are near the total, for which the tiers have a fast path.
static void check_pow_shares(void)
{
    enum { N = 1000 };
    static double x[N], a[N], b[N];
    for (unsigned k = 0; k < 300; k++) {
        const size_t n = k % 3 ? 1 + random_below(40) : N;
        const double total = ldexp(1 + random_unit(), (int)random_below(20) - 10);
        const double power = k % 5 == 0 ? 0 : k % 50 == 1 ? INFINITY : k % 5 == 2 ? 1 : exp(8 * random_unit() - 4);
        seed = random_state;
        for (size_t i = 0; i < n; i++)
            x[i] = random_below(20) ? total * (1 - exp(-40 * random_unit())) : random_below(2) ? total : 0;
        memcpy(a, x, n * sizeof *a);
        memcpy(b, x, n * sizeof *b);
        kern_scalar.pow_shares(a, n, total, power);
        tier->pow_shares(b, n, total, power);
        check(!memcmp(a, b, n * sizeof *a), "pow_shares", n, "");
    }
}

// Checks the noise of every step-th counter. A logit of 0 shows the noise to f16's 11 bits; a large temperature shows other bits.
static void check_gumbel_sweep(float *data, uint32_t step, uint32_t first)
{
    enum { CHUNK = 4096 };
    static float a[CHUNK], b[CHUNK];
    static uint32_t id[CHUNK];
    seed = step;
    memset(data, 0, CHUNK * sizeof *data);
    for (uint64_t from = first; from <= UINT32_MAX; from += (uint64_t)step * CHUNK) {
        for (size_t i = 0; i < CHUNK; i++)
            id[i] = (uint32_t)(from + i * step);
        for (int k = 0; k < 3; k++) {
            const float temp = k == 0 ? 1.0f : k == 1 ? 1000.0f : 0x1.234568p0f;
            kern_scalar.gumbel(a, data, id, CHUNK, 0, temp);
            tier->gumbel(b, data, id, CHUNK, 0, temp);
            check(!memcmp(a, b, sizeof a), "gumbel", CHUNK, "sweep");
        }
    }
}

// Makes elements near and far below the sum, many of them exactly between two multiples of its ulp.
static float near_sum(float s, int shift, int spread, int ulp, int sign)
{
    const double scale = ldexp(1.0, ilogbf(s) - shift - (int)random_below((size_t)spread + 1));
    double x = scale * (1 + random_unit());
    if (random_bits() % 4 == 0) {
        const double half = ldexp(1.0, ilogbf(s) - ulp - 1);
        x = half * (double)(1 + random_below(random_bits() % 2 ? 3 : 4096));
    }
    return (float)(sign == 0 ? x : sign == 1 ? -x : random_bits() % 2 ? x : -x);
}

// Makes a sum that leaves its binade by ties, or just does not: it is some ulps from the end, and elements are half or whole ulps.
static float fill_edge(float *x, size_t n, float s, int ulp, bool top)
{
    const double unit = ldexp(1.0, ilogbf(s) - ulp), most = (double)(1 + random_below(8)), share = random_unit();
    const double end = ldexp(top ? 2.0 : 1.0, ilogbf(s)), reach = (double)n * (most / 2 + 1) * 1.2;
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((top ? 0.5 : -0.5) * unit * floor(random_unit() < share ? 1 : 1 + random_unit() * most));
    const double away = floor(random_unit() * (ulp == 23 ? reach : 0)) * unit;
    return (float)(top ? end - away : end + away);
}

static void check_sum_case(float *x)
{
    static const int ulp[] = {23, 52, 23}, shift[] = {10, 30, 10};
    seed = random_state;
    const size_t n = 64 + random_below(700);
    const int slot = (int)random_below(3), sign = (int)random_below(4), spread = (int)random_below(30);
    const bool edge = random_bits() % 4 == 0;
    float s = ldexpf(random_bits() % 4   ? (float)(1 + random_unit())
                     : random_bits() % 2 ? 1.0f
                                         : 0x1.fffffep0f,
                     (int)random_below(60) - 30);
    double wide = random_bits() % 2 ? s : s * (1 + random_unit() * 0x1p-20);
    const int down = (int)random_below(3) ? (int)random_below((size_t)shift[slot] + 20) : 1;
    for (size_t i = 0; i < n; i++)
        x[i] = near_sum(s, down, spread, ulp[slot], sign);
    if (edge) {
        const bool top = slot == 2 || random_bits() % 2;
        const float end = fill_edge(x, n, s, ulp[slot], top);
        wide = ldexp(top ? 2 : 1, ilogbf(s)) + (top ? -1 : 1) * ldexp((double)random_below(n * 4), ilogbf(s) - 52);
        s = end;
    } else if (random_bits() % 3 == 0) {
        qsort(x, n, sizeof *x, random_bits() % 2 ? by_value : by_value_falling);
    }
    if (sign != 0 && random_bits() % 2) {
        s = -s;
        wide = -wide;
        for (size_t i = 0; edge && i < n; i++)
            x[i] = -x[i];
    }
    if (slot == 0) {
        const bool masked = random_bits() % 2;
        for (size_t i = random_below(200); masked && i < n; i += 1 + random_below(200))
            x[i] = -INFINITY;
        check_sum(x, n, s, "case");
        check_falling(x, n, fabsf(s), "case");
    } else if (slot == 1) {
        check_wide(x, n, wide, "case");
    } else { // squares near half ulps, exactly half where the root is exact
        const int even = (ilogbf(s) - 24) % 2 ? 1 : 0;
        for (size_t i = 0; i < n; i++)
            x[i] = random_bits() % 2 && !edge ? sqrtf(fabsf(x[i]))
                                              : ldexpf((float)random_below(edge ? 4 : 64), (ilogbf(s) - 24 - even) / 2);
        check_squares(x, n, random_bits() % 2 ? 0 : x[0], fabsf(s), "case");
    }
}

// Makes a row's softmax in the order of ids or of logits, summed as sampl does.
static void check_softmax(float *x, size_t n, bool sorted, float scale)
{
    seed = random_state;
    for (size_t i = 0; i < n; i++)
        x[i] = rnd_normal() * scale;
    for (int i = 0; n && i < 5; i++)
        x[random_below(n)] = 12 + 4 * rnd_normal();
    check_sums(x, n, "logits");
    if (n && sorted)
        qsort(x, n, sizeof *x, by_value_falling);
    check_weights(x, n, kern_scalar.max(x, n), "logits");
    kern_scalar.exp_sub(x, x, kern_scalar.max(x, n), n);
    check_sums(x, n, "softmax");
    check_falling(x, n, 0.0f, "softmax");
    const float sum = kern_scalar.sum(x, n, 0);
    kern_scalar.divide(x, n, sum);
    check_sums(x, n, "normalised");
    check_falling(x, n, 0.0f, "normalised");
}

// Fewer cases make sweeps sparser by an odd factor, so that the floats of a sweep have all lowest bits.
static void check_tier(float *data, unsigned long cases, unsigned long turn)
{
    const uint32_t sparser = cases < 100000 ? (uint32_t)(100000 / (cases + 1)) | 1 : 1;
    const uint32_t close = 97 * sparser, far = 997 * sparser;
    check_nothing();
    check_lengths(data, sparser, turn);
    check_constant(data);
    check_bad(data);
    const unsigned step = sparser < 9 ? sparser : 9;
    check_patterns(DTYPE_F16, step, (unsigned)(turn % step));
    check_patterns(DTYPE_BF16, step, (unsigned)(turn % step));
    check_exp_sweep(data, close, (uint32_t)(turn % close));
    check_log_sweep(data, far, (uint32_t)(turn % far));
    check_pow_shares();
    check_gumbel_sweep(data, far, (uint32_t)(turn % far));
    for (unsigned long i = turn % (sparser < 24 ? sparser : 24); i < 24; i += sparser)
        check_softmax(data, i % 4 == 3 ? 5000 : LARGEST, i % 2, i < 8 ? 2.5f : i < 16 ? 0.1f : 9);
    for (unsigned long i = 0; i < cases; i++)
        check_sum_case(data);
}

// Timing.

struct bench {
    float *logits, *out, *p;
    uint16_t *f16, *bf16;
    uint64_t *keys;
    uint32_t *id;
    volatile double sink;
};

enum bench_slot {
    SCAN_F32,
    SCAN_F16,
    SCAN_BF16,
    WIDEN_F32,
    WIDEN_F16,
    WIDEN_BF16,
    MAX,
    ARGMAX,
    COLLECT_FEW,
    COLLECT_ALL,
    EXP_SUB,
    SOFTMAX_SUMS,
    SUM_LOGITS,
    SUM_F16_LOGITS,
    SUM_P,
    SUM_WIDE,
    SUM_WIDE_SORTED,
    SUM_SQUARES,
    SUM_SQUARES_F16,
    DIVIDE,
    MASK_BELOW,
    GUMBEL,
    GUMBEL_HOT,
    BENCH_SLOTS
};

static const char *const bench_name[BENCH_SLOTS] = {"scan[f32]",
                                                    "scan[f16]",
                                                    "scan[bf16]",
                                                    "widen[f32]",
                                                    "widen[f16]",
                                                    "widen[bf16]",
                                                    "max",
                                                    "argmax",
                                                    "collect 0.1 %",
                                                    "collect all",
                                                    "exp_sub",
                                                    "softmax_sums",
                                                    "sum logits",
                                                    "sum f16 logits",
                                                    "sum softmax",
                                                    "sum_wide",
                                                    "sum_wide sorted",
                                                    "sum_squares",
                                                    "sum_squares f16",
                                                    "divide",
                                                    "mask_below",
                                                    "gumbel",
                                                    "gumbel_hot 1/1000"};

static void bench_once(const struct kern *k, struct bench *b, enum bench_slot slot)
{
    const size_t n = LARGEST;
    const float *coarse = b->out + n, *sorted = b->p + n;
    switch (slot) {
    case SCAN_F32:
        b->sink = (double)k->scan[DTYPE_F32](b->logits, n, b->out);
        return;
    case SCAN_F16:
        b->sink = (double)k->scan[DTYPE_F16](b->f16, n, b->out);
        return;
    case SCAN_BF16:
        b->sink = (double)k->scan[DTYPE_BF16](b->bf16, n, b->out);
        return;
    case WIDEN_F32:
        k->widen[DTYPE_F32](b->out, b->logits, n);
        return;
    case WIDEN_F16:
        k->widen[DTYPE_F16](b->out, b->f16, n);
        return;
    case WIDEN_BF16:
        k->widen[DTYPE_BF16](b->out, b->bf16, n);
        return;
    case MAX:
        b->sink = k->max(b->logits, n);
        return;
    case ARGMAX:
        b->sink = (double)k->argmax(b->logits, n);
        return;
    case COLLECT_FEW:
        b->sink = (double)k->collect[DTYPE_F32](b->keys, b->logits, n, 0, 3 * 2.5f);
        return;
    case COLLECT_ALL:
        b->sink = (double)k->collect[DTYPE_F32](b->keys, b->logits, n, 0, -INFINITY);
        return;
    case EXP_SUB:
        k->exp_sub(b->out, b->logits, 12, n);
        return;
    case SOFTMAX_SUMS: {
        double sum[16] = {0};
        k->softmax_sums(sum, b->logits, 12, NULL, 0, n);
        b->sink = sum[0];
        return;
    }
    case SUM_LOGITS:
        b->sink = k->sum(b->logits, n, 0);
        return;
    case SUM_F16_LOGITS:
        b->sink = k->sum(coarse, n, 0);
        return;
    case SUM_P:
        b->sink = k->sum(b->p, n, 0);
        return;
    case SUM_WIDE:
        b->sink = k->sum_wide(b->p, n, 0);
        return;
    case SUM_WIDE_SORTED:
        b->sink = k->sum_wide(sorted, n, 0);
        return;
    case SUM_SQUARES:
        b->sink = k->sum_squares(b->logits, n, 0.01f, 0);
        return;
    case SUM_SQUARES_F16:
        b->sink = k->sum_squares(coarse, n, -3, 0);
        return;
    case DIVIDE:
        k->divide(b->out, n, 1.0000001f);
        return;
    case MASK_BELOW:
        k->mask_below(b->out, b->logits, n, -100);
        return;
    case GUMBEL:
        k->gumbel(b->out, b->logits, b->id, n, 1, 1);
        return;
    default:
        b->sink = (double)k->gumbel_hot((uint32_t *)(void *)b->keys, 0, n, 1, UINT32_MAX - UINT32_MAX / 1000);
    }
}

// Returns the time of the fastest of many calls, in ns per element.
static double bench_slot(const struct kern *k, struct bench *b, enum bench_slot slot)
{
    double best = INFINITY;
    for (int i = 0; i < 200; i++) {
        if (slot == DIVIDE || slot == MASK_BELOW)
            memcpy(b->out, b->logits, LARGEST * sizeof(float));
        const double start = now();
        bench_once(k, b, slot);
        best = fmin(best, now() - start);
    }
    return best * 1e9 / LARGEST;
}

static void *room(size_t n, size_t size)
{
    void *at = calloc(n, size);
    if (!at)
        abort();
    return at;
}

static void bench(void)
{
    const size_t n = LARGEST;
    struct bench b = {room(n, 4), room(2 * n, 4), room(2 * n, 4), room(n, 2), room(n, 2), room(n, 8), room(n, 4), 0};
    fill(b.logits, n, NORMAL);
    for (int i = 0; i < 5; i++)
        b.logits[random_below(n)] = 10 + rnd_normal();
    for (size_t i = 0; i < n; i++) {
        b.f16[i] = narrow(b.logits[i], DTYPE_F16);
        b.bf16[i] = narrow(b.logits[i], DTYPE_BF16);
        b.id[i] = (uint32_t)i;
        b.out[n + i] = f32_of_f16(narrow(b.logits[i] - 3, DTYPE_F16));
    }
    kern_scalar.exp_sub(b.p, b.logits, kern_scalar.max(b.logits, n), n);
    memcpy(b.p + n, b.p, n * sizeof *b.p);
    qsort(b.p + n, n, sizeof *b.p, by_value_falling);
    printf("%-16s", "ns/element");
    for (size_t t = 0; kern_tier(t); t++)
        printf(" %8s", kern_tier(t)->name);
    printf("\n");
    for (enum bench_slot s = 0; s < BENCH_SLOTS; s++) {
        printf("%-16s", bench_name[s]);
        for (size_t t = 0; kern_tier(t); t++)
            printf(" %8.4f", bench_slot(kern_tier(t), &b, s));
        printf("\n");
    }
    void *const all[] = {b.logits, b.out, b.p, b.f16, b.bf16, b.keys, b.id};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--bench")) {
        bench();
        return 0;
    }
    const bool every_float = argc > 1 && !strcmp(argv[1], "--every-float"); // checks exp_sub and log only
    const bool every_noise = argc > 1 && !strcmp(argv[1], "--every-noise"); // checks the noise of every counter only
    const unsigned long cases = argc > 2 && !strcmp(argv[1], "--cases") ? strtoul(argv[2], NULL, 10) : 100000;
    const unsigned long turn = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    float *data = malloc((LARGEST + 8) * sizeof *data);
    if (!data)
        abort();
    for (size_t t = 0; kern_tier(t); t++) {
        tier = kern_tier(t);
        random_state = 1;
        printf("tier %s\n", tier->name);
        if (tier == &kern_scalar)
            continue;
        if (every_float) {
            check_exp_sweep(data, 1, 0);
            check_log_sweep(data, 1, 0);
        } else if (every_noise) {
            check_gumbel_sweep(data, 1, 0);
        } else {
            check_tier(data, cases, turn);
        }
    }
    free(data);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
