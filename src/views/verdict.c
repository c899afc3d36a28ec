// SPDX-License-Identifier: MIT
#include "views/verdict.h"

#include "views/means.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS (2 * 1.6) // standard errors that a difference must exceed
#define FEW    4.0       // lost tokens that each error counts beyond those that were seen

enum { LOST_LEAST = 10, PAIRS_MOST = 5 };

bool verdict_open(struct chains_verdict *v, const struct job *j, struct err *e)
{
    const size_t n = j->variants->n, pairs = n <= VERDICT_CHAINS ? n * n : 0;
    *v = (struct chains_verdict){.job = j};
    if (!job_accepts(j) || !pairs)
        return true;
    v->removed = calloc(pairs, sizeof *v->removed);
    v->lost = calloc(pairs, sizeof *v->lost);
    return (v->removed && v->lost) || err_from_fault(e, fault_memory());
}

void verdict_free(struct chains_verdict *v)
{
    free(v->removed);
    free(v->lost);
}

void verdict_add(struct chains_verdict *v, const struct result *res)
{
    const size_t n = v->job->variants->n;
    double removed[VERDICT_CHAINS], lost[VERDICT_CHAINS];
    bool told = true;
    if (!v->lost)
        return;
    for (size_t i = 0; i < n; i++)
        if (!res[i].ok || isnan(res[i].stat[STAT_ACCEPTED]))
            return;
    for (size_t i = 0; i < n; i++)
        told = told && !isnan(res[i].stat[STAT_LOST]) && (!res[i].record.partial || res[i].record.exact);
    v->unlisted += !told;
    for (size_t i = 0; told && i < n; i++) {
        removed[i] = 1.0 - res[i].stat[STAT_MASS];
        lost[i] = res[i].stat[STAT_LOST];
        v->lost_tokens += lost[i] > 0.0;
    }
    for (size_t i = 0; told && i < n; i++)
        for (size_t k = 0; k < n; k++) {
            moments_add(&v->removed[i * n + k], removed[i] - (i == k ? 0.0 : removed[k]));
            moments_add(&v->lost[i * n + k], lost[i] - (i == k ? 0.0 : lost[k]));
        }
}

// The margin of a mean: so many standard errors. rows: of so many more rows that differ by 1, as the variance of a few
// such rows is too small a guess.
static double margin(const struct moments *m, double rows)
{
    return ERRORS * sqrt(mean_variance(m) + rows / (double)m->n / (double)m->n);
}

bool verdict_better(const struct chains_verdict *v, size_t i, size_t k)
{
    const size_t at = i * v->job->variants->n + k;
    const struct moments *const removed = &v->removed[at], *const lost = &v->lost[at];
    return removed->n > 1 && mean_of(removed) > margin(removed, 0.0) && mean_of(lost) + margin(lost, FEW) <= 0.0;
}

double verdict_most_lost(const struct chains_verdict *v, size_t i)
{
    const struct moments *const m = &v->lost[i * v->job->variants->n + i];
    return m->n > 1 ? mean_of(m) + margin(m, FEW) : NAN;
}

// ---- words

// Returns whether a chain removes something.
static bool removes(const struct chains_verdict *v, size_t i)
{
    return mean_of(&v->removed[i * v->job->variants->n + i]) > 1e-12;
}

static void write_name(const struct chains_verdict *v, struct builder *b, size_t i)
{
    builder_string(b, variant_label(v->job->variants, i));
}

// Writes a percentage without the 0 before a point, and its error if it has one.
static void write_percent(struct builder *b, double x, double error, bool utf8)
{
    char text[CELL_TEXT];
    const double parts[] = {x, error};
    for (size_t k = 0; k < 2; k++) {
        if (k && !(error > 0.0))
            break;
        rounded_to(100.0 * parts[k], 100.0 * error, text);
        builder_string(b, k ? utf8 ? " ±" : " +-" : "");
        builder_string(b, text[0] == '0' && text[1] == '.' ? text + 1 : text);
    }
    builder_string(b, " %");
}

// Writes what a chain removes and loses. of_what: also of what these are shares.
static void write_chain(const struct chains_verdict *v, struct builder *b, size_t i, bool of_what, bool utf8)
{
    const size_t at = i * v->job->variants->n + i;
    const double removed = mean_of(&v->removed[at]);
    write_name(v, b, i);
    builder_format(b, 100.0 * removed < 1.0 ? " removes %.1g %%%s and loses " : " removes %.0f %%%s and loses ",
                   100.0 * removed, of_what ? " of the model's probability" : "");
    write_percent(b, mean_of(&v->lost[at]), sqrt(mean_variance(&v->lost[at])), utf8);
    builder_string(b, of_what ? " of the text" : "");
}

static bool has_xtc(const struct recipe *r) { return recipe_defies(r, REMOVES_LIKELY); }
static bool has_grammar(const struct recipe *r) { return r->key.rules; }

// Qualifies the sentences for chains that do more than to remove unlikely tokens.
static void write_cautions(const struct chains_verdict *v, struct builder *b)
{
    static const struct {
        bool (*has)(const struct recipe *r);
        const char *says;
    } cautions[] = {{recipe_has_temperature, "a temperature above 0 loses no token: compare temperatures by eps_ppl"},
                    {has_xtc, "xtc removes likely tokens on purpose"},
                    {recipe_has_mirostat, "mirostat cuts by the tokens that it chose before"},
                    {has_grammar, "a grammar removes tokens that the text may have"}};
    for (size_t k = 0; k < sizeof cautions / sizeof *cautions; k++) {
        size_t n = 0;
        for (size_t i = 0; i < v->job->variants->n; i++) {
            if (!removes(v, i) || !cautions[k].has(v->job->variants->recipe[i]))
                continue;
            builder_string(b, n++ ? ", " : "");
            write_name(v, b, i);
        }
        if (n)
            builder_format(b, ": %s\n", cautions[k].says);
    }
}

// Writes which chains are better than others, behind the chains.
static void write_pairs(const struct chains_verdict *v, struct builder *b, size_t chains)
{
    size_t n = 0;
    for (size_t i = 0; i < v->job->variants->n; i++)
        for (size_t k = 0; k < v->job->variants->n; k++) {
            if (!removes(v, i) || !removes(v, k) || i == k || !verdict_better(v, i, k) || n++ >= PAIRS_MOST)
                continue;
            write_name(v, b, i);
            builder_string(b, " is better than ");
            write_name(v, b, k);
            builder_byte(b, '\n');
        }
    if (n > PAIRS_MOST)
        builder_format(b, "and so in %zu more pairs\n", n - PAIRS_MOST);
    if (!n)
        builder_format(b, "%s is better: choose a rate (--most-lost)\n", chains == 2 ? "neither" : "none");
}

void verdict_text(const struct chains_verdict *v, struct dest *d)
{
    const size_t n = v->job->variants->n;
    size_t chains = 0, said = 0;
    if (!v->lost || v->unlisted || v->lost_tokens < LOST_LEAST)
        return;
    for (size_t i = 0; i < n; i++)
        chains += removes(v, i);
    if (chains < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!removes(v, i))
            continue;
        write_chain(v, &d->text, i, !said++, d->screen.utf8);
        builder_string(&d->text, said < chains ? ";\n" : ":\n");
    }
    write_pairs(v, &d->text, chains);
    write_cautions(v, &d->text);
}

// Returns whether a chain removes as much as another, within the error.
static bool removes_alike(const struct chains_verdict *v, size_t i, size_t k)
{
    const struct moments *const m = &v->removed[i * v->job->variants->n + k];
    return fabs(mean_of(m)) <= margin(m, 0.0);
}

void verdict_answer(const struct chains_verdict *v, struct builder *b, bool utf8)
{
    const double rate = v->job->args->most_lost;
    const size_t n = v->job->variants->n;
    size_t best = SIZE_MAX, below = 0;
    char text[NUMBER_TEXT];
    builder_format(b, "--most-lost %s: ", number_short(rate, 6, text));
    if (!v->lost) {
        builder_format(b, "not shown: of at most %d chains", VERDICT_CHAINS);
        return;
    }
    if (v->unlisted) {
        builder_format(b, "not shown: the lists of %" PRIu64 " rows do not tell what a chain loses", v->unlisted);
        return;
    }
    for (size_t i = 0; i < n && v->lost_tokens >= LOST_LEAST; i++) {
        if (!removes(v, i))
            continue;
        below += mean_of(&v->lost[i * n + i]) < rate;
        if (verdict_most_lost(v, i) < rate && (best == SIZE_MAX || mean_of(&v->removed[i * n + best]) > 0.0))
            best = i;
    }
    if (best == SIZE_MAX) {
        builder_string(b, below || v->lost_tokens < LOST_LEAST
                              ? "not shown: the text is too short"
                              : "each chain that removes something lost more of this text");
        return;
    }
    write_chain(v, b, best, true, utf8);
    builder_format(b, ", at most %s %%", number_short(ceil(1000.0 * verdict_most_lost(v, best)) / 10.0, 6, text));
    for (size_t i = 0, alike = 0; i < n; i++)
        if (i != best && removes(v, i) && verdict_most_lost(v, i) < rate && removes_alike(v, best, i)) {
            builder_string(b, alike++ ? ", " : "; as much, within the error, removes ");
            write_name(v, b, i);
        }
}
