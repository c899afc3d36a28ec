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

bool reply_token_read(const cJSON *value, enum token_shape shape, bool listed, struct reply_token *t)
{
    static const char *const texts[] = {"token", "tok_str", "content", "text"};
    const cJSON *id = NULL, *number = NULL;
    bool probability = false;
    *t = (struct reply_token){.id = -1, .logit = NAN};
    switch (shape) {
    case TOKEN_RECORD:
        for (size_t i = 0; i < sizeof texts / sizeof *texts && !t->text; i++)
            t->text = cJSON_GetStringValue(json_member(value, texts[i]));
        t->bytes = json_array(value, "bytes");
        id = json_member(value, "id");
        number = cJSON_GetObjectItemCaseSensitive(value, "logprob");
        probability = !number;
        if (probability)
            number = cJSON_GetObjectItemCaseSensitive(value, "prob");
        break;
    case TOKEN_TEXT:
        t->text = listed ? value->string : cJSON_GetStringValue(value);
        number = listed ? value : NULL;
        break;
    case TOKEN_ID:
        t->id = listed ? reply_key_id(value->string) : json_id(value);
        t->text = cJSON_GetStringValue(json_member(value, "decoded_token"));
        number = cJSON_GetObjectItemCaseSensitive(value, "logprob");
        break;
    case TOKEN_TRIPLE:
        number = cJSON_IsArray(value) ? value->child : NULL;
        id = number ? number->next : NULL;
        t->text = cJSON_GetStringValue(id ? id->next : NULL);
        break;
    }
    if (id)
        t->id = json_id(id);
    else if (t->id < 0 && t->text)
        t->id = reply_token_text_id(t->text);
    if (t->id < 0 && (id || (!t->text && !t->bytes)))
        return false;
    const float x = (float)cJSON_GetNumberValue(number); // NaN if it is no number
    t->logit = probability ? libm_logf(x) : x;
    if (cJSON_IsNull(number))
        t->logit = -INFINITY;
    return !isnan(t->logit) || (!number && !listed);
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
