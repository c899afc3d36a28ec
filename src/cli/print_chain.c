// SPDX-License-Identifier: MIT
#include "cli/print_chain.h"

#include "base/utf8.h"
#include "cli/help.h"
#include "cli/remarks.h"
#include "grammar/grammar.h"
#include "settings/new_recipe.h"
#include "settings/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- text

// Where an option's value is from; NULL: it is a default.
static const char *origin_of(const struct args *a, const char *option)
{
    static const char *const names[] = {
        [ORIGIN_WEAK] = "gpt-oss", [ORIGIN_COMMAND_LINE] = "command line", [ORIGIN_PRESET] = "preset"};
    return names[typed_origin(&a->typed, option)];
}

// Where a parameter's value is from: an option, the model's recommendations, or --neutral. NULL: it is a default.
static const char *param_origin(const struct chain_text *t, size_t number)
{
    const struct param *const row = t->c->param[number];
    const char *const given = origin_of(t->a, row->flag);
    const bool neutral = t->a->typed.neutral && t->a->typed.value[number] != param_value(row, row->def);
    const bool of_model = t->r->of->of_model[number] && (!given || !strcmp(given, "gpt-oss"));
    return of_model ? "model" : given ? given : neutral ? "neutral" : NULL;
}

static void write_origin(struct builder *b, const char *origin)
{
    if (origin)
        builder_format(b, " (%s)", origin);
}

// Returns whether a parameter of the stage is given and not at its off value, besides the one with this index and
// min-keep.
static bool gives_other(const struct chain_text *t, const struct stage *stage, size_t but)
{
    const struct param *const rows = stage->sampler->params;
    double neutral[CATALOG_MOST];
    catalog_neutral(t->c, neutral);
    for (size_t k = 0; rows[k].flag; k++) {
        const size_t number = t->c->number[sampler_place(stage->sampler)][k];
        if (k != but && strcmp(rows[k].flag, "min-keep") != 0 && origin_of(t->a, rows[k].flag) &&
            t->a->typed.value[number] != neutral[number])
            return true;
    }
    return false;
}

// Writes why a stage is off in spite of a parameter that was given: the parameter whose default would switch the stage
// on.
static void write_cause(const struct chain_text *t, const struct stage *stage)
{
    const struct param *const rows = stage->sampler->params;
    for (size_t k = 0; rows && rows[k].flag && !stage_enabled(stage); k++) {
        const struct param *const of = t->c->param[t->c->number[sampler_place(stage->sampler)][k]];
        char text[NUMBER_TEXT];
        if (!gives_other(t, stage, k) || !stage_runs_with(stage, &rows[k], of->def))
            continue;
        value_text(&rows[k], param_load(&rows[k], stage->params), text);
        builder_format(t->text, "  off: %s is %s", rows[k].flag, text);
        return;
    }
}

static void write_stage(const struct chain_text *t, const struct stage *stage, int columns)
{
    struct builder *const b = t->text;
    const struct recipe_key *const p = &t->r->key;
    const struct bans *const bans = &p->bans->bans;
    const struct param *const params = stage->sampler->params;
    builder_format(b, "%-*s %-4s", columns, stage->sampler->name, stage_enabled(stage) ? "on" : "off");
    for (size_t k = 0; params && params[k].flag; k++) {
        char text[NUMBER_TEXT];
        const size_t number = t->c->number[sampler_place(stage->sampler)][k];
        const double value = param_load(&params[k], stage->params);
        const bool own = !k && stage->own;
        const char *origin = own ? origin_of(t->a, "samplers") : param_origin(t, number);
        if (!recipe_listens(t->r, params[k].flag))
            continue;
        if (own && !origin)
            origin = origin_of(t->a, "sampler-seq");
        builder_format(b, " %s=%s", params[k].flag, value_text(&params[k], value, text));
        write_origin(b, origin);
    }
    if (stage->sampler->lists == LISTS_VECTORS && p->embeddings)
        chain_text_embeddings(t, " scatter-embeddings=", " scatter-metric=");
    for (size_t i = 0; stage->sampler->lists == LISTS_BIASES && i < p->biases->n; i++)
        chain_text_bias(b, &p->biases->bias[i]);
    if (stage->sampler->lists == LISTS_BANS) {
        chain_text_ids(b, " bad-word-tokens=", " bad-word-tokens=", "", bans->sequence, bans->n);
        chain_text_ids(b, " eog-tokens=", "", "", &(struct tokens){bans->end, bans->n_ends}, bans->n_ends > 0);
    }
    write_cause(t, stage);
    builder_byte(b, '\n');
}

// Writes the remarks on the chain, each as a line of its own.
static void write_remarks(const struct chain_text *t)
{
    struct builder notes = {0};
    remarks_add(&notes, t->r);
    for (size_t at = 0; at < notes.len; at += strlen(notes.text + at) + 1)
        builder_format(t->text, "note: %s\n", notes.text + at + 1);
    t->text->failed = t->text->failed || notes.failed;
    builder_free(&notes);
}

// Returns how much of a line fits that begins at column `from`: all of it, or up to its last blank, or behind its last
// comma; a longer word stays whole. The blanks of the first `indent` columns do not count.
static size_t fitting(const char *line, size_t len, size_t from, size_t indent)
{
    enum { LINE = 100 };
    size_t blank = 0, comma = 0, at = from ? 0 : indent;
    for (; at < len && (from + at <= LINE || !(blank || comma)); at++) {
        blank = line[at] == ' ' && !(at && line[at - 1] == ':') ? at : blank; // 'off: ...' stays together
        comma = line[at] == ',' && from + at < LINE ? at + 1 : comma;
    }
    return from + len <= LINE || !(blank || comma) ? len : blank ? blank : comma;
}

// Adds a text of lines, without blanks at their ends. The rest of a long line follows below, behind blanks.
static void fold_lines(struct builder *to, const char *text, int columns)
{
    enum { STATE = 6, NOTE = 6 }; // columns of " on   ", and of "note: "
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        const size_t indent = strncmp(text, "note: ", NOTE) ? (size_t)columns + STATE : NOTE;
        struct builder line = {0};
        builder_bytes(&line, text, (size_t)(end - text));
        while (line.len && line.text[line.len - 1] == ' ')
            line.len--;
        for (size_t from = 0; from < line.len;) {
            // a later part begins `indent` columns behind the edge
            const size_t before = from ? indent : 0;
            const size_t n = fitting(line.text + from, line.len - from, before, indent);
            builder_pad(to, ' ', before);
            builder_bytes(to, line.text + from, n);
            builder_byte(to, '\n');
            for (from += n; from < line.len && line.text[from] == ' '; from++) {
            }
        }
        to->failed = to->failed || line.failed;
        builder_free(&line);
    }
}

static bool write_text(const struct chain_text *t)
{
    struct builder *const b = t->text;
    const struct recipe_key *const p = &t->r->key;
    const struct reasoning *const reasoning = p->reasoning;
    const int columns = chain_text_columns(t->r);
    if (p->engine->options) {
        builder_format(b, "engine %s", p->engine->name);
        write_origin(b, origin_of(t->a, "engine"));
        builder_byte(b, '\n');
    }
    if (chain_text_draws_seed(t))
        builder_string(b, "seed random");
    else
        builder_format(b, "seed %" PRId64, (int64_t)p->seed);
    write_origin(b, origin_of(t->a, "seed"));
    builder_byte(b, '\n');
    if (t->a->typed.grammar_first)
        builder_format(b, "%-*s %-4s grammar-first=true\n", columns, "grammar", p->rules ? "on" : "off");
    if (reasoning) {
        const char *const on = recipe_budget(t->r) ? "on" : "off";
        builder_format(b, "%-*s %-4s reasoning-budget=%" PRId64, columns, "reasoning", on, reasoning->tokens);
        chain_text_ids(b, " reasoning-start=", "", "", &reasoning->tag[REASONING_START], 1);
        chain_text_ids(b, " reasoning-end=", " reasoning-end=", "", reasoning->tag + REASONING_END,
                       reasoning->n - REASONING_END);
        chain_text_ids(b, " reasoning-budget-message=", "", "\n", &reasoning->tag[REASONING_MESSAGE], 1);
    }
    for (size_t i = 0; i < t->r->n_stages; i++)
        write_stage(t, &t->r->stage[i], columns);
    write_remarks(t);
    return true;
}

static bool write_lines(const struct chain_text *t)
{
    struct builder lines = {0};
    struct chain_text whole = *t;
    whole.text = &lines;
    const bool ok = write_text(&whole);
    fold_lines(t->text, builder_whole(&lines) && lines.text ? lines.text : "",
               chain_text_columns(t->r)); // else the last line has no end
    t->text->failed = t->text->failed || lines.failed;
    builder_free(&lines);
    return ok;
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

// Writes a text as a JSON string. Refuses a text that no string of JSON can hold, naming the option that has it.
static bool write_string(const struct chain_text *t, const char *option, const void *text, size_t len)
{
    const unsigned char *const p = text;
    uint32_t point;
    for (size_t at = 0, n; at < len; at += n) {
        n = p[at] ? utf8_decode(p + at, len - at, &point) : 0;
        if (!n)
            return err_set(t->e, STATUS_USAGE, "--print-chain: the text of --%s is not UTF-8, or holds a NUL", option);
    }
    builder_json(t->text, text, len);
    return true;
}

// Writes ,"logit_bias":[[id,bias],...], llama-server's form; false is -inf.
static void write_biases(struct builder *b, const struct biases *biases)
{
    builder_string(b, ",\"logit_bias\":[");
    for (size_t i = 0; i < biases->n; i++) {
        char text[NUMBER_TEXT];
        const struct bias *const bias = &biases->bias[i];
        number_text(bias->bias, text);
        number_plain(text);
        builder_format(b, "%s[%" PRId32 ",%s]", i ? "," : "", (int32_t)bias->id,
                       !strcmp(text, "-inf") ? "false" : text);
    }
    builder_byte(b, ']');
}

// Writes the seed, -1 for one that is drawn.
static void write_seed(const struct chain_text *t)
{
    builder_format(t->text, "\"seed\":%" PRId64, chain_text_draws_seed(t) ? -1 : (int64_t)t->r->key.seed);
}

// Writes the breakers that were given, their escapes resolved, and the grammar. llama-server takes no empty list of
// breakers, but leaves an empty breaker out.
static bool write_breakers_and_grammar(const struct chain_text *t)
{
    struct builder *const b = t->text;
    const struct breakers *const breakers = &t->r->key.breakers->breakers;
    const struct rules *const rules = t->r->key.rules;
    if (!breakers->n_texts && strcmp(t->a->how, "json") != 0)
        builder_string(b, recipe_reads(t->r, LISTS_BREAKERS) ? ",\"dry_sequence_breakers\":[\"\"]" : "");
    else if (args_given(t->a, "dry-sequence-breaker")) {
        builder_string(b, ",\"dry_sequence_breakers\":[");
        for (size_t i = 0; i < breakers->n_texts; i++) {
            builder_string(b, i ? "," : "");
            if (!write_string(t, "dry-sequence-breaker", breakers->text[i].p, breakers->text[i].len))
                return false;
        }
        builder_byte(b, ']');
    }
    if (rules)
        builder_string(b, ",\"grammar\":");
    return !rules || write_string(t, "grammar", rules_text(rules).p, rules_text(rules).len);
}

// Writes the file of vectors, and their metric.
static bool write_embeddings(const struct chain_text *t)
{
    const struct embedding_file *const f = t->r->key.embeddings;
    if (!f)
        return true;
    const char *const name = embedding_file_name(f);
    builder_string(t->text, ",\"scatter_embeddings\":");
    if (!write_string(t, "scatter-embeddings", name, strlen(name)))
        return false;
    builder_format(t->text, ",\"scatter_metric\":\"%s\"", metric_name(f->embeddings.metric));
    return true;
}

// Writes the budget and its tags as ids, and the text of the message, as the option has no ids.
static bool write_reasoning(const struct chain_text *t)
{
    struct builder *const b = t->text;
    const struct reasoning *const reasoning = t->r->key.reasoning;
    const struct list_entry *const message = list_next_entry(&t->a->typed.settings.list[LIST_MESSAGE], NULL);
    if (!reasoning)
        return true;
    builder_format(b, "\"reasoning\":{\"tokens\":%" PRId64, reasoning->tokens);
    chain_text_ids(b, ",\"start\":[", "", "]", &reasoning->tag[REASONING_START], 1);
    chain_text_ids(b, ",\"message\":[", "", "]", &reasoning->tag[REASONING_MESSAGE], 1);
    if (message && message->n) {
        builder_string(b, ",\"message_text\":");
        if (!write_string(t, "reasoning-budget-message", entry_text(message), message->n))
            return false;
    }
    builder_string(b, ",\"end\":[");
    chain_text_ids(b, "[", "],[", "]", reasoning->tag + REASONING_END, reasoning->n - REASONING_END);
    builder_string(b, "]},");
    return true;
}

// Writes the stages. Notes in shown[] which parameters have their common value in a stage.
static void write_stages(const struct chain_text *t, bool *shown)
{
    struct builder *const b = t->text;
    const struct recipe_key *const p = &t->r->key;
    builder_string(b, "\"chain\":[");
    for (size_t i = 0; i < t->r->n_stages; i++) {
        const struct stage *const stage = &t->r->stage[i];
        const struct param *const rows = stage->sampler->params;
        builder_format(b, "%s{\"name\":\"%s\",\"enabled\":%s", i ? "," : "", stage->sampler->name,
                       stage_enabled(stage) ? "true" : "false");
        builder_string(b, stage->own ? ",\"own\":true" : "");
        for (size_t k = 0; rows && rows[k].flag; k++) {
            const size_t number = t->c->number[sampler_place(stage->sampler)][k];
            const double value = param_load(&rows[k], stage->params);
            if (!recipe_listens(t->r, rows[k].flag))
                continue;
            write_member(b, rows[k].flag, &rows[k], value);
            shown[number] = shown[number] || p->engine->options ||
                            (value == param_rounded(&rows[k], p->value[number]) && (k || !stage->own));
        }
        if (stage->sampler->lists == LISTS_BIASES)
            write_biases(b, p->biases);
        builder_byte(b, '}');
    }
    builder_byte(b, ']');
}

// Writes what no stage shows but later options or a row may bring to effect: values that are not the default, and the
// chain that mirostat replaces.
static void write_unlisted(const struct chain_text *t, const bool *shown)
{
    const struct recipe_key *const p = &t->r->key;
    const struct order *const order = p->order;
    for (size_t i = 0; i < t->c->n; i++) {
        const struct param *const row = t->c->param[i];
        const bool usual = p->value[i] == engine_default(p->engine, t->c, i) && !param_origin(t, i);
        if (!shown[i] && !usual && recipe_listens(t->r, row->flag))
            write_member(t->text, row->flag, row, p->value[i]);
    }
    if (p->engine->options || p->value[t->c->mirostat] == 0.0)
        return;
    builder_string(t->text, ",\"samplers\":\"");
    for (size_t i = 0; i < order->n; i++)
        chain_text_entry(t->text, &order->entry[i], i ? ";" : "");
    builder_byte(t->text, '"');
}

static bool write_json(const struct chain_text *t)
{
    struct builder *const b = t->text;
    const struct recipe_key *const p = &t->r->key;
    const struct breakers *const breakers = &p->breakers->breakers;
    const struct bans *const bans = &p->bans->bans;
    bool shown[CATALOG_MOST] = {false};
    builder_format(b, "{\"version\":\"" SAMPL_VERSION "\",\"llama_cpp\":\"" SAMPL_LLAMA_RELEASE "\",\"engine\":\"%s\",",
                   p->engine->name);
    write_seed(t);
    builder_string(b, t->a->typed.grammar_first ? ",\"grammar_first\":true," : ",");
    if (!write_reasoning(t))
        return false;
    write_stages(t, shown);
    write_unlisted(t, shown);
    if (!write_breakers_and_grammar(t) || !write_embeddings(t))
        return false;
    chain_text_ids(b, ",\"dry_breaker_tokens\":[[", "],[", "]]", breakers->sequence, breakers->n_sequences);
    chain_text_ids(b, ",\"bad_words_ids\":[[", "],[", "]]", bans->sequence, bans->n);
    chain_text_ids(b, ",\"eog_tokens\":[", "", "]", &(struct tokens){p->bans->end, p->bans->n_given},
                   p->bans->n_given > 0);
    builder_string(b, ",\"from\":");
    char before = '{';
    for (const struct option_row *row = t->a->typed.options->row; row->name; row++) {
        const char *const origin = row->param    ? param_origin(t, row->number)
                                   : row->recipe ? origin_of(t->a, row->name)
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

// Writes the text of a tag as a string, behind `before`. Refuses a tag whose text other tokens spell.
static bool write_tag(const struct chain_text *t, const char *before, const char *option, const struct tokens *tag)
{
    struct builder text = {0};
    struct ids ids = {0};
    struct token_tables tables = {0};
    bool known;
    recipes_tag_text(t->r->of, tag, &text);
    builder_string(t->text, before);
    bool ok = write_string(t, option, text.text, text.len);
    builder_byte(&text, '\0');
    ok =
        ok && (!text.failed || err_from_fault(t->e, fault_memory())) &&
        recipes_tag_tokens(t->r->of, &tables, option, text.text, false, &ids, &known, t->e) &&
        ((ids.n == tag->n && (!ids.n || !memcmp(ids.id, tag->id, ids.n * sizeof *ids.id))) ||
         err_set(t->e, STATUS_USAGE, "--print-chain: llama-server takes --%s as text, and makes other tokens of '%.*s'",
                 option, err_clip(text.text, 40), text.text));
    token_tables_free(&tables);
    free(ids.id);
    builder_free(&text);
    return ok;
}

static bool write_request_reasoning(const struct chain_text *t)
{
    const struct reasoning *const reasoning = t->r->key.reasoning;
    builder_format(t->text, ",\"reasoning_budget_tokens\":%" PRId64, reasoning->tokens);
    bool ok = write_tag(t, ",\"reasoning_budget_start_tag\":", "reasoning-start", &reasoning->tag[REASONING_START]);
    for (size_t i = REASONING_END; ok && i < reasoning->n; i++)
        ok = write_tag(t, i > REASONING_END ? "," : ",\"reasoning_budget_end_tags\":[", "reasoning-end",
                       &reasoning->tag[i]);
    return ok && write_tag(t, "],\"reasoning_budget_message\":", "reasoning-budget-message",
                           &reasoning->tag[REASONING_MESSAGE]);
}

static bool write_request(const struct chain_text *t)
{
    struct builder *const b = t->text;
    const struct recipe_key *const p = &t->r->key;
    double value[CATALOG_MOST];
    bool written[CATALOG_MOST] = {false};
    if (!chain_text_request_values(t, value))
        return false;
    builder_string(b, "{\"samplers\":[");
    for (size_t i = 0; i < p->order->n; i++)
        builder_format(b, "%s\"%s\"", i ? "," : "", entry_sampler(&p->order->entry[i])->name);
    builder_string(b, "],");
    write_seed(t);
    for (size_t i = 0; samplers[i]; i++)
        for (size_t k = 0; samplers[i]->in_llama != LLAMA_LACKS && samplers[i]->params && samplers[i]->params[k].flag;
             k++) {
            const size_t number = t->c->number[i][k];
            const struct param *const row = t->c->param[number];
            const char *const heading = t->c->heading[number];
            if (!written[number] && (!heading || strcmp(heading, FOREIGN_HEADING) != 0) && !chain_text_own(row->flag))
                write_member(b, row->server ? row->server : row->flag, row, value[number]);
            written[number] = true;
        }
    write_member(b, "mirostat", t->c->param[t->c->mirostat], value[t->c->mirostat]);
    if (!write_breakers_and_grammar(t))
        return false;
    if (p->biases->n)
        write_biases(b, p->biases);
    if (recipe_budget(t->r) && !write_request_reasoning(t))
        return false;
    builder_string(b, "}\n");
    return true;
}

// ---- all of it

static bool check_memory(const struct builder *text, struct err *e)
{
    return !text->failed || err_from_fault(e, fault_memory());
}

bool print_grammar(struct builder *text, const struct recipe *r, struct err *e)
{
    const struct shared *const rules = &r->key.rules->shared;
    grammar_show(text, rules->key, rules->len, r->of->vocab);
    if (!text->len || text->text[text->len - 1] != '\n')
        builder_byte(text, '\n');
    return check_memory(text, e);
}

bool print_chain(struct builder *text, const struct args *a, const struct recipe *r, struct err *e)
{
    static const struct {
        const char *how;
        bool (*write)(const struct chain_text *t);
    } forms[] = {{"text", write_lines},
                 {"json", write_json},
                 {"llama", chain_text_options},
                 {"server", write_request},
                 {"preset", chain_text_options}};
    const struct chain_text t = {.a = a, .r = r, .c = &r->of->catalog, .text = text, .e = e};
    size_t i = 0;
    while (strcmp(forms[i].how, a->how) != 0)
        i++;
    return forms[i].write(&t) && check_memory(text, e);
}
