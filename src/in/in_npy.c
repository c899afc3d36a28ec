// SPDX-License-Identifier: MIT
// NumPy's .npy files, versions 1 to 3: a Python dict with type and shape, then the numbers. Rows of little-endian f2
// and f4 are returned where they lie; f8 and big-endian numbers are converted row by row.
#include "in/matrix.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct npy {
    struct matrix m;
    uint64_t length; // rows of each sequence of the array at hand; 0: it has no sequences
    uint64_t first;  // index in the file of the array's first sequence
    char name[24];   // of the sequence at hand
};

enum { HEADER_MAX = 10000 }; // bytes; numpy reads no longer header either

struct npy_header {
    char text[HEADER_MAX + 1]; // the dict, NUL-terminated
    char *p;                   // the current character
    size_t at, end;            // where the text begins and ends in the file
    const char *descr, *shape; // the values in text; NULL before they are read
    int shape_len;
    bool fortran, has_fortran; // the value, and whether it was read
    uint64_t dim[3];           // the first dimensions
    size_t dims;               // number of dimensions, perhaps above 3
};

// Skips white space and returns the current character then; 0 at the end.
static char next_byte(struct npy_header *h)
{
    h->p += strspn(h->p, " \n\t");
    return *h->p;
}

// If the text goes on with a word, skips the word and returns true.
static bool accept_word(struct npy_header *h, const char *word)
{
    next_byte(h);
    const bool here = !strncmp(h->p, word, strlen(word));
    h->p += here ? strlen(word) : 0;
    return here;
}

// Reads a string in quotes. Returns NULL if there is none.
static const char *quoted(struct npy_header *h)
{
    const char quote = next_byte(h), *const text = h->p + 1;
    char *const close = quote == '\'' || quote == '"' ? strchr(text, quote) : NULL;
    if (!close)
        return NULL;
    *close = '\0';
    h->p = close + 1;
    return text;
}

// Reads the tuple of a shape. A number that is too large becomes UINT64_MAX, which matrix_set_shape refuses.
static bool shape(struct npy_header *h)
{
    if (!accept_word(h, "("))
        return false;
    h->shape = h->p - 1;
    while (next_byte(h) != ')') {
        if (!isdigit((unsigned char)*h->p))
            return false;
        const uint64_t v = strtoull(h->p, &h->p, 10);
        if (h->dims < 3)
            h->dim[h->dims] = v;
        h->dims++;
        if (!accept_word(h, ",") && next_byte(h) != ')')
            return false;
    }
    h->p++;
    h->shape_len = (int)(h->p - h->shape);
    return true;
}

// Reads a key, which must be one of the three and not have come before, and its value.
static bool pair(struct npy_header *h)
{
    const char *const key = quoted(h);
    if (!key || !accept_word(h, ":"))
        return false;
    if (!strcmp(key, "fortran_order") && !h->has_fortran) {
        h->fortran = accept_word(h, "True");
        h->has_fortran = h->fortran || accept_word(h, "False");
        return h->has_fortran;
    }
    if (!strcmp(key, "shape") && !h->shape)
        return shape(h);
    if (strcmp(key, "descr") != 0 || h->descr)
        return false;
    h->descr = next_byte(h) == '[' ? h->p : quoted(h);
    return h->descr;
}

// Reads the dict. If descr is a list, of a structured type, stops there, since set_type refuses such a type.
static bool parse(struct npy_header *h)
{
    assert(h->p);
    if (!accept_word(h, "{"))
        return false;
    while (!accept_word(h, "}")) {
        if (!pair(h))
            return false;
        if (h->descr && *h->descr == '[')
            return true;
        if (!accept_word(h, ",") && next_byte(h) != '}')
            return false;
    }
    return next_byte(h) == '\0' && h->at + (size_t)(h->p - h->text) == h->end && h->descr && h->has_fortran && h->shape;
}

// Copies the header's text to h and skips the header.
static bool find_header(const struct format *f, struct source *s, struct npy_header *h, struct err *e)
{
    const unsigned char *p;
    uint32_t len;
    if (!matrix_header(f, s, 12, &p, e))
        return false;
    if (p[6] < 1 || p[6] > 3 || p[7])
        return err_set(e, STATUS_DATA, "npy version %d.%d is unknown, known are 1.0, 2.0 and 3.0", p[6], p[7]);
    memcpy(&len, p + 8, sizeof len);
    len &= p[6] == 1 ? 0xffff : UINT32_MAX;
    if (len > HEADER_MAX)
        return err_set(e, STATUS_DATA, "the npy header has %" PRIu32 " bytes, more than the %d that numpy reads", len,
                       HEADER_MAX);
    h->at = p[6] == 1 ? 10 : 12;
    h->end = h->at + len;
    if (!matrix_header(f, s, h->end, &p, e))
        return false;
    memcpy(h->text, p + h->at, len);
    h->p = h->text;
    source_skip(s, h->end);
    return true;
}

// Sets the rows of a shape. (S, T, V) with S and T above 1 is S sequences of T rows; any other shape has no sequences.
static enum matrix_shape set_npy_rows(struct npy *st, const struct npy_header *h)
{
    const uint64_t *const dim = h->dim;
    st->length = h->dims == 3 && dim[0] > 1 && dim[1] > 1 ? dim[1] : 0;
    if (!st->length)
        return matrix_set_shape(&st->m, dim, h->dims);
    if (dim[0] > UINT64_MAX / dim[1])
        return MATRIX_TOO_LARGE;
    return matrix_set_shape(&st->m, (const uint64_t[3]){dim[0] * dim[1], dim[2]}, 2);
}

static bool set_shape(struct npy *st, const struct npy_header *h, size_t n_vocab, struct err *e)
{
    struct matrix *const m = &st->m;
    static const char *const messages[] = {
        [MATRIX_NO_ROWS] = "npy shape %.*s is none of (V,), (N, V) and (S, T, V)",
        [MATRIX_EMPTY] = "npy shape %.*s: the rows are empty",
        [MATRIX_TOO_LARGE] = "npy shape %.*s is too large",
    };
    const int len = err_clip_part(h->shape, (size_t)h->shape_len, 60);
    const char *const format = messages[set_npy_rows(st, h)];
    if (format)
        return err_set(e, STATUS_DATA, format, len, h->shape);
    if (h->fortran && m->rows > 1 && m->n > 1)
        return err_set(e, STATUS_DATA,
                       "the npy file holds columns (fortran_order), not rows; numpy.ascontiguousarray turns them");
    return !n_vocab || m->n == n_vocab ||
           err_set(e, STATUS_DATA, "npy shape %.*s has %zu logits a row, --n-vocab says %zu", len, h->shape, m->n,
                   n_vocab);
}

static bool set_type(struct matrix *m, const struct npy_header *h, struct err *e)
{
    const char *const d = h->descr;
    const size_t len = strlen(d);
    if (*d == '[')
        return err_set(e, STATUS_DATA, "npy descr is a structured type, readable are f2, f4 and f8");
    if (len == 3 && !strcmp(d + 1, "V2"))
        return err_set(
            e, STATUS_DATA,
            "npy descr '%s' only says 2 bytes: numpy has no bf16; if it is that: tail -c +%zu | sampl -f bf16 -n V", d,
            h->end + 1);
    if (len == 2 && d[1] == 'O')
        return err_set(e, STATUS_DATA, "npy descr '%s' means pickled Python objects, which are not read", d);
    if (len != 3 || !strchr("<>=", d[0]) || d[1] != 'f' || !strchr("248", d[2]))
        return err_set(e, STATUS_DATA, "npy descr '%.40s' is not readable, readable are f2, f4 and f8", d);
    m->size = (size_t)(d[2] - '0');
    m->big = d[0] == '>';
    m->type = m->size == 2 ? DTYPE_F16 : DTYPE_F32;
    return true;
}

static bool open_npy(void *self, const struct format *f, struct source *s, const struct input_config *config,
                     struct err *e)
{
    struct npy *const st = self;
    struct matrix *const m = &st->m;
    struct npy_header h = {0};
    if (!find_header(f, s, &h, e))
        return false;
    if (!parse(&h))
        return err_set(e, STATUS_DATA, "byte %zu: the npy header is no dict of descr, fortran_order and shape",
                       h.at + (size_t)(h.p - h.text));
    m->closed = true;
    if (!set_type(m, &h, e) || !set_shape(st, &h, config->n_vocab, e))
        return false;
    st->first = m->sequences;
    m->sequences += st->length ? m->all / st->length : 0;
    return true;
}

// At the end of an array on a pipe, opens the array that follows, if there is one. In a file a second array is an
// error, since the rows of a file are counted by its first header.
static bool next_array(struct npy *st, struct source *s, const struct input_config *config, struct err *e)
{
    const size_t len = strlen(format_npy.magic);
    const unsigned char *p;
    size_t have = len;
    while (!st->m.rows && !s->mapped && have >= len) {
        if (!source_peek(s, len, &p, &have, e))
            return false;
        if (have < len || memcmp(p, format_npy.magic, len) != 0)
            break;
        free(st->m.row);
        st->m.row = NULL;
        if (!open_npy(st, &format_npy, s, config, e))
            return false;
    }
    return true;
}

static bool next_npy(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                     struct err *e)
{
    struct npy *const st = self;
    if (!next_array(st, s, config, e) || !matrix_next(self, s, config, r, end, e))
        return false;
    if (*end || !st->length)
        return true;
    const uint64_t row = st->m.all - st->m.rows - 1;
    snprintf(st->name, sizeof st->name, "%" PRIu64, row / st->length);
    r->origin.named = true;
    r->seq = st->name;
    r->origin.sequence = st->first + row / st->length;
    r->length = st->length;
    r->origin.index_in_sequence = row % st->length;
    r->fresh = !r->origin.index_in_sequence;
    return true;
}

const struct format format_npy = {.name = "npy",
                                  .endings = {".npy"},
                                  .size = sizeof(struct npy),
                                  .matrix = true,
                                  .magic = "\x93NUMPY",
                                  .open = open_npy,
                                  .next = next_npy};
