// SPDX-License-Identifier: MIT
// The file that llama-perplexity --kl-divergence-base writes: the tokens of a text in chunks, then for the second half of each chunk's
// positions a row of log-probabilities in 16 bits. A row knows the tokens before it and the one that followed.
#include "base/mem.h"
#include "in/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct state {
    size_t n_vocab, bytes; // of a row
    uint64_t n_ctx;        // tokens in a chunk
    uint64_t first;        // a chunk's first position with a row
    uint64_t per_chunk;    // rows in a chunk
    uint64_t row, rows;    // the next one's number; all
    size_t last;           // bytes of the row handed out, to be skipped when the next is asked for
    uint32_t *token;       // [n_token], all chunks
    size_t n_token, token_cap;
    float *x; // the row
    size_t cap;
};

// Takes up the tokens as they arrive: memory follows the data, not the header's promise.
static bool read_tokens(struct state *st, struct source *s, uint64_t n, struct err *e)
{
    while (st->n_token < n) {
        const unsigned char *p;
        size_t have;
        if (!source_peek(s, sizeof *st->token, &p, &have, e))
            return false;
        have /= sizeof *st->token;
        if (!have || (source_left(s) >= 0 && have < n - st->n_token))
            return err_set(e, STATUS_DATA, "the input ends after %zu of %" PRIu64 " tokens", st->n_token + have, n);
        if (have > n - st->n_token)
            have = (size_t)(n - st->n_token);
        if (!mem_grow(&st->token, &st->token_cap, st->n_token + have, sizeof *st->token))
            return err_from_fault(e, fault_memory());
        memcpy(st->token + st->n_token, p, have * sizeof *st->token);
        source_skip(s, have * sizeof *st->token);
        for (const size_t stop = st->n_token + have; st->n_token < stop; st->n_token++)
            if (st->token[st->n_token] >= st->n_vocab)
                return err_set(e, STATUS_DATA, "token %zu of the text is %" PRId32 ", the vocabulary ends at %zu", st->n_token,
                               (int32_t)st->token[st->n_token], st->n_vocab - 1);
    }
    return true;
}

static bool open_kld(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct state *const st = self;
    const unsigned char *p;
    size_t have;
    struct {
        uint32_t n_ctx;
        int32_t n_vocab, n_chunk;
    } h;
    (void)f;
    if (!source_peek(s, 20, &p, &have, e))
        return false;
    if (have < 8 || memcmp(p, "_logits_", 8) != 0)
        return err_set(e, STATUS_DATA, "the input does not begin as kld files do");
    if (have < 20)
        return err_set(e, STATUS_DATA, "the input ends inside the kld header");
    memcpy(&h, p + 8, sizeof h);
    if (h.n_ctx < 2 || h.n_vocab < 1 || (size_t)h.n_vocab > SIZE_MAX / 2 / sizeof *st->x || h.n_chunk < 0)
        return err_set(e, STATUS_DATA,
                       "no kld file has %" PRIu32 " tokens a chunk, %" PRId32 " in the vocabulary and %" PRId32 " chunks",
                       h.n_ctx, h.n_vocab, h.n_chunk);
    st->n_vocab = (size_t)h.n_vocab;
    if (config->n_vocab && config->n_vocab != st->n_vocab)
        return err_set(e, STATUS_DATA, "the kld file has %zu logits a row, --n-vocab says %zu", st->n_vocab, config->n_vocab);
    st->bytes = 2 * sizeof(float) + (st->n_vocab + st->n_vocab % 2) * sizeof(uint16_t);
    st->n_ctx = h.n_ctx;
    st->first = h.n_ctx / 2;
    st->per_chunk = st->n_ctx - 1 - st->first; // what would follow the last position is not known
    st->rows = (uint64_t)h.n_chunk * st->per_chunk;
    source_skip(s, 20);
    return read_tokens(st, s, (uint64_t)h.n_chunk * st->n_ctx, e);
}

// A row's numbers: scale, lowest log-probability, and for each token a multiple of the scale; padded to a whole number of floats.
static bool read_row(struct state *st, const unsigned char *p, struct err *e)
{
    float scale, low;
    memcpy(&scale, p, sizeof scale);
    memcpy(&low, p + sizeof scale, sizeof low);
    p += sizeof scale + sizeof low;
    if (!mem_grow(&st->x, &st->cap, st->n_vocab, sizeof *st->x))
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < st->n_vocab; i++) {
        uint16_t q;
        memcpy(&q, p + i * sizeof q, sizeof q);
        st->x[i] = (float)q * scale + low;
    }
    return true;
}

static bool next_kld(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct state *const st = self;
    const unsigned char *p;
    size_t have;
    source_skip(s, st->last);
    st->last = 0;
    *end = st->row == st->rows;
    if (!source_peek(s, *end ? 1 : st->bytes, &p, &have, e))
        return false;
    if (*end)
        return !have || err_set(e, STATUS_DATA, "there are bytes after the last of the %" PRIu64 " rows promised", st->rows);
    if (have < st->bytes) // llama-perplexity writes the header first; it was stopped
        return err_set(e, STATUS_DATA, "the file holds %" PRIu64 " rows of the %" PRIu64 " promised", st->row, st->rows);
    if (!read_row(st, p, e))
        return false;
    const uint64_t place = st->row % st->per_chunk;
    st->last = st->bytes;
    r->logits = (struct row){DTYPE_F32, st->x, st->n_vocab};
    r->fresh = !place;
    r->place = place;
    r->before = st->token + st->row / st->per_chunk * st->n_ctx;
    r->n_before = (size_t)(st->first + place + 1);
    r->recorded = r->before[r->n_before];
    st->row++;
    return true;
}

static int64_t left_kld(const void *self, const struct source *s)
{
    const struct state *const st = self;
    const int64_t bytes = source_left(s), rows = bytes < 0 ? -1 : bytes / (int64_t)st->bytes;
    return rows < (int64_t)(st->rows - st->row) ? rows : (int64_t)(st->rows - st->row);
}

static int64_t promised_kld(const void *self)
{
    const struct state *const st = self;
    return (int64_t)(st->rows - st->row);
}

static void jump_kld(void *self, struct source *s, uint64_t rows)
{
    struct state *const st = self;
    source_skip(s, st->last + (size_t)rows * st->bytes);
    st->last = 0;
    st->row += rows;
}

static void close_kld(void *self)
{
    struct state *const st = self;
    free(st->token);
    free(st->x);
}

static bool probe_kld(const unsigned char *head, size_t len)
{
    return len >= 8 && !memcmp(head, "_logits_", 8);
}

const struct format format_kld = {.name = "kld",
                                  .endings = ".kld",
                                  .size = sizeof(struct state),
                                  .probe = probe_kld,
                                  .open = open_kld,
                                  .next = next_kld,
                                  .left = left_kld,
                                  .promised = promised_kld,
                                  .jump = jump_kld,
                                  .close = close_kld};
