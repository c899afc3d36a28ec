// SPDX-License-Identifier: MIT
#include "views/job.h"

#include "base/names.h"
#include "views/view.h"

#include <stdlib.h>
#include <string.h>

void job_free(struct job *j)
{
    free(j->rows.range);
    free(j->prompt.id);
    free(j->accept.id);
    free(j->claimed[0].id);
    free(j->claimed[1].id);
    id_file_free(&j->draws);
}

// Returns whether the ids of --expect name the token of each row.
static bool names_all(const struct ids *expect)
{
    for (size_t i = 0; i < expect->n; i++)
        if (expect->id[i] == VOCAB_NONE)
            return false;
    return true;
}

// Returns whether the run shows all its rows up to the last shown one. Not known, and false, if numbers count from the
// end.
static bool shows_from_first(const struct job *j)
{
    return j->rows.n == 1 && j->rows.range[0].first >= 0 && j->rows.range[0].first <= j->args->first;
}

// Returns what a recipe must know of earlier rows beyond the given tokens. *name is the stage that must know it.
// inside: the earlier rows are rows of this part. --expect names the tokens of those that are shown.
static enum carry job_carry(const struct job *j, const struct recipe *recipe, bool inside, const char **name)
{
    size_t stage = 0;
    const bool known = j->follows != FOLLOWS_CHOSEN &&
                       ((inside && shows_from_first(j) && names_all(&j->claimed[0])) || j->follows != FOLLOWS_CLAIMED);
    enum carry carry = stages_carry(recipe->stage, recipe->n_stages, &stage);
    *name = recipe->stage[stage].sampler->name;
    if (recipe_budget(recipe) && carry == CARRY_NOTHING) {
        carry = CARRY_TOKENS;
        *name = "the reasoning budget";
    }
    if (recipe->key.rules) { // the number of draws of a row depends on the rows before
        carry = CARRY_ROWS;
        *name = "the grammar";
    }
    return j->args->independent || (known && carry == CARRY_TOKENS) ? CARRY_NOTHING : carry;
}

bool job_splits(const struct job *j)
{
    const char *name;
    for (size_t i = 0; i < j->variants->n; i++)
        if (job_carry(j, j->variants->recipe[i], true, &name) != CARRY_NOTHING)
            return false;
    return true;
}

// Returns whether a stage reads earlier tokens. Bans read them only for the sequence that is banned.
static bool reads_history(const struct stage *stage)
{
    const struct sampler *const s = stage->sampler;
    return s->window && s->lists != LISTS_BANS && stage_enabled(stage) && s->window(stage);
}

void job_own_history(const struct job *j, struct builder *names)
{
    if (j->args->independent || j->follows != FOLLOWS_CHOSEN)
        return;
    for (size_t i = 0; samplers[i]; i++) {
        bool looks = false;
        for (size_t v = 0; samplers[i]->window && v < j->variants->n; v++)
            for (size_t k = 0; k < j->variants->recipe[v]->n_stages; k++)
                looks = looks || (j->variants->recipe[v]->stage[k].sampler == samplers[i] &&
                                  reads_history(&j->variants->recipe[v]->stage[k]));
        if (looks)
            builder_format(names, "%s%s", names->len ? ", " : "", samplers[i]->name);
    }
}

const char *job_factor(const struct job *j)
{
    const struct stage *stage = NULL;
    for (size_t i = 0; i < j->variants->n && !(stage && stage_has_factor(stage)); i++)
        stage = recipe_reads_logits(j->variants->recipe[i]);
    return stage && stage_has_factor(stage) ? stage->sampler->params->flag : NULL;
}

bool job_skips_by_width(const struct job *j)
{
    for (size_t i = 0; i < j->variants->n; i++)
        for (const struct engine_stage *s = j->variants->recipe[i]->key.engine->stage; s->sampler; s++)
            if (s->sampler->skips_by_width)
                return true;
    return false;
}

bool job_is_later_part(const struct args *a) { return a->shard.k > 1 || a->row_base > 0; }

static bool check_part(const struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    const char *const option = a->shard.n ? "--shard" : "--row-base";
    if (a->row_base && (rows_from_end(&j->rows) || a->first < 0))
        return err_set(e, STATUS_USAGE, "--row-base cannot be used with negative numbers of --%s",
                       a->first < 0 ? "first" : "rows");
    if (!job_is_later_part(a) || (a->row_base && a->first >= a->row_base)) // the longer run begins in this part
        return true;
    for (size_t i = 0; i < j->variants->n; i++) {
        const char *name;
        const enum carry carry = job_carry(j, j->variants->recipe[i], false, &name);
        if (carry == CARRY_TOKENS)
            return err_set(e, STATUS_USAGE,
                           "%s: %s needs the tokens before this part: give them with --accept, or use --independent",
                           option, name);
        if (carry == CARRY_ROWS)
            return err_set(e, STATUS_USAGE, "%s: %s needs the rows before this part; with --independent it does not",
                           option, name);
    }
    return true;
}

// Names what makes a row's distribution depend on the tokens before it, or returns NULL. Generators only carry state.
static const char *reads_tokens(const struct recipe *recipe)
{
    if (recipe->key.rules)
        return "the grammar";
    for (const struct stage *s = NULL; (s = recipe_next(recipe, s));)
        if (stages_carry(s, 1, NULL) == CARRY_TOKENS)
            return s->sampler->name;
    return recipe_budget(recipe) ? "the reasoning budget" : NULL;
}

const char *job_by_chance(const struct job *j, size_t variant, bool own_history)
{
    const struct recipe *const recipe = j->variants->recipe[variant];
    const char *const name = recipe_by_chance(recipe);
    return name || !own_history || recipe_is_greedy(recipe) ? name : reads_tokens(recipe);
}

bool job_can_test_draws(const struct job *j, const struct recipe *recipe, struct err *e)
{
    const bool masks_late = recipe->key.rules && !recipe->key.grammar_first;
    const char *name = recipe_by_chance(recipe);
    if (name)
        return err_set(e, STATUS_USAGE, "--draws: with %s, the distribution of a row depends on an earlier draw%s",
                       name, masks_late ? "; use --grammar-first" : "");
    name = j->follows == FOLLOWS_CHOSEN && !j->args->independent ? reads_tokens(recipe) : NULL;
    if (name)
        return err_set(e, STATUS_USAGE,
                       "--draws: the outcome of %s depends on the tokens before a row: give them with --accept, "
                       "or use --independent",
                       name);
    return true;
}

static bool check_after(const struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    size_t at;
    for (size_t i = 0; a->after && i < j->variants->n; i++)
        if (!recipe_find_stage(j->variants->recipe[i], a->after, &at, e))
            return false;
    return true;
}

bool job_can_write_texts(const struct job *j, struct err *e)
{
    const char *input = j->args->format;
    if (j->args->emit != EMIT_TEXT || j->recipes->vocab)
        return true;
    if (!strcmp(input, "auto") && !input_format(j->in[0], &input, e))
        return false;
    return !strcmp(input, "json") || err_set(e, STATUS_USAGE, "--emit text needs --vocab");
}

bool seen_texts(const struct seen *s, const struct job *j, struct err *e)
{
    if (j->recipes->vocab || (s->row->facts | s->other->facts) & ROW_TEXTS)
        return true;
    err_set(e, STATUS_USAGE, "--emit text needs --vocab: the row has no texts");
    return input_blame(s->row, e);
}

const struct row_measure *job_measures(const struct job *j)
{
    const struct row_measure *measures = NULL;
    for (size_t i = 0; i < j->variants->n && !measures; i++)
        measures = recipe_measures(j->variants->recipe[i]);
    return measures;
}

// Reads the ids that are claimed: those of a list or, if the value is none, of a file with that name, or of @FILE.
// Recorded ones come with the rows.
static bool read_claims(struct job *j, size_t variant, struct err *e)
{
    const char *const given = job_claims(j, variant), *const option = job_claim_option(j, variant);
    struct ids *const to = &j->claimed[variant];
    struct id_file f = {0};
    struct err why = {0};
    if (!given || args_recorded(given))
        return true;
    const bool file = *given == '@';
    if (!file && value_ids(option + 2, given, -1, to, e))
        return true;
    if (!file && e->status != STATUS_USAGE)
        return false;
    const bool ok = id_file_read(&f, given + file, -1, &why);
    free(f.end);
    free(to->id);
    *to = (struct ids){f.id, f.n, f.cap};
    if (!ok && why.status == STATUS_DATA && j->args->expect)
        err_set(e, STATUS_USAGE, "--expect: %s; rows of numbers need --emit probs, logprobs or logits", why.text);
    else if (!ok && (file || why.status == STATUS_DATA)) {
        *e = why;
        err_prefix(e, "%s", option);
    }
    return ok; // without @, a file that cannot be opened was meant as a list
}

// Reads the draws that another program made.
static bool read_draws(struct job *j, struct err *e)
{
    const char *const draws = j->args->draws;
    if (!draws)
        return true;
    if (!job_can_test_draws(j, j->variants->recipe[0], e))
        return false;
    return job_draws_recorded(j) || id_file_read(&j->draws, draws, 0, e) || err_prefix(e, "--draws");
}

static enum follows what_follows(const struct job *j)
{
    const struct args *const a = j->args;
    if (a->accept && !args_recorded(a->accept))
        return FOLLOWS_ACCEPT;
    if (a->accept || job_draws_recorded(j) || job_claims_recorded(j))
        return FOLLOWS_RECORDED;
    return job_has_claims(j) ? FOLLOWS_CLAIMED : FOLLOWS_CHOSEN;
}

bool job_init(struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    j->follows = what_follows(j);
    if (!value_rows("rows", a->rows, &j->rows, e) || !read_claims(j, 0, e) || (a->trusted && !read_claims(j, 1, e)) ||
        (a->prompt && !value_ids("prompt-tokens", a->prompt, 0, &j->prompt, e)) ||
        (j->follows == FOLLOWS_ACCEPT && !value_ids("accept", a->accept, 0, &j->accept, e)) || !read_draws(j, e))
        return false;
    return check_part(j, e) && check_after(j, e);
}
