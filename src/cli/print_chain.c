// SPDX-License-Identifier: MIT
#include "chain/recipe.h"

#include "base/utf8.h"
#include "grammar/grammar.h"
#include "out/output.h"
#include "sample/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// As --logit-bias has it.
static void print_bias(const char *before, const struct bias *b)
{
    char number[NUMBER_TEXT];
    number_text(b->bias, number);
    printf("%s%" PRIu32 "%s%s", before, b->id, *number == '-' ? "" : "+", number);
}

static void print_ids(const uint32_t *id, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%s%" PRIu32, i ? "," : "", id[i]);
}

static void print_tag(const char *before, const struct tokens *tag, const char *after)
{
    fputs(before, stdout);
    print_ids(tag->id, tag->n);
    fputs(after, stdout);
}

static void print_reasoning(const struct reasoning *r)
{
    printf("%-12s %-4s reasoning-budget=%" PRId64, "reasoning", r->tokens < 0 ? "off" : "on", r->tokens);
    print_tag(" reasoning-start=", &r->tag[REASONING_START], "");
    for (size_t i = REASONING_END; i < r->n; i++)
        print_tag(" reasoning-end=", &r->tag[i], "");
    print_tag(" reasoning-budget-message=", &r->tag[REASONING_MESSAGE], "\n");
}

// Where an option's value is from; NULL: it is a default.
static const char *origin_of(const struct args *a, const char *option)
{
    static const char *const names[] = {
        [ORIGIN_NONE] = NULL, [ORIGIN_COMMAND_LINE] = "command line", [ORIGIN_PRESET] = "preset"};
    return names[a->given[option_by_name(a->options, option, strlen(option)) - a->options->row]];
}

static const char *chain_origin(const struct args *a)
{
    const char *const names = origin_of(a, "samplers");
    return names ? names : origin_of(a, "sampler-seq");
}

// The same of a parameter, which may also be recommended by the model, or neutral.
static const char *param_origin(const struct args *a, const struct recipe *r, size_t number)
{
    const struct param *const row = r->of->catalog.param[number];
    const char *const given = origin_of(a, row->flag);
    const bool neutral = a->neutral && a->value[number] != param_value(row, row->def);
    return given ? given : r->of->of_model[number] ? "model" : neutral ? "neutral" : NULL;
}

static bool is_drawn(const struct args *a, const struct recipe *r)
{
    return engine_draws_seed(r->parts.engine, a->seed);
}

static void print_origin(const char *origin)
{
    if (origin)
        printf(" (%s)", origin);
}

// The sequences, each behind what announces it, and the first n_ends ends.
static void print_bans(const char *sequence, const char *end, const struct bans *b, size_t n_ends)
{
    for (size_t i = 0; i < b->n; i++)
        print_tag(sequence, &b->sequence[i], "");
    if (n_ends)
        print_tag(end, &(struct tokens){b->end, n_ends}, "");
}

static void print_text(const struct args *a, const struct recipe *r)
{
    const struct biases *const biases = r->parts.biases;
    const struct catalog *const c = &r->of->catalog;
    if (r->parts.engine->options) {
        printf("engine %s", r->parts.engine->name);
        print_origin(origin_of(a, "engine"));
        putchar('\n');
    }
    if (is_drawn(a, r))
        fputs("seed random", stdout);
    else
        printf("seed %" PRId64, (int64_t)r->parts.seed);
    print_origin(origin_of(a, "seed"));
    putchar('\n');
    if (a->grammar_first)
        printf("%-12s %-4s grammar-first=true\n", "grammar", r->parts.rules ? "on" : "off");
    if (r->parts.reasoning)
        print_reasoning(r->parts.reasoning);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        const size_t place = sampler_place(stage->sampler);
        char text[NUMBER_TEXT];
        printf("%-12s %-4s", stage->sampler->name, stage_enabled(stage) ? "on" : "off");
        for (size_t k = 0; stage->sampler->params && stage->sampler->params[k].flag; k++) {
            const struct param *const row = &stage->sampler->params[k];
            const size_t number = c->number[place][k];
            const double value = param_load(row, stage->params);
            const bool own =
                !k && value != r->parts.value[number] && !r->parts.engine->options; // it stands in the chain
            if (!recipe_listens(r, row->flag))
                continue;
            printf(" %s=%s", row->flag, value_text(row, value, text));
            print_origin(own ? chain_origin(a) : param_origin(a, r, number));
        }
        for (size_t b = 0; stage->sampler == &sampler_logit_bias && b < biases->n; b++)
            print_bias(" ", &biases->bias[b]);
        if (stage->sampler == &sampler_bans)
            print_bans(" bad-word-tokens=", " eog-tokens=", &r->parts.bans->bans, r->parts.bans->bans.n_ends);
        putchar('\n');
    }
}

// ,"name":value
static void print_param(const char *name, const struct param *row, double value)
{
    char text[NUMBER_TEXT];
    fputs(",\"", stdout);
    for (; *name; name++)
        putchar(*name == '-' ? '_' : *name);
    printf("\":%s", value_text(row, value, text));
}

// ,"logit_bias":[[id,bias],...], llama-server's form; false is -inf.
static void print_biases(const struct biases *b)
{
    fputs(",\"logit_bias\":[", stdout);
    for (size_t i = 0; i < b->n; i++) {
        char text[NUMBER_TEXT];
        number_text(b->bias[i].bias, text);
        printf("%s[%" PRIu32 ",%s]", i ? "," : "", b->bias[i].id, !strcmp(text, "-inf") ? "false" : text);
    }
    putchar(']');
}

// "reasoning":{"tokens":1,"start":[1],"message":[],"end":[[2],[3]]},
static void print_reasoning_json(const struct reasoning *r)
{
    printf("\"reasoning\":{\"tokens\":%" PRId64, r->tokens);
    print_tag(",\"start\":[", &r->tag[REASONING_START], "]");
    print_tag(",\"message\":[", &r->tag[REASONING_MESSAGE], "],\"end\":[");
    for (size_t i = REASONING_END; i < r->n; i++)
        print_tag(i > REASONING_END ? ",[" : "[", &r->tag[i], "]");
    fputs("]},", stdout);
}

// A random seed as the option has it: no particular one.
static void print_seed(const struct args *a, const struct recipe *r)
{
    printf("\"seed\":%" PRId64, is_drawn(a, r) ? -1 : (int64_t)r->parts.seed);
}

// What was given of breakers, and the grammar; llama-server takes no empty list. Breakers have their escapes resolved: JSON has its own.
static void print_texts(const struct args *a, const struct recipe *r)
{
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    if (args_given(a, "dry-sequence-breaker") && (breakers->n_texts || !strcmp(a->how, "json"))) {
        fputs(",\"dry_sequence_breakers\":[", stdout);
        for (size_t i = 0; i < breakers->n_texts; i++) {
            fputs(i ? "," : "", stdout);
            text_put_json(stdout, breakers->text[i]);
        }
        putchar(']');
    }
    if (r->parts.rules) {
        fputs(",\"grammar\":", stdout);
        text_put_json(stdout, rules_text(r->parts.rules));
    }
}

static void print_json(const struct args *a, const struct recipe *r)
{
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    bool first = true;
    putchar('{');
    if (r->parts.engine->options)
        printf("\"engine\":\"%s\",", r->parts.engine->name);
    print_seed(a, r);
    fputs(a->grammar_first ? ",\"grammar_first\":true," : ",", stdout);
    if (r->parts.reasoning)
        print_reasoning_json(r->parts.reasoning);
    fputs("\"chain\":[", stdout);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        printf("%s{\"name\":\"%s\",\"enabled\":%s", i ? "," : "", stage->sampler->name,
               stage_enabled(stage) ? "true" : "false");
        for (const struct param *row = stage->sampler->params; row && row->flag; row++)
            if (recipe_listens(r, row->flag))
                print_param(row->flag, row, param_load(row, stage->params));
        if (stage->sampler == &sampler_logit_bias)
            print_biases(r->parts.biases);
        putchar('}');
    }
    putchar(']');
    print_texts(a, r);
    for (size_t i = 0; i < breakers->n_sequences; i++) {
        fputs(i ? "],[" : ",\"dry_breaker_tokens\":[[", stdout);
        print_ids(breakers->sequence[i].id, breakers->sequence[i].n);
    }
    fputs(breakers->n_sequences ? "]]" : "", stdout);
    for (size_t i = 0; i < r->parts.bans->bans.n; i++)
        print_tag(i ? "],[" : ",\"bad_words_ids\":[[", &r->parts.bans->bans.sequence[i], "");
    fputs(r->parts.bans->bans.n ? "]]" : "", stdout);
    if (r->parts.bans->n_given)
        print_tag(",\"eog_tokens\":[", &(struct tokens){r->parts.bans->end, r->parts.bans->n_given}, "]");
    fputs(",\"from\":{", stdout);
    for (const struct option_row *row = a->options->row; row->name; row++) {
        const char *const origin = row->param    ? param_origin(a, r, row->number)
                                   : row->recipe ? origin_of(a, row->name)
                                                 : NULL;
        if (origin)
            printf("%s\"%s\":\"%s\"", first ? "" : ",", row->name, origin);
        first = first && !origin;
    }
    puts("}}");
}

static bool unsayable(const struct args *a, const char *what, const char *name, struct err *e)
{
    const char *const who = !strcmp(a->how, "server") ? "llama-server" : "llama.cpp";
    return err_set(e, STATUS_USAGE, "--print-chain: %s has no %s%s", who, what, name);
}

static double common_value(const struct recipe *r, const char *flag)
{
    return r->parts.value[catalog_find(&r->of->catalog, flag, strlen(flag))];
}

// What the server would refuse, or pass over.
static bool check_request(const struct args *a, const struct recipe *r, struct err *e)
{
    static const char *const not_all[] = {"repeat-last-n", "dry-penalty-last-n"};
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    if (recipe_runs(r, &sampler_greedy))
        return unsayable(a, "sampler ", "greedy", e);
    for (size_t i = 0; i < r->n_stages; i++)
        if (r->stage[i].sampler->foreign && stage_enabled(&r->stage[i]))
            return unsayable(a, "sampler ", r->stage[i].sampler->name, e);
    if (recipe_runs(r, &sampler_bans))
        return unsayable(a, "--", r->parts.bans->bans.n ? "bad-word-tokens" : "min-tokens", e);
    for (size_t i = 0; i < sizeof not_all / sizeof *not_all; i++)
        if (common_value(r, not_all[i]) < 0.0)
            return unsayable(a, "-1 for --", not_all[i], e);
    if (r->parts.grammar_first && r->parts.rules)
        return unsayable(a, "--", "grammar-first", e);
    if (recipe_budget(r) && !r->of->vocab && !strcmp(a->how, "server")) // which has the texts of the tags
        return unsayable(a, "ids for --", "reasoning-start", e);
    if (!recipe_runs(r, &sampler_dry))
        return true;
    if (breakers->n_sequences)
        return unsayable(a, "--", "dry-breaker-tokens", e);
    return breakers->n_texts || !strcmp(a->how, "llama") ||
           unsayable(a, "empty list for --", "dry-sequence-breaker", e);
}

// The values of a request, which has one a parameter: a sampler's main one is that which all its stages share. Mirostat's temperature is
// the common one.
static bool request_values(const struct args *a, const struct recipe *r, double *value, struct err *e)
{
    const struct catalog *const c = &r->of->catalog;
    bool found[CATALOG_MOST] = {false};
    if (r->parts.engine->options)
        return unsayable(a, "engine ", r->parts.engine->name, e);
    memcpy(value, r->parts.value, sizeof r->parts.value);
    for (size_t i = 0; value[c->mirostat] == 0.0 && i < r->parts.order->n; i++) {
        const struct choice *const choice = &r->parts.order->choice[i];
        const size_t main = c->number[choice->place][0];
        const double own = choice->own ? choice->value : r->parts.value[main];
        if (!choice_sampler(choice)->params)
            continue;
        if (found[main] && own != value[main])
            return unsayable(a, "second value of --", c->param[main]->flag, e);
        found[main] = true;
        value[main] = own;
    }
    return check_request(a, r, e);
}

// Under llama-server's name, unless it has been said.
static void print_server_param(const struct catalog *c, size_t number, const double *value, bool *said)
{
    const struct param *const row = c->param[number];
    if (!said[number])
        print_param(row->server ? row->server : row->flag, row, value[number]);
    said[number] = true;
}

// The text of a tag, as the server wants it.
static void print_tag_text(const struct vocab *v, const char *before, const struct tokens *tag)
{
    struct builder text = {0};
    builder_string(&text, "");
    for (size_t i = 0; i < tag->n; i++) {
        const struct piece token = vocab_text(v, tag->id[i]);
        builder_bytes(&text, token.p, token.len);
    }
    fputs(before, stdout);
    text_put_json(stdout, (struct piece){(const unsigned char *)text.text, text.len});
    builder_free(&text);
}

static void print_budget_request(const struct reasoning *r, const struct vocab *v)
{
    printf(",\"reasoning_budget_tokens\":%" PRId64, r->tokens);
    print_tag_text(v, ",\"reasoning_budget_start_tag\":", &r->tag[REASONING_START]);
    for (size_t i = REASONING_END; i < r->n; i++)
        print_tag_text(v, i > REASONING_END ? "," : ",\"reasoning_budget_end_tags\":[", &r->tag[i]);
    print_tag_text(v, "],\"reasoning_budget_message\":", &r->tag[REASONING_MESSAGE]);
}

// llama-server's request body.
static bool print_request(const struct args *a, const struct recipe *r, struct err *e)
{
    const struct parts *const p = &r->parts;
    const struct catalog *const c = &r->of->catalog;
    double value[CATALOG_MOST];
    bool said[CATALOG_MOST] = {false};
    if (!request_values(a, r, value, e))
        return false;
    fputs("{\"samplers\":[", stdout);
    for (size_t i = 0; i < p->order->n; i++)
        printf("%s\"%s\"", i ? "," : "", choice_sampler(&p->order->choice[i])->name);
    fputs("],", stdout);
    print_seed(a, r);
    for (size_t i = 0; samplers[i]; i++)
        for (size_t k = 0; !samplers[i]->foreign && samplers[i]->params && samplers[i]->params[k].flag; k++)
            print_server_param(c, c->number[i][k], value, said);
    print_server_param(c, c->mirostat, value, said);
    print_texts(a, r);
    if (p->biases->n)
        print_biases(p->biases);
    if (recipe_budget(r))
        print_budget_request(p->reasoning, r->of->vocab);
    puts("}");
    return true;
}

// ---- options: a preset, or a command line of llama.cpp's

// What stands before an option: *gap, which is nothing before the first of a line.
static void print_gap(const char **gap)
{
    fputs(*gap, stdout);
    *gap = " ";
}

// The chain's names, with a value where a stage's differs from the common one, unless it is the default chain. llama.cpp has no scatter.
static bool print_names(const struct recipe *r, const double *value, bool llama, const char **gap, struct err *e)
{
    struct builder names = {0};
    for (size_t i = 0; i < r->parts.order->n; i++) {
        const struct choice *const c = &r->parts.order->choice[i];
        const struct sampler *const s = choice_sampler(c);
        char text[NUMBER_TEXT];
        if (llama && (s == &sampler_scatter || s == &sampler_dist || s->foreign))
            continue;
        builder_format(&names, "%s%s", names.len ? ";" : "", s->name);
        if (c->own && c->value != value[r->of->catalog.number[c->place][0]])
            builder_format(&names, "=%s", value_text(s->params, c->value, text));
    }
    const char *const usual =
        llama ? "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature" : DEFAULT_CHAIN;
    const bool ok = !names.failed || err_from_fault(e, fault_memory());
    if (ok && strcmp(names.text ? names.text : "", usual) != 0) {
        print_gap(gap);
        printf("--samplers \"%s\"", names.text ? names.text : "");
    }
    builder_free(&names);
    return ok;
}

// Is this a parameter of scatter's, of another program's sampler, or the one that llama.cpp has no flag for?
static bool not_llamas(const struct param *row)
{
    for (size_t i = 0; samplers[i]; i++)
        for (const struct param *own = samplers[i]->params; own && own->flag; own++)
            if (own == row)
                return samplers[i]->foreign || samplers[i] == &sampler_scatter || !strcmp(row->flag, "min-keep");
    return false;
}

// The values that differ from what holds without the option.
static void print_numbers(const struct args *a, const struct recipe *r, const double *value, const double *otherwise,
                          bool llama, const char **gap)
{
    for (const struct option_row *row = a->options->row; row->name; row++) {
        char text[NUMBER_TEXT];
        if (!row->param || !recipe_listens(r, row->name) || value[row->number] == otherwise[row->number] ||
            (llama && not_llamas(row->param)))
            continue;
        print_gap(gap);
        printf("--%s", row->name);
        if (row->param->type != PARAM_FLAG)
            printf(" %s", value_text(row->param, value[row->number], text));
    }
    const bool flag[] = {a->ignore_eos, a->grammar_first, a->backend_sampling && !r->parts.engine->options};
    static const char *const flags[] = {"--ignore-eos", "--grammar-first", "--backend-sampling"};
    if (!is_drawn(a, r)) {
        print_gap(gap);
        printf("--seed %" PRId64, (int64_t)r->parts.seed);
    }
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++) {
        if (!flag[i])
            continue;
        print_gap(gap);
        fputs(flags[i], stdout);
    }
}

// With its value as a word for the shell and for presets: in single quotes, and a single quote in double ones. What a terminal must not
// meet needs escapes, and so $'...'.
static void print_option(const char *name, const char *value, const char **gap)
{
    print_gap(gap);
    printf("--%s ", name);
    if (!text_is_tame(value, strlen(value))) {
        putchar('$');
        text_put(stdout, text_piece(value), '\'');
        return;
    }
    putchar('\'');
    for (; *value; value++) {
        if (*value == '\'')
            fputs("'\"'\"'", stdout);
        else
            putchar(*value);
    }
    putchar('\'');
}

static void print_lists(const struct args *a, const struct recipe *r, bool llama, const char **gap)
{
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    for (size_t i = 0; i < r->parts.biases->n_given; i++) {
        print_gap(gap);
        print_bias("--logit-bias ", &r->parts.biases->bias[i]);
    }
    if (!llama) // they do not run
        print_bans(" --bad-word-tokens ", " --eog-tokens ", &r->parts.bans->bans, r->parts.bans->n_given);
    for (size_t i = 0; i < breakers->n_sequences; i++) {
        print_gap(gap);
        fputs("--dry-breaker-tokens ", stdout);
        print_ids(breakers->sequence[i].id, breakers->sequence[i].n);
    }
    if (args_given(a, "dry-sequence-breaker") && !a->breaker_texts.n) {
        print_gap(gap);
        fputs("--dry-sequence-breaker none", stdout);
    }
    for (size_t i = 0; i < a->breaker_texts.n; i++)
        print_option("dry-sequence-breaker", a->breaker_texts.word[i], gap);
    if (a->reasoning_budget >= 0) {
        print_gap(gap);
        printf("--reasoning-budget %" PRId64, a->reasoning_budget);
    }
    if (a->reasoning_start && !llama) // there the model's template has the tags
        print_option("reasoning-start", a->reasoning_start, gap);
    for (size_t i = 0; i < a->reasoning_ends.n && !llama; i++)
        print_option("reasoning-end", a->reasoning_ends.word[i], gap);
    if (a->reasoning_message)
        print_option("reasoning-budget-message", a->reasoning_message, gap);
    putchar('\n');
}

// All that makes the recipe, whatever engine, options and model it comes after.
static bool print_preset(const struct args *a, const struct recipe *r, struct err *e)
{
    double neutral[CATALOG_MOST];
    const char *gap = " ";
    catalog_neutral(&r->of->catalog, neutral);
    printf("--engine %s --neutral", r->parts.engine->name);
    if (!r->parts.engine->options && !print_names(r, r->parts.value, false, &gap, e))
        return false;
    print_numbers(a, r, r->parts.value, neutral, false, &gap);
    if (r->parts.rules)
        print_option("grammar", r->parts.rules->shared.key, &gap);
    print_lists(a, r, false, &gap);
    return true;
}

// What a command line of llama.cpp's needs to do the same.
static bool print_llama(const struct args *a, const struct recipe *r, struct err *e)
{
    const struct catalog *const c = &r->of->catalog;
    double value[CATALOG_MOST], def[CATALOG_MOST];
    const char *gap = "";
    catalog_defaults(c, def);
    if (!request_values(a, r, value, e))
        return false;
    if (recipe_runs(r, &sampler_scatter))
        return unsayable(a, "sampler ", "scatter", e);
    if (common_value(r, "min-keep") != 0.0)
        return unsayable(a, "--", "min-keep", e);
    if (!print_names(r, value, true, &gap, e))
        return false;
    print_numbers(a, r, value, def, true, &gap);
    if (a->grammar_source == GRAMMAR_FILE)
        print_option("grammar-file", a->grammar, &gap);
    else if (r->parts.rules)
        print_option("grammar", r->parts.rules->shared.key, &gap);
    print_lists(a, r, true, &gap);
    return true;
}

bool print_grammar(const struct recipe *r, struct err *e)
{
    const struct shared *const text = &r->parts.rules->shared;
    struct builder shown = {0};
    grammar_show(&shown, text->key, text->len, r->of->vocab);
    const bool ok = !shown.failed || err_from_fault(e, fault_memory());
    if (ok && shown.len)
        fwrite(shown.text, 1, shown.len - (shown.text[shown.len - 1] == '\n'), stdout);
    if (ok)
        putchar('\n');
    builder_free(&shown);
    return ok;
}

bool print_chain(const struct args *a, const struct recipe *r, struct err *e)
{
    if (!strcmp(a->how, "server"))
        return print_request(a, r, e);
    if (!strcmp(a->how, "llama"))
        return print_llama(a, r, e);
    if (!strcmp(a->how, "preset"))
        return print_preset(a, r, e);
    if (!strcmp(a->how, "json"))
        print_json(a, r);
    else
        print_text(a, r);
    return true;
}
