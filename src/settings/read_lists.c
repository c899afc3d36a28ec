// SPDX-License-Identifier: MIT
// Lists of settings (settings/read.h): biases, texts, and lists of tokens.
#include "settings/read.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct list *read_begin(const struct settings_reader *r, enum list_kind kind, const cJSON *item)
{
    return r->target->list(r->to, kind, item->string, r->view.e);
}

// Returns the kind of list that a row's option sets. FIELD_PROMPT has no option.
static enum list_kind read_kind(const struct field_row *f)
{
    size_t kind = 0;
    while (f->option && strcmp(list_options[kind] + strlen("--"), f->option) != 0)
        kind++;
    return f->option ? (enum list_kind)kind : LIST_GENERATION;
}

// ---- biases

// A bias of an item.
struct read_bias {
    const cJSON *item, *entry;
    const cJSON *token, *amount; // NULL: the entry has none. The key of an entry is a string
};

// Adds the bias of a token id, or of the tokens that the model's tokenizer makes of a text. Without an amount, or with
// one that is false or null, the token is banned.
static bool add_typed_bias(const struct settings_reader *r, const struct read_bias *b)
{
    double id, x = 0.0;
    const bool number = view_is_number(b->token, &id);
    const char *const text = b->amount && b->amount->valuestring ? b->amount->valuestring : "-inf";
    if ((number ? id != trunc(id) || id < INT32_MIN || id > INT32_MAX
                : !cJSON_IsString(b->token) || !*b->token->valuestring) ||
        (view_is_on(b->amount) && !view_is_number(b->amount, &x)))
        return read_wrong(r, b->item, "a list of token ids and biases");
    if (!number) {
        struct list *const list = r->target->list(r->to, LIST_BIASES, NULL, r->view.e);
        const bool ban = !b->amount || !b->amount->valuestring;
        if (list)
            list_add_text(list, ENTRY_TEXT, b->token->valuestring, strlen(b->token->valuestring),
                          ban ? -INFINITY : (float)x);
        return list;
    }
    struct builder typed = {0};
    builder_format(&typed, "%.0f%s%s", id, *text == '-' || *text == '+' ? "" : "+", text);
    const bool ok = typed.failed ? err_from_fault(r->view.e, fault_memory()) : read_option(r, "logit-bias", typed.text);
    builder_free(&typed);
    return ok;
}

// Adds the bias of a text, or of one token. A key of digits is an id.
static bool add_server_bias(const struct settings_reader *r, struct list *list, const struct read_bias *b)
{
    struct err *const e = r->view.e;
    const bool ban = cJSON_IsFalse(b->amount), keyed = cJSON_IsObject(b->item);
    const float bias = ban ? -INFINITY : (float)cJSON_GetNumberValue(b->amount);
    const char *const name = cJSON_GetStringValue(b->token);
    const bool digits = keyed && name && *name && !name[strspn(name, "0123456789")];
    const cJSON number = {.type = cJSON_Number, .valuedouble = digits ? strtod(name, NULL) : 0.0};
    const char *const text = digits ? NULL : name;
    const int64_t id = json_id(digits ? &number : b->token);
    if ((!ban && !cJSON_IsNumber(b->amount)) || (!text && id < 0) || (keyed && b->amount != b->entry))
        return read_wrong(r, b->item, "a list of pairs of a token and a bias");
    if (bias == INFINITY && text)
        return err_set(e, STATUS_USAGE, "--logit-bias: '\"%.100s\"+inf': only -inf is an infinite bias", text);
    if (bias == INFINITY)
        return err_set(e, STATUS_USAGE, "--logit-bias: '%" PRId64 "+inf': only -inf is an infinite bias", id);
    if (text)
        list_add_text(list, ENTRY_ESCAPED, text, strlen(text), bias);
    else
        list_add_ids(list, &(uint32_t){(uint32_t)id}, 1, bias);
    return true;
}

// Adds the biases of a request. Each is a pair of a token and a number, or a member of an object; false bans the token.
// Others are skipped, and so are ids below 0. A text of a pair is text, also of digits; a key of an object is an id if
// strtol reads the whole of it.
static bool read_request_biases(struct settings_reader *r, const cJSON *item)
{
    struct list *const list = read_begin(r, LIST_BIASES, item);
    bool ok = list && read_option(r, "ignore-eos", "false"); // its bans are biases, too
    if (list)
        list->unknown = UNKNOWN_IDS_LEFT_OUT;
    for (const cJSON *entry = cJSON_IsArray(item) || cJSON_IsObject(item) ? item->child : NULL; ok && entry;
         entry = entry->next) {
        const cJSON key = {.type = cJSON_String, .valuestring = entry->string};
        const bool pair = cJSON_IsArray(item);
        const cJSON *const token = pair ? cJSON_GetArrayItem(cJSON_IsArray(entry) ? entry : NULL, 0) : &key;
        const cJSON *const amount = pair && token ? token->next : entry;
        double x = -INFINITY, id = -1.0;
        char *end = NULL;
        if (!token || !amount || (pair && amount->next) || !(cJSON_IsRaw(amount) || cJSON_IsFalse(amount)))
            continue;
        if (cJSON_IsRaw(amount) && !view_is_number(amount, &x))
            continue;
        const float bias = (float)x;
        if (pair && cJSON_IsRaw(token) && !strpbrk(token->valuestring, ".eE"))
            read_server_number(r, token, true, &id);
        if (!pair) {
            const long number = strtol(token->valuestring, &end, 10);
            id = *end ? -1.0 : (double)(int32_t)(uint32_t)(unsigned long)number;
        }
        const bool text = pair ? cJSON_IsString(token) : *end != '\0';
        if ((text || id >= 0.0) && bias == INFINITY)
            return err_set(r->view.e, STATUS_USAGE, "logit_bias: only -inf is an infinite bias");
        if (text && !r->vocab) {
            view_unsupported(&r->view, item);
            return ok;
        }
        if (text)
            list_add_text(list, ENTRY_TEXT, token->valuestring, strlen(token->valuestring), bias);
        else if (id >= 0.0)
            list_add_ids(list, &(uint32_t){(uint32_t)id}, 1, bias);
    }
    return ok;
}

// Reads biases. Where options are set, texts are tokens only if there is a vocabulary.
bool read_biases(struct settings_reader *r, const cJSON *item)
{
    if (reads_as_request(r))
        return read_request_biases(r, item);
    struct list *const list = reads_as_server(r) ? read_begin(r, LIST_BIASES, item) : NULL;
    bool ok = true;
    if (reads_as_server(r) && !(list && (cJSON_IsArray(item) || cJSON_IsObject(item))))
        return list && read_wrong(r, item, "a list of pairs of a token and a bias");
    for (const cJSON *entry = item->child; ok && entry; entry = entry->next) {
        const cJSON key = {.type = cJSON_String, .valuestring = entry->string};
        struct read_bias b = {item, entry, &key, entry};
        double id;
        if (cJSON_IsArray(entry)) {
            b.token = cJSON_GetArrayItem(entry, 0);
            b.amount = cJSON_GetArrayItem(entry, 1);
        } else if (cJSON_IsObject(entry)) {
            b.token = cJSON_GetObjectItemCaseSensitive(entry, "token");
            b.amount = cJSON_GetObjectItemCaseSensitive(entry, "bias");
        }
        const bool known = b.token && b.token->valuestring && (r->vocab || view_is_number(b.token, &id));
        if (reads_as_server(r)) {
            ok = add_server_bias(r, list, &b);
        } else if (known) {
            ok = add_typed_bias(r, &b);
        } else {
            view_unsupported(&r->view, item);
            break;
        }
    }
    return ok;
}

// ---- lists of texts and of tokens

// Returns the array that an item is, or that its text is, with or without brackets; NULL: none. *parsed is to be
// deleted.
static const cJSON *array_of(const struct settings_reader *r, const cJSON *item, cJSON **parsed)
{
    const char *const text = cJSON_GetStringValue(item);
    struct builder b = {0};
    *parsed = NULL;
    if (text) {
        builder_format(&b, text[strspn(text, " \n")] == '[' ? "%s" : "[%s]", text);
        item = *parsed = b.failed ? NULL : json_parse(b.text, b.len, JSON_EXACT, r->view.e);
        builder_free(&b);
    }
    return cJSON_IsArray(item) && json_refuse_nul(item, STATUS_USAGE, r->view.e) ? item : NULL;
}

// Adds a text, or each text of an array or object, to a list as it is; empty texts are left out. False if the item, or
// one in it, is no text.
static bool add_list_texts(const cJSON *item, struct list *l)
{
    const bool several = !cJSON_IsString(item) && (cJSON_IsArray(item) || cJSON_IsObject(item));
    for (const cJSON *text = several ? item->child : item; text; text = several ? text->next : NULL) {
        if (!cJSON_IsString(text))
            return false;
        if (*text->valuestring)
            list_add_text(l, ENTRY_TEXT, text->valuestring, strlen(text->valuestring), 0.0f);
    }
    return true;
}

// Reads the texts of breakers, which replace those that stood before, and have no escapes. In a preset they may stand
// in a text.
bool read_breakers(const struct settings_reader *r, const cJSON *item)
{
    const char *const text = cJSON_GetStringValue(item);
    cJSON *parsed = NULL;
    if (text && !reads_as_server(r) && !text[strspn(text, " \n")])
        return true;
    struct list *const list = read_begin(r, LIST_BREAKERS, item);
    const cJSON *const texts = reads_as_server(r) ? item : array_of(r, item, &parsed), *entry;
    bool ok = list && cJSON_IsArray(texts) && (texts->child || !reads_as_server(r));
    cJSON_ArrayForEach(entry, texts)
    {
        const char *const breaker = cJSON_GetStringValue(entry);
        ok = ok && breaker;
        if (ok && reads_as_server(r) && !*breaker)
            ok = read_option(r, "dry-sequence-breaker", ""); // which notes that it is left out
        else if (ok && reads_as_server(r) && !reads_as_request(r) && !strcmp(breaker, "none"))
            list_begin(list, list->name);
        else if (ok && *breaker)
            list_add_text(list, ENTRY_TEXT, breaker, strlen(breaker), 0.0f);
    }
    cJSON_Delete(parsed);
    return ok || (list && read_wrong(r, item, "a list of texts"));
}

bool read_json(const struct settings_reader *r, const char *option, const cJSON *item)
{
    char *const text = cJSON_PrintUnformatted(item);
    const bool bracket = text && cJSON_IsArray(item);
    if (bracket)
        text[strlen(text) - 1] = '\0';
    const bool ok = text ? read_option(r, option, text + bracket) : err_from_fault(r->view.e, fault_memory());
    cJSON_free(text);
    return ok;
}

static bool read_typed_bans(const struct settings_reader *r, const cJSON *item)
{
    cJSON *parsed;
    const cJSON *const list = array_of(r, item, &parsed), *entry;
    bool ok = list || read_wrong(r, item, "a list of token ids and biases");
    cJSON_ArrayForEach(entry, list) { ok = ok && add_typed_bias(r, &(struct read_bias){item, entry, entry, NULL}); }
    cJSON_Delete(parsed);
    return ok;
}

static bool read_typed_sequences(const struct settings_reader *r, const struct field_row *f, const cJSON *item)
{
    const cJSON *entry;
    bool lists = cJSON_IsArray(item), ok = true;
    cJSON_ArrayForEach(entry, item)
    {
        if (ok && cJSON_IsString(entry) && *entry->valuestring)
            ok = read_option(r, f->option, entry->valuestring);
        else if (ok && cJSON_IsArray(entry) && entry->child)
            ok = read_json(r, f->option, entry);
        lists = lists && (cJSON_IsArray(entry) || cJSON_IsString(entry));
    }
    return ok && (lists || !view_is_on(item) || read_wrong(r, item, "a list of lists of token ids"));
}

// Appends the tokens of a list of numbers, or of numbers in a text. Errors name the member `of`.
static bool read_token_numbers(const struct settings_reader *r, const cJSON *of, const cJSON *list, struct ids *ids)
{
    bool ok = cJSON_IsArray(list);
    if (cJSON_IsString(list))
        return ids_read("bad-word-tokens", list->valuestring, 0, ids, r->view.e);
    for (const cJSON *item = ok ? list->child : NULL; ok && item; item = item->next) {
        double x = -1.0;
        ok = (cJSON_IsNumber(item) || cJSON_IsBool(item)) && read_server_number(r, item, true, &x);
        ok = ok && x >= 0 && x <= UINT32_MAX;
        const uint32_t id = ok ? (uint32_t)x : 0;
        if (ok && !mem_push(&ids->id, &ids->n, &ids->cap, &id, sizeof id))
            return err_from_fault(r->view.e, fault_memory());
    }
    return ok || read_wrong(r, of, list == of ? "a list of tokens" : "a list of lists of tokens");
}

// Reads sequences of tokens, or single tokens.
static bool read_server_tokens(const struct settings_reader *r, const struct field_row *f, const cJSON *item)
{
    const bool lists = cJSON_IsArray(item) && cJSON_IsArray(item->child);
    struct list *const to = read_begin(r, read_kind(f), item);
    struct ids ids = {0};
    bool ok = to;
    for (const cJSON *list = lists ? item->child : item; ok && list; list = lists ? list->next : NULL) {
        ids.n = 0;
        ok = lists && cJSON_IsString(list) ? read_wrong(r, item, "a list of lists of tokens")
                                           : read_token_numbers(r, item, list, &ids);
        for (size_t i = 0, n = lists ? ids.n : 1; ok && i < ids.n; i += n)
            list_add_ids(to, ids.id + i, n, 0.0f);
    }
    free(ids.id);
    return ok;
}

bool read_sequences(const struct settings_reader *r, const struct field_row *f, const cJSON *item)
{
    return reads_as_server(r) ? read_server_tokens(r, f, item) : read_typed_sequences(r, f, item);
}

bool read_bans(const struct settings_reader *r, const struct field_row *f, const cJSON *item)
{
    return reads_as_server(r) ? read_server_tokens(r, f, item) : read_typed_bans(r, item);
}

// Reads a text of the reasoning budget, or the prompt of a template.
bool read_one_text(const struct settings_reader *r, const struct field_row *f, const cJSON *item)
{
    if (!reads_as_server(r) && !view_is_on(item))
        return true;
    struct list *const list = read_begin(r, read_kind(f), item);
    if (!cJSON_IsString(item))
        return list && read_wrong(r, item, "a string");
    if (list)
        list_add_text(list, ENTRY_TEXT, item->valuestring, strlen(item->valuestring), 0.0f);
    return list;
}

// Reads a text or a list of texts, empty ones left out. "reasoning_budget_end_tags" counts more than
// "reasoning_budget_end_tag".
bool read_tags(const struct settings_reader *r, const cJSON *item)
{
    if (!reads_as_server(r) && !view_is_on(item))
        return true;
    const cJSON *const tags = json_member(r->view.settings, "reasoning_budget_end_tags");
    struct list other = {0}, *const to = tags && tags != item ? &other : read_begin(r, LIST_END_TAGS, item);
    const bool ok = to && add_list_texts(item, to);
    list_free(&other);
    return ok || (to && read_wrong(r, item, "a list of texts"));
}
