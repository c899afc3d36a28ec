// SPDX-License-Identifier: MIT
// smoothing (kalomaze's quadratic and cubic sampling; text-generation-webui, Aphrodite, KoboldCpp): bends logits down
// by the square of their distance from the largest, and by its cube.
#include "sample/sampler.h"

struct smoothing_params {
    float factor, curve;
};

static const struct param params[] = {
    {"smoothing-factor", "lower logits by X times the square of their distance from the largest; 0: off",
     FLOAT_AT(smoothing_params, factor), RANGE(0, FLT_MAX), SLIDER(0, 5, 0.05)},
    {"smoothing-curve", "from 1; above it, more of the cube of the distance, and less of its square",
     FLOAT_AT(smoothing_params, curve), RANGE(1, 10), .def = 1, SLIDER(1, 10, 0.1)},
    {NULL},
};

struct bend {
    float top, square, cube;
};

static void smooth(const struct kern *kern, float *x, size_t n, const void *bend)
{
    const struct bend *const b = bend;
    kern->add_cubic(x, n, b->top, b->square, b->cube);
}

static struct bend bend_of(const struct cand *c, const struct smoothing_params *p)
{
    return (struct bend){cand_max(c), (3.0f - p->curve) / 2.0f * p->factor, (p->curve - 1.0f) / 2.0f * p->factor};
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const struct bend bend = bend_of(c, stage->params);
    const bool list = row_is_list(&c->unlisted);
    float *const before = list ? cand_scratch(c, c->n, sizeof *before) : NULL;
    for (size_t i = 0; before && i < c->n; i++)
        before[i] = cand_logit(c, i);
    list_stretch(c, INFINITY);
    cand_map(c, smooth, &bend);
    if (c->order == CAND_SORTED)
        c->order = CAND_UNSORTED; // a curve above 3 lifts some above the top
    unlisted_check_order(c, before);
}

// Up to a curve of 3 logits keep their order.
static void partial(void *self, struct cand *c, const struct stage *stage)
{
    const struct smoothing_params *const p = stage->params;
    const struct bend bend = bend_of(c, p);
    float ceiling = c->unlisted.ceiling;
    smooth(c->kern, &ceiling, 1, &bend);
    if (p->curve <= 3.0f && listed_head(c))
        unlisted_map(c, ceiling);
    else
        unlisted_remove(c, false);
    apply(self, c, stage);
}

// A bend that lowers each logit by its distance from the largest leaves it where it is.
static void explain(struct account *a)
{
    const double below = (double)a->of.softmax->max - a->of.own;
    if (!a->unchanged)
        return;
    account_say(a, "changed no logit");
    if (!(below > 0.0)) {
        account_say(a, ": %s", a->before.n == 1 ? "it is the largest" : "all are equal");
    } else {
        account_say(a, ": the lowest stays ");
        account_number(a, below);
        account_say(a, " below the largest");
    }
}

const struct sampler sampler_smoothing = {.name = "smoothing",
                                          .aliases = "quadratic",
                                          .letter = 'q',
                                          FOREIGN,
                                          .joins_default = true,
                                          PARAMS(params, smoothing_params),
                                          .runs = {ABOVE, 0},
                                          .apply = apply,
                                          .explain = explain,
                                          .partial = {partial}};
