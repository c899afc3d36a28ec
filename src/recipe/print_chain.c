// SPDX-License-Identifier: MIT
#include "recipe/recipe.h"

#include "out/output.h"
#include "sample/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool listens(const struct recipe *r, const char *option)
{
    const struct engine *const engine = r->parts.engine;
    const size_t len = strlen(option);
    return engine_has(engine, r->parts.grammar_first, option, len) && !(r->parts.rules && engine_has_free(engine, option, len));
}

// As --logit-bias has it.
static void print_bias(const char *before, const struct bias *b)
{
    char number[NUMBER_TEXT];
    number_text(b->bias, number);
    printf("%s%" PRIu32 "%s%s", before, b->id, *number == '-' ? "" : "+", number);
}

static void print_tag(const char *before, const struct tag *tag, const char *after)
{
    fputs(before, stdout);
    for (size_t i = 0; i < tag->n; i++)
        printf("%s%" PRIu32, i ? "," : "", tag->id[i]);
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

static void print_text(const struct args *a, const struct recipe *r)
{
    const struct biases *const biases = r->parts.biases;
    if (r->parts.engine->options)
        printf("engine %s\n", r->parts.engine->name);
    printf("seed %" PRId64 "%s\n", (int64_t)r->parts.seed, engine_draws_seed(r->parts.engine, a->seed) ? " (random)" : "");
    if (a->grammar_first)
        printf("%-12s %-4s grammar-first=true\n", "grammar", r->parts.rules ? "on" : "off");
    if (r->parts.reasoning)
        print_reasoning(r->parts.reasoning);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        char text[NUMBER_TEXT];
        printf("%-12s %-4s", stage->sampler->name, stage_enabled(stage) ? "on" : "off");
        for (const struct param *row = stage->sampler->params; row && row->flag; row++)
            if (listens(r, row->flag))
                printf(" %s=%s", row->flag, value_text(row, param_load(row, stage->params), text));
        for (size_t b = 0; stage->sampler == &sampler_logit_bias && b < biases->n; b++)
            print_bias(" ", &biases->bias[b]);
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

static void print_json(const struct args *a, const struct recipe *r)
{
    putchar('{');
    if (r->parts.engine->options)
        printf("\"engine\":\"%s\",", r->parts.engine->name);
    printf("\"seed\":%" PRId64 ",%s", (int64_t)r->parts.seed, a->grammar_first ? "\"grammar_first\":true," : "");
    if (r->parts.reasoning)
        print_reasoning_json(r->parts.reasoning);
    fputs("\"chain\":[", stdout);
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct stage *const stage = &r->stage[i];
        printf("%s{\"name\":\"%s\",\"enabled\":%s", i ? "," : "", stage->sampler->name, stage_enabled(stage) ? "true" : "false");
        for (const struct param *row = stage->sampler->params; row && row->flag; row++)
            if (listens(r, row->flag))
                print_param(row->flag, row, param_load(row, stage->params));
        if (stage->sampler == &sampler_logit_bias)
            print_biases(r->parts.biases);
        putchar('}');
    }
    puts("]}");
}

static bool unsayable(const char *what, const char *name, struct err *e)
{
    return err_set(e, STATUS_USAGE, "--print-chain: llama-server has no %s%s", what, name);
}

static double common_value(const struct recipe *r, const char *flag)
{
    return r->parts.value[catalog_find(&r->of->catalog, flag, strlen(flag))];
}

// The values of a request, which has one a parameter: a sampler's main one is that which all its stages share. Mirostat's temperature is
// the common one.
static bool request_values(const struct recipe *r, double *value, struct err *e)
{
    const struct catalog *const c = &r->of->catalog;
    bool found[CATALOG_MOST] = {false};
    memcpy(value, r->parts.value, sizeof r->parts.value);
    for (size_t i = 0; value[c->mirostat] == 0.0 && i < r->parts.order->n; i++) {
        const struct choice *const choice = &r->parts.order->choice[i];
        const size_t main = c->number[choice->place][0];
        const double own = choice->own ? choice->value : r->parts.value[main];
        if (!choice_sampler(choice)->params)
            continue;
        if (found[main] && own != value[main])
            return unsayable("second value of --", c->param[main]->flag, e);
        found[main] = true;
        value[main] = own;
    }
    return true;
}

// What the server would refuse, or pass over.
static bool check_request(const struct recipe *r, struct err *e)
{
    static const char *const not_all[] = {"repeat-last-n", "dry-penalty-last-n"};
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    if (recipe_runs(r, &sampler_greedy))
        return unsayable("sampler ", "greedy", e);
    for (size_t i = 0; i < r->n_stages; i++)
        if (r->stage[i].sampler->foreign && stage_enabled(&r->stage[i]))
            return unsayable("sampler ", r->stage[i].sampler->name, e);
    for (size_t i = 0; i < sizeof not_all / sizeof *not_all; i++)
        if (common_value(r, not_all[i]) < 0.0)
            return unsayable("-1 for --", not_all[i], e);
    if (r->parts.grammar_first && r->parts.rules)
        return unsayable("--", "grammar-first", e);
    if (recipe_budget(r) && !r->of->vocab) // which has the texts of the tags
        return unsayable("ids for --", "reasoning-start", e);
    if (!recipe_runs(r, &sampler_dry))
        return true;
    if (breakers->n_sequences)
        return unsayable("--", "dry-breaker-tokens", e);
    return breakers->n_texts || unsayable("empty list for --", "dry-sequence-breaker", e);
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
static void print_tag_text(const struct vocab *v, const char *before, const struct tag *tag)
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

// llama-server's request body. Breakers have their escapes resolved: the server knows none but those of JSON.
static bool print_request(const struct args *a, const struct recipe *r, struct err *e)
{
    const struct parts *const p = &r->parts;
    const struct catalog *const c = &r->of->catalog;
    const struct breakers *const breakers = &p->breakers->breakers;
    double value[CATALOG_MOST];
    bool said[CATALOG_MOST] = {false};
    if (p->engine->options)
        return unsayable("engine ", p->engine->name, e);
    if (!request_values(r, value, e) || !check_request(r, e))
        return false;
    fputs("{\"samplers\":[", stdout);
    for (size_t i = 0; i < p->order->n; i++)
        printf("%s\"%s\"", i ? "," : "", choice_sampler(&p->order->choice[i])->name);
    printf("],\"seed\":%" PRId64, (int64_t)p->seed);
    for (size_t i = 0; samplers[i]; i++)
        for (size_t k = 0; !samplers[i]->foreign && samplers[i]->params && samplers[i]->params[k].flag; k++)
            print_server_param(c, c->number[i][k], value, said);
    print_server_param(c, c->mirostat, value, said);
    if (args_given(a, "dry-sequence-breaker") && breakers->n_texts) {
        fputs(",\"dry_sequence_breakers\":", stdout);
        for (size_t i = 0; i < breakers->n_texts; i++) {
            putchar(i ? ',' : '[');
            text_put_json(stdout, breakers->text[i]);
        }
        putchar(']');
    }
    if (p->rules) {
        fputs(",\"grammar\":", stdout);
        text_put_json(stdout, rules_text(p->rules));
    }
    if (p->biases->n)
        print_biases(p->biases);
    if (recipe_budget(r))
        print_budget_request(p->reasoning, r->of->vocab);
    puts("}");
    return true;
}

// The chain's names, with a value where a stage's differs from the common one.
static void print_names(const struct recipe *r)
{
    fputs("--samplers \"", stdout);
    for (size_t i = 0; i < r->parts.order->n; i++) {
        const struct choice *const c = &r->parts.order->choice[i];
        const struct param *const main = choice_sampler(c)->params;
        char text[NUMBER_TEXT];
        printf("%s%s", i ? ";" : "", choice_sampler(c)->name);
        if (c->own && c->value != common_value(r, main->flag))
            printf("=%s", value_text(main, c->value, text));
    }
    putchar('"');
}

static void print_numbers(const struct args *a, const struct recipe *r)
{
    for (const struct option_row *row = a->options->row; row->name; row++) {
        char text[NUMBER_TEXT];
        if (!strcmp(row->name, "seed"))
            printf(" --seed %" PRId64, (int64_t)r->parts.seed);
        else if (!row->param || !listens(r, row->name))
            continue;
        else if (row->param->type != PARAM_FLAG)
            printf(" --%s %s", row->name, value_text(row->param, r->parts.value[row->number], text));
        else if (r->parts.value[row->number] != 0.0)
            printf(" --%s", row->name);
    }
    if (a->ignore_eos)
        fputs(" --ignore-eos", stdout);
    if (a->grammar_first)
        fputs(" --grammar-first", stdout);
    if (a->backend_sampling && !r->parts.engine->options)
        fputs(" --backend-sampling", stdout);
}

// With its value as a word for the shell and for presets: in single quotes, and a single quote in double ones.
static void print_option(const char *name, const char *value)
{
    printf(" --%s '", name);
    for (; *value; value++) {
        if (*value == '\'')
            fputs("'\"'\"'", stdout);
        else
            putchar(*value);
    }
    putchar('\'');
}

// Flags that given to sampl make the same run.
static void print_flags(const struct args *a, const struct recipe *r)
{
    const struct breakers *const breakers = &r->parts.breakers->breakers;
    if (r->parts.engine->options)
        printf("--engine %s", r->parts.engine->name);
    else
        print_names(r);
    print_numbers(a, r);
    if (a->vocab)
        print_option("vocab", a->vocab);
    if (a->grammar_source == GRAMMAR_FILE)
        print_option("grammar-file", a->grammar);
    else if (r->parts.rules)
        print_option("grammar", r->parts.rules->shared.key);
    for (size_t i = 0; i < r->parts.biases->n_given; i++)
        print_bias(" --logit-bias ", &r->parts.biases->bias[i]);
    for (size_t i = 0; i < breakers->n_sequences; i++) {
        fputs(" --dry-breaker-tokens ", stdout);
        for (size_t k = 0; k < breakers->sequence[i].n; k++)
            printf("%s%" PRIu32, k ? "," : "", breakers->sequence[i].ids[k]);
    }
    if (args_given(a, "dry-sequence-breaker") && !a->breaker_texts.n)
        fputs(" --dry-sequence-breaker none", stdout);
    for (size_t i = 0; i < a->breaker_texts.n; i++)
        print_option("dry-sequence-breaker", a->breaker_texts.word[i]);
    if (a->reasoning_budget >= 0)
        printf(" --reasoning-budget %" PRId64, a->reasoning_budget);
    if (a->reasoning_start)
        print_option("reasoning-start", a->reasoning_start);
    for (size_t i = 0; i < a->reasoning_ends.n; i++)
        print_option("reasoning-end", a->reasoning_ends.word[i]);
    if (a->reasoning_message)
        print_option("reasoning-budget-message", a->reasoning_message);
    putchar('\n');
}

void print_grammar(const struct recipe *r)
{
    const struct piece text = rules_text(r->parts.rules);
    fwrite(text.p, 1, text.len, stdout);
    if (text.len && text.p[text.len - 1] != '\n')
        putchar('\n');
}

bool print_chain(const struct args *a, const struct recipe *r, struct err *e)
{
    if (!strcmp(a->how, "server"))
        return print_request(a, r, e);
    if (!strcmp(a->how, "json"))
        print_json(a, r);
    else if (!strcmp(a->how, "llama"))
        print_flags(a, r);
    else
        print_text(a, r);
    return true;
}
