// SPDX-License-Identifier: MIT
#include "cli/sheet.h"

#include "chain/chain.h"

#include <inttypes.h>
#include <string.h>

void sheet_write_bias(struct builder *b, const struct bias *bias)
{
    char number[NUMBER_TEXT];
    number_text(bias->bias, number);
    builder_format(b, " %" PRIu32 "%s%s", bias->id, *number == '-' ? "" : "+", number);
}

void sheet_write_ids(struct builder *b, const char *first, const char *next, const char *end,
                     const struct tokens *sequence, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        builder_string(b, i ? next : first);
        for (size_t k = 0; k < sequence[i].n; k++)
            builder_format(b, "%s%" PRIu32, k ? "," : "", sequence[i].id[k]);
    }
    builder_string(b, n ? end : "");
}

bool sheet_draws_seed(const struct sheet *s)
{
    return engine_draws_seed(s->r->parts.engine, s->a->seed);
}

bool sheet_refuse(const struct sheet *s, const char *what, const char *name)
{
    const char *const who = strcmp(s->a->how, "server") ? "llama.cpp" : "llama-server";
    return err_set(s->e, STATUS_USAGE, "--print-chain: %s has no %s%s", who, what, name);
}

static double common_value(const struct sheet *s, const char *flag)
{
    return s->r->parts.value[catalog_find(s->c, flag, strlen(flag))];
}

// Refuses what llama-server would refuse, or pass over. It has the texts of tags; llama.cpp's command line has neither
// scatter nor min-keep.
static bool check_request(const struct sheet *s)
{
    const struct recipe *const r = s->r;
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    const bool server = !strcmp(s->a->how, "server"), dry = recipe_runs(r, &sampler_dry);
    const char *foreign = NULL;
    for (size_t i = r->n_stages; i-- > 0;)
        if (r->stage[i].sampler->foreign && stage_enabled(&r->stage[i]))
            foreign = r->stage[i].sampler->name;
    const struct {
        bool wrong;
        const char *what, *name;
    } lacks[] = {
        {recipe_runs(r, &sampler_greedy), "sampler ", "greedy"},
        {foreign, "sampler ", foreign},
        {recipe_runs(r, &sampler_bans), "--", r->parts.bans->bans.n ? "bad-word-tokens" : "min-tokens"},
        {common_value(s, "repeat-last-n") < 0.0, "-1 for --", "repeat-last-n"},
        {common_value(s, "dry-penalty-last-n") < 0.0, "-1 for --", "dry-penalty-last-n"},
        {r->parts.grammar_first && r->parts.rules, "--", "grammar-first"},
        {server && recipe_budget(r) && !r->of->vocab, "ids for --", "reasoning-start"},
        {dry && breakers->n_sequences, "--", "dry-breaker-tokens"},
        {server && dry && !breakers->n_texts, "empty list for --", "dry-sequence-breaker"},
        {!server && recipe_runs(r, &sampler_scatter), "sampler ", "scatter"},
        {!server && common_value(s, "min-keep") != 0.0, "--", "min-keep"},
    };
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (lacks[i].wrong)
            return sheet_refuse(s, lacks[i].what, lacks[i].name);
    return true;
}

bool sheet_request_values(const struct sheet *s, double *value)
{
    const struct parts *const p = &s->r->parts;
    bool found[CATALOG_MOST] = {false};
    if (p->engine->options)
        return sheet_refuse(s, "engine ", p->engine->name);
    memcpy(value, p->value, sizeof p->value);
    for (size_t i = 0; value[s->c->mirostat] == 0.0 && i < p->order->n; i++) {
        const struct choice *const choice = &p->order->choice[i];
        const size_t main = s->c->number[choice->place][0];
        const double own = choice->own ? choice->value : p->value[main];
        if (!choice_sampler(choice)->params)
            continue;
        if (found[main] && own != value[main])
            return sheet_refuse(s, "second value of --", s->c->param[main]->flag);
        found[main] = true;
        value[main] = own;
    }
    return check_request(s);
}
