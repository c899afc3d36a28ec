// SPDX-License-Identifier: MIT
// The file that llama-perplexity --kl-divergence-base writes: the tokens of a text in chunks, then for the second half of each chunk's
// positions a row of log-probabilities in 16 bits. A row knows the tokens before it and the one that followed.
#include "base/mem.h"
#include "in/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct kld {
    struct matrix m; // m.row holds the row as floats
    uint64_t rows;   // all of them
    uint64_t n_ctx;  // tokens in a chunk
    uint64_t first;  // a chunk's first position with a row
    uint32_t *token; // [n_token], all chunks
    size_t n_token, token_cap;
};

// Takes up the tokens as they arrive: memory follows the data, not the header's promise.
static bool read_tokens(struct kld *k, struct source *s, uint64_t n, struct err *e)
{
    while (k->n_token < n) {
        const unsigned char *p;
        size_t have;
        if (!source_peek(s, sizeof *k->token, &p, &have, e))
            return false;
        have /= sizeof *k->token;
        if (!have || (source_left(s) >= 0 && have < n - k->n_token))
            return err_set(e, STATUS_DATA, "the input ends after %zu of %" PRIu64 " tokens", k->n_token + have, n);
        if (have > n - k->n_token)
            have = (size_t)(n - k->n_token);
        if (!mem_grow(&k->token, &k->token_cap, k->n_token + have, sizeof *k->token))
            return err_from_fault(e, fault_memory());
        memcpy(k->token + k->n_token, p, have * sizeof *k->token);
        source_skip(s, have * sizeof *k->token);
        for (const size_t stop = k->n_token + have; k->n_token < stop; k->n_token++)
            if (k->token[k->n_token] >= k->m.n)
                return err_set(e, STATUS_DATA, "token %zu of the text is %" PRId32 ", the vocabulary ends at %zu", k->n_token,
                               (int32_t)k->token[k->n_token], k->m.n - 1);
    }
    return true;
}

static bool open_kld(void *self, const struct format *f, struct source *s, const struct input_config *config, struct err *e)
{
    struct kld *const k = self;
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
    if (h.n_ctx < 2 || h.n_vocab < 1 || (size_t)h.n_vocab > SIZE_MAX / 2 / sizeof(float) || h.n_chunk < 0)
        return err_set(e, STATUS_DATA,
                       "no kld file has %" PRIu32 " tokens a chunk, %" PRId32 " in the vocabulary and %" PRId32 " chunks",
                       h.n_ctx, h.n_vocab, h.n_chunk);
    k->m.n = (size_t)h.n_vocab;
    if (config->n_vocab && config->n_vocab != k->m.n)
        return err_set(e, STATUS_DATA, "the kld file has %zu logits a row, --n-vocab says %zu", k->m.n, config->n_vocab);
    k->m.bytes = 2 * sizeof(float) + (k->m.n + k->m.n % 2) * sizeof(uint16_t);
    k->n_ctx = h.n_ctx;
    k->first = h.n_ctx / 2;
    k->rows = k->m.rows = (uint64_t)h.n_chunk * (k->n_ctx - 1 - k->first); // what would follow a chunk's last token is not known
    source_skip(s, 20);
    return read_tokens(k, s, (uint64_t)h.n_chunk * k->n_ctx, e);
}

// A row's numbers: scale, lowest log-probability, and for each token a multiple of the scale; padded to a whole number of floats.
static bool read_row(struct matrix *m, const unsigned char *p, struct err *e)
{
    float scale, low;
    memcpy(&scale, p, sizeof scale);
    memcpy(&low, p + sizeof scale, sizeof low);
    p += sizeof scale + sizeof low;
    if (!mem_grow(&m->row, &m->row_cap, m->n * sizeof(float), 1))
        return err_from_fault(e, fault_memory());
    float *const x = (float *)(void *)m->row;
    for (size_t i = 0; i < m->n; i++) {
        uint16_t q;
        memcpy(&q, p + i * sizeof q, sizeof q);
        x[i] = (float)q * scale + low;
    }
    return true;
}

static bool next_kld(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct kld *const k = self;
    const uint64_t row = k->rows - k->m.rows, per_chunk = k->n_ctx - 1 - k->first;
    const unsigned char *p;
    size_t have;
    bool more = false;
    if (!matrix_take(&k->m, s, &p, &have, end, e) || (*end && !matrix_goes_on(s, &more, e)))
        return false;
    if (*end)
        return !more || err_set(e, STATUS_DATA, "there are bytes after the last of the %" PRIu64 " rows promised", k->rows);
    if (have < k->m.bytes) // llama-perplexity writes the header first; it was stopped
        return err_set(e, STATUS_DATA, "the file holds %" PRIu64 " rows of the %" PRIu64 " promised", row, k->rows);
    if (!read_row(&k->m, p, e))
        return false;
    r->logits = (struct row){DTYPE_F32, k->m.row, k->m.n};
    r->place = row % per_chunk;
    r->fresh = !r->place;
    r->before = k->token + row / per_chunk * k->n_ctx;
    r->n_before = (size_t)(k->first + r->place + 1);
    r->recorded = r->before[r->n_before];
    return true;
}

static void close_kld(void *self)
{
    struct kld *const k = self;
    matrix_close(&k->m);
    free(k->token);
}

static bool probe_kld(const unsigned char *head, size_t len)
{
    return len >= 8 && !memcmp(head, "_logits_", 8);
}

const struct format format_kld = {.name = "kld",
                                  .endings = ".kld",
                                  .size = sizeof(struct kld),
                                  .probe = probe_kld,
                                  .open = open_kld,
                                  .next = next_kld,
                                  .left = matrix_left,
                                  .promised = matrix_promised,
                                  .jump = matrix_jump,
                                  .close = close_kld};
