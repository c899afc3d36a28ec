// SPDX-License-Identifier: MIT
#include "run/job.h"

#include "base/names.h"
#include "out/output.h"
#include "run/compare.h"

#include <stdlib.h>
#include <string.h>

void job_free(struct job *j)
{
    free(j->rows.range);
    free(j->prompt.id);
    free(j->accept.id);
    free(j->expect.id);
    id_file_free(&j->draws);
}

// Returns what a recipe must know of earlier rows beyond the given tokens. *name is the stage that must know it.
// inside: the earlier rows are rows of this part, whose tokens --expect names.
static enum carry job_carry(const struct job *j, const struct recipe *recipe, bool inside, const char **name)
{
    size_t stage = 0;
    const bool known = j->follows != FOLLOWS_CHOSEN && (inside || j->follows != FOLLOWS_EXPECT);
    enum carry carry = stages_carry(recipe->stage, recipe->n_stages, &stage);
    *name = recipe->stage[stage].sampler->name;
    if (recipe_budget(recipe) && carry == CARRY_NOTHING) {
        carry = CARRY_TOKENS;
        *name = "the reasoning budget";
    }
    if (recipe->parts.rules) { // the number of draws of a row depends on the rows before
        carry = CARRY_ROWS;
        *name = "the grammar";
    }
    return j->independent || (known && carry == CARRY_TOKENS) ? CARRY_NOTHING : carry;
}

bool job_splits(const struct job *j)
{
    const char *name;
    for (size_t i = 0; i < j->n_variants; i++)
        if (job_carry(j, j->variant[i], true, &name) != CARRY_NOTHING)
            return false;
    return true;
}

// Does a stage look back on tokens? Bans do so only for the sequence that is banned.
static bool looks_back(const struct stage *stage)
{
    const struct sampler *const s = stage->sampler;
    const bool bans = s == &sampler_bans || s == &sampler_bans_output || s == &sampler_bans_bad_words;
    return s->window && !bans && stage_enabled(stage) && s->window(stage);
}

void job_own_history(const struct job *j, struct builder *names)
{
    if (j->independent || j->follows != FOLLOWS_CHOSEN)
        return;
    for (size_t i = 0; samplers[i]; i++) {
        bool looks = false;
        for (size_t v = 0; v < j->n_variants; v++)
            for (size_t k = 0; k < j->variant[v]->n_stages; k++)
                looks =
                    looks || (j->variant[v]->stage[k].sampler == samplers[i] && looks_back(&j->variant[v]->stage[k]));
        if (looks)
            builder_format(names, "%s%s", names->len ? ", " : "", samplers[i]->name);
    }
}

const char *job_factor(const struct job *j)
{
    static const char names[] = "repeat-penalty encoder-repeat-penalty";
    for (size_t v = 0; v < j->n_variants; v++)
        for (size_t k = 0; k < j->variant[v]->n_stages; k++) {
            const struct stage *const stage = &j->variant[v]->stage[k];
            const struct param *const row = stage->sampler->params;
            if (row && row->flag && name_find(names, NAME_EXACT, row->flag, strlen(row->flag)) >= 0 &&
                stage_enabled(stage) && param_load(row, stage->params) != 1.0)
                return row->flag;
        }
    return NULL;
}

bool job_skips_by_width(const struct job *j)
{
    for (size_t i = 0; i < j->n_variants; i++)
        for (const struct engine_stage *s = j->variant[i]->parts.engine->stage; s->sampler; s++)
            if (s->sampler->skips_by_width)
                return true;
    return false;
}

bool job_is_later_part(const struct args *a) { return a->shard.k > 1 || a->row_base > 0; }

static bool check_part(const struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    const char *const option = a->shard.n ? "--shard" : "--row-base";
    if (a->shard.n && a->report)
        return err_set(e, STATUS_USAGE, "--shard: the reports of parts cannot be joined");
    if (a->shard.n && compared_of(j) == COMPARED_TABLE)
        return err_set(e, STATUS_USAGE, "--shard: the tables of parts cannot be joined; the rows of --emit stats can");
    if (a->shard.n && a->row_base)
        return err_set(e, STATUS_USAGE, "--shard and --row-base exclude each other");
    if (a->row_base && a->params)
        return err_set(e, STATUS_USAGE, "--params does not go with --row-base; --shard cuts files up");
    if (a->row_base && rows_from_end(&j->rows))
        return err_set(e, STATUS_USAGE, "--rows: with --row-base rows cannot be counted from the end");
    if (!job_is_later_part(a) ||
        (a->row_base && !rows_begin_below(&j->rows, a->row_base))) // the longer run begins in this part
        return true;
    for (size_t i = 0; i < j->n_variants; i++) {
        const char *name;
        const enum carry carry = job_carry(j, j->variant[i], false, &name);
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

bool job_can_test_draws(const struct job *j, const struct recipe *recipe, struct err *e)
{
    const bool masks_late = recipe->parts.rules && !recipe->parts.grammar_first;
    const char *name = recipe_by_chance(recipe);
    if (name)
        return err_set(e, STATUS_USAGE, "--draws: with %s, the distribution of a row depends on an earlier draw%s",
                       name, masks_late ? "; use --grammar-first" : "");
    if (j->follows == FOLLOWS_CHOSEN && job_carry(j, recipe, true, &name) != CARRY_NOTHING)
        return err_set(e, STATUS_USAGE,
                       "--draws: %s depends on the tokens before a row: give them with --accept, or use --independent",
                       name);
    return true;
}

static bool check_after(const struct job *j, struct err *e)
{
    size_t at;
    for (size_t i = 0; j->after && i < j->n_variants; i++)
        if (!recipe_find_stage(j->variant[i], j->after, &at, e))
            return false;
    return true;
}

void job_record(struct job *j, bool window)
{
    const struct args *const a = j->args;
    const bool alone = j->n_variants == 1 && j->plain;
    const struct {
        bool asked;
        unsigned recorded;
    } table[] = {
        {!j->plain, RECORD_KEPT | LEAVE_CHOSEN_P},
        {j->emit == EMIT_PROBS, LEAVE_P},
        {j->emit == EMIT_SCORE || emit_distribution(j->emit), RECORD_VALUES | LEAVE_LOGITS},
        {j->lists, RECORD_LIST | LEAVE_P | LEAVE_CHOSEN_P},
        {j->traces, RECORD_LIST | RECORD_LINES | LOG_STEPS | LOG_SOFTMAXES | LEAVE_P | LEAVE_CHOSEN_P},
        {j->traces && j->page, RECORD_FOLLOWED},
        {j->after, LOG_STEPS},
        {a->dump && a->output_format && !strcmp(a->output_format, "json"), LOG_RAW},
        {a->stats || j->emit == EMIT_STATS || j->page, RECORD_STATS | LOG_RAW | LEAVE_LOGITS},
        {j->compares, RECORD_PAIRS | RECORD_STATS | LOG_RAW | LEAVE_LOGITS},
        {j->side_by_side, RECORD_LIST | RECORD_REMOVALS | LOG_STEPS | LEAVE_P | LEAVE_CHOSEN_P},
        {j->expects, RECORD_KEPT | LOG_STEPS | LEAVE_P},
        {a->expect, RECORD_EXPECTED},
        {a->draws, RECORD_DRAWN | LOG_STEPS | LEAVE_LOGITS},
        {a->expect && !j->expects, RECORD_REMOVALS | LOG_STEPS},
        {window && alone && a->dump, RECORD_CUTS | RECORD_REMOVALS | LOG_RAW | LOG_STEPS},
        {window && alone && j->emit == EMIT_TEXT, RECORD_STATS | LOG_RAW | LEAVE_LOGITS}, // raw_prob tints the text
    };
    j->recorded = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        j->recorded |= table[i].asked ? table[i].recorded : 0;
}

// Reads the ids of --expect: those of a list or, if the value is none, of a file with that name.
static bool read_expected_ids(struct job *j, struct err *e)
{
    const char *const given = j->args->expect;
    struct id_file f = {0};
    struct err why = {0};
    if (value_ids("expect", given, &j->expect, e))
        return true;
    if (*given == '@' || e->status != STATUS_USAGE)
        return false;
    const bool ok = id_file_read(&f, given, &why);
    free(f.end);
    free(j->expect.id);
    j->expect = (struct ids){f.id, f.n, f.cap};
    if (!ok && why.status == STATUS_DATA)
        err_set(e, STATUS_USAGE, "--expect: %s; rows of numbers need --emit probs, logprobs or logits", why.text);
    return ok; // a file that cannot be opened was meant as a list
}

bool job_init(struct job *j, struct err *e)
{
    const struct args *const a = j->args;
    j->emit = a->emit;
    j->independent = a->independent;
    j->after = a->after;
    j->wish = (struct trace_wish){(size_t)a->trace_most, a->verbose};
    j->compares = j->n_variants > 1 && (a->dump || !args_given(a, "emit") || (a->against && a->emit == EMIT_STATS));
    j->page = a->output_format && !strcmp(a->output_format, "html");
    j->lists = a->dump || j->page;
    j->list_most = a->dump || !j->page ? (size_t)a->dump_most : PAGE_CANDIDATES;
    j->traces = a->trace || (j->page && j->n_variants == 1);
    j->dumps = j->lists || j->traces;
    for (size_t i = 0; i < j->n_variants && !j->measures; i++)
        j->measures = recipe_measures(j->variant[i]);
    j->side_by_side = j->n_variants > 1 && (a->diff || j->lists);
    j->plain = !emit_distribution(a->emit) && (!a->output_format || !strcmp(a->output_format, "text"));
    j->expects = a->expect && !emit_distribution(a->emit);
    j->margin = args_given(a, "tolerance") ? a->tolerance : -1.0;
    j->recorded_draws = a->draws && !strcmp(a->draws, "recorded");
    j->follows = a->accept            ? FOLLOWS_ACCEPT
                 : a->accept_recorded ? FOLLOWS_RECORDED
                 : j->recorded_draws  ? FOLLOWS_RECORDED
                 : j->expects         ? FOLLOWS_EXPECT
                                      : FOLLOWS_CHOSEN;
    return value_rows("rows", a->rows, &j->rows, e) && (!j->expects || read_expected_ids(j, e)) &&
           (!a->prompt || value_ids("prompt-tokens", a->prompt, &j->prompt, e)) &&
           (!a->accept || value_ids("accept", a->accept, &j->accept, e)) &&
           (!a->draws || job_can_test_draws(j, j->variant[0], e)) &&
           (!a->draws || j->recorded_draws || id_file_read(&j->draws, a->draws, e) || err_prefix(e, "--draws")) &&
           check_part(j, e) && check_after(j, e);
}
