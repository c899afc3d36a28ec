// SPDX-License-Identifier: MIT
#include "cli/remarks.h"

#include <math.h>
#include <string.h>

// Returns the row of a stage's parameter with this flag, if the stage runs. NULL: the stage is off, or lacks it.
static const struct param *runs_with(const struct stage *stage, const char *flag)
{
    return stage_enabled(stage) ? sampler_param(stage->sampler, flag) : NULL;
}

static bool penalises(const struct stage *stage)
{
    return runs_with(stage, "repeat-penalty") || runs_with(stage, "dry-multiplier");
}

// Returns the number that the stage divides all logits by, 1 if it does not. 0: it keeps the best token only; NaN: the
// number depends on the row.
static double divisor(const struct stage *stage)
{
    const struct sampler *const s = stage->sampler;
    return stage_enabled(stage) && s->temperature && !s->selector ? s->temperature(stage) : 1.0;
}

// Temperatures that divide the logits one after the other.
static void remark_product(struct builder *notes, const struct recipe *r)
{
    double product = 1.0;
    size_t n = 0;
    for (size_t i = 0; i < r->n_stages; i++) {
        const double by = divisor(&r->stage[i]);
        product *= by;
        n += by != 1.0;
    }
    if (n > 1 && product > 0.0)
        note_add(notes, NOTE_PLAIN, "%zu temperatures multiply: together they are %.6g", n, product);
}

// Returns whether the stage keeps one candidate because its top-p is 0.
static bool keeps_one(const struct stage *stage)
{
    const struct param *const top_p = runs_with(stage, "top-p"), *const min_keep = runs_with(stage, "min-keep");
    return top_p && param_load(top_p, stage->params) <= 0.0 &&
           (!min_keep || param_load(min_keep, stage->params) <= 1.0);
}

void remarks_add(struct builder *notes, const struct recipe *r)
{
    bool scaled = false, late = false, one = false;
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        late = late || (scaled && penalises(stage));
        one = one || keeps_one(stage);
        scaled = scaled || !(divisor(stage) == 1.0 || divisor(stage) == 0.0);
    }
    if (late)
        note_add(notes, NOTE_PLAIN, "temperature runs before penalties, which then act on divided logits");
    if (one)
        note_add(notes, NOTE_PLAIN, "top-p 0 keeps one token");
    remark_product(notes, r);
    if (r->key.rules && recipe_defies(r, RAISES_UNLIKELY))
        note_add(notes, NOTE_PLAIN, "scatter raises unlikely tokens, and they can break a strict format");
}
