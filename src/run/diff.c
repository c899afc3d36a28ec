// SPDX-License-Identifier: MIT
#include "run/diff.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void diff_free(struct diff *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->worst[i].text);
    free(d->worst);
    idmap_free(&d->ids);
    free(d->p);
}

// ---- what a variant has to say of a token

// Where a token stands among the kept, from 0; SIZE_MAX if it is not among them.
static size_t place_of(const struct record *r, uint32_t id)
{
    for (size_t i = 0; i < r->kept; i++)
        if (r->ranked[i].id == id)
            return i;
    return SIZE_MAX;
}

static struct piece name_of(const struct diff *d, size_t variant)
{
    return text_piece(d->job->named[variant].name);
}

static bool is_format(const struct diff *d, const char *format)
{
    return d->job->args->output_format && !strcmp(d->job->args->output_format, format);
}

// How many columns a name may take.
static size_t name_most(const struct diff *d)
{
    return d->out->screen.columns ? (size_t)d->out->screen.columns / 3 : SIZE_MAX;
}

size_t names_width(const struct job *j, size_t most, size_t limit)
{
    size_t width = 4;
    for (size_t i = 0; i < j->n_variants; i++) {
        const size_t wide = text_clip(NULL, text_piece(j->named[i].name), 0, most);
        width = wide > width && wide <= limit ? wide : width;
    }
    return width;
}

static void put_token(const struct diff *d, FILE *f, uint32_t id)
{
    fprintf(f, "%" PRIu32, id);
    if (!d->out->vocab)
        return;
    putc(' ', f);
    text_clip(f, vocab_text(d->out->vocab, id), '"', output_text_most(d->out));
}

// ---- --diff

// How a variant's choice and the base's look to each other.
struct glance {
    const struct record *base, *r;
    size_t rank; // of the variant's token in the base, from 0; SIZE_MAX if it is gone there
    char gone[NUMBER_TEXT],
        gone_here[NUMBER_TEXT]; // what removed the variant's token in the base, and the base's in the variant
    double overlap;
};

static struct glance look(const struct result *base, const struct result *res)
{
    struct glance g = {&base->record, &res->record, place_of(&base->record, res->record.chosen),
                       "-",           "-",          res->beside[BESIDE_OVERLAP]};
    if (g.rank == SIZE_MAX)
        result_removed_by(base, res->record.chosen, g.gone);
    if (place_of(&res->record, base->record.chosen) == SIZE_MAX)
        result_removed_by(res, base->record.chosen, g.gone_here);
    return g;
}

static void glance_text(const struct diff *d, FILE *f, const struct glance *g, size_t variant, size_t width)
{
    fputs("  ", f);
    text_cell(f, name_of(d, variant), 0, width, name_most(d));
    putc(' ', f);
    put_token(d, f, g->r->chosen);
    fprintf(f, " (%.4f)", (double)g->r->chosen_p);
    if (g->rank == SIZE_MAX)
        fprintf(f, "  in the base removed by %s", g->gone);
    else
        fprintf(f, "  in the base %.4f, rank %zu", (double)g->base->ranked[g->rank].p, g->rank + 1);
    if (*g->gone_here != '-')
        fprintf(f, "; %" PRIu32 " removed by %s", g->base->chosen, g->gone_here);
    fprintf(f, "  overlap %.4f\n", g->overlap);
}

static void glance_cells(const struct diff *d, FILE *f, const struct glance *g, size_t variant)
{
    char p[NUMBER_TEXT], base_p[NUMBER_TEXT], there[NUMBER_TEXT], overlap[NUMBER_TEXT];
    number_text(g->r->chosen_p, p);
    number_text(g->base->chosen_p, base_p);
    number_text_wide(g->overlap, overlap);
    number_text(g->rank == SIZE_MAX ? 0.0f : g->base->ranked[g->rank].p, there);
    char rank[NUMBER_TEXT] = "-";
    if (g->rank != SIZE_MAX)
        snprintf(rank, sizeof rank, "%zu", g->rank + 1);
    if (!is_format(d, "json")) {
        fprintf(f, "%" PRIu64 "\t", g->r->row);
        text_put(f, name_of(d, variant), 0);
        fprintf(f, "\t%" PRIu32 "\t%s\t%" PRIu32 "\t%s\t%s\t%s\t%s\t%s\t%s", g->base->chosen, base_p, g->r->chosen, p,
                there, rank, g->gone, g->gone_here, overlap);
        for (size_t i = 0; d->out->vocab && i < 2; i++) {
            putc('\t', f);
            text_put(f, vocab_text(d->out->vocab, i ? g->r->chosen : g->base->chosen), 0);
        }
        putc('\n', f);
        return;
    }
    fprintf(f, "{\"row\":%" PRIu64 ",\"variant\":", g->r->row);
    text_put_json(f, name_of(d, variant));
    fprintf(f,
            ",\"base_id\":%" PRIu32 ",\"base_prob\":%s,\"id\":%" PRIu32
            ",\"prob\":%s,\"prob_in_base\":%s,\"rank_in_base\":%s",
            g->base->chosen, base_p, g->r->chosen, p, there, *rank == '-' ? "null" : rank);
    const char *const names[] = {"removed_in_base", "base_removed"}, *const by[] = {g->gone, g->gone_here};
    for (size_t i = 0; i < 2; i++) {
        const char *const quote = *by[i] == '-' ? "" : "\"";
        fprintf(f, ",\"%s\":%s%s%s", names[i], quote, *quote ? by[i] : "null", quote);
    }
    fprintf(f, ",\"overlap\":%s", overlap);
    for (size_t i = 0; d->out->vocab && i < 2; i++) {
        fputs(i ? ",\"token\":" : ",\"base_token\":", f);
        text_put_json(f, vocab_text(d->out->vocab, i ? g->r->chosen : g->base->chosen));
    }
    fputs("}\n", f);
}

// Of the variants that chose otherwise, or of all.
static void put_diff(const struct diff *d, FILE *f, const struct result *res, bool all)
{
    const bool text = !is_format(d, "tsv") && !is_format(d, "json");
    const size_t width = text ? names_width(d->job, name_most(d), 40) : 0;
    if (text) {
        fprintf(f, "row %" PRIu64 "  base ", res->record.row);
        put_token(d, f, res->record.chosen);
        fprintf(f, " (%.4f)\n", (double)res->record.chosen_p);
    }
    for (size_t i = 1; i < d->job->n_variants; i++) {
        if (!res[i].ok || (!all && res[i].record.chosen == res->record.chosen))
            continue;
        const struct glance g = look(res, &res[i]);
        if (text)
            glance_text(d, f, &g, i, width);
        else
            glance_cells(d, f, &g, i);
    }
}

// Keeps the row if it is among those with the least overlap.
static bool keep_worst(struct diff *d, const struct result *res, double overlap, struct err *e)
{
    const size_t most = (size_t)d->job->args->diff_most;
    size_t at = d->n;
    while (at && d->worst[at - 1].overlap > overlap)
        at--;
    if (at == most)
        return true;
    struct worst w = {.overlap = overlap};
    FILE *const f = open_memstream(&w.text, &w.len);
    if (f)
        put_diff(d, f, res, true);
    const bool whole = f && !fflush(f) && !ferror(f);
    if (f)
        fclose(f); // which makes the text as long as it is, or NULL
    if (!whole || !w.text || !mem_grow(&d->worst, &d->cap, d->n + 1, sizeof *d->worst)) {
        free(w.text);
        return err_from_fault(e, fault_memory());
    }
    if (d->n == most)
        free(d->worst[--d->n].text);
    memmove(d->worst + at + 1, d->worst + at, (d->n - at) * sizeof *d->worst);
    d->worst[at] = w;
    d->n++;
    return true;
}

static bool diff_one(struct diff *d, const struct result *res, struct err *e)
{
    bool differs = false;
    double least = 2.0;
    for (size_t i = 1; res->ok && i < d->job->n_variants; i++) {
        if (!res[i].ok)
            continue;
        differs = differs || res[i].record.chosen != res->record.chosen;
        least = res[i].beside[BESIDE_OVERLAP] < least ? res[i].beside[BESIDE_OVERLAP] : least;
    }
    if (d->job->args->diff_most)
        return least > 1.0 || keep_worst(d, res, least, e);
    if (differs)
        put_diff(d, d->out->f, res, false);
    return !differs || output_wrote(d->out, e);
}

// ---- --dump-probs

struct row_of_dump {
    uint32_t id;
    float most;
    size_t at;
};

static int by_most(const void *a, const void *b)
{
    const struct row_of_dump *const x = a, *const y = b;
    if (x->most != y->most)
        return x->most < y->most ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Takes together the tokens that are among the best of any variant, and their probabilities in each. NULL when memory is short.
static struct row_of_dump *unite(struct diff *d, const struct result *res)
{
    const size_t variants = d->job->n_variants;
    idmap_clear(&d->ids);
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.shown; k++)
            if (idmap_add(&d->ids, res[i].record.ranked[k].id) == IDMAP_NONE)
                return NULL;
    const size_t n = d->ids.n;
    struct row_of_dump *const list = calloc(n + 1, sizeof *list);
    if (!list || !mem_grow(&d->p, &d->p_cap, n * variants + 1, sizeof *d->p)) {
        free(list);
        return NULL;
    }
    for (size_t k = 0; k < n * variants; k++)
        d->p[k] = -1.0f; // gone
    for (size_t k = 0; k < n; k++)
        list[k] = (struct row_of_dump){.id = d->ids.id[k], .at = k};
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; res[i].ok && k < res[i].record.kept; k++) {
            const struct ranked *const r = &res[i].record.ranked[k];
            const size_t at = idmap_find(&d->ids, r->id);
            if (at == IDMAP_NONE)
                continue;
            d->p[at * variants + i] = r->p;
            list[at].most = r->p > list[at].most ? r->p : list[at].most;
        }
    qsort(list, n, sizeof *list, by_most);
    return list;
}

// A variant's word on a token: its probability, or what removed it.
static const char *cell_of(const struct diff *d, const struct result *res, const struct row_of_dump *t, size_t i,
                           bool people, char text[NUMBER_TEXT])
{
    const float p = d->p[t->at * d->job->n_variants + i];
    if (p < 0.0f)
        return res[i].ok ? result_removed_by(&res[i], t->id, text) : "-";
    if (!people)
        return number_text(p, text);
    snprintf(text, NUMBER_TEXT, "%s%.6f", t->id == res[i].record.chosen ? "*" : "", (double)p);
    return text;
}

// How wide the column of a variant is.
static size_t column_width(const struct diff *d, size_t variant)
{
    enum { COLUMN = 12 };
    const size_t wide = text_clip(NULL, name_of(d, variant), 0, name_most(d));
    return wide > COLUMN ? wide : COLUMN;
}

// The columns of the variants from `first` to before `last`, and the texts; those come first in a window.
static void put_block(const struct diff *d, FILE *f, const struct result *res, const struct row_of_dump *list,
                      size_t first, size_t last, size_t texts)
{
    char text[NUMBER_TEXT];
    const bool window = d->out->screen.columns, says = d->out->vocab;
    fprintf(f, "%8s", "id");
    if (says && window)
        fprintf(f, " %-*s", (int)texts, "text");
    for (size_t i = first; i < last; i++) {
        const size_t wide = text_clip(NULL, name_of(d, i), 0, name_most(d));
        fprintf(f, " %*s", (int)(column_width(d, i) - wide), "");
        text_clip(f, name_of(d, i), 0, name_most(d));
    }
    fputs(says && !window ? "  text\n" : "\n", f);
    for (size_t k = 0; k < d->ids.n; k++) {
        const struct piece token = says ? vocab_text(d->out->vocab, list[k].id) : (struct piece){0};
        fprintf(f, "%8" PRIu32, list[k].id);
        if (says && window) {
            putc(' ', f);
            text_cell(f, token, '"', texts, texts);
        }
        for (size_t i = first; i < last; i++)
            fprintf(f, " %*s", (int)column_width(d, i), cell_of(d, res, &list[k], i, true, text));
        if (says && !window) {
            fputs("  ", f);
            text_put(f, token, '"');
        }
        putc('\n', f);
    }
}

// What is too wide for the window goes on below, with ids and texts again.
static void dump_text(const struct diff *d, FILE *f, const struct result *res, const struct row_of_dump *list)
{
    const size_t n = d->job->n_variants, window = d->out->screen.columns ? (size_t)d->out->screen.columns : SIZE_MAX;
    size_t texts = 4;
    for (size_t k = 0; d->out->vocab && window < SIZE_MAX && k < d->ids.n; k++) {
        const size_t wide = text_clip(NULL, vocab_text(d->out->vocab, list[k].id), '"', output_text_most(d->out));
        texts = wide > texts ? wide : texts;
    }
    fprintf(f, "row %" PRIu64 "\n", res->record.row);
    for (size_t first = 0, last; first < n; first = last) {
        size_t taken = 8 + (d->out->vocab ? 1 + texts : 0);
        for (last = first; last < n && (last == first || taken + 1 + column_width(d, last) <= window); last++)
            taken += 1 + column_width(d, last);
        put_block(d, f, res, list, first, last, texts);
    }
}

static void dump_tsv(const struct diff *d, FILE *f, const struct result *res, const struct row_of_dump *list)
{
    char text[NUMBER_TEXT];
    for (size_t k = 0; k < d->ids.n; k++) {
        fprintf(f, "%" PRIu64 "\t%" PRIu32, res->record.row, list[k].id);
        for (size_t i = 0; i < d->job->n_variants; i++)
            fprintf(f, "\t%s", cell_of(d, res, &list[k], i, false, text));
        if (d->out->vocab) {
            putc('\t', f);
            text_put(f, vocab_text(d->out->vocab, list[k].id), 0);
        }
        putc('\n', f);
    }
}

static void dump_json(const struct diff *d, FILE *f, const struct result *res, const struct row_of_dump *list)
{
    char text[NUMBER_TEXT];
    fprintf(f, "{\"row\":%" PRIu64 ",\"ids\":{", res->record.row);
    for (size_t i = 0; i < d->job->n_variants; i++) {
        fputs(i ? "," : "", f);
        output_string(d->out, f, name_of(d, i));
        fprintf(f, ":%" PRId64, res[i].ok ? (int64_t)res[i].record.chosen : -1);
    }
    fputs("},\"top_probs\":[", f);
    for (size_t k = 0; k < d->ids.n; k++) {
        fprintf(f, "%s{\"id\":%" PRIu32, k ? "," : "", list[k].id);
        if (d->out->vocab) {
            fputs(",\"token\":", f);
            output_string(d->out, f, vocab_text(d->out->vocab, list[k].id));
        }
        fputs(",\"probs\":{", f);
        for (size_t i = 0; i < d->job->n_variants; i++) { // a number, or the name of what removed it
            const char *const cell = cell_of(d, res, &list[k], i, false, text);
            fputs(i ? "," : "", f);
            output_string(d->out, f, name_of(d, i));
            const char *const quote = *cell >= '0' && *cell <= '9' ? "" : "\"";
            fprintf(f, ":%s%s%s", quote, cell, quote);
        }
        fputs("}}", f);
    }
    fputs("]}\n", f);
}

static bool dump_row(struct diff *d, const struct result *res, struct err *e)
{
    struct row_of_dump *const list = unite(d, res);
    if (!list)
        return err_from_fault(e, fault_memory());
    (is_format(d, "json") || d->out->page ? dump_json
     : is_format(d, "tsv")                ? dump_tsv
                                          : dump_text)(d, d->out->f, res, list);
    free(list);
    return output_wrote(d->out, e);
}

// ---- both

void diff_begin(struct diff *d, const struct job *j, struct output *out)
{
    *d = (struct diff){.job = j, .out = out};
}

// What comes before the first record, which tells whether there are texts.
static void put_head(struct diff *d)
{
    FILE *const f = d->out->f;
    const bool diff = d->job->args->diff;
    if (d->headed || !is_format(d, "tsv") || d->out->goes_on)
        return;
    d->headed = true;
    if (diff)
        fputs(
            "row\tvariant\tbase_id\tbase_prob\tid\tprob\tprob_in_base\trank_in_base\tremoved_in_base\tbase_removed\toverlap",
            f);
    else
        fputs("row\tid", f);
    for (size_t i = 0; !diff && i < d->job->n_variants; i++) {
        putc('\t', f);
        text_put(f, name_of(d, i), 0);
    }
    fputs(!d->out->vocab ? "\n" : diff ? "\tbase_text\ttext\n" : "\ttext\n", f);
}

bool diff_row(struct diff *d, const struct result *res, struct err *e)
{
    put_head(d);
    return d->job->args->diff ? diff_one(d, res, e) : dump_row(d, res, e);
}

bool diff_end(struct diff *d, struct err *e)
{
    bool ok = true;
    put_head(d);
    for (size_t i = 0; ok && i < d->n; i++) {
        fwrite(d->worst[i].text, 1, d->worst[i].len, d->out->f);
        ok = output_wrote(d->out, e);
    }
    return ok;
}
