// SPDX-License-Identifier: MIT
// --expect of ids: what became of the expected token, and of the draw.
#include "out/token_text.h"
#include "views/expect_report.h"

#include <inttypes.h>
#include <math.h>

static void stage_object(struct dest *d, const char *name, const struct expected *x)
{
    object_begin(d, name);
    expect_stage_members(d, x);
    object_end(d);
}

static void write_interval(struct dest *d, const char *name, struct interval share)
{
    items_begin(d, name);
    field_double(d, NULL, share.low);
    field_double(d, NULL, share.high);
    items_end(d);
}

static void id_json(struct expect *v, const struct result *res)
{
    struct dest *const d = v->dest;
    const struct record *const r = &res->record;
    const struct expected *const x = &res->expected;
    field_double(d, "expected", x->id == VOCAB_NONE ? NAN : (double)x->id);
    field_int(d, "id", r->chosen);
    if (x->id != VOCAB_NONE)
        field_token(d, "expected_token", x->id);
    field_token(d, "token", r->chosen);
    field_double(d, "expected_rank", x->rank ? (double)x->rank : NAN);
    if (x->removed_by)
        stage_object(d, "removed_by", x);
    else
        field_double(d, "removed_by", NAN);
    if (x->edge_of)
        stage_object(d, "edge", x);
    if (x->kept && !isnan(x->draw))
        write_interval(d, "interval", x->wanted);
    else
        field_double(d, "interval", NAN);
    field_double(d, "draw", x->draw);
    if (x->noisy) {
        object_begin(d, "noise");
        field_double(d, "expected", x->wanted_value);
        field_double(d, "id", x->chosen_value);
        object_end(d);
    }
    field_double(d, "margin", x->margin);
}

// Returns the number of decimals of shares and draws: four, or nine if a bound is so near to the draw that four could
// not tell them apart.
static int decimals(const struct expected *x)
{
    const double bound[] = {x->wanted.low, x->wanted.high, x->chosen.low, x->chosen.high};
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        if (fabs(bound[i] - x->draw) < 1e-3 && bound[i] > 0.0 && bound[i] < 1.0)
            return 9;
    return 4;
}

static void explain(struct dest *d, const struct record *r, const struct expected *x)
{
    struct builder *const b = &d->text;
    const int n = decimals(x);
    char room[NUMBER_TEXT], gone[2 * NUMBER_TEXT];
    if (x->kept && isnan(x->draw))
        builder_format(b, "  %" PRIu32 " is among the %zu kept\n", x->id, r->kept);
    else if (x->kept)
        builder_format(b, "  %" PRIu32 " is among the %zu kept, its interval is [%.*f, %.*f)\n", x->id, r->kept, n,
                       x->wanted.low, n, x->wanted.high);
    else {
        snprintf(gone, sizeof gone, "is not among the %zu kept", r->kept);
        expect_removal_text(b, x, r->partial, gone);
    }
    if (!isnan(x->draw))
        builder_format(b, "  draw %.*f lies in %" PRIu32 "'s interval [%.*f, %.*f)\n", n, x->draw, r->chosen, n,
                       x->chosen.low, n, x->chosen.high);
    if (x->noisy)
        builder_format(b, "  with noise %" PRIu32 " has %.9g, %" PRIu32 " has %.9g, %.3g more\n", x->id,
                       x->wanted_value, r->chosen, x->chosen_value, x->chosen_value - x->wanted_value);
    if (!x->edge_of)
        return;
    builder_format(b, "  without %" PRIu32 ", the last that %s keeps", x->edge, x->edge_of);
    if (x->limit.name)
        builder_format(b, " (limit %s)", named_text(&x->limit, room));
    builder_format(b, ", the draw lies in %" PRIu32 "'s\n", x->id);
}

static void id_text(struct expect *v, const struct result *res)
{
    struct dest *const d = v->dest;
    const struct expected *const x = &res->expected;
    builder_string(&d->text, "expected ");
    if (x->id == VOCAB_NONE)
        builder_string(&d->text, "no token");
    else
        token_name(d, x->id);
    builder_string(&d->text, ", the chain gives ");
    token_name(d, res->record.chosen);
    builder_byte(&d->text, '\n');
    if (x->id != VOCAB_NONE)
        explain(d, &res->record, x);
}

bool expect_compare_id(struct expect *v, const struct result *res, struct err *e)
{
    const struct expected *const x = &res->expected;
    const struct record *const r = &res->record;
    const enum hint hint = x->id == VOCAB_NONE ? HINT_NONE : expect_hint(x, r->partial);
    if (r->chosen == x->id)
        return true;
    if (x->margin <= v->margin) {
        v->within++;
        return true;
    }
    return expect_differs(v, res, expect_stage(x), hint, id_text, id_json, e);
}
