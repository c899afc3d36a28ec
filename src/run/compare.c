// SPDX-License-Identifier: MIT
#include "run/compare.h"

#include "base/mem.h"
#include "out/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum compared compared_of(const struct job *j)
{
    if (j->n_variants == 1 || j->args->emit == EMIT_STATS)
        return COMPARED_NOT;
    if (j->args->report)
        return COMPARED_REPORT;
    if (j->args->diff)
        return COMPARED_CHOICES;
    if (j->side_by_side && !j->page)
        return COMPARED_CANDIDATES;
    return j->compares ? COMPARED_TABLE : j->args->emit == EMIT_TEXT ? COMPARED_TEXTS : COMPARED_IDS;
}

bool compare_waits(const struct job *j)
{
    const enum compared compared = compared_of(j);
    return compared == COMPARED_CHOICES ? j->args->diff_most > 0 : compared >= COMPARED_TEXTS;
}

// Fills in a swept value. In JSON it is a number if it is one, and for a flag true or false.
static void set_swept_value(struct swept_value *to, const struct swept *s)
{
    const struct option_row *const row = s->row;
    struct err e;
    double value;
    int64_t whole;
    to->text = s->value;
    if (row->param && value_parse(row->param, s->value, &value, &e))
        to->number = value_text(row->param, value, to->memory);
    else if (row->flag || (!strcmp(row->name, "seed") && whole_number(s->value, NULL, INT64_MIN, INT64_MAX, &whole)))
        to->number = s->value;
}

// Lists the enabled stages of the chains that a page shows. False if memory is short.
static bool list_stages(struct compare *cmp)
{
    const struct job *const j = cmp->job;
    const size_t shown = j->n_variants < cmp->out->most_chains ? j->n_variants : cmp->out->most_chains;
    size_t n = 0;
    for (size_t i = 0; i < shown; i++)
        n += j->variant[i]->n_stages;
    struct trace_line *line = cmp->stage = calloc(n + 1, sizeof *line);
    for (size_t i = 0; line && i < shown; i++) {
        const struct recipe *const recipe = j->variant[i];
        struct compared_chain *const c = &cmp->chains.chain[i];
        c->stage = line;
        for (size_t k = 0; k < recipe->n_stages; k++)
            if (stage_enabled(&recipe->stage[k]))
                *line++ = trace_line_of(recipe, &recipe->stage[k]);
        c->n_stages = (size_t)(line - c->stage);
    }
    return line;
}

bool compare_init(struct compare *cmp, const struct job *j, struct output *out, struct err *e)
{
    static const struct result none = {0};
    const size_t n = j->n_variants, n_swept = j->n_swept;
    *cmp = (struct compare){.job = j,
                            .out = out,
                            .chains = {.chain = calloc(n, sizeof *cmp->chains.chain), .n = n, .n_swept = n_swept},
                            .swept = calloc(n * n_swept + 1, sizeof *cmp->swept),
                            .sums = calloc(n, sizeof *cmp->sums),
                            .text = calloc(n, sizeof *cmp->text)};
    out->chains = &cmp->chains;
    if (!cmp->chains.chain || !cmp->swept || !cmp->sums || !cmp->text)
        return err_from_fault(e, fault_memory());
    for (size_t i = 0; i < n; i++) {
        const struct variant *const v = &j->named[i];
        struct swept_value *const swept = cmp->swept + i * n_swept;
        cmp->chains.chain[i] =
            (struct compared_chain){.name = v->name, .options = v->options, .swept = swept, .result = &none};
        for (size_t k = 0; k < n_swept; k++) {
            swept[k].name = j->named[1].swept[k].row->name; // the first variant of a sweep
            if (v->swept)
                set_swept_value(&swept[k], &v->swept[k]);
        }
    }
    if (j->page && !list_stages(cmp))
        return err_from_fault(e, fault_memory());
    return true;
}

void compare_free(struct compare *cmp)
{
    for (size_t i = 0; cmp->text && i < cmp->job->n_variants; i++)
        builder_free(&cmp->text[i]);
    for (size_t i = 0; i < cmp->n_worst; i++)
        free(cmp->worst[i].text.text);
    free(cmp->worst);
    report_free(&cmp->report);
    idmap_free(&cmp->ids);
    free(cmp->token);
    free(cmp->p);
    free(cmp->chains.chain);
    free(cmp->swept);
    free(cmp->stage);
    free(cmp->sums);
    free(cmp->text);
}

// ---- a row

// Returns the rank of a token among the kept candidates, from 1; 0 if the token was removed.
static size_t kept_rank(const struct record *r, uint32_t id)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == id)
            return i + 1;
    return 0;
}

// Compares the choice of a variant with that of the base.
static void compare_choice(struct compared_chain *c, const struct result *base, const struct result *res)
{
    const struct record *const b = &base->record, *const r = &res->record;
    c->base_rank = kept_rank(b, r->chosen);
    c->base_p = c->base_rank ? b->ranked[c->base_rank - 1].p : 0.0f;
    strcpy(c->removed_in_base, "-");
    strcpy(c->base_removed, "-");
    if (!c->base_rank)
        result_removed_by(base, r->chosen, c->removed_in_base);
    if (!kept_rank(r, b->chosen))
        result_removed_by(res, b->chosen, c->base_removed);
}

// Keeps the text of the row if the row is among those with the least overlap.
static bool keep_worst(struct compare *cmp, double overlap, struct err *e)
{
    const size_t most = (size_t)cmp->job->args->diff_most;
    size_t at = cmp->n_worst;
    while (at && cmp->worst[at - 1].overlap > overlap)
        at--;
    if (at == most) {
        cmp->chains.n_shown = 0;
        return output_chains(cmp->out, COMPARED_CHOICES, NULL, e);
    }
    struct worst w = {.overlap = overlap};
    if (!output_chains(cmp->out, COMPARED_CHOICES, &w.text, e) ||
        !mem_grow(&cmp->worst, &cmp->worst_cap, cmp->n_worst + 1, sizeof *cmp->worst)) {
        free(w.text.text);
        return err_from_fault(e, fault_memory());
    }
    if (cmp->n_worst == most)
        free(cmp->worst[--cmp->n_worst].text.text);
    memmove(cmp->worst + at + 1, cmp->worst + at, (cmp->n_worst - at) * sizeof *cmp->worst);
    cmp->worst[at] = w;
    cmp->n_worst++;
    return true;
}

// Writes the variants that chose otherwise than the base, or keeps the row for the end.
static bool compare_choices(struct compare *cmp, const struct result *res, struct err *e)
{
    const bool keeps = cmp->job->args->diff_most;
    struct chains *const all = &cmp->chains;
    double least = 2.0; // above every overlap
    all->n_shown = 0;
    for (size_t i = 1; i < all->n; i++) {
        struct compared_chain *const c = &all->chain[i];
        c->shown = res->ok && res[i].ok && (keeps || res[i].record.chosen != res->record.chosen);
        if (!c->shown)
            continue;
        all->n_shown++;
        compare_choice(c, res, &res[i]);
        least = res[i].record.overlap < least ? res[i].record.overlap : least;
    }
    if (keeps && all->n_shown)
        return keep_worst(cmp, least, e);
    return output_chains(cmp->out, COMPARED_CHOICES, NULL, e);
}

// Adds the ids of a record that every table of the row has: the best, the chosen and the accepted one. False if memory
// is short.
static bool add_ids(struct idmap *ids, const struct record *r)
{
    bool ok = idmap_add(ids, r->chosen) != IDMAP_NONE;
    for (size_t k = 0; ok && k < r->shown; k++)
        ok = idmap_add(ids, r->ranked[k].id) != IDMAP_NONE;
    return ok && (r->accepted < 0 || idmap_add(ids, (uint32_t)r->accepted) != IDMAP_NONE);
}

// Finds the candidates that are among the best of any variant, or chosen or accepted, with their probabilities in all.
// They stay until the next call. False if memory is short.
static bool unite(struct compare *cmp, const struct result *res)
{
    struct chains *const all = &cmp->chains;
    idmap_clear(&cmp->ids);
    for (size_t i = 0; i < all->n; i++)
        if (res[i].ok && !add_ids(&cmp->ids, &res[i].record))
            return false;
    const size_t n = cmp->ids.n;
    if (!mem_grow(&cmp->token, &cmp->token_cap, n + 1, sizeof *cmp->token) ||
        !mem_grow(&cmp->p, &cmp->p_cap, n * all->n + 1, sizeof *cmp->p))
        return false;
    for (size_t k = 0; k < n * all->n; k++)
        cmp->p[k] = -1.0f; // removed
    for (size_t k = 0; k < n; k++)
        cmp->token[k] = (struct united){.best.id = cmp->ids.id[k], .p = cmp->p + k * all->n};
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.kept; k++) {
            const struct ranked *const c = &res[i].record.ranked[k];
            const size_t at = idmap_find(&cmp->ids, c->id);
            if (at == IDMAP_NONE)
                continue;
            cmp->p[at * all->n + i] = c->p;
            cmp->token[at].best.p = fmaxf(cmp->token[at].best.p, c->p);
        }
    qsort(cmp->token, n, sizeof *cmp->token, ranked_order); // `best` is the first member
    all->token = cmp->token;
    all->n_tokens = n;
    return true;
}

// Returns the overlap of two distributions; NaN if it depends on unlisted tokens.
static double acceptance(const struct result *base, const struct result *other)
{
    const struct record *const p = &base->record, *const q = &other->record;
    const bool known = (!p->partial || p->exact) && (!q->partial || q->exact);
    return known ? other->pair[PAIR_OVERLAP] : NAN;
}

// Notes that a report has figures that lists do not determine.
static void note_lists(const struct report_sums *s)
{
    if (s->lists)
        message_note("--report: %zu of %zu rows are lists: KLD is a lower bound, with the unlisted tokens as one; "
                     "figures that the lists do not determine are nan",
                     s->lists, s->n);
}

bool compare_row(struct compare *cmp, struct result *res, struct err *e)
{
    const struct job *const j = cmp->job;
    struct output *const out = cmp->out;
    const enum compared compared = out->compared;
    for (size_t i = 0; i < j->n_variants; i++) {
        struct builder *const text = &cmp->text[i];
        res[i].record.overlap = res[i].pair[PAIR_OVERLAP];
        cmp->chains.chain[i].result = &res[i];
        if (i && res[i].ok && res->ok && compared == COMPARED_REPORT &&
            !report_add(&cmp->report, &res[i].agreement, acceptance(res, &res[i])))
            return err_from_fault(e, fault_memory());
        if (res[i].ok && compared == COMPARED_TABLE)
            table_add(&cmp->sums[i], &res[i], res[0].ok ? res : NULL);
        if (res[i].ok && compared == COMPARED_TEXTS) {
            const struct piece token = vocab_output(out->vocab, res[i].record.chosen);
            builder_bytes(text, token.p, token.len);
        }
        if (text->failed)
            return err_from_fault(e, fault_memory());
    }
    if (compared == COMPARED_CHOICES)
        return compare_choices(cmp, res, e);
    if (compared == COMPARED_TEXTS || compared == COMPARED_REPORT ||
        (compared == COMPARED_TABLE && !(j->page && j->lists)))
        return true;
    if (compared == COMPARED_IDS)
        return output_chains(out, COMPARED_IDS, NULL, e);
    if (!output_full(out) && !unite(cmp, res))
        return err_from_fault(e, fault_memory());
    return output_chains(out, COMPARED_CANDIDATES, NULL, e);
}

// Marks the chains whose distributions depend on draws, and says so once.
static void note_chance(struct compare *cmp)
{
    const struct compared_chain *first = NULL;
    for (size_t i = cmp->chains.n; i-- > 0;) {
        struct compared_chain *const c = &cmp->chains.chain[i];
        c->by_chance = recipe_by_chance(cmp->job->variant[i]);
        first = c->by_chance ? c : first;
    }
    if (first)
        message_note(
            "the numbers of chains marked 'of the draw' depend on the seed: in '%.*s', %s depends on earlier draws",
            err_clip(first->name, 80), first->name, first->by_chance);
}

bool compare_end(struct compare *cmp, struct err *e)
{
    const enum compared compared = cmp->out->compared;
    bool ok = true;
    for (size_t i = 0; ok && i < cmp->n_worst; i++)
        ok = output_kept(cmp->out, &cmp->worst[i].text, e);
    if (compared < COMPARED_TEXTS)
        return ok;
    if (compared == COMPARED_REPORT) {
        report_figures(&cmp->report, cmp->job, &cmp->chains.report);
        note_lists(&cmp->report);
    }
    if (compared == COMPARED_TABLE) {
        table_columns(cmp->job, cmp->sums, &cmp->chains);
        note_chance(cmp);
    }
    for (size_t i = 0; i < cmp->chains.n; i++) {
        struct compared_chain *const c = &cmp->chains.chain[i];
        c->text = (struct piece){(const unsigned char *)cmp->text[i].text, cmp->text[i].len};
        table_cells(&cmp->sums[i], &cmp->chains, c);
    }
    return output_chains(cmp->out, compared, NULL, e);
}
