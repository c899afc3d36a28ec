// SPDX-License-Identifier: MIT
#include "in/reply_token.h"

#include "in/json_value.h"
#include "kern/libm.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

int64_t reply_key_id(const char *text) { return json_written_id(text, text + strlen(text)); }

int64_t reply_token_text_id(const char *text)
{
    static const char start[] = "token_id:";
    return !strncmp(text, start, strlen(start)) ? reply_key_id(text + strlen(start)) : -1;
}

// Returns whether a number of this name is a probability.
static bool is_probability(const char *name) { return name && !strncmp(name, "prob", 4); }

// Takes a number: NaN if it is none, -inf if it is null. Returns false if there is a value of another type.
static bool take_number(const cJSON *number, bool probability, struct reply_token *t)
{
    const float x = (float)cJSON_GetNumberValue(number);
    t->number = x;
    t->probability = probability;
    t->logit = cJSON_IsNull(number) ? -INFINITY : probability ? libm_logf(x) : x;
    return !number || !isnan(t->logit);
}

// Takes an id and a text. Returns false if the id is none, or if both are missing.
static bool take_name(const cJSON *id, const cJSON *text, struct reply_token *t)
{
    id = cJSON_IsNull(id) ? NULL : id;
    t->text = cJSON_GetStringValue(text);
    t->id = id ? json_id(id) : t->text ? reply_token_text_id(t->text) : json_id(text);
    return t->id >= 0 || (!id && (t->text || t->bytes));
}

static bool take_record(const cJSON *value, struct reply_token *t)
{
    const cJSON *const number = reply_named(value, reply_names.number);
    t->bytes = json_array(value, "bytes");
    return take_name(reply_named(value, reply_names.id), reply_named(value, reply_names.text), t) &&
           take_number(number, number && is_probability(number->string), t);
}

static bool take_triple(const cJSON *value, struct reply_token *t)
{
    const cJSON *number = cJSON_IsArray(value) ? value->child : NULL, *id = number ? number->next : NULL;
    if (number && cJSON_IsArray(number)) { // NovelAI
        const cJSON *const numbers = id;
        id = number->child;
        number = numbers ? numbers->child : NULL;
        return id && take_name(id, NULL, t) && number && take_number(number, false, t);
    }
    return take_name(id, id ? id->next : NULL, t) && take_number(number, false, t);
}

bool reply_token_read(const cJSON *value, enum token_form form, struct reply_token *t)
{
    *t = (struct reply_token){.id = -1, .logit = NAN};
    if (form == TOKEN_RECORD || cJSON_IsObject(value))
        return take_record(value, t);
    if (form == TOKEN_TRIPLE)
        return take_triple(value, t);
    return take_name(NULL, value, t);
}

bool reply_token_listed(const cJSON *value, bool ids, struct reply_token *t)
{
    *t = (struct reply_token){.id = -1, .logit = NAN};
    bool ok;
    if (!value->string) {
        ok = cJSON_IsArray(value) ? take_triple(value, t) : take_record(value, t);
    } else {
        const cJSON *const number = cJSON_IsObject(value) ? reply_named(value, reply_names.number) : value;
        t->text = ids ? cJSON_GetStringValue(json_member(value, "decoded_token")) : value->string;
        t->id = ids ? reply_key_id(value->string) : reply_token_text_id(value->string);
        ok =
            (!ids || t->id >= 0) && take_number(number, number && number != value && is_probability(number->string), t);
    }
    return ok && !isnan(t->logit);
}

bool reply_token_pair(const cJSON *id, const cJSON *number, bool probability, struct reply_token *t)
{
    *t = (struct reply_token){.id = -1, .logit = NAN};
    return take_name(cJSON_IsString(id) ? NULL : id, id, t) && take_number(number, probability, t) && !isnan(t->logit);
}

bool reply_token_same(const struct reply_token *a, const struct reply_token *b)
{
    if (a->id >= 0 && b->id >= 0)
        return a->id == b->id;
    if (a->bytes && b->bytes && a->bytes->child && b->bytes->child)
        return cJSON_Compare(a->bytes, b->bytes, 1);
    return a->text && b->text && !strcmp(a->text, b->text);
}

bool reply_token_bytes(const struct reply_token *t, struct builder *bytes)
{
    const cJSON *byte;
    builder_clear(bytes);
    cJSON_ArrayForEach(byte, t->bytes)
    {
        const int64_t value = json_id(byte);
        if (value < 0 || value > 255)
            break;
        builder_byte(bytes, (char)value);
    }
    if (byte || !bytes->len) {
        builder_clear(bytes);
        json_add_text(t->text ? t->text : "", bytes);
    }
    return !bytes->failed;
}
