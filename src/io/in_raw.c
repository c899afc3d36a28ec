// SPDX-License-Identifier: MIT
// Raw rows: n_vocab little-endian numbers each, one row after the other. Handed out where they lie.
#include "io/input.h"

#include <inttypes.h>

struct state {
    enum dtype type;
    size_t n, bytes; // of a row
    size_t last;     // bytes of the row handed out, to be skipped when the next is asked for
};

static bool open_raw(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct state *const st = self;
    (void)s;
    st->type = (enum dtype)f->kind;
    st->n = config->n_vocab ? config->n_vocab : config->n_tokens;
    if (!st->n)
        return err_set(e, STATUS_USAGE, "raw %s rows need their width, --n-vocab", f->name);
    if (st->n > SIZE_MAX / 2 / dtype_size(st->type))
        return err_set(e, STATUS_USAGE, "--n-vocab is too large for this machine");
    st->bytes = st->n * dtype_size(st->type);
    return true;
}

static bool next_raw(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct state *const st = self;
    const unsigned char *p;
    size_t have;
    source_skip(s, st->last);
    st->last = 0;
    if (!source_peek(s, st->bytes, &p, &have, e))
        return false;
    *end = have == 0;
    if (have && have < st->bytes)
        return err_set(e, STATUS_DATA, "the input ends after %zu of the row's %zu bytes", have, st->bytes);
    st->last = *end ? 0 : st->bytes;
    r->logits = (struct row){st->type, p, st->n};
    r->stays = s->map;
    return true;
}

static int64_t left_raw(const void *self, const struct source *s)
{
    const struct state *const st = self;
    const int64_t bytes = source_left(s);
    return bytes < 0 ? -1 : bytes / (int64_t)st->bytes;
}

#define RAW(NAME, TYPE, ENDINGS)                                                                                          \
    {                                                                                                                     \
        .name = NAME, .endings = ENDINGS, .kind = TYPE, .size = sizeof(struct state), .open = open_raw, .next = next_raw, \
        .left = left_raw                                                                                                  \
    }

const struct format format_f32 = RAW("f32", DTYPE_F32, ".f32 .bin");
const struct format format_f16 = RAW("f16", DTYPE_F16, ".f16");
const struct format format_bf16 = RAW("bf16", DTYPE_BF16, ".bf16");
