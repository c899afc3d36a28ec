// SPDX-License-Identifier: MIT
// A chain as options: a preset, or a command line of llama.cpp.
#include "base/names.h"
#include "cli/print_chain.h"
#include "out/message.h"
#include "settings/value.h"

#include <inttypes.h>
#include <string.h>

// ---- parts of several forms

void chain_text_bias(struct builder *b, const struct bias *bias)
{
    char number[NUMBER_TEXT];
    number_text(bias->bias, number);
    number_plain(number);
    builder_format(b, " %" PRId32 "%s%s", (int32_t)bias->id, *number == '-' ? "" : "+", number);
}

void chain_text_ids(struct builder *b, const char *first, const char *next, const char *end,
                    const struct tokens *sequence, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        builder_string(b, i ? next : first);
        for (size_t k = 0; k < sequence[i].n; k++)
            builder_format(b, "%s%" PRIu32, k ? "," : "", sequence[i].id[k]);
    }
    builder_string(b, n ? end : "");
}

void chain_text_entry(struct builder *b, const struct order_entry *entry, const char *before)
{
    const struct sampler *const sampler = entry_sampler(entry);
    char text[NUMBER_TEXT];
    builder_format(b, "%s%s", before, sampler->name);
    if (entry->own)
        builder_format(b, "=%s", value_text(sampler->params, entry->value, text));
}

int chain_text_columns(const struct recipe *r)
{
    enum { LEAST = 12 };
    size_t most = LEAST;
    for (size_t i = 0; i < r->n_stages; i++) {
        const size_t len = strlen(r->stage[i].sampler->name);
        most = len > most ? len : most;
    }
    return (int)most;
}

bool chain_text_draws_seed(const struct chain_text *t) { return engine_draws_seed(t->r->key.engine, t->a->typed.seed); }

const char *metric_name(enum distance_metric metric) { return metric == METRIC_L2 ? "l2" : "cosine"; }

void chain_text_embeddings(const struct chain_text *t, const char *before, const char *metric)
{
    const struct embedding_file *const f = t->r->key.embeddings;
    builder_string(t->text, before);
    word_quote(t->text, embedding_file_name(f), true);
    builder_format(t->text, "%s%s", metric, metric_name(f->embeddings.metric));
}

bool chain_text_own(const char *flag)
{
    return name_find("scatter-classes,scatter-neighbours,scatter-sigma", NAME_EXACT, flag, strlen(flag)) >= 0;
}

// Notes what no other program's scatter has, so that the printed chain lacks it.
static void note_own(const struct chain_text *t)
{
    const struct recipe_key *const p = &t->r->key;
    const bool classes = p->value[catalog_find(t->c, "scatter-classes")] != 0.0, vectors = p->embeddings;
    if (recipe_reads(t->r, LISTS_VECTORS) && (classes || vectors))
        message_note("--print-chain=%s: only sampl's scatter has %s%s%s; left out", t->a->how,
                     classes ? "--scatter-classes" : "", classes && vectors ? " and " : "",
                     vectors ? "--scatter-embeddings" : "");
}

// Reports that llama.cpp, or its server, lacks something. Returns false.
static bool refuse_chain(const struct chain_text *t, const char *what, const char *name)
{
    const char *const who = strcmp(t->a->how, "server") ? "llama.cpp" : "llama-server";
    return err_set(t->e, STATUS_USAGE, "--print-chain: %s has no %s%s", who, what, name);
}

static double common_value(const struct chain_text *t, const char *flag)
{
    return t->r->key.value[catalog_find(t->c, flag)];
}

// Refuses a chain that llama-server would refuse, or would not run as it is. A request has tags only as texts;
// llama.cpp's command line has no min-keep.
static bool check_request(const struct chain_text *t)
{
    const struct recipe *const r = t->r;
    const struct breakers *const breakers = &r->key.breakers->breakers;
    const bool server = !strcmp(t->a->how, "server"), breaks = recipe_reads(r, LISTS_BREAKERS);
    const char *const inside = recipe_in_llama(r, LLAMA_INSIDE), *const foreign = recipe_in_llama(r, LLAMA_LACKS);
    const struct {
        bool wrong;
        const char *what, *name;
    } lacks[] = {
        {inside, "sampler ", inside},
        {foreign, "sampler ", foreign},
        {recipe_reads(r, LISTS_BANS), "--", r->key.bans->bans.n ? "bad-word-tokens" : "min-tokens"},
        {common_value(t, "repeat-last-n") < 0.0, "-1 for --", "repeat-last-n"},
        {common_value(t, "dry-penalty-last-n") < 0.0, "-1 for --", "dry-penalty-last-n"},
        {r->key.grammar_first && r->key.rules, "--", "grammar-first"},
        {server && recipe_budget(r) && !r->of->vocab, "ids for --", "reasoning-start"},
        {breaks && breakers->n_sequences, "--", "dry-breaker-tokens"},
        {!server && common_value(t, "min-keep") != 0.0, "--", "min-keep"},
    };
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (lacks[i].wrong)
            return refuse_chain(t, lacks[i].what, lacks[i].name);
    return true;
}

bool chain_text_request_values(const struct chain_text *t, double *value)
{
    const struct recipe_key *const p = &t->r->key;
    bool found[CATALOG_MOST] = {false};
    if (p->engine->options)
        return refuse_chain(t, "engine ", p->engine->name);
    memcpy(value, p->value, sizeof p->value);
    for (size_t i = 0; value[t->c->mirostat] == 0.0 && i < p->order->n; i++) {
        const struct order_entry *const entry = &p->order->entry[i];
        const size_t main = t->c->number[entry->place][0];
        const double own = entry->own ? entry->value : p->value[main];
        if (!entry_sampler(entry)->params)
            continue;
        if (found[main] && own != value[main])
            return refuse_chain(t, "second value of --", t->c->param[main]->flag);
        found[main] = true;
        value[main] = own;
    }
    note_own(t);
    return check_request(t);
}

// ---- options

// Writes --NAME, behind a blank unless it is the first. Returns where its value is to be written.
static struct builder *write_option(const struct chain_text *t, const char *name)
{
    builder_format(t->text, "%s--%s", t->text->len ? " " : "", name);
    return t->text;
}

static void write_quoted(const struct chain_text *t, const char *name, const char *value)
{
    builder_byte(write_option(t, name), ' ');
    word_quote(t->text, value, false);
}

// Writes the names of the chain, with the values that it names; llama.cpp has one value for all. A chain that is the
// default is left out. scatter is named for llama.cpp only if it runs, since only some builds have it.
static void write_names(const struct chain_text *t, bool llama)
{
    const char *const usual =
        llama ? "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature" : DEFAULT_CHAIN;
    struct builder names = {0};
    builder_string(&names, "");
    for (size_t i = 0; i < t->r->key.order->n; i++) {
        struct order_entry entry = t->r->key.order->entry[i];
        const struct sampler *const sampler = entry_sampler(&entry);
        entry.own = entry.own && !llama;
        const bool has = sampler->in_llama == LLAMA_HAS || sampler->in_llama == LLAMA_INSIDE ||
                         (sampler->in_llama == LLAMA_SOME_BUILDS && recipe_runs(t->r, sampler));
        if (llama && !has)
            continue;
        chain_text_entry(&names, &entry, names.len ? ";" : "");
    }
    t->text->failed = t->text->failed || names.failed;
    if (!names.failed && strcmp(names.text, usual) != 0)
        builder_format(write_option(t, "samplers"), " \"%s\"", names.text);
    builder_free(&names);
}

// Returns whether llama.cpp has this option. Options under headings of their own are those of samplers that some builds
// have, if the chain runs them, and those of other programs.
static bool llama_has(const struct chain_text *t, const struct option_row *row)
{
    bool has = !row->heading;
    for (const struct stage *s = NULL; !has && (s = recipe_next(t->r, s));)
        has = s->sampler->in_llama == LLAMA_SOME_BUILDS && !strcmp(row->heading, s->sampler->heading);
    return has && strcmp(row->name, "min-keep") != 0 && !chain_text_own(row->name);
}

// Writes the values that differ from what holds without the option.
static void write_numbers(const struct chain_text *t, const double *value, const double *otherwise, bool llama)
{
    const struct args *const a = t->a;
    for (const struct option_row *row = a->typed.options->row; row->name; row++) {
        char text[NUMBER_TEXT];
        if (!row->param || !recipe_listens(t->r, row->name) || value[row->number] == otherwise[row->number] ||
            (llama && !llama_has(t, row)))
            continue;
        write_option(t, row->name);
        if (row->param->type != PARAM_FLAG)
            builder_format(t->text, " %s", value_text(row->param, value[row->number], text));
    }
    if (!chain_text_draws_seed(t))
        builder_format(write_option(t, "seed"), " %" PRId64, (int64_t)t->r->key.seed);
    if (a->typed.settings.ignore_eos)
        write_option(t, "ignore-eos");
    if (a->typed.grammar_first)
        write_option(t, "grammar-first");
    if (a->backend_sampling && !t->r->key.engine->options)
        write_option(t, "backend-sampling");
}

// Writes an option for each entry of a list.
static void write_list(const struct chain_text *t, enum list_kind kind)
{
    const struct list *const list = &t->a->typed.settings.list[kind];
    for (const struct list_entry *x = NULL; (x = list_next_entry(list, x));) {
        struct builder value = {0};
        builder_string(&value, "");
        entry_write(&value, x, kind, t->a->typed.settings.no_escape);
        t->text->failed = t->text->failed || value.failed;
        write_quoted(t, list_options[kind] + strlen("--"), value.failed ? "" : value.text);
        builder_free(&value);
    }
}

// Writes the options that may be repeated, and the budget. llama.cpp runs no bans.
static void write_lists(const struct chain_text *t, bool llama)
{
    struct builder *const b = t->text;
    const struct args *const a = t->a;
    const struct recipe_key *const p = &t->r->key;
    const struct bans *const bans = &p->bans->bans;
    const struct breakers *const breakers = &p->breakers->breakers;
    for (size_t i = 0; i < p->biases->n_given; i++)
        chain_text_bias(write_option(t, "logit-bias"), &p->biases->bias[i]);
    if (!llama) {
        chain_text_ids(b, " --bad-word-tokens ", " --bad-word-tokens ", "", bans->sequence, bans->n);
        chain_text_ids(b, " --eog-tokens ", "", "", &(struct tokens){bans->end, p->bans->n_given},
                       p->bans->n_given > 0);
    }
    for (size_t i = 0; i < breakers->n_sequences; i++)
        chain_text_ids(write_option(t, "dry-breaker-tokens"), " ", "", "", &breakers->sequence[i], 1);
    if (a->typed.settings.list[LIST_BREAKERS].name && !a->typed.settings.list[LIST_BREAKERS].n)
        builder_string(write_option(t, "dry-sequence-breaker"), " none");
    write_list(t, LIST_BREAKERS);
    if (a->typed.settings.no_escape && a->typed.settings.list[LIST_BREAKERS].n)
        write_option(t, "no-escape");
    if (a->typed.settings.reasoning_budget >= 0)
        builder_format(write_option(t, "reasoning-budget"), " %" PRId64, a->typed.settings.reasoning_budget);
    write_list(t, LIST_START);
    write_list(t, LIST_END_TAGS);
    write_list(t, LIST_MESSAGE);
    if (!llama && p->embeddings)
        chain_text_embeddings(t, " --scatter-embeddings ", " --scatter-metric ");
    builder_byte(b, '\n');
}

bool chain_text_options(const struct chain_text *t)
{
    const struct recipe_key *const p = &t->r->key;
    const bool llama = !strcmp(t->a->how, "llama");
    double value[CATALOG_MOST], otherwise[CATALOG_MOST]; // otherwise: what holds without options
    if (llama) {
        catalog_defaults(t->c, otherwise);
        if (!chain_text_request_values(t, value))
            return false;
        const char *const name = recipe_in_llama(t->r, LLAMA_SOME_BUILDS);
        if (name)
            message_note("--print-chain=llama: only builds of llama.cpp with the %s sampler take these options", name);
    } else {
        catalog_neutral(t->c, otherwise);
        memcpy(value, p->value, sizeof value);
        builder_format(t->text, "--engine %s --neutral", p->engine->name);
    }
    if (!p->engine->options)
        write_names(t, llama);
    write_numbers(t, value, otherwise, llama);
    if (llama && t->a->typed.grammar_row && !strcmp(t->a->typed.grammar_row->name, "grammar-file"))
        write_quoted(t, "grammar-file", t->a->typed.grammar);
    else if (p->rules)
        write_quoted(t, "grammar", p->rules->shared.key);
    write_lists(t, llama);
    return true;
}
