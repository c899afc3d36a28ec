// SPDX-License-Identifier: MIT
#include "cli/script.h"

#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void script_check(struct script *s, const void *made) { s->failed = s->failed || !made; }

bool script_begin(struct script *s)
{
    s->variables = cJSON_CreateObject();
    s->exported = cJSON_CreateObject();
    s->starts = cJSON_CreateArray();
    s->failed = !s->variables || !s->exported || !s->starts;
    return !s->failed;
}

void script_end(struct script *s)
{
    cJSON_Delete(s->variables);
    cJSON_Delete(s->exported);
    cJSON_Delete(s->starts);
    cJSON_Delete(s->own);
}

// Appends an item to a list or, with a name, puts it into an object in place of one of its name. The item is owned.
void script_give(struct script *s, cJSON *to, const char *name, cJSON *item)
{
    if (item && name)
        cJSON_DeleteItemFromObjectCaseSensitive(to, name);
    if (!item || !(name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item))) {
        cJSON_Delete(item);
        s->failed = true;
    }
}

// ---- texts and words

void text_add(struct script *s, struct marked_text *t, const char *bytes, size_t len, char mark)
{
    const int doubt = (mark - '0') % SPLITS;
    if (doubt < (int)s->least)
        mark = (char)(mark - doubt + (int)s->least);
    builder_bytes(&t->bytes, bytes, len);
    builder_pad(&t->marks, mark, len);
    s->failed = s->failed || t->bytes.failed || t->marks.failed;
}

void text_free(struct marked_text *t)
{
    builder_free(&t->bytes);
    builder_free(&t->marks);
}

const char *word_text(const cJSON *word) { return word->child->valuestring; }

enum doubt word_doubt(const cJSON *word)
{
    int most = DOUBT_NONE;
    for (const char *mark = word->child->next->valuestring; *mark; mark++)
        most = *mark - '0' > most ? *mark - '0' : most;
    return (enum doubt)most;
}

void word_raise(cJSON *word, enum doubt least)
{
    for (char *mark = word->child->next->valuestring; *mark; mark++)
        *mark = *mark < MARK(least) ? MARK(least) : *mark;
}

// Makes the word of bytes[from..to) of a text.
cJSON *script_new_word(struct script *s, const struct marked_text *t, size_t from, size_t to)
{
    if (s->failed)
        return NULL;
    char *const bytes = strndup(t->bytes.text ? t->bytes.text + from : "", to - from),
                *const marks = strndup(t->marks.text ? t->marks.text + from : "", to - from);
    cJSON *const word = bytes && marks ? cJSON_CreateArray() : NULL;
    script_check(s, word);
    for (char *mark = marks; mark && *mark; mark++)
        *mark = MARK((*mark - '0') % SPLITS);
    if (word) {
        script_give(s, word, NULL, cJSON_CreateString(bytes));
        script_give(s, word, NULL, cJSON_CreateString(marks));
    }
    free(bytes);
    free(marks);
    if (!s->failed)
        return word;
    cJSON_Delete(word);
    return NULL;
}

void script_add_word(struct script *s, cJSON *to, const struct marked_text *t)
{
    cJSON *const word = script_new_word(s, t, 0, t->bytes.len);
    if (word)
        script_give(s, to, NULL, word);
}

void script_add_words(struct script *s, cJSON *to, const struct marked_text *t, bool quoted)
{
    size_t from = 0;
    bool any = quoted;
    for (size_t i = 0; i <= t->bytes.len && !s->failed; i++) {
        const bool splits =
            i < t->bytes.len && t->marks.text[i] >= MARK(SPLITS) && isspace((unsigned char)t->bytes.text[i]);
        if (i < t->bytes.len && !splits)
            continue;
        if (i > from || (i == t->bytes.len && any && !from)) {
            cJSON *const word = script_new_word(s, t, from, i);
            if (word)
                script_give(s, to, NULL, word);
        }
        from = i + 1;
    }
}

// ---- variables

const cJSON *script_variable(const struct script *s, const char *name, size_t len)
{
    const cJSON *variable = s->variables->child;
    while (variable && (strncmp(variable->string, name, len) != 0 || variable->string[len]))
        variable = variable->next;
    return variable;
}

// Returns the value of a variable that a command sets under a condition: value, which is owned, in place of old.
static cJSON *either(struct script *s, const cJSON *old, cJSON *value, bool unset)
{
    const cJSON *const was = old ? old->child : NULL;
    cJSON *word;
    size_t kept = 0;
    if (was && value->child && word_doubt(value->child) == DOUBT_UNKNOWN) {
        cJSON *const copy = cJSON_Duplicate(old, true);
        cJSON_Delete(value);
        script_check(s, copy);
        cJSON_ArrayForEach(word, copy) { word_raise(word, DOUBT_DEFAULT); }
        return copy;
    }
    if (was && !was->next && value->child && !value->child->next)
        kept = strncmp(word_text(value->child), word_text(was), strlen(word_text(was))) ? 0 : strlen(word_text(was));
    else if (was)
        kept = SIZE_MAX;
    const bool prefix = was && kept != SIZE_MAX && (kept || !*word_text(was));
    cJSON_ArrayForEach(word, value)
    {
        char *const marks = word->child->next->valuestring;
        for (size_t i = 0; prefix && i < kept; i++) {
            const char had = was->child->next->valuestring[i];
            marks[i] = marks[i] < had ? had : marks[i];
        }
        for (size_t i = prefix ? kept : 0; i < strlen(marks); i++)
            marks[i] = marks[i] < MARK(DOUBT_CONDITION) ? MARK(unset ? DOUBT_DEFAULT : DOUBT_CONDITION) : marks[i];
    }
    if (!was || prefix)
        return value;
    cJSON *const both = cJSON_Duplicate(old, true);
    script_check(s, both);
    cJSON_ArrayForEach(word, both) { word_raise(word, DOUBT_CONDITION); }
    while (both && value->child)
        cJSON_AddItemToArray(both, cJSON_DetachItemFromArray(value, 0));
    cJSON_Delete(value);
    return both;
}

// Replaces a value that grows too much, as in a loop of functions, by one that is not known. The value is owned.
static cJSON *limited(struct script *s, const char *name, cJSON *value)
{
    enum { WORDS_MOST = 1000, LEN_MOST = 50000 };
    const cJSON *word;
    size_t words = 0, len = 0;
    cJSON_ArrayForEach(word, value)
    {
        words++;
        len += strlen(word_text(word));
    }
    if (words <= WORDS_MOST && len <= LEN_MOST)
        return value;
    struct marked_text t = {0};
    cJSON *const unknown = cJSON_CreateArray();
    cJSON_Delete(value);
    script_check(s, unknown);
    text_add(s, &t, "$", 1, MARK(DOUBT_UNKNOWN));
    text_add(s, &t, name, strlen(name), MARK(DOUBT_UNKNOWN));
    if (unknown)
        script_add_word(s, unknown, &t);
    text_free(&t);
    return unknown;
}

void script_set(struct script *s, const char *name, size_t len, cJSON *value, bool more, bool condition, bool unset)
{
    const cJSON *const old = script_variable(s, name, len);
    char *const key = strndup(name, len);
    cJSON *word;
    script_check(s, key);
    script_check(s, value);
    if (s->failed) {
        cJSON_Delete(value);
        free(key);
        return;
    }
    if (more) {
        cJSON *const all = old ? cJSON_Duplicate(old, true) : cJSON_CreateArray();
        script_check(s, all);
        if (condition)
            cJSON_ArrayForEach(word, value) { word_raise(word, DOUBT_CONDITION); }
        while (all && value->child)
            cJSON_AddItemToArray(all, cJSON_DetachItemFromArray(value, 0));
        cJSON_Delete(value);
        value = all;
    } else if (condition && !old && (!value->child || (!value->child->next && !*word_text(value->child)))) {
        cJSON_Delete(value); // what the environment has stays possible
        free(key);
        return;
    } else if (condition) {
        value = either(s, old, value, unset);
    }
    script_give(s, s->variables, key, value ? limited(s, key, value) : NULL);
    if (s->exports_all && !s->failed && !cJSON_AddTrueToObject(s->exported, key))
        s->failed = true;
    free(key);
}

void script_doubt_variables(struct script *s)
{
    cJSON *variable, *word;
    cJSON_ArrayForEach(variable, s->variables)
    {
        cJSON_ArrayForEach(word, variable) { word_raise(word, DOUBT_DEFAULT); }
    }
}
