// SPDX-License-Identifier: MIT
// NumPy's .npy files, versions 1 to 3: a Python dict with type and shape, then the numbers. Rows of little-endian f2
// and f4 are returned where they lie; f8 and big-endian numbers are converted row by row.
#include "in/matrix.h"
#include "in/npy_header.h"

#include <stdlib.h>
#include <string.h>

static bool set_shape(struct matrix *m, const struct npy_header *h, size_t n_vocab, struct err *e)
{
    static const char *const messages[] = {
        [MATRIX_NO_ROWS] = "npy shape %.*s is not one of (V,), (N, V) and (S, T, V)",
        [MATRIX_EMPTY] = "npy shape %.*s: the rows are empty",
        [MATRIX_TOO_LARGE] = "npy shape %.*s is too large",
    };
    const char *const format = messages[matrix_set_shape(m, h->dim, h->dims)];
    if (format)
        return err_set(e, STATUS_DATA, format, NPY_SHAPE(h));
    if (h->fortran && m->rows > 1 && m->n > 1)
        return err_set(e, STATUS_DATA,
                       "the npy file holds columns (fortran_order), not rows; numpy.ascontiguousarray turns them");
    return !n_vocab || m->n == n_vocab ||
           err_set(e, STATUS_DATA, "npy shape %.*s has %zu logits a row, --n-vocab is %zu", NPY_SHAPE(h), m->n,
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
    struct matrix *const m = self;
    struct npy_header h = {0};
    if (!npy_header_read(&h, f, s, e))
        return false;
    m->closed = true;
    if (!set_type(m, &h, e) || !set_shape(m, &h, config->n_vocab, e))
        return false;
    matrix_add_sequences(m);
    return true;
}

// At the end of an array on a pipe, opens the array that follows, if there is one. In a file a second array is an
// error, since the rows of a file are counted by its first header.
static bool next_array(struct matrix *m, struct source *s, const struct input_config *config, struct err *e)
{
    const size_t len = strlen(format_npy.magic);
    const unsigned char *p;
    size_t have = len;
    while (!m->rows && !s->mapped && !s->sized && have >= len) {
        if (!source_peek(s, len, &p, &have, e))
            return false;
        if (have < len || memcmp(p, format_npy.magic, len) != 0)
            break;
        free(m->row);
        m->row = NULL;
        if (!open_npy(m, &format_npy, s, config, e))
            return false;
    }
    return true;
}

static bool next_npy(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                     struct err *e)
{
    return next_array(self, s, config, e) && matrix_next(self, s, config, r, end, e);
}

const struct format format_npy = {.name = "npy",
                                  .endings = {".npy"},
                                  .size = sizeof(struct matrix),
                                  .matrix = true,
                                  .magic = "\x93NUMPY",
                                  .open = open_npy,
                                  .next = next_npy};
