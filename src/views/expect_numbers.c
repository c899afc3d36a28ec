// SPDX-License-Identifier: MIT
// --expect of distributions: the numbers, and the candidates that are kept here or there only.
#include "kern/expf.h"
#include "kern/libm.h"
#include "out/token_text.h"
#include "views/expect_report.h"

#include <inttypes.h>
#include <math.h>

static void changes_json(struct expect *v, const char *name, bool lost)
{
    struct dest *const d = v->dest;
    items_begin(d, name);
    for (size_t i = 0; i < v->lost + v->added && i < CHANGES_MOST; i++) {
        if (v->change[i].kept != lost)
            continue;
        object_begin(d, NULL);
        field_int(d, "id", v->change[i].id);
        field_token(d, "token", v->change[i].id);
        expect_stage_members(d, &v->change[i]);
        object_end(d);
    }
    items_end(d);
}

// The step that the compared distribution belongs to: the last one, or that of --after.
static const struct log_step *compared_step(const struct job *j, const struct log *l)
{
    struct err none;
    size_t stage;
    return j->args->after && recipe_find_stage(l->recipe, j->args->after, &stage, &none) ? log_step_at(l, stage)
                                                                                         : &l->step[l->n_steps - 1];
}

// Finds the candidates that are kept here or there only. Returns whether each of them may be either.
static bool compare_kept(struct expect *v, const struct result *res)
{
    const float none = expect_masked(v->job);
    const struct log_step *const step = compared_step(v->job, res->log);
    bool near = true;
    v->lost = v->added = 0;
    for (size_t i = 0; i < res->record.n_vocab; i++) {
        const bool here = res->record.values[i] != none, there = v->values[i] != none;
        const size_t n = v->lost + v->added;
        struct expected *const x = &v->change[n < CHANGES_MOST ? n : CHANGES_MOST];
        if (here == there)
            continue;
        v->lost += here;
        v->added += there;
        if (n >= CHANGES_MOST && !near)
            continue;
        x->id = (uint32_t)i;
        trace_kept(res->log, res->cand, step, x);
        near = near && expected_distance(x) <= v->margin;
    }
    return near;
}

// The sum of the probabilities of the candidates that are kept on both sides; 1 if these are all. Probabilities are
// divided by it where others are kept.
static double common_sum(const struct expect *v, const struct record *r, const float *values)
{
    const float none = expect_masked(v->job);
    double sum = 0.0;
    if (!(v->lost + v->added) || v->job->args->emit == EMIT_LOGITS)
        return 1.0;
    for (size_t i = 0; i < r->n_vocab; i++)
        if (r->values[i] != none && v->values[i] != none)
            sum += v->job->args->emit == EMIT_PROBS ? values[i] : kern_exp(values[i]);
    return sum;
}

// Compares numbers. A masked token agrees only with a masked one. near: lost and added candidates do not count.
static void compare_values(struct expect *v, const struct record *r, bool near)
{
    const bool probs = v->job->args->emit == EMIT_PROBS;
    const double here = near ? common_sum(v, r, r->values) : 1.0, there = near ? common_sum(v, r, v->values) : 1.0;
    const double log_here = libm_log(here), log_there = libm_log(there);
    v->numbers.differing = 0;
    v->numbers.max = -1.0;
    for (size_t i = r->n_vocab; i--;) {
        const float got = r->values[i], expected = v->values[i], none = expect_masked(v->job);
        const bool both = got != none && expected != none;
        const double x = probs ? got / here : got - log_here, y = probs ? expected / there : expected - log_there;
        const bool agree = both ? fabs(x - y) <= v->job->args->tolerance * fmax(1.0, fabs(y)) : got == expected || near;
        if (both)
            v->numbers.max = fmax(v->numbers.max, fabs(x - y));
        if (agree)
            continue;
        v->numbers.differing++;
        v->numbers.first = i;
    }
}

// Writes the first candidate that is lost there, and the first one that is added, with the stage that decided.
static void explain_kept(struct expect *v, const struct record *r)
{
    struct dest *const d = v->dest;
    bool said[2] = {false, false};
    for (size_t i = 0; i < v->lost + v->added && i < CHANGES_MOST; i++) {
        const struct expected *const x = &v->change[i];
        if (said[x->kept])
            continue;
        said[x->kept] = true;
        if (!x->kept)
            expect_removal_text(&d->text, x, r->partial, "is gone");
        else if (!x->edge_of)
            builder_format(&d->text, "  %" PRIu32 " is lost: the chain keeps it (rank %zu)\n", x->id, x->rank);
        else {
            builder_format(&d->text, "  %" PRIu32 " is lost: %s keeps it", x->id, x->edge_of);
            expect_limit_text(&d->text, x);
        }
    }
}

static void numbers_text(struct expect *v, const struct result *res)
{
    const size_t first = v->numbers.first;
    struct dest *const d = v->dest;
    builder_format(&d->text, "%zu of %zu numbers differ, the first:\n  ", v->numbers.differing, res->record.n_vocab);
    token_name(d, (uint32_t)first);
    builder_string(&d->text, ": expected ");
    builder_float(&d->text, v->values[first]);
    builder_string(&d->text, ", the chain gives ");
    builder_float(&d->text, res->record.values[first]);
    builder_byte(&d->text, '\n');
    explain_kept(v, &res->record);
}

static void numbers_json(struct expect *v, const struct result *res)
{
    const size_t first = v->numbers.first;
    struct dest *const d = v->dest;
    object_begin(d, "numbers");
    field_int(d, "differing", (int64_t)v->numbers.differing);
    field_int(d, "first", (int64_t)first);
    field_float(d, "expected", v->values[first]);
    field_float(d, "got", res->record.values[first]);
    field_double(d, "max", v->numbers.max < 0.0 ? NAN : v->numbers.max);
    field_int(d, "lost", (int64_t)v->lost);
    field_int(d, "added", (int64_t)v->added);
    object_end(d);
    changes_json(v, "lost", true);
    changes_json(v, "added", false);
}

bool expect_compare_numbers(struct expect *v, const struct result *res, struct err *e)
{
    const struct record *const r = &res->record;
    compare_values(v, r, compare_kept(v, res));
    const size_t changes = v->lost + v->added;
    const enum hint hint = changes == 1 ? expect_hint(v->change, r->partial) : HINT_NONE;
    if (!v->numbers.differing) {
        v->within += changes > 0;
        return true;
    }
    return expect_differs(v, res, changes ? expect_stage(v->change) : NULL, hint, numbers_text, numbers_json, e);
}
