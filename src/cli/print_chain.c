// SPDX-License-Identifier: MIT
#include "cli/print_chain.h"

#include "base/utf8.h"
#include "chain/chain.h"
#include "chain/value.h"
#include "cli/sheet.h"
#include "grammar/grammar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
        sheet_write_bias(b, &p->biases->bias[i]);
    if (stage->sampler == &sampler_bans) {
        sheet_write_ids(b, " bad-word-tokens=", " bad-word-tokens=", "", bans->sequence, bans->n);
        sheet_write_ids(b, " eog-tokens=", "", "", &(struct tokens){bans->end, bans->n_ends}, bans->n_ends > 0);
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
    if (sheet_draws_seed(s))
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
        sheet_write_ids(b, " reasoning-start=", "", "", &reasoning->tag[REASONING_START], 1);
        sheet_write_ids(b, " reasoning-end=", " reasoning-end=", "", reasoning->tag + REASONING_END,
                        reasoning->n - REASONING_END);
        sheet_write_ids(b, " reasoning-budget-message=", "", "\n", &reasoning->tag[REASONING_MESSAGE], 1);
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
    builder_format(&s->text, "\"seed\":%" PRId64, sheet_draws_seed(s) ? -1 : (int64_t)s->r->parts.seed);
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
        sheet_write_ids(b, ",\"start\":[", "", "]", &p->reasoning->tag[REASONING_START], 1);
        sheet_write_ids(b, ",\"message\":[", "", "],\"end\":[", &p->reasoning->tag[REASONING_MESSAGE], 1);
        sheet_write_ids(b, "[", "],[", "]", p->reasoning->tag + REASONING_END, p->reasoning->n - REASONING_END);
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
    sheet_write_ids(b, ",\"dry_breaker_tokens\":[[", "],[", "]]", breakers->sequence, breakers->n_sequences);
    sheet_write_ids(b, ",\"bad_words_ids\":[[", "],[", "]]", bans->sequence, bans->n);
    sheet_write_ids(b, ",\"eog_tokens\":[", "", "]", &(struct tokens){p->bans->end, p->bans->n_given},
                    p->bans->n_given > 0);
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
    if (!sheet_request_values(s, value))
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
                 {"llama", sheet_write_llama},
                 {"server", write_request},
                 {"preset", sheet_write_preset}};
    struct sheet s = {.a = a, .r = r, .c = &r->of->catalog, .e = e};
    size_t i = 0;
    while (strcmp(forms[i].how, a->how) != 0)
        i++;
    const bool ok = forms[i].write(&s);
    return print_and_free(&s.text, e) && ok;
}
