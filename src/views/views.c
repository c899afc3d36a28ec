// SPDX-License-Identifier: MIT
// The list of all views.
#include "cli/option_rules.h"
#include "views/view.h"

extern const struct view view_audit, view_draws, view_expect, view_page, view_page_by_chain, view_report, view_diff,
    view_worst, view_statistics, view_candidates, view_table, view_texts_by_chain, view_ids_by_chain,
    view_distributions, view_lists, view_records, view_stats;

size_t views_choose(const struct args *a, bool several, const struct view *view[VIEWS_MOST])
{
    const bool page = a->output_format && output_format_named(a->output_format)->kind == FORMAT_PAGE;
    // The first view that is asked for.
    const struct {
        bool asked;
        const struct view *view;
    } list[] = {
        {a->draws, &view_draws},
        {a->audit, &view_audit},
        {a->expect, &view_expect},
        {a->report, &view_report},
        {a->diff > 0, &view_worst},
        {a->diff, &view_diff},
        {a->emit == EMIT_STATS, &view_statistics},
        {a->emit == EMIT_RESIDUAL, &view_distributions},
        {page && several, &view_page_by_chain},
        {page, &view_page},
        {several && a->dump, &view_candidates},
        {several && a->emit == EMIT_TEXT, &view_texts_by_chain},
        {several && args_given(a, "emit"), &view_ids_by_chain},
        {several, &view_table},
        {emit_distribution(a->emit) || a->emit == EMIT_SCORE, &view_distributions},
        {a->emit == EMIT_LIST, &view_lists},
        {true, &view_records},
    };
    size_t i = 0;
    while (!list[i].asked)
        i++;
    view[0] = list[i].view;
    view[1] = &view_stats;
    return a->stats ? 2 : 1;
}

bool views_check(const struct args *a, struct err *e)
{
    const struct output_format *const asked = a->output_format ? output_format_named(a->output_format) : NULL;
    const struct view *view[VIEWS_MOST];
    struct builder names = {0};
    views_choose(a, a->vs.n || a->sweeps.n || a->against, view);
    if (!asked || asked->kind & view[0]->formats)
        return option_rules_check(a, view[0]->rules, e);
    for (const struct output_format *f = output_formats; f->name; f++)
        if (f->kind & view[0]->formats)
            builder_format(&names, "%s%s", names.len ? " or " : "", f->name);
    if (names.failed)
        err_from_fault(e, fault_memory());
    else
        err_set(e, STATUS_USAGE, "%s comes as %s", view[0]->name, names.text);
    builder_free(&names);
    return false;
}
