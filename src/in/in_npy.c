// SPDX-License-Identifier: MIT
// NumPy's .npy files, versions 1 to 3: a Python dict that says type and shape, then the numbers. Little-endian f2 and f4 are handed out
// where they lie; f8 and big-endian numbers are converted row by row.
#include "in/matrix.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 10000 }; // numpy reads no longer ones either

struct npy_header {
    char text[HEADER_MAX + 1]; // a string
    char *p;                   // the present place in it
    size_t at, end;            // of the text in the file
    const char *descr, *shape; // as they stand there; NULL before they are found
    int shape_len;
    bool fortran, has_fortran;
    uint64_t dim[3];
    size_t dims; // may be more than are kept
};

// The next byte that is not white space, 0 at the end.
static char next_byte(struct npy_header *h)
{
    h->p += strspn(h->p, " \n\t");
    return *h->p;
}

static bool take(struct npy_header *h, const char *word)
{
    next_byte(h);
    const bool here = !strncmp(h->p, word, strlen(word));
    h->p += here ? strlen(word) : 0;
    return here;
}

// A string in quotes, or NULL.
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

// A number too large becomes the largest, which every later check refuses.
static bool shape(struct npy_header *h)
{
    if (!take(h, "("))
        return false;
    h->shape = h->p - 1;
    while (next_byte(h) != ')') {
        if (!isdigit((unsigned char)*h->p))
            return false;
        const uint64_t v = strtoull(h->p, &h->p, 10);
        if (h->dims < 3)
            h->dim[h->dims] = v;
        h->dims++;
        if (!take(h, ",") && next_byte(h) != ')')
            return false;
    }
    h->p++;
    h->shape_len = (int)(h->p - h->shape);
    return true;
}

// One of the three keys, which has not been there, and its value.
static bool pair(struct npy_header *h)
{
    const char *const key = quoted(h);
    if (!key || !take(h, ":"))
        return false;
    if (!strcmp(key, "fortran_order") && !h->has_fortran) {
        h->fortran = take(h, "True");
        h->has_fortran = h->fortran || take(h, "False");
        return h->has_fortran;
    }
    if (!strcmp(key, "shape") && !h->shape)
        return shape(h);
    if (strcmp(key, "descr") != 0 || h->descr)
        return false;
    h->descr = next_byte(h) == '[' ? h->p : quoted(h);
    return h->descr;
}

// Reads the dict, but nothing behind the list that is the descr of a structured type: it will be refused.
static bool parse(struct npy_header *h)
{
    assert(h->p);
    if (!take(h, "{"))
        return false;
    while (!take(h, "}")) {
        if (!pair(h))
            return false;
        if (h->descr && *h->descr == '[')
            return true;
        if (!take(h, ",") && next_byte(h) != '}')
            return false;
    }
    return next_byte(h) == '\0' && h->at + (size_t)(h->p - h->text) == h->end && h->descr && h->has_fortran && h->shape;
}

// Finds the header and steps over it.
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

static bool set_shape(struct matrix *m, const struct npy_header *h, size_t n_vocab, struct err *e)
{
    static const char *const messages[] = {
        [MATRIX_NO_ROWS] = "npy shape %.*s is none of (V,), (N, V), (N, 1, V) and (1, N, V)",
        [MATRIX_EMPTY] = "npy shape %.*s: the rows are empty",
        [MATRIX_TOO_LARGE] = "npy shape %.*s is too large",
    };
    const int len = err_clip_part(h->shape, (size_t)h->shape_len, 60);
    const char *const format = messages[matrix_set_shape(m, h->dim, h->dims)];
    if (format)
        return err_set(e, STATUS_DATA, format, len, h->shape);
    if (h->fortran && m->rows > 1 && m->n > 1)
        return err_set(e, STATUS_DATA,
                       "the npy file holds columns (fortran_order), not rows; numpy.ascontiguousarray turns them");
    return !n_vocab || m->n == n_vocab ||
           err_set(e, STATUS_DATA, "npy shape %.*s has %zu logits a row, --n-vocab says %zu", len, h->shape, m->n, n_vocab);
}

static bool set_type(struct matrix *m, const struct npy_header *h, struct err *e)
{
    const char *const d = h->descr;
    const size_t len = strlen(d);
    if (*d == '[')
        return err_set(e, STATUS_DATA, "npy descr is a structured type, readable are f2, f4 and f8");
    if (len == 3 && !strcmp(d + 1, "V2"))
        return err_set(e, STATUS_DATA,
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

static bool open_npy(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct matrix *const m = self;
    struct npy_header h = {0};
    if (!find_header(f, s, &h, e))
        return false;
    if (!parse(&h))
        return err_set(e, STATUS_DATA, "byte %zu: the npy header is no dict of descr, fortran_order and shape",
                       h.at + (size_t)(h.p - h.text));
    m->closed = true;
    return set_type(m, &h, e) && set_shape(m, &h, config->n_vocab, e);
}

const struct format format_npy = {.name = "npy",
                                  .endings = {".npy"},
                                  .size = sizeof(struct matrix),
                                  .matrix = true,
                                  .magic = "\x93NUMPY",
                                  .open = open_npy,
                                  .next = matrix_next};
