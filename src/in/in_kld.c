// SPDX-License-Identifier: MIT
// The file that llama-perplexity --kl-divergence-base writes: the tokens of a text, in chunks; then a row of 16-bit
// log-probabilities for each position in the second half of each chunk. So a row comes with the tokens before it, and
// with the token that followed.
//
// A stored number is a log-probability: a multiple of `scale` above `low`. llama-perplexity clips a logit that is more
// than 16 below the largest, and stores `low` for it (perplexity.cpp, log_softmax). The numbers of such a row add up to
// more than 1: those of 128,256 tokens by 1.1 percent. A chain needs a distribution. So the clipped tokens share what
// the others leave of 1, evenly, but none gets more than `low`. What is left is at least 2^-24: rounding to 16 bits may
// bring the sum of the others to 1 or above. The order of the clipped tokens and their single probabilities are lost.
// In a row whose logits lie within 16, `low` is the number of the least likely token, and nothing is clipped.
#include "in/matrix.h"
#include "kern/expf.h"
#include "kern/libm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct kld {
    struct matrix m; // converts each row to floats
    uint64_t n_ctx;  // tokens in a chunk
    uint64_t first;  // first position in a chunk that has a row
    uint32_t *token; // [chunks * n_ctx]

    struct row_clipped clipped; // of the current row
};

// Reads the n tokens to k->token. Allocates memory only when the tokens are there, since a header may promise any
// number.
static bool read_tokens(struct kld *k, struct source *s, uint64_t n, struct err *e)
{
    const size_t size = sizeof *k->token;
    const unsigned char *p;
    size_t have;
    if (!source_peek(s, n > SIZE_MAX / size ? SIZE_MAX : (size_t)n * size, &p, &have, e))
        return false;
    if (have / size < n)
        return err_set(e, STATUS_DATA, "the input ends after %zu of %" PRIu64 " tokens", have / size, n);
    k->token = malloc((size_t)n * size + 1); // n may be 0
    if (!k->token)
        return err_from_fault(e, fault_memory());
    memcpy(k->token, p, (size_t)n * size);
    for (size_t i = 0; i < n; i++)
        if (k->token[i] >= k->m.n)
            return err_set(e, STATUS_DATA, "token %zu of the text is %" PRId32 ", the vocabulary ends at %zu", i,
                           (int32_t)k->token[i], k->m.n - 1);
    source_skip(s, (size_t)n * size);
    return true;
}

#define RANGE 16.0f   // of a row with clipped tokens: 65535 steps of its scale
#define NOISE 0x1p-12 // of sums: a number is off by half a step, 1.2e-4

// Converts a row: a scale and the lowest log-probability as f32; then for each token a 16-bit factor of the scale, to
// be added to the lowest; then padding to a multiple of 4 bytes.
static void convert(struct matrix *m, const unsigned char *from)
{
    struct kld *const k = (struct kld *)m;
    float scale, low, *const x = m->row;
    double sum = 0.0; // of the probabilities above the lowest
    size_t n = 0;     // tokens that have the lowest
    memcpy(&scale, from, sizeof scale);
    memcpy(&low, from + sizeof scale, sizeof low);
    from += sizeof scale + sizeof low;
    for (size_t i = 0; i < m->n; i++) {
        uint16_t q;
        memcpy(&q, from + i * sizeof q, sizeof q);
        x[i] = (float)q * scale + low;
        n += !q;
        sum += q ? kern_exp(fmin((double)x[i], 0.0)) : 0.0;
    }
    const double left = fmax(1.0 - sum, 0x1p-24), stored = (double)n * kern_exp(fmin((double)low, 0.0));
    const bool clips = fabsf(65535.0f * scale - RANGE) < 0.1f || (stored > left + NOISE && sum < 1.0 + NOISE);
    const float each = clips && n ? fminf(low, (float)libm_log(left / (double)n)) : low;
    for (size_t i = 0; each < low && i < m->n; i++)
        x[i] = x[i] > low ? x[i] : each;
    k->clipped = (struct row_clipped){clips ? n : 0, low, (double)n * kern_exp(fmin((double)each, 0.0))};
}

static bool open_kld(void *self, const struct format *f, struct source *s, const struct input_config *config,
                     struct err *e)
{
    struct kld *const k = self;
    const unsigned char *p;
    struct {
        uint32_t n_ctx;
        int32_t n_vocab, n_chunk;
    } h;
    if (!matrix_header(f, s, 20, &p, e))
        return false;
    memcpy(&h, p + 8, sizeof h);
    if (h.n_ctx < 2 || h.n_vocab < 1 || (size_t)h.n_vocab > SIZE_MAX / 2 / sizeof(float) || h.n_chunk < 0)
        return err_set(e, STATUS_DATA,
                       "no kld file has %" PRIu32 " tokens a chunk, %" PRId32 " in the vocabulary and %" PRId32
                       " chunks",
                       h.n_ctx, h.n_vocab, h.n_chunk);
    k->m.n = (size_t)h.n_vocab;
    if (config->n_vocab && config->n_vocab != k->m.n)
        return err_set(e, STATUS_DATA, "the kld file has %zu logits a row, --n-vocab is %zu", k->m.n, config->n_vocab);
    k->m.type = DTYPE_F32;
    k->m.bytes = 2 * sizeof(float) + (k->m.n + k->m.n % 2) * sizeof(uint16_t);
    k->m.closed = k->m.promised = true;
    k->m.convert = convert;
    k->n_ctx = h.n_ctx;
    k->first = h.n_ctx / 2;
    k->m.all = k->m.rows = (uint64_t)h.n_chunk * (k->n_ctx - 1 - k->first); // a chunk's last token has no row
    source_skip(s, 20);
    return read_tokens(k, s, (uint64_t)h.n_chunk * k->n_ctx, e);
}

static bool next_kld(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                     struct err *e)
{
    struct kld *const k = self;
    const uint64_t row = k->m.all - k->m.rows, per_chunk = k->n_ctx - 1 - k->first;
    if (!matrix_next(self, s, config, r, end, e))
        return false;
    if (*end)
        return true;
    r->place.first = r->number - row % per_chunk;
    r->fresh = r->place.first == r->number;
    r->before = (struct tokens){k->token + row / per_chunk * k->n_ctx, (size_t)(k->first + row % per_chunk + 1)};
    r->recorded = r->before.id[r->before.n];
    r->logits.unlisted.scale = SCALE_STORED;
    r->logits.clipped = k->clipped;
    return true;
}

static void close_kld(void *self) { free(((struct kld *)self)->token); }

const struct format format_kld = {.name = "kld",
                                  .endings = {".kld"},
                                  .size = sizeof(struct kld),
                                  .matrix = true,
                                  .magic = "_logits_",
                                  .open = open_kld,
                                  .next = next_kld,
                                  .close = close_kld};
