// SPDX-License-Identifier: MIT
// The kernel `numbers` of a tier whose registers are 16-byte lanes side by side. It reads LANES numbers at a time, a lane of text each: the
// first half of them in text[0] and text[1], the even ones in the lanes of text[0], the other half in text[2] and text[3]. Beside what
// kern_template.h asks for, the tier has defined
//   uint64_t same_bytes(const char *p, char c)            bit i: p[i] is c; of 64
//   vu8 even_lanes(const char *base, const uint16_t *at)  lane i: the bytes from base + at[2 * i] on
//   hu32 same_in_lanes(vu8 even, vu8 odd, char c)         element i, bit k: byte k of number i is c
//   hu32 last_of_lanes(vu8 even, vu8 odd)                 element i: the last four bytes of number i
//   vi8 spread(vi32 v, vi32 from)                         elements from[i] of v
//   vu8 shuffle_lanes(vu8 v, vi8 from)                    byte i of a lane: byte from[i] of it
//   vu16 join_bytes(vu8 v, vu16 w), vu32 join_16s(vu16 v, vu32 w)  pairs of elements of v, each times its half of w, added up
//   vu16 pack_lanes(vu32 a, vu32 b)                       lane i: that of a, then that of b, as u16
//   vu8 beyond_u8(vu8 a, vu8 b)                           a - b, or 0 where b is larger
//   vi64 widen_i32(hi32 v), vf64 entry_101(const double *table, vi64 i)
//
// The commas are found first. A number ends where its lane does; its digits move to the lane's end from where its point or its exponent is,
// and are joined by twos, fours and eights. Nothing branches on how long a number is. What is not written as usual goes to json_item.
// Rounding is that of json_number, which see.
#ifndef SAMPL_KERN_NUMBERS_TEMPLATE_H
#define SAMPL_KERN_NUMBERS_TEMPLATE_H

#include "base/number.h"

enum {
    NUMBERS_CHUNK = 4096, // bytes
    NUMBERS_BEYOND = 16,  // bytes read behind it
    NUMBERS_LANE = 16,
    NUMBERS_LOW = 8, // digits at the end of a number too long for a lane, which are read apart
};

struct numbers_chunk {
    size_t n; // numbers with a comma behind them
    bool exponents;
    const uint16_t *start; // of the numbers, less gap
    int gap;
    uint16_t behind[1 + NUMBERS_CHUNK + 64]; // 0, then behind each comma
    uint16_t starts[NUMBERS_CHUNK + 64];
    float value[NUMBERS_CHUNK + 64];
    uint16_t odd[NUMBERS_CHUNK / LANES + 1]; // of each LANES numbers: those for json_item
};

// Writes at + i to place for each bit i, rising; returns how many. Room for seven more.
static inline size_t numbers_take(uint64_t bits, size_t at, uint16_t *place)
{
    const size_t n = (size_t)__builtin_popcountll(bits);
    for (; bits; place += 8) { // eight at a time: how many there are is hard to predict
        UNROLL
        for (size_t i = 0; i < 8; i++) {
            place[i] = (uint16_t)(at + (unsigned)__builtin_ctzll(bits | UINT64_C(1) << 63));
            bits &= bits - 1;
        }
    }
    return n;
}

// Finds the starts of numbers that have white space before them: it is neither, but they are before it.
static inline size_t numbers_starts(struct numbers_chunk *c, const char *text, size_t len)
{
    uint64_t before = 1;
    size_t n = 0;
    for (size_t at = 0; at < len; at += 64) {
        const char *const p = text + at;
        const uint64_t space = same_bytes(p, ' ') | same_bytes(p, '\n') | same_bytes(p, '\r') | same_bytes(p, '\t');
        const uint64_t either = space | same_bytes(p, ',');
        n += numbers_take(~space & (either << 1 | before), at, c->starts + n);
        before = either >> 63;
    }
    c->start = c->starts;
    c->gap = 0;
    return n;
}

// Finds the numbers of text[0..len), len a multiple of 64, the first of which begins there; at most `most`.
static inline void numbers_find(struct numbers_chunk *c, const char *text, size_t len, size_t most)
{
    uint64_t before = 1, spaces = 0, uneven = 0;
    vi8 exponents = {0}, controls = {0};
    size_t starts = 0;
    c->n = 0;
    c->behind[0] = 0;
    for (size_t at = 0; at < len; at += 64) {
        const char *const p = text + at;
        const uint64_t comma = same_bytes(p, ','), space = same_bytes(p, ' ');
        for (size_t i = 0; i < 64; i += VECTOR) {
            const vu8 v = load_vu8(p + i);
            exponents |= (v & 0xdf) == 'E';
            controls |= v < ' ';
        }
        c->n += numbers_take(comma, at + 1, c->behind + 1 + c->n);
        spaces |= space;
        uneven |= space ^ (comma << 1 | before);
        before = comma >> 63;
    }
    c->exponents = any((vi32)exponents);
    c->start = c->behind;
    c->gap = spaces != 0; // behind each comma
    if ((spaces && uneven) || any((vi32)controls))
        starts = numbers_starts(c, text, len);
    c->n = c->n < most ? c->n : most;
    for (size_t i = 0; i < LANES; i++) { // the last ones may be read together with these
        c->behind[1 + c->n + i] = c->behind[c->n];
        c->starts[starts + i] = 0;
    }
}

OPERATION(vi32, load_places(const uint16_t *at), (vi32)widen_u16(load_hu16(at)))

// Has the compiler hold a value in a register, or in memory, and not make it anew wherever it is used.
#define KEEP(V) ((V) = *(const volatile __typeof__(V) *)&(V))

// What numbers_read works with.
struct numbers_constants {
    vi8 place;
    vu8 four, zero, nine;
    vu16 tens;
    vu32 hundreds, myriads;
    vu64 two_52, low_half;
    vf64 wide_52, eights;
    vi32 lane, byte, minus, digit, bias, from[4];
};

ALWAYS_INLINE struct numbers_constants numbers_constants(void)
{
    const vi8 place = (vi8)((lane_numbers() & 3) * 0x04040404 + 0x03020100);
    const vi32 even = (vi32)(lane_numbers() / 4 * 2);
    struct numbers_constants k = {.place = place,
                                  .four = (vu8)place & 3,
                                  .nine = 9 - (vu8){0},
                                  .zero = '0' - (vu8){0},
                                  .tens = 1 * 256 + 10 - (vu16){0}, // in bytes: 10, 1
                                  .hundreds = (1u << 16) + 100 - (vu32){0},
                                  .myriads = (1u << 16) + 10000 - (vu32){0},
                                  .two_52 = UINT64_C(0x4330000000000000) - (vu64){0},
                                  .low_half = UINT32_MAX - (vu64){0},
                                  .wide_52 = 0x1p52 - (vf64){0},
                                  .eights = 1e8 - (vf64){0},
                                  .lane = NUMBERS_LANE - (vi32){0},
                                  .byte = 0xff - (vi32){0},
                                  .minus = '-' - (vi32){0},
                                  .digit = '0' - (vi32){0},
                                  .bias = 127 - (vi32){0},
                                  .from = {even, even + 1, even + LANES_F64, even + LANES_F64 + 1}};
    KEEP(k);
    return k;
}

// The lower half of each element times scale, plus the upper half, both below 2^52.
ALWAYS_INLINE vf64 join_halves(const struct numbers_constants *k, vu64 v, vf64 scale)
{
    const vf64 first = (vf64)((v & k->low_half) | k->two_52) - k->wide_52, second = (vf64)(v >> 32 | k->two_52) - k->wide_52;
    return first * scale + second;
}

ALWAYS_INLINE void load_lanes(vu8 text[4], const char *base, const uint16_t *at)
{
    text[0] = even_lanes(base, at);
    text[1] = even_lanes(base, at + 1);
    text[2] = even_lanes(base, at + LANES_F64);
    text[3] = even_lanes(base, at + LANES_F64 + 1);
}

OPERATION(vu32, last_bytes(const vu8 text[4]),
          (vu32)join((hf32)last_of_lanes(text[0], text[1]), (hf32)last_of_lanes(text[2], text[3])))

// For each number, which bytes of its lane are c.
OPERATION(vi32, places_of(const vu8 text[4], char c),
          (vi32)join((hf32)same_in_lanes(text[0], text[1], c), (hf32)same_in_lanes(text[2], text[3], c)))

OPERATION(vi32, in_each_byte(vi32 v), (vi32)((vu32)v * 0x01010101))
OPERATION(hi32, half_of(vi32 v, size_t h), (hi32)(h ? upper_half((vf32)v) : lower_half((vf32)v)))

// Reads LANES numbers, from the i-th on. exponents: there may be some.
ALWAYS_INLINE void numbers_read(const struct numbers_constants *k, struct numbers_chunk *c, const char *text, size_t i,
                                bool exponents)
{
    const uint16_t *const behind = c->behind + 1 + i;
    const vi32 comma = load_places(behind) - 1, from = load_places(c->start + i) + c->gap;
    vi32 size = comma - from, tail = {0}, exponent = {0};     // characters of the number; of its exponent
    vi32 odd = (size - 1) | (from - load_places(behind - 1)); // so where it is negative
    vu8 t[4], head[4], beyond[4];
    load_lanes(t, text - NUMBERS_LANE - 1, behind);
    if (exponents) { // e-7 or e-07
        const vu32 last = last_bytes(t);
        const vi32 two = (last & 0xdf) == 'E', has = two | ((last >> 8 & 0xdf) == 'E');
        const vi32 sign = (vi32)(last >> 16 & 0xff & ~(vu32)two) | (vi32)(last >> 8 & 0xff & (vu32)two);
        const vi32 unit = (vi32)(last >> 24) - '0', ten = ((vi32)(last >> 16 & 0xff) - '0') & two;
        const vi32 down = sign == '-';
        odd |= has & ((~down & ~(sign == '+')) | unit | (9 - unit) | ten | (9 - ten));
        exponent = (ten * 10 + unit) & has;
        exponent = (exponent ^ down) - down;
        tail = (has & 3) - two;
    }
    const vi32 is_long = (size > k->lane) & ~(odd >> 31);
    const bool longs = any(is_long);
    uint16_t end[2 * LANES];
    if (longs) {
        const vi32 cut = is_long & (NUMBERS_LOW + tail);
        store_hu16(end, __builtin_convertvector((vu32)(comma - cut), hu16));
        load_lanes(t, text - NUMBERS_LANE, end);
        size -= cut;
        tail &= ~is_long;
    }
    const vi32 first = k->lane - size, to_first = in_each_byte(first); // the place of the first character
    UNROLL
    for (size_t q = 0; q < 4; q++)
        head[q] = shuffle_lanes(t[q], (vi8)((vu8)spread(to_first, k->from[q]) + k->four)); // odd ones may wrap around
    const vu32 heads = last_bytes(head);
    const vi32 negative = ((vi32)heads & k->byte) == k->minus, digit = (vi32)(heads >> (vu32)(negative & 8)) & k->byte;
    // The last point: the exponent of the bits as a float.
    const vi32 point = ((vi32) __builtin_convertvector(places_of(t, '.'), vf32) >> 23) - k->bias;
    const vi32 parted = point > first - 1, part = (k->lane - 1 - tail - point) & parted & 15;
    const vi32 n = size - tail + negative + parted, whole = n - part;
    odd |= first | (whole - 1) | ((digit == k->digit) & (1 - whole)) | (parted & ~is_long & (part - 1)) | (is_long & ~parted);
    const vi32 none = in_each_byte(k->lane - 1 - n), parts = in_each_byte((k->lane - part) & parted);
    UNROLL
    for (size_t q = 0; q < 4; q++) {
        vi8 to = k->place + (spread(parts, k->from[q]) > k->place);
        if (exponents)
            to -= spread(in_each_byte(tail), k->from[q]);
        t[q] = shuffle_lanes(t[q] ^ k->zero, to) & (vu8)(k->place > spread(none, k->from[q]));
        beyond[q] = beyond_u8(t[q], k->nine);
    }
    if (any((vi32)(beyond[0] | beyond[1] | beyond[2] | beyond[3])))
        odd |= ~(places_of(beyond, '\0') == 0xffff);
    vi32 scale = part;
    if (exponents) {
        scale += (is_long & NUMBERS_LOW) - exponent;
        odd |= (NUMBER_POWER_MOST - scale) | (scale + NUMBER_POWER);
        scale = (scale & ~(odd >> 31)) + NUMBER_POWER;
    }
    unsigned odds = signs_32(odd);
    UNROLL
    for (size_t h = 0; h < 2; h++) {
        const vi64 power_at = widen_i32(half_of(scale, h));
        const vu16 joined = pack_lanes(join_16s(join_bytes(t[2 * h], k->tens), k->hundreds),
                                       join_16s(join_bytes(t[2 * h + 1], k->tens), k->hundreds));
        vf64 v = join_halves(k, (vu64)join_16s(joined, k->myriads), k->eights);
        vf64 power = exponents ? entry_101(number_powers, power_at) : entry_16(number_powers + NUMBER_POWER, power_at);
        if (longs) {
            const vi64 wide = widen_i32(half_of(is_long, h));
            vu64 low;
            UNROLL
            for (size_t j = 0; j < LANES_F64; j++)
                memcpy((char *)&low + j * sizeof(uint64_t), text + end[h * LANES_F64 + j], sizeof(uint64_t));
            low = (low ^ (vu64)k->zero) & (vu64)wide;
            odds |= signs_64((vi64)beyond_u8((vu8)low, k->nine) != 0) << (h * LANES_F64);
            const vf64 shift = (vf64)(((vi64)k->eights & wide) | ((vi64)(1.0 - (vf64){0}) & ~wide));
            v = v * shift + join_halves(k, (vu64)join_16s(join_bytes((vu8)low, k->tens), k->hundreds), 1e4 - (vf64){0});
            if (!exponents)
                power *= shift;
        }
        v /= power;
        // within 8 of a half, or no normal float
        const vi64 wrong = ((((vi64)v + 8) & 0x1ffffff0) == 0x10000000) | (v < 0x1p-126) | (v >= 0x1p127);
        odds |= signs_64(wrong & (v != 0)) << (h * LANES_F64);
        v = (vf64)((vi64)v | (widen_i32(half_of(negative, h)) & INT64_MIN));
        store_hf32(c->value + i + h * LANES_F64, narrow_f64(v));
    }
    c->odd[i / LANES] = (uint16_t)odds;
}

static size_t row_numbers(const char **at, const char *end, float *x, size_t most)
{
    struct numbers_chunk c;
    const char *const begin = *at, *p = begin;
    size_t n = 0;
    bool more = true;
    while (more && n < most && end - p >= 64 + NUMBERS_BEYOND) {
        const char *const text = p;
        if (text - begin < NUMBERS_LANE) { // the bytes before a number are read with it
            const char *const comma = memchr(p, ',', 64);
            more = comma && json_item(p, comma, x + n);
            n += more;
            p = more ? comma + 1 : p;
            continue;
        }
        const size_t left = (size_t)(end - p - NUMBERS_BEYOND) / 64 * 64;
        numbers_find(&c, text, left < NUMBERS_CHUNK ? left : NUMBERS_CHUNK, most - n);
        const struct numbers_constants k = numbers_constants();
        for (size_t i = 0; i < c.n && c.exponents; i += LANES)
            numbers_read(&k, &c, text, i, true);
        for (size_t i = 0; i < c.n && !c.exponents; i += LANES)
            numbers_read(&k, &c, text, i, false);
        size_t good = c.n;
        for (size_t i = 0; i < c.n && more; i += LANES)
            for (unsigned odd = c.odd[i / LANES]; odd && more; odd &= odd - 1) {
                const size_t j = i + (size_t)__builtin_ctz(odd);
                if (j >= c.n)
                    break;
                more = json_item(text + c.behind[j], text + c.behind[j + 1] - 1, c.value + j);
                good = more ? good : j;
            }
        memcpy(x + n, c.value, good * sizeof *x);
        n += good;
        p = text + c.behind[good];
        more = more && good;
    }
    *at = p;
    return n;
}

#endif
