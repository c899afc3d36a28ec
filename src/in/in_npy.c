// SPDX-License-Identifier: MIT
// NumPy's .npy files, versions 1 to 3: a Python dict that says type and shape, then the numbers. Little-endian f2 and f4 are handed out
// where they lie; f8 and big-endian numbers are converted row by row.
#include "in/matrix.h"

#include <inttypes.h>
#include <string.h>

enum { HEADER_MAX = 10000 }; // numpy reads no longer ones either

// A piece of the header.
struct npy_text {
    const char *p;
    size_t len;
};

struct npy_header {
    const char *start, *p, *end;
    struct npy_text descr, shape; // as they stand there; p is NULL before they are found
    bool fortran, has_fortran;
    uint64_t dim[3];
    size_t dims; // may be more than are kept
};

// The next byte that is not white space, or 0.
static char next_byte(struct npy_header *h)
{
    while (h->p < h->end && (*h->p == ' ' || *h->p == '\n' || *h->p == '\t'))
        h->p++;
    return h->p < h->end ? *h->p : '\0';
}

static bool take(struct npy_header *h, char c)
{
    const bool here = next_byte(h) == c;
    h->p += here;
    return here;
}

static bool quoted(struct npy_header *h, struct npy_text *t)
{
    const char quote = next_byte(h);
    const char *const close = quote == '\'' || quote == '"' ? memchr(h->p + 1, quote, (size_t)(h->end - h->p - 1)) : NULL;
    if (!close)
        return false;
    *t = (struct npy_text){h->p + 1, (size_t)(close - h->p - 1)};
    h->p = close + 1;
    return true;
}

static bool is(struct npy_text t, const char *word)
{
    return t.len == strlen(word) && !memcmp(t.p, word, t.len);
}

static bool boolean(struct npy_header *h, bool *value)
{
    *value = next_byte(h) == 'T';
    for (const char *word = *value ? "True" : "False"; *word; word++, h->p++)
        if (h->p == h->end || *h->p != *word)
            return false;
    return true;
}

// A number too large is cut to a value that every later check refuses.
static bool dimension(struct npy_header *h)
{
    uint64_t v = 0;
    if (h->p == h->end || *h->p < '0' || *h->p > '9')
        return false;
    for (; h->p < h->end && *h->p >= '0' && *h->p <= '9'; h->p++)
        v = v < UINT64_MAX / 20 ? v * 10 + (uint64_t)(*h->p - '0') : UINT64_MAX / 2;
    if (h->dims < 3)
        h->dim[h->dims] = v;
    h->dims++;
    return true;
}

static bool shape(struct npy_header *h)
{
    if (!take(h, '('))
        return false;
    const char *const start = h->p - 1;
    h->dims = 0;
    while (next_byte(h) != ')')
        if (!dimension(h) || (!take(h, ',') && next_byte(h) != ')'))
            return false;
    h->p++;
    h->shape = (struct npy_text){start, (size_t)(h->p - start)};
    return true;
}

// The list that stands for a structured type is not read any further: it will be refused.
static bool descr(struct npy_header *h)
{
    if (next_byte(h) != '[')
        return quoted(h, &h->descr);
    h->descr = (struct npy_text){h->p, (size_t)(h->end - h->p)};
    return true;
}

static bool parse(struct npy_header *h)
{
    if (!take(h, '{'))
        return false;
    while (!take(h, '}')) {
        struct npy_text key;
        if (!quoted(h, &key) || !take(h, ':'))
            return false;
        if (is(key, "descr") && !h->descr.p) {
            if (!descr(h) || *h->descr.p == '[')
                return h->descr.p;
        } else if (is(key, "fortran_order") && !h->has_fortran) {
            if (!boolean(h, &h->fortran))
                return false;
            h->has_fortran = true;
        } else if (!is(key, "shape") || h->shape.p || !shape(h)) {
            return false;
        }
        if (!take(h, ',') && next_byte(h) != '}')
            return false;
    }
    return next_byte(h) == '\0' && h->p == h->end && h->descr.p && h->has_fortran && h->shape.p;
}

static bool probe_npy(const unsigned char *head, size_t len)
{
    return len >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

// Finds the header and steps over it. It stays in view until the next peek.
static bool find_header(struct source *s, struct npy_header *h, struct err *e)
{
    const unsigned char *p;
    size_t have;
    if (!source_peek(s, 12, &p, &have, e))
        return false;
    if (!probe_npy(p, have))
        return err_set(e, STATUS_DATA, "the input does not begin as npy files do");
    if (have < 12)
        return err_set(e, STATUS_DATA, "the input ends inside the npy header");
    if (p[6] < 1 || p[6] > 3 || p[7])
        return err_set(e, STATUS_DATA, "npy version %d.%d is unknown, known are 1.0, 2.0 and 3.0", p[6], p[7]);
    const size_t before = p[6] == 1 ? 10 : 12;
    uint32_t len;
    memcpy(&len, p + 8, sizeof len);
    len &= p[6] == 1 ? 0xffff : UINT32_MAX;
    if (len > HEADER_MAX)
        return err_set(e, STATUS_DATA, "the npy header has %" PRIu32 " bytes, more than the %d that numpy reads", len,
                       HEADER_MAX);
    if (!source_peek(s, before + len, &p, &have, e))
        return false;
    if (have < before + len)
        return err_set(e, STATUS_DATA, "the input ends inside the npy header");
    *h = (struct npy_header){.start = (const char *)p, .p = (const char *)p + before, .end = (const char *)p + before + len};
    source_skip(s, before + len);
    return true;
}

static bool set_shape(struct matrix *m, const struct npy_header *h, size_t n_vocab, struct err *e)
{
    static const char *const messages[] = {
        [MATRIX_NO_ROWS] = "npy shape %.*s is none of (V,), (N, V), (N, 1, V) and (1, N, V)",
        [MATRIX_EMPTY] = "npy shape %.*s: the rows are empty",
        [MATRIX_TOO_LARGE] = "npy shape %.*s is too large",
    };
    const int len = h->shape.len < 60 ? (int)h->shape.len : 60;
    const char *const format = messages[matrix_set_shape(m, h->dim, h->dims)];
    if (format)
        return err_set(e, STATUS_DATA, format, len, h->shape.p);
    if (h->fortran && m->rows > 1 && m->n > 1)
        return err_set(e, STATUS_DATA,
                       "the npy file holds columns (fortran_order), not rows; numpy.ascontiguousarray turns them");
    return !n_vocab || m->n == n_vocab ||
           err_set(e, STATUS_DATA, "npy shape %.*s has %zu logits a row, --n-vocab says %zu", len, h->shape.p, m->n, n_vocab);
}

static bool set_type(struct matrix *m, const struct npy_header *h, size_t data_at, struct err *e)
{
    const struct npy_text d = h->descr;
    if (*d.p == '[')
        return err_set(e, STATUS_DATA, "npy descr is a structured type, readable are f2, f4 and f8");
    if (d.len == 3 && !memcmp(d.p + 1, "V2", 2))
        return err_set(e, STATUS_DATA,
                       "npy descr '%.3s' only says 2 bytes: numpy has no bf16; if it is that: tail -c +%zu | sampl -f bf16 -n V",
                       d.p, data_at + 1);
    if (d.len == 2 && d.p[1] == 'O')
        return err_set(e, STATUS_DATA, "npy descr '%.2s' means pickled Python objects, which are not read", d.p);
    if (d.len != 3 || (*d.p != '<' && *d.p != '>' && *d.p != '=') || d.p[1] != 'f' ||
        (d.p[2] != '2' && d.p[2] != '4' && d.p[2] != '8'))
        return err_set(e, STATUS_DATA, "npy descr '%.*s' is not readable, readable are f2, f4 and f8",
                       d.len < 40 ? (int)d.len : 40, d.p);
    m->size = (size_t)(d.p[2] - '0');
    m->big = d.p[0] == '>';
    m->type = m->size == 2 ? DTYPE_F16 : DTYPE_F32;
    return true;
}

static bool open_npy(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct matrix *const m = self;
    struct npy_header h = {0};
    (void)f;
    if (!find_header(s, &h, e))
        return false;
    if (!parse(&h))
        return err_set(e, STATUS_DATA, "byte %td: the npy header is no dict of descr, fortran_order and shape", h.p - h.start);
    return set_type(m, &h, (size_t)(h.end - h.start), e) && set_shape(m, &h, config->n_vocab, e);
}

static bool next_npy(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    bool more = false;
    if (!matrix_next(self, s, r, end, e) || (*end && !matrix_goes_on(s, &more, e)))
        return false;
    return !more || err_set(e, STATUS_DATA, "there are bytes after the last row of the npy shape");
}

const struct format format_npy = {.name = "npy",
                                  .endings = ".npy",
                                  .size = sizeof(struct matrix),
                                  .probe = probe_npy,
                                  .open = open_npy,
                                  .next = next_npy,
                                  .left = matrix_left,
                                  .promised = matrix_promised,
                                  .jump = matrix_jump,
                                  .close = matrix_close};
