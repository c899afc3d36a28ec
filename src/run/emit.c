// SPDX-License-Identifier: MIT
#include "run/emit.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

const float *emit_logits(const struct cand *c, const uint32_t **id, float **room, size_t *cap)
{
    *id = c->dense ? NULL : c->id;
    if (!c->dense)
        return c->logit;
    if (!mem_grow(room, cap, c->n, sizeof **room))
        return NULL;
    cand_snapshot(c, *room);
    return *room;
}

// Every token's logit.
static void logits(const struct cand *c, float *to)
{
    if (!c->row_id) {
        cand_snapshot(c, to);
        return;
    }
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        to[c->id[i]] = c->logit[i];
}

// p of every token; 0 for those that are gone.
static void probs(const struct cand *c, float *to)
{
    if (c->dense) {
        memcpy(to, c->p, c->n * sizeof *to);
        return;
    }
    memset(to, 0, c->n_vocab * sizeof *to);
    for (size_t i = 0; i < c->n; i++)
        to[c->id[i]] = c->p[i];
}

// From the logits and not from p, which is rounded twice and falls to 0 where the logarithm is still an ordinary number.
static float logprob(float logit, const struct softmax *s, double log_sum)
{
    return (float)((double)logit - s->max - log_sum);
}

static void logprobs(const struct cand *c, float *to)
{
    logits(c, to);
    const struct softmax s = c->dense ? softmax_of(c->kern, to, c->n) : softmax_of(c->kern, c->logit, c->n);
    const double log_sum = softmax_log_sum(&s);
    for (size_t i = 0; i < c->n_vocab; i++)
        to[i] = logprob(to[i], &s, log_sum);
}

static struct fault score(const struct cand *c, uint32_t token, float **values, size_t *cap)
{
    const uint32_t *id;
    const float *const logit = emit_logits(c, &id, values, cap);
    if (!logit || !mem_grow(values, cap, 1, sizeof **values))
        return fault_memory();
    const struct softmax s = softmax_of(c->kern, logit, c->n);
    float x = -INFINITY;
    for (size_t i = 0; id && i < c->n; i++)
        x = id[i] == token ? logit[i] : x;
    if (!id && token < c->n)
        x = logit[token];
    **values = logprob(x, &s, softmax_log_sum(&s));
    return fault_none();
}

struct fault emit_values(enum emit emit, const struct cand *c, uint32_t scored, float **values, size_t *cap)
{
    if (emit == EMIT_SCORE)
        return score(c, scored, values, cap);
    if (!c->n_vocab)
        return (struct fault){FAULT_NO_SIZE, 0};
    if (!mem_grow(values, cap, c->n_vocab, sizeof **values))
        return fault_memory();
    if (emit == EMIT_PROBS)
        probs(c, *values);
    else if (emit == EMIT_LOGPROBS)
        logprobs(c, *values);
    else
        logits(c, *values);
    return fault_none();
}

// The output format that a distribution takes from its input's. There is no bf16 to write, and files that hold more than rows become
// the plainest that says what is in it.
static const char *after(const char *input)
{
    static const char *const like[][2] = {{"f16", "f16"}, {"json", "json"}, {"pairs", "json"},
                                          {"npy", "npy"}, {"kld", "npy"},   {"safetensors", "npy"}};
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        if (!strcmp(input, like[i][0]))
            return like[i][1];
    return "f32";
}

bool emit_config(const struct options *o, struct input *in, struct output_config *config, struct err *e)
{
    const char *input = o->format;
    config->format = o->output_format;
    config->rows = -1;
    if (!config->format) {
        if (!strcmp(input, "auto") && !input_format(in, &input, e))
            return false;
        config->format = after(input);
        config->narrow = !strcmp(config->format, "npy");
    }
    return strcmp(config->format, "npy") != 0 || input_rows(in, &config->rows, e);
}
