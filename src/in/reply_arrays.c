// SPDX-License-Identifier: MIT
#include "in/reply_arrays.h"

#include "base/mem.h"
#include "kern/expf.h"
#include "json/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The arrays of a shape in an object.
struct arrays {
    const cJSON *tokens, *lists, *numbers, *ids, *starts; // NULL: not there
    const cJSON *main; // that tells the number of positions: tokens or, without them, lists
    const cJSON *cut;  // the one that is cut into pieces, the long array of the reply; NULL: none
    bool one;          // `main` is no array, but its only element
};

static size_t length(const cJSON *array) { return cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0; }

static const cJSON *next(const cJSON *value) { return value ? value->next : NULL; }

// Returns what a path leads to. An empty array counts as absent: servers write it in place of what was not asked for.
static const cJSON *array_at(const cJSON *value, const char *path)
{
    const cJSON *const found = reply_path(value, path);
    return found && found->child ? found : NULL;
}

// Returns the one of the arrays that is cut into pieces, or NULL.
static const cJSON *find_cut(const struct json_reply *reply, const struct reply_shape *k, const struct arrays *a)
{
    static const char choices[] = "choices";
    const struct json_value *const piece = reply->piece;
    if (!(piece->more || piece->continued) || reply->reached ||
        !strncmp(k->each, choices, strlen(choices)) != !strcmp(piece->array->member, choices))
        return NULL;
    const cJSON *const may_be[] = {a->tokens, a->lists};
    for (size_t i = 0; i < 2; i++)
        if (may_be[i] && cJSON_IsArray(may_be[i]) && may_be[i]->string &&
            !strcmp(may_be[i]->string, piece->array->name))
            return may_be[i];
    return NULL;
}

static struct arrays find_arrays(const struct json_reply *reply, const struct reply_shape *k, const cJSON *object,
                                 bool bare)
{
    const cJSON *const within = k->within && !bare ? reply_path(object, k->within) : object;
    struct arrays a = {.tokens = array_at(within, k->tokens),
                       .lists = array_at(within, k->lists),
                       .numbers = array_at(within, k->numbers),
                       .ids = array_at(object, k->ids),
                       .starts = array_at(within, k->starts)};
    if (!a.ids && k->part != PART_PROMPT && reply->alone) // Dynamo writes the ids of the only choice beside it
        a.ids = array_at(reply->alone, k->ids);
    a.main = a.tokens ? a.tokens : a.lists;
    a.one = a.main && k->order == ORDER_ON;
    if (!a.one && !cJSON_IsArray(a.main))
        a.main = NULL;
    a.cut = find_cut(reply, k, &a);
    return a;
}

static bool has_columns(const struct reply_shape *k)
{
    return k->form == TOKEN_COLUMNS || k->form == TOKEN_NESTED || k->form == TOKEN_STEPS;
}

// Returns the first element of an array that is not null; NULL if there is none.
static const cJSON *first_of(const cJSON *array)
{
    const cJSON *first = array && cJSON_IsArray(array) ? array->child : NULL;
    while (first && cJSON_IsNull(first))
        first = first->next;
    return first;
}

// Returns whether the first element of the arrays looks as the shape has it. marked: the reply has the shape's marker;
// without it objects that have texts alone may be anything.
static bool fits(const struct reply_shape *k, const struct arrays *a, bool marked)
{
    const cJSON *first = a->one ? a->main : first_of(a->main);
    if (k->form == TOKEN_NESTED)
        return cJSON_IsArray(first_of(a->numbers)) && cJSON_IsArray(first);
    if (has_columns(k))
        return cJSON_IsNumber(first_of(a->numbers)) && (!a->starts || cJSON_IsArray(a->starts)) &&
               (cJSON_IsNumber(first) || cJSON_IsString(first));
    if (k->form == TOKEN_ID) // an array of nulls has positions, which lack lists
        return cJSON_IsObject(first) || (a->main && !first);
    first = k->token ? reply_path(first, k->token) : first;
    if (k->form == TOKEN_RECORD)
        return cJSON_IsObject(first) &&
               (a->lists || reply_named(first, reply_names.number) || reply_named(first, reply_names.list) ||
                (marked && reply_named(first, reply_names.text)));
    return first && (k->form == TOKEN_TRIPLE || a->lists || a->numbers);
}

bool reply_arrays_fit(const struct json_reply *reply, const struct reply_shape *k, const cJSON *object, bool bare)
{
    const struct arrays a = find_arrays(reply, k, object, bare);
    return fits(k, &a, false);
}

// ---- positions

static bool add_position(struct json_reply *reply, const struct reply_position *p, struct err *e)
{
    reply->listed = reply->listed || p->list;
    return mem_push(&reply->position, &reply->n, &reply->cap, p, sizeof *p) || err_from_fault(e, fault_memory());
}

// Appends the prompt's tokens to reply->prompt, up to the first without an id. If there are some, p begins after them.
static bool add_prompt(struct json_reply *reply, const cJSON *tokens, enum token_form form, struct reply_position *p,
                       struct err *e)
{
    const size_t before = reply->n_prompt;
    struct reply_token t;
    for (const cJSON *value = tokens && cJSON_IsArray(tokens) ? tokens->child : NULL;
         value && reply_token_read(value, form, &t) && t.id >= 0; value = value->next) {
        const uint32_t id = (uint32_t)t.id;
        if (!mem_push(&reply->prompt, &reply->n_prompt, &reply->prompt_cap, &id, sizeof id))
            return err_from_fault(e, fault_memory());
    }
    if (reply->n_prompt > before) {
        p->before = before;
        p->n_before = reply->n_prompt - before;
    }
    return true;
}

// Returns the length of an array, all pieces together. SIZE_MAX: this piece does not tell.
static size_t whole_length(const struct json_reply *reply, const struct arrays *a, const cJSON *array)
{
    return array != a->cut ? length(array) : reply->piece->has_tail ? reply->piece->n_all : SIZE_MAX;
}

// Fails with STATUS_DATA if two arrays that stand side by side have different lengths.
static bool check_lengths(const struct json_reply *reply, const struct arrays *a, const cJSON *x, const cJSON *y,
                          struct err *e)
{
    if (!cJSON_IsArray(x) || !cJSON_IsArray(y))
        return true;
    const size_t n = whole_length(reply, a, x), m = whole_length(reply, a, y);
    return n == m || n == SIZE_MAX || m == SIZE_MAX ||
           err_set(e, STATUS_DATA, "\"%.40s\" has %zu elements, \"%.40s\" %zu", x->string, n, y->string, m);
}

// Returns the element of an array that the position `index` of the reply has; NULL if there is none.
static const cJSON *element_at(const struct arrays *a, const cJSON *array, size_t index)
{
    if (a->one && array == a->main)
        return array;
    return array && array == a->cut ? array->child : cJSON_GetArrayItem(array, (int)index);
}

// Returns the list of a position: the element of the lists, or what the chosen token holds; NULL if there is none.
static const cJSON *list_of(const struct reply_shape *k, const struct arrays *a, const cJSON *list, const cJSON *token)
{
    if (!a->lists)
        list = reply_named(token, reply_names.list);
    else if (k->inner)
        list = reply_path(list, k->inner);
    const cJSON *const only = cJSON_IsArray(list) && list->child && !list->child->next ? list->child : NULL;
    if (only && cJSON_IsObject(only) && cJSON_IsNumber(only->child) && !reply_named(only, reply_names.number))
        list = only; // an object from text to number, in an array of its own
    return (cJSON_IsArray(list) || cJSON_IsObject(list)) && list->child ? list : NULL;
}

// Returns whether a chosen token has a number.
static bool has_number(const struct reply_shape *k, const struct reply_position *p)
{
    struct reply_token t = {.logit = p->logit};
    return (p->chosen && isnan(p->logit) && !reply_token_read(p->chosen, k->form, &t)) || t.logit > -INFINITY;
}

// Adds the positions of arrays of which each element is one. Those of the first piece are those before the long array,
// too; those of the last piece are those behind it.
static bool add_elements(struct json_reply *reply, const struct reply_shape *k, const struct arrays *a,
                         struct reply_position *p, struct err *e)
{
    const bool prompt = k->part == PART_PROMPT, begins = prompt || k->part == PART_BOTH;
    const size_t begin = a->cut ? reply->piece->before : 0, end = a->cut ? begin + length(a->cut) : SIZE_MAX;
    const size_t n = whole_length(reply, a, a->main), n_ids = length(a->ids);
    const bool has_ids = a->one || n_ids == n;
    const cJSON *token = element_at(a, a->tokens, begin), *list = element_at(a, a->lists, begin),
                *number = element_at(a, a->numbers, begin),
                *id = has_ids ? cJSON_GetArrayItem(a->ids, (int)begin) : NULL;
    if (a->one && a->lists && a->tokens)
        list = a->lists;
    if (a->ids && !has_ids && n != SIZE_MAX)
        reply->facts |= ROW_IDS_UNUSED;
    for (size_t index = begin; (a->tokens ? token : list) && index < end; index++) {
        struct reply_position at = *p;
        at.shape = k;
        at.list = list_of(k, a, list, token);
        at.chosen = k->token ? reply_path(token, k->token) : token;
        at.logit = (float)cJSON_GetNumberValue(number);
        at.id = json_id(id);
        if (k->form == TOKEN_ID && k->order != ORDER_ON && at.id < 0 && at.list && at.list->child->string)
            at.id = reply_key_id(at.list->child->string);
        at.index = index;
        at.spare = prompt && !a->lists && !at.list;
        if (prompt && index < at.n_before)
            at.n_before = index;
        const bool start = !index && begins && !at.list && (a->lists || !has_number(k, &at));
        if (!start && !add_position(reply, &at, e))
            return false;
        p->fresh = p->fresh && start;
        token = a->one ? NULL : next(token);
        list = a->one ? NULL : next(list);
        number = next(number);
        id = next(id);
    }
    return true;
}

// ---- columns

// What the numbers of a column are.
static enum list_numbers kind_of(const cJSON *column)
{
    return column && column->string ? token_list_numbers(column->string) : LIST_LOGPROBS;
}

// Compares elements of a column: numbers before texts, by their value.
static int by_value(const void *a, const void *b)
{
    const cJSON *const x = *(const cJSON *const *)a, *const y = *(const cJSON *const *)b;
    if (x->valuestring && y->valuestring)
        return strcmp(x->valuestring, y->valuestring);
    return (x->valuedouble > y->valuedouble) - (x->valuedouble < y->valuedouble);
}

// Sets *repeats if an element of the column is there twice.
static bool find_repeat(const cJSON *column, bool *repeats, struct err *e)
{
    size_t n = 0;
    const cJSON *x, **const all = malloc((length(column) + 1) * sizeof(*all));
    *repeats = false;
    if (!all)
        return err_from_fault(e, fault_memory());
    cJSON_ArrayForEach(x, column) all[n++] = x;
    qsort((void *)all, n, sizeof(*all), by_value);
    for (size_t i = 1; i < n && !*repeats; i++)
        *repeats = !by_value(&all[i - 1], &all[i]);
    free((void *)all);
    return true;
}

// Returns whether columns are a chosen token for each position, rather than a list. A list has each token once, and
// probabilities that add up to no more than 1. Logits do not tell.
static bool find_steps(const struct reply_shape *k, const struct arrays *a, bool *steps, struct err *e)
{
    const enum list_numbers kind = kind_of(a->numbers);
    double sum = 0.0;
    const cJSON *x;
    *steps = k->form == TOKEN_STEPS;
    if (*steps || kind == LIST_LOGITS)
        return true;
    cJSON_ArrayForEach(x, a->numbers) sum += !cJSON_IsNumber(x)   ? 0.0
                                             : kind == LIST_PROBS ? x->valuedouble
                                                                  : kern_exp(x->valuedouble);
    if (!find_repeat(a->tokens, steps, e))
        return false;
    *steps = *steps || sum > 1.02;
    return true;
}

// Adds chosen tokens without lists.
static bool add_steps(struct json_reply *reply, const struct reply_shape *k, const struct arrays *a,
                      struct reply_position *p, struct err *e)
{
    struct reply_position at = *p;
    assert(a->tokens && a->numbers); // fits says so
    at.shape = k;
    at.numbers = a->numbers->child;
    for (at.chosen = a->tokens->child; at.chosen; at.chosen = at.chosen->next, at.numbers = at.numbers->next) {
        if (!add_position(reply, &at, e))
            return false;
        at.fresh = p->fresh = false;
        at.index++;
    }
    return true;
}

// Adds lists: the columns as one list, or the lists into which `starts` divides them.
static bool add_lists(struct json_reply *reply, const struct reply_shape *k, const struct arrays *a,
                      struct reply_position *p, struct err *e)
{
    assert(a->tokens && a->numbers); // fits says so
    const int64_t n = (int64_t)length(a->tokens);
    const cJSON *id = a->tokens->child, *number = a->numbers->child, *start = a->starts ? a->starts->child : NULL;
    int64_t at = 0;
    reply->facts |= a->starts ? 0u : ROW_ONE_LIST;
    for (size_t index = 0; a->starts ? start != NULL : !index; index++, start = next(start)) {
        const cJSON *const following = next(start);
        const int64_t end = following ? json_id(following) : n;
        if ((start && json_id(start) != at) || end < at || end > n)
            return err_set(e, STATUS_DATA, "\"%.40s\": element %zu does not begin a list",
                           start ? a->starts->string : "", index + (json_id(start) == at));
        struct reply_position to = *p;
        to.shape = k;
        to.index = index;
        to.list = end > at ? id : NULL;
        to.numbers = number;
        to.n_list = (size_t)(end - at);
        to.id = start && to.list ? json_id(id) : -1; // vLLM's lists begin with the chosen token
        if (k->part == PART_PROMPT && index < to.n_before)
            to.n_before = index;
        const bool first = !index && k->part == PART_PROMPT && !to.list;
        if (!first && !add_position(reply, &to, e))
            return false;
        p->fresh = p->fresh && first;
        for (; at < end; at++) {
            id = next(id);
            number = next(number);
        }
    }
    return true;
}

// Adds lists of which each is an element of the columns. Leading nulls have no row.
static bool add_nested(struct json_reply *reply, const struct reply_shape *k, const struct arrays *a,
                       struct reply_position *p, struct err *e)
{
    assert(a->tokens && a->numbers); // fits says so
    const cJSON *ids = a->tokens->child, *numbers = a->numbers->child;
    p->kind = kind_of(a->numbers);
    for (size_t index = 0; ids && numbers; index++, ids = ids->next, numbers = numbers->next) {
        struct reply_position to = *p;
        if (index == reply->n && cJSON_IsNull(ids) && cJSON_IsNull(numbers))
            continue;
        if (length(ids) != length(numbers))
            return err_set(e, STATUS_DATA, "the row has %zu ids and %zu numbers", length(ids), length(numbers));
        to.shape = k;
        to.index = index;
        to.list = cJSON_IsArray(ids) ? ids->child : NULL;
        to.numbers = cJSON_IsArray(numbers) ? numbers->child : NULL;
        to.n_list = length(ids);
        to.id = -1;
        if (!add_position(reply, &to, e))
            return false;
        p->fresh = false;
    }
    return true;
}

// Adds the positions of columns.
static bool add_columns(struct json_reply *reply, const struct reply_shape *k, const struct arrays *a,
                        struct reply_position *p, struct err *e)
{
    bool steps = false;
    if (k->form == TOKEN_NESTED)
        return add_nested(reply, k, a, p, e);
    p->kind = kind_of(a->numbers);
    if (!a->starts && !find_steps(k, a, &steps, e))
        return false;
    return steps ? add_steps(reply, k, a, p, e) : add_lists(reply, k, a, p, e);
}

// Returns whether arrays of a reply in pieces stand behind the long array that they are read before: the first piece
// did not have them.
static bool is_late(const struct json_reply *reply, const struct reply_shape *k, const struct arrays *a,
                    const cJSON *within)
{
    const struct json_value *const piece = reply->piece;
    const cJSON *member = piece->continued && !piece->more && !piece->has_tail && !reply->reached && fits(k, a, true)
                              ? json_member(within, piece->array->name)
                              : NULL;
    while (member && member != a->main)
        member = member->next;
    return member;
}

bool reply_arrays_add(struct json_reply *reply, const struct reply_shape *k, const cJSON *object, bool bare,
                      struct reply_position *p, struct err *e)
{
    const struct json_value *const piece = reply->piece;
    const struct arrays a = find_arrays(reply, k, object, bare);
    const size_t before = reply->n;
    if (k->part == PART_PROMPT && reply->n_streamed) // SGLang's streams repeat the prompt
        return true;
    if (k->part == PART_PROMPT && !add_prompt(reply, k->ids ? a.ids : a.tokens, k->ids ? TOKEN_ID : k->form, p, e))
        return false;
    if (!a.cut && is_late(reply, k, &a, k->within && !bare ? reply_path(object, k->within) : object))
        return err_set(e, STATUS_DATA, "\"%.40s\" comes after the tokens that it must precede; put it before them",
                       a.main ? a.main->string : "");
    if (!a.cut && (reply->reached ? piece->more : piece->continued))
        return true;
    if (!fits(k, &a, true))
        return true;
    reply->reached = reply->reached || a.cut;
    p->fresh = p->fresh && !(a.cut && piece->continued);
    if (!check_lengths(reply, &a, a.main, a.lists, e) || !check_lengths(reply, &a, a.main, a.numbers, e) ||
        !(has_columns(k) ? add_columns(reply, k, &a, p, e) : add_elements(reply, k, &a, p, e)))
        return false;
    reply->facts |= k->part == PART_ASIDE && reply->n > before ? ROW_ASIDE : 0u;
    return true;
}
