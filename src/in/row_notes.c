// SPDX-License-Identifier: MIT
#include "in/row_notes.h"

#include "base/mem.h"
#include "base/names.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void row_notes_free(struct row_notes *n) { free(n->prompt); }

bool row_notes_sequence(struct row_notes *n, const cJSON *object, struct input_row *r, struct err *e)
{
    const double most = 0x1p53; // a double holds each whole number up to this one
    const cJSON *const seq = json_member(object, "seq"), *const end = json_member(object, "end");
    const char *name = cJSON_GetStringValue(seq);
    if (cJSON_IsNumber(seq) && fabs(seq->valuedouble) <= most && seq->valuedouble == floor(seq->valuedouble)) {
        snprintf(n->seq, sizeof n->seq, "%.0f", seq->valuedouble);
        name = n->seq;
    }
    if (seq && !name)
        return err_set(e, STATUS_DATA, "\"seq\" is neither a string nor a whole number");
    r->seq = seq ? name : r->seq;
    r->ends = cJSON_IsTrue(end);
    return !end || cJSON_IsBool(end) || err_set(e, STATUS_DATA, "\"end\" is not true or false");
}

bool row_notes_prompt(struct row_notes *notes, const cJSON *object, struct input_row *r, struct err *e)
{
    const cJSON *const value = json_member(object, "prompt_tokens"), *token;
    size_t n = 0;
    if (!value)
        return true;
    if (!cJSON_IsArray(value))
        return err_set(e, STATUS_DATA, "\"prompt_tokens\" is not an array of token ids");
    if (!mem_grow(&notes->prompt, &notes->prompt_cap, (size_t)cJSON_GetArraySize(value) + 1, sizeof *notes->prompt))
        return err_from_fault(e, fault_memory());
    cJSON_ArrayForEach(token, value)
    {
        const int64_t id = json_id(token);
        if (id < 0)
            return err_set(e, STATUS_DATA, "\"prompt_tokens\": element %zu is not a whole number from 0 to 2147483647",
                           n);
        notes->prompt[n++] = (uint32_t)id;
    }
    r->prompt = (struct tokens){notes->prompt, n};
    return true;
}

bool row_notes_others(struct row_notes *n, cJSON *object, const char *text, size_t len, struct input_row *r,
                      struct err *e)
{
    const cJSON *const accept = json_member(object, "accept"), *const position = json_member(object, "position"),
                       *const sample = json_member(object, "sample");
    cJSON *const params = cJSON_GetObjectItemCaseSensitive(object, "params");
    if (!row_notes_prompt(n, object, r, e))
        return false;
    r->forced = json_id(accept);
    if (accept && r->forced < 0)
        return err_set(e, STATUS_DATA, "\"accept\" is not a whole number from 0 to 2147483647");
    r->position = json_id(position);
    if (position && r->position < 0)
        return err_set(e, STATUS_DATA, "\"position\" is not a whole number from 0 to 2147483647");
    r->place.use = cJSON_IsFalse(sample) ? ROW_PROMPT : ROW_SHOWN;
    if (sample && !cJSON_IsBool(sample))
        return err_set(e, STATUS_DATA, "\"sample\" is not true or false");
    r->params = cJSON_IsNull(params) ? NULL : params;
    if (r->params && !cJSON_IsObject(params))
        return err_set(e, STATUS_DATA, "\"params\" is not an object");
    return !r->params || json_keep_spelling(object, text, len) || err_from_fault(e, fault_memory());
}

// ---- the file of --params

enum { LINE_MOST = 1 << 26 }; // bytes, as many as a JSON row may have besides its numbers

bool notes_open(struct notes_file *f, const char *path, struct err *e)
{
    return source_open(&f->source, path, e) || err_prefix(e, "--params: %s", f->source.name);
}

void notes_close(struct notes_file *f)
{
    if (f->source.name)
        source_close(&f->source);
    cJSON_Delete(f->object);
    row_notes_free(&f->notes);
}

// Fails if a line has a member that says nothing of a row, such as a parameter outside of "params".
static bool check_members(const cJSON *object, struct err *e)
{
    static const char known[] = "seq params prompt_tokens accept position sample end";
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        if (name_find(known, NAME_EXACT, item->string, strlen(item->string)) < 0)
            return err_set(e, STATUS_DATA, "unknown member '%.60s'; parameters are members of \"params\"",
                           item->string);
    }
    return true;
}

static bool read_line(struct notes_file *f, struct input_row *r, struct err *e)
{
    const char *line = NULL;
    size_t len = 0;
    while (f->line <= r->number && !f->too_long) {
        if (!source_line(&f->source, LINE_MOST, &line, &len, e))
            return false;
        if (!line)
            return err_set(e, STATUS_DATA, "there is no line for this row, only %" PRIu64, f->line);
        f->line++;
        f->too_long = len > LINE_MOST; // its end was not read, so that no line follows it
    }
    if (f->too_long)
        return err_set(e, STATUS_DATA, "line %" PRIu64 " is longer than %d bytes", f->line, LINE_MOST);
    cJSON_Delete(f->object);
    f->object = json_parse(line, len, JSON_LOOSE, e);
    if (!f->object && e->status != STATUS_USAGE)
        return false;
    if (!cJSON_IsObject(f->object))
        return err_set(e, STATUS_DATA, "line %" PRIu64 " is not a JSON object", f->line);
    return (json_refuse_nul(f->object, STATUS_DATA, e) && check_members(f->object, e) &&
            row_notes_sequence(&f->notes, f->object, r, e) &&
            row_notes_others(&f->notes, f->object, line, len, r, e)) ||
           err_prefix(e, "line %" PRIu64, f->line);
}

bool notes_read(struct notes_file *f, struct input_row *r, struct err *e)
{
    return read_line(f, r, e) || err_prefix(e, "--params");
}
