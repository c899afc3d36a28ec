// SPDX-License-Identifier: MIT
// A chain as options: a preset, or a command line of llama.cpp.
#include "chain/value.h"
#include "cli/sheet.h"

#include <inttypes.h>
#include <string.h>

// Writes --NAME, behind a blank unless it is the first. Returns where its value is to be written.
static struct builder *write_option(struct sheet *s, const char *name)
{
    builder_format(&s->text, "%s--%s", s->text.len ? " " : "", name);
    return &s->text;
}

static void write_quoted(struct sheet *s, const char *name, const char *value)
{
    builder_byte(write_option(s, name), ' ');
    word_quote(&s->text, value, false);
}

// Writes the names of the chain, each with a value if it differs from the common one. A chain that is the default is
// left out. llama.cpp has no scatter.
static void write_names(struct sheet *s, const double *value, bool llama)
{
    const char *const usual =
        llama ? "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature" : DEFAULT_CHAIN;
    struct builder names = {0};
    builder_string(&names, "");
    for (size_t i = 0; i < s->r->parts.order->n; i++) {
        const struct choice *const choice = &s->r->parts.order->choice[i];
        const struct sampler *const sampler = choice_sampler(choice);
        char text[NUMBER_TEXT];
        if (llama && (sampler == &sampler_scatter || sampler == &sampler_dist || sampler->foreign))
            continue;
        builder_format(&names, "%s%s", names.len ? ";" : "", sampler->name);
        if (choice->own && choice->value != value[s->c->number[choice->place][0]])
            builder_format(&names, "=%s", value_text(sampler->params, choice->value, text));
    }
    s->text.failed = s->text.failed || names.failed;
    if (!names.failed && strcmp(names.text, usual) != 0)
        builder_format(write_option(s, "samplers"), " \"%s\"", names.text);
    builder_free(&names);
}

// Writes the values that differ from what holds without the option. llama.cpp has neither the parameters under headings
// of their own, which are scatter's and other programs', nor a flag for min-keep.
static void write_numbers(struct sheet *s, const double *value, const double *otherwise, bool llama)
{
    const struct args *const a = s->a;
    for (const struct option_row *row = a->options->row; row->name; row++) {
        char text[NUMBER_TEXT];
        if (!row->param || !recipe_listens(s->r, row->name) || value[row->number] == otherwise[row->number] ||
            (llama && (row->heading || !strcmp(row->name, "min-keep"))))
            continue;
        write_option(s, row->name);
        if (row->param->type != PARAM_FLAG)
            builder_format(&s->text, " %s", value_text(row->param, value[row->number], text));
    }
    if (!sheet_draws_seed(s))
        builder_format(write_option(s, "seed"), " %" PRId64, (int64_t)s->r->parts.seed);
    if (a->ignore_eos)
        write_option(s, "ignore-eos");
    if (a->grammar_first)
        write_option(s, "grammar-first");
    if (a->backend_sampling && !s->r->parts.engine->options)
        write_option(s, "backend-sampling");
}

// Writes the options that may be repeated, and the budget. llama.cpp runs no bans, and its model's template has the
// tags.
static void write_lists(struct sheet *s, bool llama)
{
    struct builder *const b = &s->text;
    const struct args *const a = s->a;
    const struct parts *const p = &s->r->parts;
    const struct bans *const bans = &p->bans->bans;
    const struct breakers *const breakers = &p->breakers->breakers;
    for (size_t i = 0; i < p->biases->n_given; i++)
        sheet_write_bias(write_option(s, "logit-bias"), &p->biases->bias[i]);
    if (!llama) {
        sheet_write_ids(b, " --bad-word-tokens ", " --bad-word-tokens ", "", bans->sequence, bans->n);
        sheet_write_ids(b, " --eog-tokens ", "", "", &(struct tokens){bans->end, p->bans->n_given},
                        p->bans->n_given > 0);
    }
    for (size_t i = 0; i < breakers->n_sequences; i++)
        sheet_write_ids(write_option(s, "dry-breaker-tokens"), " ", "", "", &breakers->sequence[i], 1);
    if (args_given(a, "dry-sequence-breaker") && !a->breaker_texts.n)
        builder_string(write_option(s, "dry-sequence-breaker"), " none");
    for (size_t i = 0; i < a->breaker_texts.n; i++)
        write_quoted(s, "dry-sequence-breaker", a->breaker_texts.word[i]);
    if (a->reasoning_budget >= 0)
        builder_format(write_option(s, "reasoning-budget"), " %" PRId64, a->reasoning_budget);
    if (a->reasoning_start && !llama)
        write_quoted(s, "reasoning-start", a->reasoning_start);
    for (size_t i = 0; i < a->reasoning_ends.n && !llama; i++)
        write_quoted(s, "reasoning-end", a->reasoning_ends.word[i]);
    if (a->reasoning_message)
        write_quoted(s, "reasoning-budget-message", a->reasoning_message);
    builder_byte(b, '\n');
}

bool sheet_write_preset(struct sheet *s)
{
    double neutral[CATALOG_MOST];
    catalog_neutral(s->c, neutral);
    builder_format(&s->text, "--engine %s --neutral", s->r->parts.engine->name);
    if (!s->r->parts.engine->options)
        write_names(s, s->r->parts.value, false);
    write_numbers(s, s->r->parts.value, neutral, false);
    if (s->r->parts.rules)
        write_quoted(s, "grammar", s->r->parts.rules->shared.key);
    write_lists(s, false);
    return true;
}

bool sheet_write_llama(struct sheet *s)
{
    double value[CATALOG_MOST], def[CATALOG_MOST];
    catalog_defaults(s->c, def);
    if (!sheet_request_values(s, value))
        return false;
    write_names(s, value, true);
    write_numbers(s, value, def, true);
    if (s->a->grammar_source == GRAMMAR_FILE)
        write_quoted(s, "grammar-file", s->a->grammar);
    else if (s->r->parts.rules)
        write_quoted(s, "grammar", s->r->parts.rules->shared.key);
    write_lists(s, true);
    return true;
}
