// SPDX-License-Identifier: MIT
// The kernel `numbers`, for tiers whose registers consist of lanes of 16 bytes.
//
// Plain algorithm: json_item (base/number.c), number by number. It multiplies an integer by ten and adds the next
// digit, and at the end multiplies the integer by the power of ten that the point and the exponent ask for.
//
// Why it is too slow: the place where a number ends is where the next one begins, so each number waits for the one
// before it. The number of digits differs from number to number. The processor cannot predict where a loop over digits
// ends, and each wrong guess costs as much as many digits.
//
// Idea: first find where all numbers of a chunk are, then read LANES numbers at once, each in a lane of 16 bytes.
// 1. numbers_find compares 64 bytes at a time with ',' and '.', and gets a word of bits for each. It writes the indices
//    of the bits to arrays: the starts of the numbers, and their points. To find the numbers without a point, it adds
//    the word of points to the word of bytes that are no comma. The bit of a point then carries up to the comma that
//    ends its number. A comma that no carry reaches ends a number without a point, and counts as its point.
// 2. Rows with exponents: numbers_exponents reads e-7 or e-07 before each comma, and ends the number there.
// 3. numbers_read loads each number with its point at byte 4 of the lane. Bytes 0 to 3 have the digits before the
//    point, bytes 5 to 15 the first 11 digits behind it. So the weight of a byte is the same in all numbers. Bytes
//    outside the number, its sign and its point count as 0 (keep_digits). Three multiply-adds join the digits: to
//    numbers of two digits, of four (three behind the point), and of seven and eight. A fourth one joins those to an
//    integer of 15 digits. A number with up to 19 digits behind the point has 8 more in a second lane, if a number of
//    this group has.
// No branch depends on the length of a number; the branches left ask whether any of LANES numbers is unusual.
//
// Why the bits are the same as strtof's: strtof rounds the written number N to the nearest float.
// - The integer of 15 digits is below 2^53, so its f64 is exact. At most four steps round: the product with 10^8 and
//   the sum, if there are 8 more digits; the power of ten, which is the nearest f64; and the product with it. Each step
//   errs by at most 2^-53 of its result, which is less than one ulp. So the f64 v lies within 4 ulp of N.
// - To round v to f32 drops its lower 29 bits. v and N round to the same float unless the middle of two neighbouring
//   floats lies between them or is one of them. Then the dropped bits of v are within 4 of 0x10000000, which stands for
//   the middle. numbers_read leaves each number within 8 of it to json_item, which has the same test with 4 and asks
//   strtof if it cannot decide.
// - A float below 2^-126 is subnormal, and v drops more bits. A float from 2^127 on may overflow. Without an exponent
//   no number is that small or large, unless it is 0; with exponents numbers_read leaves them to json_item.
// - Everything else that is not written as usual is left to json_item as well (`odd`): a word, white space inside, a
//   leading zero, no digit before or behind the point, too many digits, an exponent beyond the table of powers.
//
// json_number_check compares every tier with strtof, on numbers near the middle of two floats among others.
//
// text[4] in the functions below holds the lanes of LANES numbers: text[0] has the even numbers of the first half,
// text[1] its odd numbers; text[2] and text[3] have those of the second half.
//
// Besides the names that kern_template.h lists, a tier defines:
//
//   uint64_t same_bytes(const char *p, char c)            bit i: p[i] is c; i < 64
//   uint64_t lowest_bit(uint64_t bits)                    the index of the lowest bit that is set; 64 if bits is 0
//   vu8 even_lanes(const char *base, const uint16_t *at)  lane i: the 16 bytes from base + at[2 * i] on
//   hu32 first_of_lanes(vu8 even, vu8 odd)                element i: the first four bytes of number i
//   vu32 four_bytes(const char *base, vi32 at)            element i: the four bytes from base + at[i] on
//   vu64 eight_bytes(const char *base, const uint16_t *at)
//                                                         element i: the eight bytes from base + at[i] on
//   void keep_digits(vu8 text[4], vi32 places, vu8 zero)  each byte less zero; or 0, if byte k belongs to number i and
//                                                         bit k of places[i] is 0
//   vu16 join_bytes(vu8 v, vu16 w)                        v[2i] * (lower byte of w[i]) + v[2i + 1] * (upper byte)
//   vu32 join_16s(vu16 v, vu32 w)                         join_bytes for elements of 16 bits
//   vu16 pack_lanes(vu32 a, vu32 b)                       lane i: lane i of a, then lane i of b, each element as u16;
//                                                         UINT16_MAX if it is larger. No element is negative
//   vu8 beyond_u8(vu8 a, vu8 b)                           a - b, or 0 where b is larger
//   vu64 times_low(vu64 a, vu64 b)                        the product of their lower halves
//   vi64 widen_i32(hi32 v)                                exact
//   unsigned equal_bits(vi64 a, vi64 b)                   the lanes where a is b, as bits, lane 0 lowest
#ifndef SAMPL_KERN_NUMBERS_TEMPLATE_H
#define SAMPL_KERN_NUMBERS_TEMPLATE_H

#include "base/number.h"

enum {
    NUMBERS_CHUNK = 4096, // bytes that numbers_find looks at
    NUMBERS_BEYOND = 32,  // bytes after a chunk that may be read
    NUMBERS_BEFORE = 16,  // bytes before a chunk that may be read
    NUMBERS_WHOLE = 4,    // digits before the point, at most
    NUMBERS_PART = 11,    // digits behind the point that a lane has
    NUMBERS_LOW = 8,      // digits behind those, at most, which are read from a second load
};

// The numbers of a chunk of text. Places are offsets from the start of the chunk.
struct numbers_chunk {
    size_t n; // numbers with a comma behind them
    bool exponents;
    const uint16_t *start;                   // [n] starts of the numbers, less gap: behind or starts
    int gap;                                 // 1 if one space stands before each number, else 0
    uint16_t behind[1 + NUMBERS_CHUNK + 64]; // 0, then the place behind each comma
    uint16_t starts[NUMBERS_CHUNK + 64];     // starts of the numbers, if white space of other lengths is before them
    uint16_t point[NUMBERS_CHUNK + 64];      // the point of each number; its end if it has none
    uint16_t end[NUMBERS_CHUNK + 64];        // if there are exponents: where the number's exponent begins, or its comma
    float value[NUMBERS_CHUNK + 64];         // the results; before numbers_read the exponents, as int32_t
    uint16_t odd[NUMBERS_CHUNK / LANES + 1]; // of each LANES numbers, a bit for each that json_item must read
};

// Writes at + i to place[] for each bit i that is set, rising. Returns how many are set. May write seven more elements.
// (volatile: gcc would gather the elements in a register first.)
static inline size_t numbers_write_places(uint64_t bits, size_t at, volatile uint16_t *place)
{
    const size_t n = (size_t)__builtin_popcountll(bits);
    for (; bits; place += 8) { // eight at a time: how many there are is hard to predict
        UNROLL
        for (size_t i = 0; i < 8; i++) {
            place[i] = (uint16_t)(at + lowest_bit(bits));
            bits &= bits - 1;
        }
    }
    return n;
}

// Finds the starts of numbers that may have white space before them: a byte that is neither white space nor a comma,
// behind a byte that is either. Returns how many starts there are.
static inline size_t numbers_starts(struct numbers_chunk *c, const char *text, size_t len)
{
    uint64_t before = 1;
    size_t n = 0;
    for (size_t at = 0; at < len; at += 64) {
        const char *const p = text + at;
        const uint64_t space = same_bytes(p, ' ') | same_bytes(p, '\n') | same_bytes(p, '\r') | same_bytes(p, '\t');
        const uint64_t either = space | same_bytes(p, ',');
        n += numbers_write_places(~space & (either << 1 | before), at, c->starts + n);
        before = either >> 63;
    }
    c->start = c->starts;
    c->gap = 0;
    return n;
}

// Looks for exponents and white space in text[0..len), and sets exponents, gap and starts. Returns how many starts it
// wrote to c->starts; 0 if the numbers start at c->behind + gap.
static inline size_t numbers_others(struct numbers_chunk *c, const char *text, size_t len)
{
    uint64_t before = 1, spaces = 0, uneven = 0;
    vi8 exponents = {0}, controls = {0};
    for (size_t at = 0; at < len; at += 64) {
        const char *const p = text + at;
        const uint64_t comma = same_bytes(p, ','), space = same_bytes(p, ' ');
        for (size_t i = 0; i < 64; i += VECTOR) {
            const vu8 v = load_vu8(p + i);
            exponents |= (v & 0xdf) == 'E';
            controls |= v < ' ';
        }
        spaces |= space;
        uneven |= space ^ (comma << 1 | before);
        before = comma >> 63;
    }
    c->exponents = any((vi32)exponents);
    c->gap = spaces != 0; // behind each comma
    return (spaces && uneven) || any((vi32)controls) ? numbers_starts(c, text, len) : 0;
}

// Finds the numbers of text[0..len), `most` at most. The first one begins at text; len is a multiple of 64. If a text
// between commas has several points, points are assigned to the wrong numbers from there on; that text is no number,
// so json_item ends the row there.
static inline void numbers_find(struct numbers_chunk *c, const char *text, size_t len, size_t most)
{
    bool parted = false; // the number at hand has a point
    vu8 others = {0};
    size_t n = 0, starts = 0, points = 0;
    c->behind[0] = 0;
    for (size_t at = 0; at < len; at += 64) {
        const char *const p = text + at;
        const uint64_t comma = same_bytes(p, ','), point = same_bytes(p, '.');
        uint64_t carried; // from a point up, which a comma stops
        const bool over = __builtin_add_overflow(~comma, point, &carried);
        parted = __builtin_add_overflow(carried, (uint64_t)parted, &carried) || over;
        for (size_t i = 0; i < 64; i += VECTOR)
            others |= beyond_u8(load_vu8(p + i) - ',', '9' - ',' - (vu8){0});
        n += numbers_write_places(comma, at + 1, c->behind + 1 + n);
        points += numbers_write_places(point | (comma & ~carried), at, c->point + points);
    }
    c->start = c->behind;
    c->gap = 0;
    c->exponents = false;
    if (any((vi32)others))
        starts = numbers_others(c, text, len);
    c->n = n < most ? n : most;
    for (size_t i = 0; i < LANES; i++) { // numbers_read reads a multiple of LANES
        c->behind[1 + c->n + i] = c->behind[c->n];
        c->starts[starts + i] = c->point[points + i] = 0;
    }
}

// The constants of numbers_read. They stand in memory, as the compiler would otherwise make each of them anew in a
// register, which takes longer than a load.
struct numbers_constants {
    int32_t one, seven, eight, whole, part, most, byte, minus, digit, top;
    uint32_t bits, all_whole, places, first_part, zeros, nines, tens, hundreds;
    int64_t near, dropped, half;
    uint64_t thousands, myriad, eights, two_52;
    double wide_52, power, long_power;
};

static const struct numbers_constants numbers_constants = {
    .one = 1,
    .seven = 7,
    .eight = 8,
    .whole = NUMBERS_WHOLE,
    .part = NUMBERS_PART,
    .most = NUMBERS_PART + NUMBERS_LOW,
    .byte = 0xff,
    .minus = '-',
    .digit = '0',
    .top = INT32_MIN,
    .bits = 24,        // mask of a shift by whole bytes
    .all_whole = 0xf0, // shifted down by the number of digits before the point: the bits of their bytes
    .places = 15,
    .first_part = 0x20, // the bit of the first digit behind the point
    .zeros = 0x30303030,
    .nines = 0x09090909,
    .tens = 0x010a010a, // in bytes: 10, 1
    .hundreds = 0x00010064,
    .near = 8,
    .dropped = 0x1ffffff0,
    .half = 0x10000000,
    .thousands = 0x00012710000103e8, // in 16 bits: 1000 (the point has a byte among the next four), 1; 10000, 1
    .myriad = 10000,
    .eights = 100000000,
    .two_52 = 0x4330000000000000,
    .wide_52 = 0x1p52,
    .power = 1e-11,
    .long_power = 1e-19,
};

OPERATION(vi32, load_places(const uint16_t *at), (vi32)widen_u16(load_hu16(at)))
OPERATION(hi32, half_of(vi32 v, size_t h), (hi32)(h ? upper_half((vf32)v) : lower_half((vf32)v)))
OPERATION(vu32, all_u32(uint32_t v), v - (vu32){0})
OPERATION(vu64, all_u64(uint64_t v), v - (vu64){0})
OPERATION(vf64, all_f64(double v), v - (vf64){0})
OPERATION(vf64, select_f64(vi64 mask, vf64 yes, vf64 no), (vf64)((vi64)no ^ (((vi64)yes ^ (vi64)no) & mask)))

ALWAYS_INLINE void load_lanes(vu8 text[4], const char *base, const uint16_t *at)
{
    text[0] = even_lanes(base, at);
    text[1] = even_lanes(base, at + 1);
    text[2] = even_lanes(base, at + LANES_F64);
    text[3] = even_lanes(base, at + LANES_F64 + 1);
}

// Joins each four digits to a number.
OPERATION(vu32, join_digits(const struct numbers_constants *k, vu8 v),
          join_16s(join_bytes(v, (vu16)all_u32(k->tens)), all_u32(k->hundreds)))

// Returns the lower half of each element times scale, plus the upper half; the result is below 2^52 and exact.
OPERATION(vf64, join_halves(const struct numbers_constants *k, vu64 v, uint64_t scale),
          (vf64)((times_low(v, all_u64(scale)) + (v >> 32)) | k->two_52) - k->wide_52)

// Reads the exponents. Sets where each number ends without its exponent, and moves the points of numbers without one
// there.
static inline void numbers_exponents(struct numbers_chunk *c, const char *text)
{
    for (size_t i = 0; i < c->n; i += LANES) {
        const vi32 comma = load_places(c->behind + 1 + i) - 1, point = load_places(c->point + i);
        const vu32 last = four_bytes(text - 4, comma); // e-7 or e-07
        const vi32 two = (last & 0xdf) == 'E', has = two | ((last >> 8 & 0xdf) == 'E');
        const vi32 sign = (vi32)(last >> 16 & 0xff & ~(vu32)two) | (vi32)(last >> 8 & 0xff & (vu32)two);
        const vi32 unit = (vi32)(last >> 24) - '0', ten = ((vi32)(last >> 16 & 0xff) - '0') & two;
        const vi32 down = sign == '-', exponent = (ten * 10 + unit) & has;
        // an odd number where this is negative; the exponent may even begin before the number
        const vi32 odd = has & ((~down & ~(sign == '+')) | unit | (9 - unit) | ten | (9 - ten));
        const vi32 end = comma + (((has & -3) + two) & ~(odd >> 31));
        c->odd[i / LANES] = (uint16_t)signs_32(odd);
        store_vi32(c->value + i, (exponent ^ down) - down);
        store_hu16(c->end + i, __builtin_convertvector((vu32)end, hu16));
        store_hu16(c->point + i, __builtin_convertvector((vu32)(point - ((point - end) & (point > end))), hu16));
    }
}

// Reads LANES numbers, from the i-th on, to c->value, and sets c->odd. exponents: a constant, whether there may be
// some.
ALWAYS_INLINE void numbers_read(const struct numbers_constants *k, struct numbers_chunk *c, const char *text, size_t i,
                                bool exponents)
{
    uint16_t *const at = c->point + i;
    const vi32 from = load_places(c->start + i) + c->gap;
    const vi32 end = exponents ? load_places(c->end + i) : load_places(c->behind + 1 + i) - k->one,
               point = load_places(at);
    vi32 odd = from - load_places(c->behind + i); // a number is odd where this is negative
    vu8 t[4], beyond[4];
    load_lanes(t, text - NUMBERS_WHOLE, at);
    const vi32 size = point - from, parted = point < end;
    const vi32 part = (end - point - k->one) & parted;
    const vi32 is_long = part > k->part;
    const vu32 head = (vu32)join((hf32)first_of_lanes(t[0], t[1]), (hf32)first_of_lanes(t[2], t[3]));
    const vu32 first = head >> ((vu32)(k->whole - size) << 3 & k->bits);
    const vi32 negative = ((vi32)first & k->byte) == k->minus,
               digit = (vi32)(first >> (vu32)(negative & k->eight)) & k->byte;
    const vi32 whole = size + negative;
    odd |= (whole - k->one) | (k->whole - size) | ((digit == k->digit) & (k->one - whole)) |
           (parted & (part - k->one)) | (k->most - part);
    const vi32 near = part ^ ((part ^ k->part) & is_long); // digits behind the point that are in the lane
    keep_digits(t,
                (vi32)((k->all_whole >> (vu32)(whole & k->seven) & k->places) |
                       ((k->first_part << (vu32)near) - k->first_part)),
                (vu8)all_u32(k->zeros));
    UNROLL
    for (size_t q = 0; q < 4; q++)
        beyond[q] = beyond_u8(t[q], (vu8)all_u32(k->nines));
    const bool longs = any(is_long), others = any((vi32)(beyond[0] | beyond[1] | beyond[2] | beyond[3]));
    vi32 scale = {0};
    if (exponents) {
        scale = load_vi32(c->value + i) + (NUMBER_POWER - NUMBERS_PART) - (is_long & NUMBERS_LOW);
        odd |= scale | (NUMBER_POWER + NUMBER_POWER_MOST - scale);
        scale &= ~(odd >> 31);
    }
    unsigned odds = signs_32(odd) | (exponents ? c->odd[i / LANES] : 0);
    hf32 x[2];
    UNROLL
    for (size_t h = 0; h < 2; h++) {
        const vu16 fours = pack_lanes(join_digits(k, t[2 * h]), join_digits(k, t[2 * h + 1]));
        vf64 v = join_halves(k, (vu64)join_16s(fours, (vu32)all_u64(k->thousands)), k->eights);
        vf64 power = all_f64(k->power);
        unsigned strange = 0;
        if (others) {
            const vu32 a = (vu32)beyond[2 * h], b = (vu32)beyond[2 * h + 1];
            strange |= signs_64((vi64)pack_lanes((a >> 1 | a) & INT32_MAX, (b >> 1 | b) & INT32_MAX) != 0);
        }
        if (longs) {
            const vi64 wide = widen_i32(half_of(is_long, h)),
                       none = widen_i32(half_of((vi32)((vu32)(k->most - part) << 3 & 63), h));
            vu64 low = eight_bytes(text + 1 + NUMBERS_PART, at + h * LANES_F64);
            low = (low ^ all_u64(0x3030303030303030)) & all_u64(UINT64_MAX) >> (vu64)none & (vu64)wide;
            strange |= signs_64((vi64)beyond_u8((vu8)low, (vu8)all_u32(k->nines)) != 0);
            v = v * select_f64(wide, all_f64(1e8), all_f64(1.0)) +
                join_halves(k, (vu64)join_digits(k, (vu8)low), k->myriad);
            power = select_f64(wide, all_f64(k->long_power), power);
        }
        if (exponents)
            power = entry_of(number_powers, widen_i32(half_of(scale, h)));
        v *= power;
        strange |= equal_bits(((vi64)v + k->near) & k->dropped, k->half - (vi64){0}); // within 8 of a half
        if (exponents)
            strange |= signs_64((v != 0) & ((v < 0x1p-126) | (v >= 0x1p127))); // no normal float
        odds |= strange << (h * LANES_F64);
        x[h] = narrow_f64(v);
    }
    store_vf32(c->value + i, (vf32)((vi32)join(x[0], x[1]) | (negative & k->top)));
    c->odd[i / LANES] = (uint16_t)odds;
}

static size_t row_numbers(const char **at, const char *end, float *x, size_t most)
{
    const struct numbers_constants *const volatile constants = &numbers_constants, *const k = constants;
    struct numbers_chunk c;
    const char *const begin = *at, *p = begin;
    size_t n = 0;
    bool more = true;
    while (more && n < most && end - p >= 64 + NUMBERS_BEYOND) {
        const char *const text = p;
        if (text - begin < NUMBERS_BEFORE) { // the bytes before a number are read with it
            const char *const comma = memchr(p, ',', 64);
            more = comma && json_item(p, comma, x + n);
            n += more;
            p = more ? comma + 1 : p;
            continue;
        }
        const size_t left = (size_t)(end - p - NUMBERS_BEYOND) / 64 * 64;
        numbers_find(&c, text, left < NUMBERS_CHUNK ? left : NUMBERS_CHUNK, most - n);
        if (c.exponents)
            numbers_exponents(&c, text);
        for (size_t i = 0; i < c.n && c.exponents; i += LANES)
            numbers_read(k, &c, text, i, true);
        for (size_t i = 0; i < c.n && !c.exponents; i += LANES)
            numbers_read(k, &c, text, i, false);
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
