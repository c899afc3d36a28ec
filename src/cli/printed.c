// SPDX-License-Identifier: MIT
// Reads --print-chain=json back. Each stage has a value for each of its parameters. A value that all stages share
// becomes the option, so that later options and a row's parameters change it. A first parameter that differs, or that
// the file calls the stage's own, becomes NAME=VALUE in the chain.
#include "cli/foreign.h"
#include "settings/value.h"

#include <assert.h>
#include <string.h>

// Is an item one of these members, separated by spaces?
static bool is_member(const cJSON *item, const char *names)
{
    return name_find(names, NAME_EXACT, item->string, strlen(item->string)) >= 0;
}

bool printed_identify(struct foreign *f) { return json_array(f->root, "chain"); }

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

// Returns a parameter's row of the sampler's table by the key of a stage. NULL: the sampler has no such parameter.
static const struct param *find_param(const struct foreign *f, const struct sampler *s, const char *key)
{
    const struct option_row *const option = foreign_row(f, key);
    return option ? sampler_param(s, option->name) : NULL;
}

// ---- a stage

// A stage of the file, checked.
struct printed_stage {
    const cJSON *object;
    const struct sampler *sampler;
    bool own;     // its first parameter is its own
    bool removed; // the file says that it is not enabled, though its values enable it
};

// Do lists of the file, not only values, enable a sampler?
static bool has_lists(const struct sampler *s)
{
    return s == &sampler_logit_bias || (s->params && !strcmp(s->params->flag, "min-tokens"));
}

// Do the values of a stage without lists enable it?
static bool values_enable(const struct foreign *f, const struct printed_stage *p)
{
    const struct catalog *const c = f->a->typed.options->catalog;
    const size_t place = sampler_place(p->sampler);
    double value[CATALOG_MOST];
    const struct param *row;
    catalog_defaults(c, value);
    for (const cJSON *item = p->object->child; item; item = item->next) {
        struct err ignored = {0};
        if (!(row = find_param(f, p->sampler, item->string)) || !cJSON_IsRaw(item))
            continue;
        const size_t number = c->number[place][row - p->sampler->params];
        value_parse(c->param[number], item->valuestring, &value[number], &ignored);
    }
    return p->sampler->params && catalog_enables(c, place, value, NULL);
}

// Checks the name and the members of a stage, and fills *p. False with *e.
static bool check_stage(struct foreign *f, const cJSON *object, struct printed_stage *p)
{
    const char *const name = cJSON_GetStringValue(json_member(object, "name"));
    const cJSON *const enabled = json_member(object, "enabled"), *const own = json_member(object, "own");
    const cJSON *item;
    *p = (struct printed_stage){object, find_sampler(name), cJSON_IsTrue(own), false};
    if (!name)
        return err_set(f->e, STATUS_USAGE, "chain: a stage has no name");
    if (!p->sampler)
        return err_set(f->e, STATUS_USAGE, "chain: unknown sampler '%.*s'", err_clip(name, 40), name);
    if (own && (!cJSON_IsBool(own) || !p->sampler->params))
        return err_set(f->e, STATUS_USAGE, "chain: own of %s is not true or false, or it has no parameter", name);
    if (enabled && !cJSON_IsBool(enabled))
        return err_set(f->e, STATUS_USAGE, "chain: enabled of %s is not true or false", name);
    cJSON_ArrayForEach(item, object)
    {
        const bool biases = p->sampler == &sampler_logit_bias && is_member(item, "logit_bias");
        if (is_member(item, "name enabled own") || biases)
            continue;
        if (!find_param(f, p->sampler, item->string))
            return err_set(f->e, STATUS_USAGE, "chain: %s has no parameter %.*s", name, err_clip(item->string, 40),
                           item->string);
        if (!cJSON_IsRaw(item) && !cJSON_IsBool(item))
            return err_set(f->e, STATUS_USAGE, "chain: %s of %s is neither a number nor true or false", item->string,
                           name);
    }
    p->removed = cJSON_IsFalse(enabled) && (has_lists(p->sampler) || values_enable(f, p));
    return true;
}

// ---- the chain

static const char *spelling(const cJSON *item)
{
    return cJSON_IsRaw(item) ? item->valuestring : cJSON_IsTrue(item) ? "true" : "false";
}

// Sets the option of a parameter, unless another stage or a member besides the chain did. common[] has the spelling of
// the values that stages set, by the option's row. Returns the value of another stage if it differs; else NULL.
static const char *add_common(struct foreign *f, const struct param *row, const cJSON *item, const char **common)
{
    const size_t number = (size_t)(foreign_row(f, row->flag) - f->a->typed.options->row);
    if (!name_set_has(&f->given, number)) {
        common[number] = spelling(item);
        foreign_set(f, row->flag, common[number]);
    }
    return common[number] && strcmp(common[number], spelling(item)) != 0 ? common[number] : NULL;
}

// Adds the options of a stage's parameters but the first. False with *e if another stage has another value.
static bool add_values(struct foreign *f, const struct printed_stage *p, const char **common)
{
    assert(p->sampler);
    for (const cJSON *item = p->object->child; item; item = item->next) {
        const struct param *const row = find_param(f, p->sampler, item->string);
        const char *const other = row && row != p->sampler->params ? add_common(f, row, item, common) : NULL;
        if (other)
            return err_set(f->e, STATUS_USAGE, "chain: two values of %s: %s and %s", item->string, other,
                           spelling(item));
    }
    return true;
}

// Adds the option of a stage's first parameter. Returns the value if the parameter is the stage's own; else NULL.
static const char *add_first_value(struct foreign *f, const struct printed_stage *p, const char **common)
{
    const struct param *const first = p->sampler->params;
    for (const cJSON *item = p->object->child; first && item; item = item->next)
        if (find_param(f, p->sampler, item->string) == first && (p->own || add_common(f, first, item, common)))
            return spelling(item);
    return NULL;
}

// Adds the samplers of the chain, and its biases. Without mirostat, the samplers become a value of --samplers. The
// default chain does so only if --samplers named it. *bans becomes false if the file switches the stage bans off, which
// a chain prints, too, if nothing can be banned.
static bool add_stages(struct foreign *f, const char *engine, bool *bans)
{
    const cJSON *const list = json_array(f->root, "chain"), *const from = json_member(f->root, "from"), *object;
    const char *common[OPTIONS_MOST] = {NULL};
    const cJSON *const named = json_member(f->root, "samplers");
    bool mirostat = false;
    struct printed_stage p;
    cJSON_ArrayForEach(object, list)
    {
        if (!check_stage(f, object, &p) || (!p.removed && !add_values(f, &p, common)))
            return false;
        if (p.removed && engine && !has_lists(p.sampler))
            return err_set(f->e, STATUS_USAGE, "chain: engine %s has no chain without %s", engine, p.sampler->name);
    }
    builder_string(&f->chain, "");
    cJSON_ArrayForEach(object, list)
    {
        if (!check_stage(f, object, &p) || p.removed) {
            *bans = *bans && p.sampler != &sampler_bans;
            continue;
        }
        const char *const own = add_first_value(f, &p, common);
        const cJSON *const biases = json_member(object, "logit_bias");
        if (biases)
            foreign_setting(f, biases);
        if (p.sampler == &sampler_mirostat || p.sampler == &sampler_mirostat_v2)
            mirostat = true;
        if (mirostat)
            foreign_set(f, "mirostat", p.sampler == &sampler_mirostat ? "1" : "2");
        else if (!sampler_internal(sampler_place(p.sampler)) && p.sampler != &sampler_dist)
            builder_format(&f->chain, "%s%s%s%s", f->chain.len ? ";" : "", p.sampler->name, own ? "=" : "",
                           own ? own : "");
        else if (!engine && p.sampler != &sampler_logit_bias && p.sampler != &sampler_bans &&
                 p.sampler != &sampler_dist)
            return err_set(f->e, STATUS_USAGE, "chain: %s is a stage of an engine, and the file names none",
                           p.sampler->name);
    }
    const bool usual = !strcmp(f->chain.text ? f->chain.text : "", DEFAULT_CHAIN) && !json_member(from, "samplers") &&
                       !json_member(from, "sampler-seq");
    if (engine || mirostat || usual)
        builder_free(&f->chain);
    if (mirostat && cJSON_IsString(named))
        builder_string(&f->chain, named->valuestring);
    return true;
}

// ---- the other members

// Reads a member besides the chain: a parameter that no stage shows, or one that presets share. Others are refused.
bool printed_key(struct foreign *f, const cJSON *item)
{
    static const char finished[] =
        "version llama_cpp chain engine from samplers reasoning grammar_first bad_words_ids eog_tokens "
        "dry_breaker_tokens";
    const struct option_row *const row = foreign_row(f, item->string);
    if (is_member(item, finished))
        return true;
    if (row && row->param && (cJSON_IsRaw(item) || cJSON_IsBool(item)))
        foreign_set(f, row->name, spelling(item));
    else if (row && is_member(item, "scatter_embeddings scatter_metric") && cJSON_IsString(item))
        foreign_set(f, row->name, item->valuestring);
    else if (foreign_knows(f, item->string))
        return false;
    else
        f->failed = !err_set(f->e, STATUS_USAGE, "a printed chain has no member %.*s", err_clip(item->string, 40),
                             item->string);
    return true;
}

// Adds an option for each list of ids of an array, which may be NULL. Refuses what is no list.
static bool add_id_lists(struct foreign *f, const char *option, const cJSON *lists)
{
    const cJSON *ids;
    bool good = !lists || cJSON_IsArray(lists);
    cJSON_ArrayForEach(ids, lists)
    {
        good = good && cJSON_IsArray(ids);
        if (good)
            foreign_set_json(f, option, ids);
    }
    return good || err_set(f->e, STATUS_USAGE, "%s is not a list of lists of ids", lists->string);
}

static bool add_reasoning(struct foreign *f)
{
    const cJSON *const reasoning = json_member(f->root, "reasoning"), *const tokens = json_member(reasoning, "tokens"),
                       *const start = json_array(reasoning, "start"),
                       *const message = json_member(reasoning, "message");
    const char *const text = cJSON_GetStringValue(json_member(reasoning, "message_text"));
    if (!reasoning)
        return true;
    if (!tokens || !cJSON_IsRaw(tokens))
        return err_set(f->e, STATUS_USAGE, "reasoning: tokens is not a number");
    foreign_set(f, "reasoning-budget", tokens->valuestring);
    if (foreign_is_on(start))
        foreign_set_json(f, "reasoning-start", start);
    if (text)
        foreign_set(f, "reasoning-budget-message", text);
    else if (foreign_is_on(message)) // the option has only a text
        foreign_unsupported(f, message);
    return add_id_lists(f, "reasoning-end", json_member(reasoning, "end"));
}

void printed_finish(struct foreign *f)
{
    const char *const named = cJSON_GetStringValue(json_member(f->root, "engine"));
    const char *const engine = named && strcmp(named, "llama") != 0 ? named : NULL;
    const cJSON *const ends = json_array(f->root, "eog_tokens"), *end;
    bool bans = true;
    if (!add_stages(f, engine, &bans) ||
        !add_id_lists(f, "dry-breaker-tokens", json_member(f->root, "dry_breaker_tokens")) ||
        (bans && !add_id_lists(f, "bad-word-tokens", json_member(f->root, "bad_words_ids"))) || !add_reasoning(f)) {
        f->failed = true;
        return;
    }
    cJSON_ArrayForEach(end, ends)
    {
        if (!cJSON_IsRaw(end))
            f->failed = !err_set(f->e, STATUS_USAGE, "eog_tokens is not a list of ids");
    }
    if (ends && ends->child)
        foreign_set_json(f, "eog-tokens", ends);
    if (cJSON_IsTrue(json_member(f->root, "grammar_first")))
        foreign_set(f, "grammar-first", NULL);
    if (engine)
        foreign_set(f, "engine", engine);
}
