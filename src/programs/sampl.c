// SPDX-License-Identifier: MIT
// sampl: the parameters of a row (sampl-input(5), sampl(3)), and --print-chain=json, which is read back. A printed
// chain has stages, each with a value for each of its parameters. A value that all stages share becomes the option, so
// that later options and a row's parameters change it. A first parameter that differs, or that the file calls the
// stage's own, becomes NAME=VALUE in the chain.
#include "programs/llama.h"

#include <assert.h>

// Besides llama-server's names, those that other programs' presets have for parameters of samplers.
static const struct field_row fields[] = {
    {"*", .form = FIELD_SAMPLER},
    {"seed", "seed", FIELD_SEED},
    {"samplers", "samplers", FIELD_ORDER},
    LLAMA_FIELDS,
    {"generation_prompt", .form = FIELD_PROMPT},
    PRESET_FIELDS,
    {LLAMA_OTHERS, .form = FIELD_OTHER},
    {NULL},
};

static bool find_chain(struct file_view *v) { return json_array(v->root, "chain"); }

// Returns whether an item is one of these members, separated by spaces.
static bool is_member(const cJSON *item, const char *names)
{
    return name_find(names, NAME_EXACT, item->string, strlen(item->string)) >= 0;
}

// Finds a sampler by its name, also one that --samplers does not accept. NULL: there is none.
static const struct sampler *find_sampler(const char *name)
{
    const struct sampler *const known = name ? sampler_by_name(name, strlen(name)) : NULL;
    if (known)
        return known;
    for (size_t i = 0; name && samplers[i]; i++)
        if (!strcmp(samplers[i]->name, name))
            return samplers[i];
    return NULL;
}

// Finds a parameter by the name of its option, in which '_' is equal to '-'. Returns its number in the catalog; c->n:
// there is none.
static size_t number_of(const struct catalog *c, const char *key)
{
    size_t i = 0;
    while (i < c->n && !name_of_option(c->param[i]->flag, key, strlen(key)) &&
           !name_of_option(c->param[i]->also, key, strlen(key)))
        i++;
    return i;
}

// Returns a parameter's row of the sampler's table by the key of a stage. NULL: the sampler has no such parameter.
static const struct param *find_param(const struct file_view *v, const struct sampler *s, const char *key)
{
    const size_t number = number_of(v->catalog, key);
    return number < v->catalog->n ? sampler_param(s, v->catalog->param[number]->flag) : NULL;
}

// ---- a stage

// A stage of the file, checked.
struct printed_stage {
    const cJSON *object;
    const struct sampler *sampler;
    bool own;     // its first parameter is its own
    bool removed; // the file says that it is not enabled, though its values enable it
};

// Returns whether lists of the file, not only values, enable a sampler.
static bool has_lists(const struct sampler *s) { return s->lists == LISTS_BIASES || s->counts_tokens; }

// Returns whether the values of a stage without lists enable it.
static bool values_enable(const struct file_view *v, const struct printed_stage *p)
{
    const struct catalog *const c = v->catalog;
    const size_t place = sampler_place(p->sampler);
    double value[CATALOG_MOST];
    const struct param *row;
    catalog_defaults(c, value);
    for (const cJSON *item = p->object->child; item; item = item->next) {
        double x;
        row = find_param(v, p->sampler, item->string);
        if (!row || !cJSON_IsRaw(item) || !view_is_number(item, &x))
            continue;
        const size_t number = c->number[place][row - p->sampler->params];
        if (x >= c->param[number]->low && x <= c->param[number]->high)
            value[number] = x;
    }
    return p->sampler->params && catalog_enables(c, place, value, NULL);
}

// Checks the name and the members of a stage, and fills *p. False with *e.
static bool check_stage(struct file_view *v, const cJSON *object, struct printed_stage *p)
{
    const char *const name = cJSON_GetStringValue(json_member(object, "name"));
    const cJSON *const enabled = json_member(object, "enabled"), *const own = json_member(object, "own");
    const cJSON *item;
    *p = (struct printed_stage){object, find_sampler(name), cJSON_IsTrue(own), false};
    if (!name)
        return view_refuse(v, "chain: a stage has no name");
    if (!p->sampler)
        return view_refuse(v, "chain: unknown sampler '%.*s'", err_clip(name, 40), name);
    if (own && (!cJSON_IsBool(own) || !p->sampler->params))
        return view_refuse(v, "chain: own of %s is not true or false, or it has no parameter", name);
    if (enabled && !cJSON_IsBool(enabled))
        return view_refuse(v, "chain: enabled of %s is not true or false", name);
    cJSON_ArrayForEach(item, object)
    {
        const bool biases = p->sampler->lists == LISTS_BIASES && is_member(item, "logit_bias");
        if (is_member(item, "name enabled own") || biases)
            continue;
        if (!find_param(v, p->sampler, item->string))
            return view_refuse(v, "chain: %s has no parameter %.*s", name, err_clip(item->string, 40), item->string);
        if (!cJSON_IsRaw(item) && !cJSON_IsBool(item))
            return view_refuse(v, "chain: %s of %s is neither a number nor true or false", item->string, name);
    }
    p->removed = cJSON_IsFalse(enabled) && (has_lists(p->sampler) || values_enable(v, p));
    return true;
}

// ---- the chain

static const char *spelling(const cJSON *item)
{
    return cJSON_IsRaw(item) ? item->valuestring : cJSON_IsTrue(item) ? "true" : "false";
}

// Sets the option of a parameter, unless another stage or a member besides the chain did. common[] has the spelling of
// the values that stages set, by the option's row. Returns the value of another stage if it differs; else NULL.
static const char *add_common(struct file_view *v, const struct param *row, const cJSON *item, const char **common)
{
    const size_t number = catalog_find(v->catalog, row->flag);
    if (!name_set_has(&v->given, number)) {
        common[number] = spelling(item);
        view_set(v, row->flag, common[number]);
    }
    return common[number] && strcmp(common[number], spelling(item)) != 0 ? common[number] : NULL;
}

// Adds the options of a stage's parameters but the first. False with *e if another stage has another value.
static bool add_values(struct file_view *v, const struct printed_stage *p, const char **common)
{
    assert(p->sampler);
    for (const cJSON *item = p->object->child; item; item = item->next) {
        const struct param *const row = find_param(v, p->sampler, item->string);
        const char *const other = row && row != p->sampler->params ? add_common(v, row, item, common) : NULL;
        if (other)
            return view_refuse(v, "chain: two values of %s: %s and %s", item->string, other, spelling(item));
    }
    return true;
}

// Adds the option of a stage's first parameter. Returns the value if the parameter is the stage's own; else NULL.
static const char *add_first_value(struct file_view *v, const struct printed_stage *p, const char **common)
{
    const struct param *const first = p->sampler->params;
    for (const cJSON *item = p->object->child; first && item; item = item->next)
        if (find_param(v, p->sampler, item->string) == first && (p->own || add_common(v, first, item, common)))
            return spelling(item);
    return NULL;
}

// Adds the samplers of the chain, and its biases. Without mirostat, the samplers become a value of --samplers. The
// default chain does so only if --samplers named it. *bans becomes false if the file switches the stage bans off, which
// a chain prints, too, if nothing can be banned.
static bool add_stages(struct file_view *v, const char *engine, bool *bans)
{
    const cJSON *const list = json_array(v->root, "chain"), *const from = json_member(v->root, "from"), *object;
    const char *common[CATALOG_MOST] = {NULL};
    const cJSON *const named = json_member(v->root, "samplers");
    bool mirostat = false;
    struct printed_stage p;
    cJSON_ArrayForEach(object, list)
    {
        if (!check_stage(v, object, &p) || (!p.removed && !add_values(v, &p, common)))
            return false;
        if (p.removed && engine && !has_lists(p.sampler))
            return view_refuse(v, "chain: engine %s has no chain without %s", engine, p.sampler->name);
    }
    builder_string(&v->chain, "");
    cJSON_ArrayForEach(object, list)
    {
        if (!check_stage(v, object, &p) || p.removed) {
            *bans = *bans && p.sampler->lists != LISTS_BANS;
            continue;
        }
        const char *const own = add_first_value(v, &p, common);
        const cJSON *const biases = json_member(object, "logit_bias");
        if (biases)
            view_read(v, "logit_bias", biases);
        if (p.sampler->mirostat)
            mirostat = true;
        if (mirostat)
            view_set(v, "mirostat", p.sampler->mirostat == 1 ? "1" : "2");
        else if (!sampler_internal(sampler_place(p.sampler)) && p.sampler->in_llama != LLAMA_IMPLIES)
            builder_format(&v->chain, "%s%s%s%s", v->chain.len ? ";" : "", p.sampler->name, own ? "=" : "",
                           own ? own : "");
        else if (!engine && p.sampler->in_llama != LLAMA_IMPLIES)
            return view_refuse(v, "chain: %s is a stage of an engine, and the file names none", p.sampler->name);
    }
    const bool usual = !strcmp(v->chain.text ? v->chain.text : "", DEFAULT_CHAIN) && !json_member(from, "samplers") &&
                       !json_member(from, "sampler-seq");
    if (engine || mirostat || usual)
        builder_free(&v->chain);
    if (mirostat && cJSON_IsString(named))
        builder_string(&v->chain, named->valuestring);
    return true;
}

// ---- the other members

// Reads a member besides the chain: a parameter that no stage shows, or one that presets share. Others are refused.
static bool read_key(struct file_view *v, const cJSON *item)
{
    static const char finished[] =
        "version llama_cpp chain engine from samplers reasoning grammar_first bad_words_ids eog_tokens "
        "dry_breaker_tokens";
    const size_t number = number_of(v->catalog, item->string);
    if (is_member(item, finished))
        return true;
    if (number < v->catalog->n && (cJSON_IsRaw(item) || cJSON_IsBool(item)))
        view_set(v, v->catalog->param[number]->flag, spelling(item));
    else if (is_member(item, "scatter_embeddings scatter_metric") && cJSON_IsString(item))
        view_set(v, item->string, item->valuestring);
    else if (view_knows(v, item->string))
        return false;
    else
        view_refuse(v, "a printed chain has no member %.*s", err_clip(item->string, 40), item->string);
    return true;
}

// Adds an option for each list of ids of an array, which may be NULL. Refuses what is no list.
static bool add_id_lists(struct file_view *v, const char *option, const cJSON *lists)
{
    const cJSON *ids;
    bool good = !lists || cJSON_IsArray(lists);
    cJSON_ArrayForEach(ids, lists)
    {
        good = good && cJSON_IsArray(ids);
        if (good)
            view_set_json(v, option, ids);
    }
    return good || view_refuse(v, "%s is not a list of lists of ids", lists->string);
}

static bool add_reasoning(struct file_view *v)
{
    const cJSON *const reasoning = json_member(v->root, "reasoning"), *const tokens = json_member(reasoning, "tokens"),
                       *const start = json_array(reasoning, "start"),
                       *const message = json_member(reasoning, "message");
    const char *const text = cJSON_GetStringValue(json_member(reasoning, "message_text"));
    if (!reasoning)
        return true;
    if (!tokens || !cJSON_IsRaw(tokens))
        return view_refuse(v, "reasoning: tokens is not a number");
    view_set(v, "reasoning-budget", tokens->valuestring);
    if (view_is_on(start))
        view_set_json(v, "reasoning-start", start);
    if (text)
        view_set(v, "reasoning-budget-message", text);
    else if (view_is_on(message)) // the option has only a text
        view_unsupported(v, message);
    return add_id_lists(v, "reasoning-end", json_member(reasoning, "end"));
}

static void finish(struct file_view *v)
{
    const char *const named = cJSON_GetStringValue(json_member(v->root, "engine"));
    const char *const engine = named && strcmp(named, "llama") != 0 ? named : NULL;
    const cJSON *const ends = json_array(v->root, "eog_tokens"), *end;
    bool bans = true;
    if (!add_stages(v, engine, &bans) ||
        !add_id_lists(v, "dry-breaker-tokens", json_member(v->root, "dry_breaker_tokens")) ||
        (bans && !add_id_lists(v, "bad-word-tokens", json_member(v->root, "bad_words_ids"))) || !add_reasoning(v)) {
        v->failed = true;
        return;
    }
    cJSON_ArrayForEach(end, ends)
    {
        if (!cJSON_IsRaw(end))
            view_refuse(v, "eog_tokens is not a list of ids");
    }
    if (ends && ends->child)
        view_set_json(v, "eog-tokens", ends);
    if (cJSON_IsTrue(json_member(v->root, "grammar_first")))
        view_set(v, "grammar-first", NULL);
    if (engine)
        view_set(v, "engine", engine);
}

// ---- the programs

// If there is a member "grammar", even an empty or null one, llama-server ignores the schema.
static bool read_param(struct file_view *v, const cJSON *item)
{
    return is_key(item, "json_schema") && cJSON_GetObjectItemCaseSensitive(v->settings, "grammar");
}

const struct program program_sampl = {
    .name = "sampl",
    .reads = "params",
    .as_of = "0.4",
    .source = "sampl-input(5)",
    .fields = fields,
    .rules = READS_AS_SERVER,
    .any_case = true,
    .refuses = true,
    .key = read_param,
};

const struct program program_sampl_chain = {
    .name = "sampl-chain",
    .reads = "printed chain",
    .as_of = "0.4",
    .source = "--print-chain=json",
    .find = find_chain,
    .marks_text = "chain, as --print-chain=json prints it",
    .fields = fields,
    .any_case = true,
    .unset = UNSET_CHAIN,
    .order_text = "the file's",
    .key = read_key,
    .finish = finish,
};
