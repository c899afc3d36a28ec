// SPDX-License-Identifier: MIT
#include "views/expect_report.h"

#include "base/mem.h"
#include "out/token_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NUMBER_ON_LIMIT 1e-5 // a number that is nearer to its limit is on the boundary: rounding decides

static const struct {
    const char *code, *words;
} hints[] = {[HINT_NONE] = {NULL, NULL},
             [ONE_MORE] = {"one_more", "one more"},
             [ONE_LESS] = {"one_less", "one less"},
             [BOUNDARY] = {"boundary", "on the boundary"},
             [TIE] = {"tie", "a tie"},
             [DRAW] = {"draw", "another draw"},
             [MASKED] = {"masked", "masked"},
             [UNLISTED] = {"unlisted", "not listed"}};

// ---- causes

enum hint expect_hint(const struct expected *x, bool partial)
{
    const bool sums = x->limits == LIMITS_SUM || x->limits == LIMITS_RATIO;
    if (!x->listed && partial)
        return UNLISTED;
    if (!x->kept && x->removed_by != x->stage) // the row or a mask
        return MASKED;
    if ((!x->kept || x->edge_of) && x->gap == 0.0)
        return TIE;
    if ((sums || (x->kept && !x->edge_of)) && x->margin <= NUMBER_ON_LIMIT)
        return BOUNDARY;
    if (!x->kept)
        return x->next && x->limits ? ONE_MORE : HINT_NONE;
    if (x->edge_of)
        return x->edge == x->id || !isnan(x->draw) ? ONE_LESS : HINT_NONE;
    return isnan(x->draw) && !x->noisy ? HINT_NONE : DRAW;
}

const char *expect_stage(const struct expected *x) { return x->kept ? x->edge_of : x->removed_by; }

static void print_causes(struct expect *v)
{
    struct builder *const b = &v->dest->text;
    for (size_t i = 0; i < v->causes; i++) {
        const struct cause *const c = &v->cause[i];
        const char *const words = hints[c->hint].words, *const stage = *c->stage ? c->stage : NULL;
        builder_format(b, "  %" PRIu64 " row%s  %s%s%s\n", c->rows, c->rows == 1 ? "" : "s", stage ? stage : "",
                       stage && words ? ": " : "",
                       words   ? words
                       : stage ? ""
                               : "no stage");
    }
}

// ---- JSON

void expect_stage_members(struct dest *d, const struct expected *x)
{
    const bool reached = x->limits == LIMITS_SUM || x->limits == LIMITS_RATIO;
    field_text_or_null(d, "stage", expect_stage(x));
    field_double(d, "value", reached ? x->reached : NAN);
    field_double(d, "rank", x->rank ? (double)x->rank : NAN);
    field_named(d, "limit", &x->limit);
}

void expect_hint_member(struct dest *d, enum hint hint) { field_text_or_null(d, "hint", hints[hint].code); }

void expect_summary_json(struct expect *v, enum status status)
{
    struct dest *const d = v->dest;
    field_int(d, "v", 1);
    field_int(d, "rows", (int64_t)v->rows);
    field_int(d, "differ", (int64_t)v->differing);
    field_int(d, "within", (int64_t)v->within);
    field_int(d, "bad", (int64_t)v->bad);
    field_int(d, "inexact", (int64_t)v->inexact);
    items_begin(d, "causes");
    for (size_t i = 0; i < v->causes; i++) {
        object_begin(d, NULL);
        field_text_or_null(d, "stage", *v->cause[i].stage ? v->cause[i].stage : NULL);
        expect_hint_member(d, v->cause[i].hint);
        field_int(d, "rows", (int64_t)v->cause[i].rows);
        object_end(d);
    }
    items_end(d);
    field_int(d, "exit", (int64_t)status);
    fields_end(d, "\n");
}

// ---- text

void expect_limit_text(struct builder *b, const struct expected *x)
{
    char room[NUMBER_TEXT];
    const char *const limit = x->limit.name ? named_plain(&x->limit, room) : "";
    if (!x->rank)
        builder_format(b, ", %s", x->listed ? "below the list" : "not listed");
    else if (x->limits == LIMITS_SUM && !isnan(x->reached))
        builder_format(b, ", rank %zu; ranks 1 to %zu hold %.8f", x->rank, x->last, x->reached);
    else if (x->limits == LIMITS_RATIO)
        builder_format(b, ", %.*g of the largest", x->margin < 1e-4 ? 9 : 3, x->reached);
    else if (!*limit && x->margin == x->gap && isfinite(x->gap)) // greedy
        builder_format(b, ", rank %zu, %.3g below the best", x->rank, x->gap);
    else
        builder_format(b, ", rank %zu", x->rank);
    builder_format(b, *limit ? " (limit %s)\n" : "\n", limit);
}

// Writes what a stage that removed a ranked token keeps, with the number of the token that it compares.
static void removed_text(struct builder *b, const struct expected *x)
{
    char room[NUMBER_TEXT];
    const char *const limit = x->limit.name ? named_plain(&x->limit, room) : "", *const stage = x->removed_by;
    if (x->limits == LIMITS_RATIO)
        builder_format(b, "%.*g of the largest; %s keeps from %s on\n", x->margin < 1e-4 ? 9 : 3, x->reached, stage,
                       limit);
    else if (x->limits == LIMITS_RANK)
        builder_format(b, "rank %zu; %s keeps %s\n", x->rank, stage, limit);
    else if (x->limits == LIMITS_SUM && isnan(x->reached))
        builder_format(b, "rank %zu; %s keeps %zu (limit %s)\n", x->rank, stage, x->last, limit);
    else if (x->limits == LIMITS_SUM)
        builder_format(b, "rank %zu; %s keeps %zu, which hold %.8f (limit %s)\n", x->rank, stage, x->last, x->reached,
                       limit);
    else if (!*limit && x->margin == x->gap && isfinite(x->gap)) // greedy
        builder_format(b, "rank %zu, %.3g below the best; %s removed it\n", x->rank, x->gap, stage);
    else
        builder_format(b, *limit ? "rank %zu; %s removed it (limit %s)\n" : "rank %zu; %s removed it\n", x->rank, stage,
                       limit);
}

void expect_removal_text(struct builder *b, const struct expected *x, bool partial, const char *removed)
{
    char room[NUMBER_TEXT];
    builder_format(b, "  %" PRIu32 " ", x->id);
    if (!x->removed_by) {
        builder_string(b, partial && !x->listed ? "is not listed; it may be among the kept tokens\n"
                                                : "is masked in the row\n");
        return;
    }
    builder_format(b, "%s: ", removed);
    if (x->rank) {
        removed_text(b, x);
        return;
    }
    // an earlier stage of the full row may have removed it
    builder_format(b, "%s; not kept after %s", x->listed ? "below the list" : "not listed", x->removed_by);
    builder_format(b, x->limit.name ? " (limit %s)\n" : "\n", x->limit.name ? named_plain(&x->limit, room) : "");
}

void expect_summary_text(struct expect *v)
{
    struct builder *const b = &v->dest->text;
    if (!v->differing && !v->within)
        return;
    builder_format(b, "%" PRIu64 " of %" PRIu64 " rows differ", v->differing, v->rows);
    if (v->within)
        builder_format(b, ", %" PRIu64 " more within the tolerance", v->within);
    builder_byte(b, '\n');
    print_causes(v);
    if (v->differing && !v->in)
        builder_string(b, "equal ids do not prove equal chains; compare --emit probs\n");
}

// ---- a row

bool expect_add_cause(struct expect *v, const char *stage, enum hint hint, struct err *e)
{
    struct cause new = {.hint = hint};
    size_t i = 0;
    strcpy(new.stage, stage ? stage : "");
    while (i < v->causes && (v->cause[i].hint != hint || strcmp(v->cause[i].stage, new.stage) != 0))
        i++;
    if (i == v->causes && !mem_push(&v->cause, &v->causes, &v->cause_cap, &new, sizeof new))
        return err_from_fault(e, fault_memory());
    v->cause[i].rows++;
    return true;
}
