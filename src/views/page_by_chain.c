// SPDX-License-Identifier: MIT
// The page of several chains: the text with its tokens, the candidates of each row in each chain as -O json writes
// them, the table of the means, and the stages of the chains.
#include "out/token_text.h"
#include "views/best_union.h"
#include "views/means.h"
#include "views/page_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PAGE_CHAINS = 12 }; // most chains that a page shows row by row, unless candidates are asked for

struct pages {
    struct page page;
    struct means means;
    struct best_union best;
};

// Returns the number of chains that rows show.
static size_t chains_shown(const struct job *j)
{
    return j->args->dump || j->variants->n < PAGE_CHAINS ? j->variants->n : PAGE_CHAINS;
}

// ---- the stages

// A stage of a chain that the page lists; stage is NULL for the grammar.
struct listed {
    const struct recipe *recipe;
    const struct stage *stage;
};

// Returns whether two stages of one name have the same parameters and lists.
static bool are_alike(struct dest *d, struct listed x, struct listed y)
{
    struct builder text_x = {0}, text_y = {0};
    stage_html(&text_x, d, x.recipe, x.stage);
    stage_html(&text_y, d, y.recipe, y.stage);
    d->text.failed = d->text.failed || text_x.failed || text_y.failed;
    const bool alike = !d->text.failed && !strcmp(text_x.text, text_y.text);
    builder_free(&text_x);
    builder_free(&text_y);
    return alike;
}

static const char *listed_name(struct listed x) { return x.stage ? x.stage->sampler->name : "grammar"; }

// Returns whether a chain has this stage, with the same parameters and lists, or if `named` with any.
static bool has_stage(struct dest *d, const struct recipe *r, struct listed x, bool named)
{
    struct listed own = {.recipe = r};
    for (size_t i = 0; i <= r->n_stages; i++)
        if (page_lists(r, i, &own.stage) && !strcmp(listed_name(own), listed_name(x)) &&
            (named || are_alike(d, own, x)))
            return true;
    return false;
}

// Writes the stages of each shown chain: bold those that the base has not or has otherwise, and at the end those that
// only the base has.
static void stage_lists(const struct pages *v)
{
    const struct job *const j = v->page.columns.job;
    const struct recipe *const base = j->variants->recipe[0];
    struct dest *const d = v->page.columns.dest;
    struct builder *const b = &d->text;
    builder_string(b, "<section class=\"wide\" id=\"stages\" aria-labelledby=\"stages-head\">\n<h2 id=\"stages-head\">"
                      "The stages</h2>\n<dl class=\"chains\" aria-label=\"The stages; bold: not in the base\">\n");
    d->vocab = j->recipes->vocab; // not the texts of the last row
    for (size_t i = 0; i < chains_shown(j); i++) {
        struct listed x = {.recipe = j->variants->recipe[i]};
        builder_string(b, "<dt>");
        html_text(b, text_piece(j->variants->of[i].name), false);
        builder_string(b, "</dt><dd><ol class=\"chain\">");
        for (size_t k = 0; k <= x.recipe->n_stages; k++)
            if (page_lists(x.recipe, k, &x.stage)) {
                builder_string(b, has_stage(d, base, x, false) ? "<li>" : "<li class=\"own\">");
                stage_html(b, d, x.recipe, x.stage);
                builder_string(b, "</li> ");
            }
        builder_string(b, "</ol>");
        size_t n = 0;
        for (size_t k = 0; k <= base->n_stages; k++)
            if (page_lists(base, k, &x.stage) && !has_stage(d, j->variants->recipe[i], x, true)) {
                builder_string(b, n++ ? ", " : "<div class=\"note\">without ");
                stage_html(b, d, base, x.stage);
            }
        builder_string(b, n ? "</div></dd>\n" : "</dd>\n");
    }
    builder_string(b, "</dl>\n</section>\n");
}

// ---- rows

// Writes the candidates, each as [id, its probability in each chain, or -k: what removed it there is reason k].
static void tokens_member(struct pages *v, const struct result *res)
{
    struct dest *const d = v->page.columns.dest;
    char text[NUMBER_TEXT];
    page_list(d, "tokens");
    for (size_t k = 0; k < v->best.n; k++) {
        const struct union_token *const t = &v->best.token[k];
        items_begin(d, NULL);
        page_id(&v->page, t->best.id);
        for (size_t i = 0; i < chains_shown(v->page.columns.job); i++) {
            const bool kept = t->p[i] >= 0.0f;
            const char *const by = kept ? NULL : chain_removed_by(&res[i], t->best.id, text);
            page_number(d, NULL, kept ? (double)t->p[i] : -(double)page_reason(&v->page, by));
        }
        items_end(d);
    }
    items_end(d);
}

// Writes the base's token, and behind it the numbers of each chain and the candidates.
static void pages_row(struct pages *v, const struct result *res)
{
    struct dest *const d = v->page.columns.dest;
    const struct job *const j = v->page.columns.job;
    const struct record *const base = &res->record;
    page_token(&v->page, base);
    builder_string(&d->text, "<script type=\"application/json\">\n");
    object_begin(d, "record");
    field_int(d, "row", (int64_t)base->row);
    field_double(d, "id", base->error ? NAN : (double)base->chosen);
    object_end(d);
    page_list(d, "of");
    for (size_t i = 0; i < chains_shown(j); i++)
        if (res[i].record.error)
            field_double(d, NULL, NAN);
        else
            page_chain(&v->page, &res[i].record, base->error ? NAN : res[i].pair[PAIR_OVERLAP]);
    items_end(d);
    if (!base->error)
        page_accepted(&v->page, base);
    tokens_member(v, res);
    page_names(&v->page);
    fields_end(d, "\n</script>");
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct pages *const v = self;
    means_add(&v->means, s->result);
    page_begin(&v->page, &s->result->record, ENDING_RAN);
    if (v->page.rows++ >= PAGE_ROWS)
        return true;
    if (!best_union_find(&v->best, v->page.columns.job, s->result))
        return err_from_fault(e, fault_memory());
    pages_row(v, s->result);
    return true;
}

// ---- the end

static void table(const struct pages *v)
{
    const struct means *const m = &v->means;
    const struct job *const j = m->job;
    struct builder *const b = &v->page.columns.dest->text;
    char text[CELL_TEXT];
    builder_string(b, "<section id=\"means\" aria-labelledby=\"means-head\">\n"
                      "<h2 id=\"means-head\">The chains compared</h2>\n");
    builder_format(b,
                   "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The table\"><table%s>\n"
                   "<thead><tr><th scope=\"col\">chain</th>",
                   j->args->columns ? " class=\"given\"" : "");
    for (size_t k = 0; k < m->shown.n; k++)
        builder_format(b, "<th scope=\"col\">%s</th>", means_name(m, m->shown.field[k], text));
    builder_string(b, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < j->variants->n; i++) {
        builder_string(b, "<tr><th scope=\"row\">");
        html_text(b, text_piece(j->variants->of[i].name), false);
        builder_string(b, means_by_chance(m, i) ? " (depends on the seed)</th>" : "</th>");
        for (size_t k = 0; k < m->shown.n; k++)
            builder_format(b, "<td>%s</td>", means_cell_text(m, i, m->shown.field[k], false, true, text));
        builder_string(b, "</tr>\n");
    }
    builder_string(b, "</tbody>\n</table></div>\n");
    if (job_accepts(j))
        builder_string(b,
                       "<p class=\"note\">To choose a chain, take a text of 600 tokens or more that people wrote, and "
                       "chains that lose equally much of it: 5 %, unless you know better. "
                       "<code>match.sh</code> finds such chains. The larger gain wins. Two chains are alike on "
                       "this text if gain_diff is below twice its error.</p>\n");
    builder_string(b, "</section>\n");
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct pages *const v = self;
    const struct job *const j = v->page.columns.job;
    struct dest *const d = v->page.columns.dest;
    page_begin(&v->page, NULL, how);
    if (how == ENDING_NO_ROWS)
        return true;
    page_reading_end(&v->page);
    if (chains_shown(j) < j->variants->n)
        builder_format(&d->text,
                       "<p class=\"note wide\">The rows show the base and the first %zu of %zu variants; "
                       "<code>--dump-probs=10</code> shows all.</p>\n",
                       chains_shown(j) - 1, j->variants->n - 1);
    means_end(&v->means);
    table(v);
    stage_lists(v);
    builder_string(&d->text, "<script type=\"application/json\" id=\"variants\">\n[");
    means_fields(&v->means, d, ",\n", "");
    builder_string(&d->text, "]\n</script>\n");
    page_end(&v->page);
    return true;
}

static bool prepare(void *self, struct job *j, struct dest *d, struct err *e)
{
    struct pages *const v = self;
    return columns_open(self, j, d, e) && means_open(&v->means, j, e);
}

static void pages_free(void *self)
{
    struct pages *const v = self;
    best_union_free(&v->best);
    means_free(&v->means);
    page_free(&v->page);
}

const struct view view_page_by_chain = {.name = "-O html",
                                        .size = sizeof(struct pages),
                                        .formats = FORMAT_PAGE,
                                        RULES(MEANS_OF_PARTS),
                                        .prepare = prepare,
                                        .needs =
                                            NEED_PAIRS | RECORD_ACCEPTED | NEED_LIST | NEED_REMOVALS | RECORD_SHOWN,
                                        .row = row,
                                        .end = end,
                                        .free = pages_free};
