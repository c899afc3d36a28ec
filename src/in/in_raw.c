// SPDX-License-Identifier: MIT
// Raw rows: n_vocab little-endian numbers each, one row after the other. Handed out where they lie.
#include "in/matrix.h"

static bool open_raw(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct matrix *const m = self;
    (void)s;
    *m = (struct matrix){
        .type = (enum dtype)f->kind, .n = config->n_vocab ? config->n_vocab : config->n_tokens, .rows = MATRIX_OPEN};
    m->size = dtype_size(m->type);
    if (!m->n)
        return err_set(e, STATUS_USAGE, "raw %s rows need their width, --n-vocab", f->name);
    if (m->n > SIZE_MAX / 2 / m->size)
        return err_set(e, STATUS_USAGE, "--n-vocab is too large for this machine");
    m->bytes = m->n * m->size;
    return true;
}

#define RAW(NAME, TYPE, ENDINGS)                                                                                              \
    {                                                                                                                         \
        .name = NAME, .endings = ENDINGS, .kind = TYPE, .size = sizeof(struct matrix), .open = open_raw, .next = matrix_next, \
        .left = matrix_left, .jump = matrix_jump                                                                              \
    }

const struct format format_f32 = RAW("f32", DTYPE_F32, ".f32 .bin");
const struct format format_f16 = RAW("f16", DTYPE_F16, ".f16");
const struct format format_bf16 = RAW("bf16", DTYPE_BF16, ".bf16");
