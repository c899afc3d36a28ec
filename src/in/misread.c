// SPDX-License-Identifier: MIT
#include "in/misread.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Notes at the first row of a raw file that rows of this width leave numbers at the end. A part of a number is no
// question of the width: the file was cut.
static void note_ragged(const struct input_row *row, size_t width, struct builder *notes)
{
    const size_t size = dtype_size(row->logits.type), bytes = width * size;
    if (row->ragged && !(row->ragged % size))
        note_add(notes, NOTE_PLAIN, "%s: rows of %zu numbers leave %zu bytes at the end%s", row->file, width,
                 row->ragged, size == 4 && row->ragged == bytes / 2 ? "; -f f16 leaves none" : "; is --n-vocab right?");
}

// ---- the type of numbers

enum {
    TYPE_LEAST = 32, // numbers of a row that can tell its type: fewer may lie within any bounds by chance
    FITS = 200,      // logits of models are smaller
    STRANGE = 2000   // no logits of a model are as large
};

// How a row looks as numbers of a type.
struct look {
    bool broken; // a number is NaN or +inf
    float size;  // of the largest number, the mask left out
    float mask; // the lowest number, if it is below -STRANGE: it stands for masked tokens; else -inf, which always does
};

static struct look look_at(const struct row *r)
{
    float most = -INFINITY, least = INFINITY, next = INFINITY; // next: the lowest number above the least
    bool broken = false;
    for (size_t i = 0; i < r->n; i++) {
        const float x = row_logit(r, i);
        broken = broken || isnan(x) || x == INFINITY;
        if (isnan(x) || x == -INFINITY)
            continue;
        most = fmaxf(most, x);
        if (x != least)
            next = fminf(next, fmaxf(x, least));
        least = fminf(least, x);
    }
    const bool masks = least < -STRANGE;
    return (struct look){broken, fmaxf(most, -(masks ? next : least)), masks ? least : -INFINITY};
}

static bool logits_fit(const struct look *l) { return !l->broken && l->size < FITS; }

// The bytes of a row as numbers of another type. Rows of two bytes a number may begin in the middle of a number of
// four.
static struct row reread(const struct input_row *row, enum dtype type)
{
    const struct row *const r = &row->logits;
    const size_t other = dtype_size(type), bytes = r->n * dtype_size(r->type);
    const size_t skip = (other - (size_t)(row->in_file * bytes % other)) % other;
    return (struct row){type, (const char *)r->data + skip, (bytes - skip) / other};
}

// The bits of a number of two bytes, or of half a number.
static uint16_t half_at(const struct row *r, size_t place)
{
    uint16_t bits;
    memcpy(&bits, (const char *)r->data + 2 * place, sizeof bits);
    return bits;
}

// Returns whether the low halves of f32 numbers are 0 where the tokens are not masked. Then they are widened bf16, or
// coarser.
static bool is_widened(const struct row *r, float mask)
{
    for (size_t i = 0; i < r->n; i++) {
        const float x = row_logit(r, i);
        if (x != mask && x != -INFINITY && half_at(r, 2 * i))
            return false;
    }
    return true;
}

// Returns whether the low halves of f32 numbers are fine enough to be numbers. Those of coarse numbers end with zeros.
static bool has_fine_halves(const struct row *r)
{
    size_t fine = 0;
    for (size_t i = 0; i < r->n; i++)
        fine += (half_at(r, 2 * i) & 0xffu) != 0;
    return fine > r->n / 2;
}

// Returns whether, of numbers of two bytes, most at odd places are 0 or a power of 2, and few of the others. The low
// halves of f32 numbers are, if they were widened from bf16 or f16. Others that repeat count as such.
static bool has_empty_halves(const struct input_row *row)
{
    const struct row *const r = &row->logits;
    const size_t low = (size_t)(row->in_file * r->n % 2); // the first low half
    size_t empty[2] = {0};
    for (size_t i = 2; i < r->n; i++) {
        const uint16_t half = half_at(r, i);
        empty[(i + low) % 2] += !(half & 0x1fffu) || ((i + low) % 2 && half == half_at(r, i - 2));
    }
    return empty[0] > r->n * 3 / 8 && empty[1] < r->n / 8;
}

// Returns whether many numbers of two bytes are below 0.25 in size as f16. Those of bf16 hardly are: as f16 they lie
// between 0.5 and 4.
static bool has_small_f16(const struct row *r)
{
    size_t small = 0;
    for (size_t i = 0; i < r->n; i++)
        small += ((half_at(r, i) & 0x7fffu) - 1u) < 0x33ffu;
    return small > r->n / 16;
}

// Finds the type that the numbers of a row probably have, and how the row looks then. Returns the row's own if none
// fits better. Numbers of bf16 also fit as f16, and small ones of f16 as bf16.
static enum dtype likely_type(const struct input_row *row, const struct look *own, struct look *there)
{
    static const enum dtype order[] = {DTYPE_BF16, DTYPE_F16, DTYPE_F32};
    const struct row *const r = &row->logits;
    const bool wide = r->type == DTYPE_F32;
    bool suspect = own->broken || own->size > STRANGE;
    for (size_t i = 0; i < DTYPE_COUNT && !(wide && is_widened(r, own->mask)); i++) {
        const struct row other = reread(row, order[i]);
        const bool bf16 = order[i] == DTYPE_BF16;
        if (order[i] == r->type || !(suspect || (wide && bf16 && has_fine_halves(r))))
            continue;
        *there = look_at(&other);
        if (logits_fit(there) && !(bf16 && has_small_f16(&other)))
            return order[i];
        suspect = suspect || logits_fit(there);
    }
    return r->type;
}

// Notes once that a raw row probably has numbers of another type.
static void note_type(struct misread *m, const struct input_row *row)
{
    static const char *const names[DTYPE_COUNT] = {"f32", "f16", "bf16"};
    const struct row *const r = &row->logits;
    if (m->type || !(row->facts & ROW_RAW) || row->bad || r->n < TYPE_LEAST)
        return;
    m->type = true;
    if (r->type != DTYPE_F32 && has_empty_halves(row)) {
        note_add(&m->notes, NOTE_PLAIN,
                 "%s: every second number of row %" PRIu64 " is 0 or a power of 2; is -f f32 meant?", row->file,
                 row->in_file);
        return;
    }
    const struct look own = look_at(r);
    struct look there = own;
    const enum dtype type = likely_type(row, &own, &there);
    char up_to[32] = "NaN or inf";
    if (!own.broken)
        snprintf(up_to, sizeof up_to, "logits up to %.6g", (double)own.size);
    if (type != r->type)
        note_add(&m->notes, NOTE_PLAIN, "%s: row %" PRIu64 " has %s; as %s they lie within %.3g: is -f %s meant?",
                 row->file, row->in_file, up_to, names[type], (double)there.size, names[type]);
}

// ---- the vocabulary

// Notes once that the vocabulary has at most half as many tokens as a dense row.
static void note_small_vocabulary(struct misread *m, const struct vocab *v, const struct input_row *row)
{
    if (!v || m->vocabulary || row->logits.ids || row->bad || row->text)
        return;
    m->vocabulary = true;
    if (2 * v->n <= row->logits.n)
        note_add(&m->notes, NOTE_PLAIN,
                 "--vocab: rows have %zu tokens, the vocabulary has %zu; do they belong together?", row->logits.n,
                 v->n);
}

// Returns whether two texts are equal but for blanks before them. Servers leave out the blank that begins a text.
static bool same_text(struct piece a, struct piece b)
{
    for (; a.len && *a.p == ' '; a.len--)
        a.p++;
    for (; b.len && *b.p == ' '; b.len--)
        b.p++;
    return a.len == b.len && !memcmp(a.p, b.p, a.len);
}

bool misread_texts(struct misread *m, const struct vocab *vocab, const struct vocab *texts, const struct input_row *row)
{
    size_t n = 0, other = 0;
    for (size_t i = 0; !m->texts && row->logits.ids && i < row->logits.n; i++) {
        const uint32_t id = row->logits.ids[i];
        const struct piece own = vocab_text(texts, id);
        n += own.len > 0;
        other += own.len && !same_text(own, vocab_text(vocab, id));
    }
    if (!m->texts && 2 * other > n) {
        m->own_texts = true;
        note_add(&m->notes, NOTE_PLAIN,
                 "%s: row %" PRIu64
                 " gives %zu of %zu tokens another text than --vocab does; the reply's texts are printed",
                 row->file, row->in_file, other, n);
    }
    m->texts = m->texts || n;
    return m->own_texts;
}

void misread_note(struct misread *m, const struct vocab *vocab, const struct input_row *row, size_t width)
{
    note_ragged(row, width, &m->notes);
    note_type(m, row);
    note_small_vocabulary(m, vocab, row);
}
