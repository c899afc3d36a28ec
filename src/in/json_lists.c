// SPDX-License-Identifier: MIT
#include "in/json_lists.h"

#include "in/token_list.h"
#include "kern/libm.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Returns the first row of an array that is not null; NULL if there is none.
static const cJSON *first_row(const cJSON *array)
{
    const cJSON *row = cJSON_IsArray(array) ? array->child : NULL;
    while (row && cJSON_IsNull(row))
        row = row->next;
    return row;
}

// Returns true if the value is an array of arrays, not of objects.
static bool is_nested(const cJSON *value)
{
    const cJSON *const row = first_row(value);
    return cJSON_IsArray(row) && !cJSON_IsObject(row->child);
}

// Finds the member whose name `fits`: *member, NULL if there is none. Fails if there are two.
static bool find_lists(const cJSON *object, bool (*fits)(const char *name), const cJSON **member, struct err *e)
{
    const cJSON *value;
    *member = NULL;
    cJSON_ArrayForEach(value, object)
    {
        if (!value->string || !is_nested(value) || !fits(value->string))
            continue;
        if (*member)
            return err_set(e, STATUS_DATA, "both \"%.40s\" and \"%.40s\" list tokens; keep one of them",
                           (*member)->string, value->string);
        *member = value;
    }
    return true;
}

// Names that hold ids or numbers only if no other member does: "tokens" may be those of a prompt.
static bool is_tokens(const char *name) { return !strcmp(name, "tokens"); }

static bool is_probs(const char *name) { return token_list_numbers(name) == LIST_PROBS; }

bool json_lists_open(struct json_lists *lists, const cJSON *object, bool *found, struct err *e)
{
    const cJSON *ids, *numbers;
    *found = false;
    lists->n = lists->next = 0;
    lists->unit = (struct unit_fit){0};
    if (!find_lists(object, token_list_has_numbers, &numbers, e) || !find_lists(object, token_list_has_ids, &ids, e) ||
        (!numbers && !find_lists(object, is_probs, &numbers, e)))
        return false;
    if (numbers && !ids && !find_lists(object, is_tokens, &ids, e))
        return false;
    if (!ids && (!numbers || is_probs(numbers->string)))
        return true;
    const cJSON *const first = first_row(ids);
    if (first && numbers && cJSON_IsString(first->child)) // the reader of replies knows texts
        return true;
    if (!ids)
        return err_set(e, STATUS_DATA, "\"%.40s\" lists tokens without their ids, an array such as \"topk_ids\"",
                       numbers->string);
    if (!numbers)
        return err_set(e, STATUS_DATA, "\"%.40s\" lists ids without their numbers, an array such as \"topk_logprobs\"",
                       ids->string);
    const int n = cJSON_GetArraySize(ids), n_numbers = cJSON_GetArraySize(numbers);
    if (n != n_numbers)
        return err_set(e, STATUS_DATA, "\"%.40s\" has %d rows, \"%.40s\" %d", ids->string, n, numbers->string,
                       n_numbers);
    if (!json_refuse_nul(object, STATUS_DATA, e))
        return false;
    lists->object = object;
    lists->ids = ids->child;
    lists->numbers = numbers->child;
    lists->kind = token_list_numbers(numbers->string);
    lists->n = (size_t)n;
    while (lists->n && cJSON_IsNull(lists->ids) && cJSON_IsNull(lists->numbers)) { // a prompt's first token has no row
        lists->ids = lists->ids->next;
        lists->numbers = lists->numbers->next;
        lists->n--;
    }
    snprintf(lists->name, sizeof lists->name, "%" PRIu64, lists->objects++);
    return *found = true;
}

// Reads the tokens of a row. null is -inf; padding may have an id such as -1. A probability of 0 was rounded away: the
// token counts among the unlisted ones.
static bool read_listed_tokens(struct json_lists *lists, const cJSON *ids, const cJSON *numbers, struct err *e)
{
    const cJSON *id = ids->child, *number = numbers->child;
    const bool probs = lists->kind == LIST_PROBS;
    lists->row.n = 0;
    lists->unit.of_probs = probs;
    for (size_t i = 0; id && number; i++, id = id->next, number = number->next) {
        const float given = (float)cJSON_GetNumberValue(number);
        const float x = cJSON_IsNull(number) ? -INFINITY : probs ? libm_logf(given) : given;
        if (json_id(id) < 0 && cJSON_IsNumber(id) && x == -INFINITY)
            continue;
        if (json_id(id) < 0)
            return err_set(e, STATUS_DATA, "element %zu of the ids is not a whole number from 0 to 2147483647", i);
        if (!cJSON_IsNumber(number) && !cJSON_IsNull(number))
            return err_set(e, STATUS_DATA, "element %zu of the row is not a number", i);
        if (probs && given < 0.0f)
            return err_set(e, STATUS_DATA, "probability %zu is negative", i);
        unit_add(&lists->unit, given);
        if (!(probs && given == 0.0f) && !sparse_add(&lists->row, (uint32_t)json_id(id), x, e))
            return false;
    }
    return true;
}

// Sets the sequence of the row at lists->next. Its name is the object's "seq", or the number of the object.
static bool name_listed_row(const struct json_lists *lists, struct row_notes *notes, struct input_row *r, struct err *e)
{
    if (!row_notes_sequence(notes, lists->object, r, e) ||
        (!lists->next && !row_notes_prompt(notes, lists->object, r, e)))
        return false;
    r->ends = r->ends && lists->next + 1 == lists->n;
    if (r->seq)
        return true;
    r->seq = lists->name;
    r->fresh = !lists->next;
    r->length = lists->n;
    r->place = (struct place){true, lists->objects - 1, r->number - lists->next, .use = r->place.use};
    return true;
}

bool json_lists_next(struct json_lists *lists, struct row_notes *notes, const struct input_config *config,
                     struct input_row *r, struct err *e)
{
    const cJSON *const ids = lists->ids, *const numbers = lists->numbers;
    assert(lists->next < lists->n && ids && numbers);
    const bool named = name_listed_row(lists, notes, r, e);
    lists->ids = ids->next;
    lists->numbers = numbers->next;
    lists->next++;
    const int n = cJSON_GetArraySize(ids), n_numbers = cJSON_GetArraySize(numbers);
    if (!named || !read_listed_tokens(lists, ids, numbers, e))
        return false;
    if (!cJSON_IsArray(ids) || !cJSON_IsArray(numbers) || n != n_numbers)
        return err_set(e, STATUS_DATA, "the row has %d ids and %d numbers", n, n_numbers);
    const struct list_unit unit = unit_of(&lists->unit);
    return token_list_row(&lists->row, lists->kind, &unit, input_n_vocab(config), &r->logits, e);
}

void json_lists_free(struct json_lists *lists) { sparse_free(&lists->row); }
