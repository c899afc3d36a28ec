// SPDX-License-Identifier: MIT
#include "cli/print_chain.h"

#include "base/utf8.h"
#include "chain/value.h"
#include "grammar/grammar.h"
#include "sample/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// A chain that is written as text.
struct sheet {
    const struct args *a;
    const struct recipe *r;
    const struct catalog *c;
    struct builder text;
    struct err *e;
};

// ---- parts of several forms

// Writes a bias as --logit-bias takes it, behind a blank.
static void write_bias(struct builder *b, const struct bias *bias)
{
    char number[NUMBER_TEXT];
    number_text(bias->bias, number);
    builder_format(b, " %" PRIu32 "%s%s", bias->id, *number == '-' ? "" : "+", number);
}

// Writes sequences of ids: `first` before the first sequence, `next` before each other one, `end` behind the last.
// Nothing for n 0.
static void write_ids(struct builder *b, const char *first, const char *next, const char *end,
                      const struct tokens *sequence, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        builder_string(b, i ? next : first);
        for (size_t k = 0; k < sequence[i].n; k++)
            builder_format(b, "%s%" PRIu32, k ? "," : "", sequence[i].id[k]);
    }
    builder_string(b, n ? end : "");
}

// Is the seed drawn when the program starts?
static bool is_drawn(const struct sheet *s)
{
    return engine_draws_seed(s->r->parts.engine, s->a->seed);
}

static bool not_available(const struct sheet *s, const char *what, const char *name)
{
    const char *const who = strcmp(s->a->how, "server") ? "llama.cpp" : "llama-server";
    return err_set(s->e, STATUS_USAGE, "--print-chain: %s has no %s%s", who, what, name);
}

// ---- text

// Where an option's value is from; NULL: it is a default.
static const char *origin_of(const struct args *a, const char *option)
{
    static const char *const names[] = {[ORIGIN_COMMAND_LINE] = "command line", [ORIGIN_PRESET] = "preset"};
    return names[a->given[option_by_name(a->options, option, strlen(option)) - a->options->row]];
}

// Where a parameter's value is from: an option, the model's recommendations, or --neutral. NULL: it is a default.
static const char *param_origin(const struct sheet *s, size_t number)
{
    const struct param *const row = s->c->param[number];
    const char *const given = origin_of(s->a, row->flag);
    const bool neutral = s->a->neutral && s->a->value[number] != param_value(row, row->def);
    return given ? given : s->r->of->of_model[number] ? "model" : neutral ? "neutral" : NULL;
}

static void write_origin(struct builder *b, const char *origin)
{
    if (origin)
        builder_format(b, " (%s)", origin);
}

static void write_stage(struct sheet *s, const struct stage *stage)
{
    struct builder *const b = &s->text;
    const struct parts *const p = &s->r->parts;
    const struct bans *const bans = &p->bans->bans;
    const struct param *const params = stage->sampler->params;
    builder_format(b, "%-12s %-4s", stage->sampler->name, stage_enabled(stage) ? "on" : "off");
    for (size_t k = 0; params && params[k].flag; k++) {
        char text[NUMBER_TEXT];
        const size_t number = s->c->number[sampler_place(stage->sampler)][k];
        const double value = param_load(&params[k], stage->params);
        const bool own = !k && value != p->value[number] && !p->engine->options; // NAME=VALUE in the chain
        const char *origin = own ? origin_of(s->a, "samplers") : param_origin(s, number);
        if (!recipe_listens(s->r, params[k].flag))
            continue;
        if (own && !origin)
            origin = origin_of(s->a, "sampler-seq");
        builder_format(b, " %s=%s", params[k].flag, value_text(&params[k], value, text));
        write_origin(b, origin);
    }
    for (size_t i = 0; stage->sampler == &sampler_logit_bias && i < p->biases->n; i++)
        write_bias(b, &p->biases->bias[i]);
    if (stage->sampler == &sampler_bans) {
        write_ids(b, " bad-word-tokens=", " bad-word-tokens=", "", bans->sequence, bans->n);
        write_ids(b, " eog-tokens=", "", "", &(struct tokens){bans->end, bans->n_ends}, bans->n_ends > 0);
    }
    builder_byte(b, '\n');
}

static bool write_text(struct sheet *s)
{
    struct builder *const b = &s->text;
    const struct parts *const p = &s->r->parts;
    const struct reasoning *const reasoning = p->reasoning;
    if (p->engine->options) {
        builder_format(b, "engine %s", p->engine->name);
        write_origin(b, origin_of(s->a, "engine"));
        builder_byte(b, '\n');
    }
    if (is_drawn(s))
        builder_string(b, "seed random");
    else
        builder_format(b, "seed %" PRId64, (int64_t)p->seed);
    write_origin(b, origin_of(s->a, "seed"));
    builder_byte(b, '\n');
    if (s->a->grammar_first)
        builder_format(b, "%-12s %-4s grammar-first=true\n", "grammar", p->rules ? "on" : "off");
    if (reasoning) {
        const char *const on = reasoning->tokens < 0 ? "off" : "on";
        builder_format(b, "%-12s %-4s reasoning-budget=%" PRId64, "reasoning", on, reasoning->tokens);
        write_ids(b, " reasoning-start=", "", "", &reasoning->tag[REASONING_START], 1);
        write_ids(b, " reasoning-end=", " reasoning-end=", "", reasoning->tag + REASONING_END,
                  reasoning->n - REASONING_END);
        write_ids(b, " reasoning-budget-message=", "", "\n", &reasoning->tag[REASONING_MESSAGE], 1);
    }
    for (size_t i = 0; i < s->r->n_stages; i++)
        write_stage(s, &s->r->stage[i]);
    return true;
}

// ---- JSON

// Writes ,"name":value
static void write_member(struct builder *b, const char *name, const struct param *row, double value)
{
    char text[NUMBER_TEXT];
    builder_string(b, ",\"");
    for (; *name; name++)
        builder_byte(b, *name == '-' ? '_' : *name);
    builder_format(b, "\":%s", value_text(row, value, text));
}

static void write_string(struct builder *b, const void *text, size_t len)
{
    builder_byte(b, '"');
    for (size_t at = 0, taken; at < len; at += taken) {
        char c[JSON_CHARACTER];
        builder_bytes(b, c, json_escape(c, (const unsigned char *)text + at, len - at, &taken));
    }
    builder_byte(b, '"');
}

// Writes ,"logit_bias":[[id,bias],...], llama-server's form; false is -inf.
static void write_biases(struct builder *b, const struct biases *biases)
{
    builder_string(b, ",\"logit_bias\":[");
    for (size_t i = 0; i < biases->n; i++) {
        char text[NUMBER_TEXT];
        const struct bias *const bias = &biases->bias[i];
        number_text(bias->bias, text);
        builder_format(b, "%s[%" PRIu32 ",%s]", i ? "," : "", bias->id, !strcmp(text, "-inf") ? "false" : text);
    }
    builder_byte(b, ']');
}

// Writes the seed, -1 for one that is drawn.
static void write_seed(struct sheet *s)
{
    builder_format(&s->text, "\"seed\":%" PRId64, is_drawn(s) ? -1 : (int64_t)s->r->parts.seed);
}

// Writes the breakers that were given, their escapes resolved, and the grammar. llama-server takes no empty list of
// breakers.
static void write_breakers_and_grammar(struct sheet *s)
{
    struct builder *const b = &s->text;
    const struct breakers *const breakers = &s->r->parts.breakers->breakers;
    const struct rules *const rules = s->r->parts.rules;
    if (args_given(s->a, "dry-sequence-breaker") && (breakers->n_texts || !strcmp(s->a->how, "json"))) {
        builder_string(b, ",\"dry_sequence_breakers\":[");
        for (size_t i = 0; i < breakers->n_texts; i++) {
            builder_string(b, i ? "," : "");
            write_string(b, breakers->text[i].p, breakers->text[i].len);
        }
        builder_byte(b, ']');
    }
    if (rules) {
        builder_string(b, ",\"grammar\":");
        write_string(b, rules_text(rules).p, rules_text(rules).len);
    }
}

static bool write_json(struct sheet *s)
{
    struct builder *const b = &s->text;
    const struct parts *const p = &s->r->parts;
    const struct breakers *const breakers = &p->breakers->breakers;
    const struct bans *const bans = &p->bans->bans;
    builder_byte(b, '{');
    if (p->engine->options)
        builder_format(b, "\"engine\":\"%s\",", p->engine->name);
    write_seed(s);
    builder_string(b, s->a->grammar_first ? ",\"grammar_first\":true," : ",");
    if (p->reasoning) {
        builder_format(b, "\"reasoning\":{\"tokens\":%" PRId64, p->reasoning->tokens);
        write_ids(b, ",\"start\":[", "", "]", &p->reasoning->tag[REASONING_START], 1);
        write_ids(b, ",\"message\":[", "", "],\"end\":[", &p->reasoning->tag[REASONING_MESSAGE], 1);
        write_ids(b, "[", "],[", "]", p->reasoning->tag + REASONING_END, p->reasoning->n - REASONING_END);
        builder_string(b, "]},");
    }
    builder_string(b, "\"chain\":[");
    for (size_t i = 0; i < s->r->n_stages; i++) {
        const struct stage *const stage = &s->r->stage[i];
        builder_format(b, "%s{\"name\":\"%s\",\"enabled\":%s", i ? "," : "", stage->sampler->name,
                       stage_enabled(stage) ? "true" : "false");
        for (const struct param *row = stage->sampler->params; row && row->flag; row++)
            if (recipe_listens(s->r, row->flag))
                write_member(b, row->flag, row, param_load(row, stage->params));
        if (stage->sampler == &sampler_logit_bias)
            write_biases(b, p->biases);
        builder_byte(b, '}');
    }
    builder_byte(b, ']');
    write_breakers_and_grammar(s);
    write_ids(b, ",\"dry_breaker_tokens\":[[", "],[", "]]", breakers->sequence, breakers->n_sequences);
    write_ids(b, ",\"bad_words_ids\":[[", "],[", "]]", bans->sequence, bans->n);
    write_ids(b, ",\"eog_tokens\":[", "", "]", &(struct tokens){p->bans->end, p->bans->n_given}, p->bans->n_given > 0);
    builder_string(b, ",\"from\":");
    char before = '{';
    for (const struct option_row *row = s->a->options->row; row->name; row++) {
        const char *const origin = row->param    ? param_origin(s, row->number)
                                   : row->recipe ? origin_of(s->a, row->name)
                                                 : NULL;
        if (origin) {
            builder_format(b, "%c\"%s\":\"%s\"", before, row->name, origin);
            before = ',';
        }
    }
    builder_string(b, before == '{' ? "{}}\n" : "}}\n");
    return true;
}

// ---- llama-server's request

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
            return not_available(s, lacks[i].what, lacks[i].name);
    return true;
}

// Finds the values of a request, which has one for each parameter: a sampler's main parameter has that which all its
// stages share. The temperature of mirostat is the common one.
static bool request_values(const struct sheet *s, double *value)
{
    const struct parts *const p = &s->r->parts;
    bool found[CATALOG_MOST] = {false};
    if (p->engine->options)
        return not_available(s, "engine ", p->engine->name);
    memcpy(value, p->value, sizeof p->value);
    for (size_t i = 0; value[s->c->mirostat] == 0.0 && i < p->order->n; i++) {
        const struct choice *const choice = &p->order->choice[i];
        const size_t main = s->c->number[choice->place][0];
        const double own = choice->own ? choice->value : p->value[main];
        if (!choice_sampler(choice)->params)
            continue;
        if (found[main] && own != value[main])
            return not_available(s, "second value of --", s->c->param[main]->flag);
        found[main] = true;
        value[main] = own;
    }
    return check_request(s);
}

// Writes the text of a tag as a string, behind `before`.
static void write_tag(struct sheet *s, const char *before, const struct tokens *tag)
{
    struct builder text = {0};
    for (size_t i = 0; i < tag->n; i++) {
        const struct piece token = vocab_text(s->r->of->vocab, tag->id[i]);
        builder_bytes(&text, token.p, token.len);
    }
    builder_string(&s->text, before);
    write_string(&s->text, text.text, text.len);
    s->text.failed = s->text.failed || text.failed;
    builder_free(&text);
}

static bool write_request(struct sheet *s)
{
    struct builder *const b = &s->text;
    const struct parts *const p = &s->r->parts;
    const struct reasoning *const reasoning = p->reasoning;
    double value[CATALOG_MOST];
    bool written[CATALOG_MOST] = {false};
    if (!request_values(s, value))
        return false;
    builder_string(b, "{\"samplers\":[");
    for (size_t i = 0; i < p->order->n; i++)
        builder_format(b, "%s\"%s\"", i ? "," : "", choice_sampler(&p->order->choice[i])->name);
    builder_string(b, "],");
    write_seed(s);
    for (size_t i = 0; samplers[i]; i++)
        for (size_t k = 0; !samplers[i]->foreign && samplers[i]->params && samplers[i]->params[k].flag; k++) {
            const size_t number = s->c->number[i][k];
            const struct param *const row = s->c->param[number];
            if (!written[number])
                write_member(b, row->server ? row->server : row->flag, row, value[number]);
            written[number] = true;
        }
    write_member(b, "mirostat", s->c->param[s->c->mirostat], value[s->c->mirostat]);
    write_breakers_and_grammar(s);
    if (p->biases->n)
        write_biases(b, p->biases);
    if (recipe_budget(s->r)) {
        builder_format(b, ",\"reasoning_budget_tokens\":%" PRId64, reasoning->tokens);
        write_tag(s, ",\"reasoning_budget_start_tag\":", &reasoning->tag[REASONING_START]);
        for (size_t i = REASONING_END; i < reasoning->n; i++)
            write_tag(s, i > REASONING_END ? "," : ",\"reasoning_budget_end_tags\":[", &reasoning->tag[i]);
        write_tag(s, "],\"reasoning_budget_message\":", &reasoning->tag[REASONING_MESSAGE]);
    }
    builder_string(b, "}\n");
    return true;
}

// ---- options: a preset, or a command line of llama.cpp's

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
    if (!is_drawn(s))
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
        write_bias(write_option(s, "logit-bias"), &p->biases->bias[i]);
    if (!llama) {
        write_ids(b, " --bad-word-tokens ", " --bad-word-tokens ", "", bans->sequence, bans->n);
        write_ids(b, " --eog-tokens ", "", "", &(struct tokens){bans->end, p->bans->n_given}, p->bans->n_given > 0);
    }
    for (size_t i = 0; i < breakers->n_sequences; i++)
        write_ids(write_option(s, "dry-breaker-tokens"), " ", "", "", &breakers->sequence[i], 1);
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

// Writes options that make the same recipe, whatever engine, options and model they come after.
static bool write_preset(struct sheet *s)
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

// Writes what a command line of llama.cpp's needs to do the same.
static bool write_llama(struct sheet *s)
{
    double value[CATALOG_MOST], def[CATALOG_MOST];
    catalog_defaults(s->c, def);
    if (!request_values(s, value))
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

// ---- all of it

// Prints a text and frees it. False with *e if memory was short for it.
static bool print_and_free(struct builder *text, struct err *e)
{
    const bool ok = !text->failed || err_from_fault(e, fault_memory());
    if (ok && text->len)
        fwrite(text->text, 1, text->len, stdout);
    builder_free(text);
    return ok;
}

bool print_grammar(const struct recipe *r, struct err *e)
{
    const struct shared *const rules = &r->parts.rules->shared;
    struct builder text = {0};
    grammar_show(&text, rules->key, rules->len, r->of->vocab);
    if (!text.len || text.text[text.len - 1] != '\n')
        builder_byte(&text, '\n');
    return print_and_free(&text, e);
}

bool print_chain(const struct args *a, const struct recipe *r, struct err *e)
{
    static const struct {
        const char *how;
        bool (*write)(struct sheet *s);
    } forms[] = {{"text", write_text},
                 {"json", write_json},
                 {"llama", write_llama},
                 {"server", write_request},
                 {"preset", write_preset}};
    struct sheet s = {.a = a, .r = r, .c = &r->of->catalog, .e = e};
    size_t i = 0;
    while (strcmp(forms[i].how, a->how) != 0)
        i++;
    const bool ok = forms[i].write(&s);
    return print_and_free(&s.text, e) && ok;
}
