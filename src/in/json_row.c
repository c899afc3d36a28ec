// SPDX-License-Identifier: MIT
#include "in/json_row.h"

#include "base/mem.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool json_is_id(const cJSON *value)
{
    return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= INT32_MAX &&
           value->valuedouble == floor(value->valuedouble);
}

// A member that is there and not null, as null means absent.
static const cJSON *member(const struct json_object *o, const char *name)
{
    const cJSON *const value = cJSON_GetObjectItemCaseSensitive(o->rest, name);
    return cJSON_IsNull(value) ? NULL : value;
}

static bool read_seq(struct json_row *row, const cJSON *value, struct input_row *r, struct err *e)
{
    const double most = 0x1p53; // up to here each whole number is one
    if (!value)
        return true;
    if (cJSON_IsNumber(value) && fabs(value->valuedouble) <= most && value->valuedouble == floor(value->valuedouble)) {
        snprintf(row->seq, sizeof row->seq, "%.0f", value->valuedouble);
        r->seq = row->seq;
        return true;
    }
    r->seq = cJSON_GetStringValue(value);
    return r->seq || err_set(e, STATUS_DATA, "\"seq\" is neither a string nor a whole number");
}

static bool read_prompt(struct json_row *row, const cJSON *value, struct input_row *r, struct err *e)
{
    const cJSON *token;
    size_t n = 0;
    if (!value)
        return true;
    if (!cJSON_IsArray(value))
        return err_set(e, STATUS_DATA, "\"prompt_tokens\" is not an array of token ids");
    if (!mem_grow(&row->prompt, &row->prompt_cap, (size_t)cJSON_GetArraySize(value) + 1, sizeof *row->prompt))
        return err_from_fault(e, fault_memory());
    cJSON_ArrayForEach(token, value)
    {
        if (!json_is_id(token))
            return err_set(e, STATUS_DATA, "\"prompt_tokens\": element %zu is not a whole number from 0 to 2147483647", n);
        row->prompt[n++] = (uint32_t)token->valuedouble;
    }
    r->prompt = row->prompt;
    r->n_prompt = n;
    return true;
}

static bool read_others(const struct json_object *o, struct input_row *r, struct err *e)
{
    const cJSON *const accept = member(o, "accept");
    if (accept && !json_is_id(accept))
        return err_set(e, STATUS_DATA, "\"accept\" is not a whole number from 0 to 2147483647");
    if (accept)
        r->forced = (int64_t)accept->valuedouble;
    r->params = member(o, "params");
    return !r->params || cJSON_IsObject(r->params) || err_set(e, STATUS_DATA, "\"params\" is not an object");
}

static bool probs_to_logits(struct json_numbers *a, struct err *e)
{
    for (size_t i = 0; i < a->n; i++) {
        if (a->x[i] < 0.0f)
            return err_set(e, STATUS_DATA, "probability %zu is negative", i);
        a->x[i] = logf(a->x[i]);
    }
    return true;
}

bool json_row_read(struct json_row *row, struct json_object *o, size_t n_vocab, struct input_row *r, struct err *e)
{
    struct json_numbers *const a = &o->numbers;
    if (!read_seq(row, member(o, "seq"), r, e))
        return false;
    if (o->plane == PLANE_PROBS && !probs_to_logits(a, e))
        return false;
    if (o->has_ids && o->ids.n != a->n)
        return err_set(e, STATUS_DATA, "the row has %zu ids and %zu numbers", o->ids.n, a->n);
    r->logits = (struct row){DTYPE_F32, a->x, a->n};
    if (o->has_ids && a->n && !sparse_row(&row->sparse, o->ids.id, a->x, a->n, n_vocab, &r->logits, e))
        return false;
    return read_prompt(row, member(o, "prompt_tokens"), r, e) && read_others(o, r, e);
}

void json_row_free(struct json_row *row)
{
    sparse_free(&row->sparse);
    free(row->prompt);
}
