// SPDX-License-Identifier: MIT
// logit-bias: logit[id] += bias, the biases of one id added one after the other in the order given.
#include "sample/sampler.h"

#include <stdlib.h>

struct state {
    struct idmap ids; // the biased ids, each once
    size_t *end;      // [ids.n] the biases of id number j are bias[end[j-1]] ... bias[end[j]-1]
    float *bias;      // [n_bias]
};

static bool enabled(const struct params *p)
{
    return p->n_bias > 0;
}

// Groups the biases by id, in a stable way.
static struct fault init(void *self, const struct params *p, struct history *h)
{
    struct state *const s = self;
    (void)h;
    s->end = calloc(p->n_bias + 1, sizeof *s->end);
    s->bias = calloc(p->n_bias, sizeof *s->bias);
    if (!s->end || !s->bias)
        return fault_memory();
    for (size_t i = 0; i < p->n_bias; i++) {
        const size_t j = idmap_add(&s->ids, p->bias[i].id);
        if (j == IDMAP_NONE)
            return fault_memory();
        s->end[j + 1]++;
    }
    for (size_t j = 0; j < s->ids.n; j++)
        s->end[j + 1] += s->end[j];
    for (size_t i = 0; i < p->n_bias; i++) // end[j] serves as the place to fill and so becomes the end
        s->bias[s->end[idmap_find(&s->ids, p->bias[i].id)]++] = p->bias[i].bias;
    return fault_none();
}

static float add(float logit, size_t j, const void *arg)
{
    const struct state *const s = arg;
    for (size_t i = j ? s->end[j - 1] : 0; i < s->end[j]; i++)
        logit += s->bias[i];
    return logit;
}

static struct fault apply(void *self, struct cand *c, const struct params *p, const struct history *h)
{
    const struct state *const s = self;
    (void)p, (void)h;
    for (size_t j = 0; j < s->ids.n; j++)
        if (c->n_vocab && s->ids.id[j] >= c->n_vocab)
            return (struct fault){FAULT_BIAS_ID, s->ids.id[j]};
    return cand_edit(c, s->ids.id, s->ids.n, add, s);
}

static void release(void *self)
{
    struct state *const s = self;
    idmap_free(&s->ids);
    free(s->end);
    free(s->bias);
}

const struct sampler sampler_logit_bias = {
    .size = sizeof(struct state), .enabled = enabled, .init = init, .apply = apply, .release = release};
