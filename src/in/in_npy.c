// SPDX-License-Identifier: MIT
// NumPy's .npy files, versions 1 to 3: a Python dict with type and shape, then the numbers. Rows of little-endian f2
// and f4 are returned where they lie; f8 and big-endian numbers are converted row by row.
#include "in/matrix.h"
#include "in/npy_header.h"

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
    if (!npy_header_read(&h, f, s, e))
        return false;
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
