// SPDX-License-Identifier: MIT
// Hugging Face's tokenizer.json (sampl-input(5)), and vocab.json, which is an object from text to id.
#include "base/builder.h"
#include "base/mem.h"
#include "in/vocab_file.h"
#include "vocab/spelling.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_MARK "\xe2\x96\x81" // U+2581
#define GPT2_SPACE "\xc4\xa0"     // U+0120
#define GPT2_LINE  "\xc4\x8a"     // U+010A

enum { FREE_IDS = 65536 }; // an id above must be below the number of bytes of the file, which bounds the memory

// The entry of an id in the file.
struct vocab_entry {
    const char *text; // NULL: no token has this id
    unsigned char type;
    bool added; // listed in added_tokens
};

struct vocab_entries {
    struct vocab_entry *entry; // [n] by id
    size_t n, cap;
    size_t file_len;
    bool bytes; // <0xNN> is a byte token
};

// Returns true if value is this string.
static bool is(const cJSON *value, const char *text)
{
    return value && cJSON_IsString(value) && !strcmp(value->valuestring, text);
}

// Enters a token with the id x. A token of added_tokens may replace one of the model's.
static bool enter_token(struct vocab_entries *t, double x, const char *text, unsigned type, bool added, struct err *e)
{
    if (!(x >= 0.0 && x < INT32_MAX) || (double)(size_t)x != x)
        return err_set(e, STATUS_DATA, "token '%.40s' has no id that is a whole number", text);
    const size_t i = (size_t)x;
    if (i >= FREE_IDS && i >= t->file_len)
        return err_set(e, STATUS_DATA, "token '%.40s' has the id %zu, more than a file of this size can have tokens",
                       text, i);
    if (!mem_grow(&t->entry, &t->cap, i + 1, sizeof *t->entry))
        return err_from_fault(e, fault_memory());
    if (i >= t->n) {
        memset(t->entry + t->n, 0, (i + 1 - t->n) * sizeof *t->entry);
        t->n = i + 1;
    }
    if (t->entry[i].text && (!added || t->entry[i].added))
        return err_set(e, STATUS_DATA, "tokens '%.40s' and '%.40s' have the same id, %zu", t->entry[i].text, text, i);
    t->entry[i] = (struct vocab_entry){text, (unsigned char)type, added};
    return true;
}

// Enters the model's tokens. vocab is {text: id, ...}, and `unknown` the text of the unknown token; or vocab is
// [[text, score], ...], and `unknown` the id of that token.
static bool read_own(struct vocab_entries *t, const cJSON *vocab, const cJSON *unknown, struct err *e)
{
    const bool list = cJSON_IsArray(vocab);
    const cJSON *item;
    cJSON_ArrayForEach(item, vocab)
    {
        const char *const first = cJSON_IsArray(item) ? cJSON_GetStringValue(item->child) : NULL;
        const char *const text = list ? first : item->string;
        const double id = list ? (double)t->n : cJSON_GetNumberValue(item);
        if (!text)
            return err_set(e, STATUS_DATA, "entry %zu of model.vocab is not [text, score]", t->n);
        unsigned type = t->bytes && spelling_is_byte(text, strlen(text)) ? TOKEN_BYTE : TOKEN_NORMAL;
        if (list ? cJSON_GetNumberValue(unknown) == id : is(unknown, text))
            type = TOKEN_UNKNOWN;
        if (!enter_token(t, id, text, type, false, e))
            return false;
    }
    return true;
}

// Enters the tokens of added_tokens.
static bool read_added(struct vocab_entries *t, const cJSON *list, struct err *e)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *const text = cJSON_GetStringValue(json_member(item, "content"));
        if (!text)
            return err_set(e, STATUS_DATA, "an added token has no content");
        const unsigned type = cJSON_IsTrue(json_member(item, "special")) ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
        if (!enter_token(t, cJSON_GetNumberValue(json_member(item, "id")), text, type, true, e))
            return false;
    }
    return true;
}

// Returns the step of this type in a normalizer, pre_tokenizer or decoder, each of which is one step or a sequence of
// steps; NULL if there is none.
static const cJSON *find_step(const cJSON *stage, const char *type)
{
    static const char *const lists[] = {"normalizers", "pretokenizers", "decoders"};
    if (is(json_member(stage, "type"), type))
        return stage;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *step;
        cJSON_ArrayForEach(step, json_member(stage, lists[i]))
        {
            if (is(json_member(step, "type"), type))
                return step;
        }
    }
    return NULL;
}

// Returns how tokens are spelt, which the decoder says; if there is none, the pre_tokenizer.
static enum spelling spelling_of(const cJSON *root)
{
    const cJSON *const decoder = json_member(root, "decoder"), *const splitter = json_member(root, "pre_tokenizer");
    const cJSON *const stage = cJSON_IsObject(decoder) ? decoder : splitter;
    if (find_step(stage, "ByteLevel"))
        return SPELLING_GPT2;
    const cJSON *const replaced = json_member(json_member(find_step(stage, "Replace"), "pattern"), "String");
    const bool list = cJSON_IsArray(json_member(json_member(root, "model"), "vocab"));
    return find_step(stage, "Metaspace") || is(replaced, SPACE_MARK) || list ? SPELLING_SPM : SPELLING_PLAIN;
}

// Returns true if the tokenizer puts a space before a text.
static bool prefixes_space(const cJSON *root)
{
    const cJSON *const metaspace = find_step(json_member(root, "pre_tokenizer"), "Metaspace");
    const cJSON *const scheme = cJSON_GetObjectItemCaseSensitive(metaspace, "prepend_scheme");
    if (metaspace && scheme)
        return !is(scheme, "never");
    return (metaspace && !cJSON_IsFalse(json_member(metaspace, "add_prefix_space"))) ||
           find_step(json_member(root, "normalizer"), "Prepend");
}

// Adds the entries to the vocabulary. inner is NULL, or the prefix by which WordPiece marks tokens that continue a
// word. Such a token loses the prefix, and any other normal token gets a space before it, as in GGUF's bert.
static bool fill(struct vocab *v, const struct vocab_entries *t, enum spelling spelling, const char *inner,
                 struct err *e)
{
    static const struct vocab_entry none = {.text = "", .type = TOKEN_UNUSED};
    struct builder word = {0};
    bool ok = true;
    if (!t->n)
        return err_set(e, STATUS_DATA, "the vocabulary holds no token");
    for (size_t i = 0; ok && i < t->n; i++) {
        const struct vocab_entry *const entry = t->entry[i].text ? &t->entry[i] : &none;
        const char *text = entry->text;
        builder_clear(&word);
        if (inner && entry->type == TOKEN_NORMAL && !entry->added) {
            const size_t prefix = strlen(inner);
            const bool goes_on = prefix && !strncmp(text, inner, prefix);
            builder_string(&word, goes_on ? "" : SPACE_MARK);
            text += goes_on ? prefix : 0;
        }
        json_add_text(text, &word);
        ok = !word.failed && vocab_add_spelt(v, spelling, entry->type, word.text, word.len);
    }
    builder_free(&word);
    return ok || err_from_fault(e, fault_memory());
}

// Keeps the merges of a byte-level BPE, and the texts as they are spelt. A merge is a text with a space, or a pair.
static bool keep_merges(struct vocab *v, const struct vocab_entries *t, const cJSON *model)
{
    struct builder *const merges = &v->tokenizer.merges;
    const cJSON *const list = json_member(model, "merges");
    const cJSON *item;
    for (size_t i = 0; i < t->n; i++) {
        const char *const text = t->entry[i].text ? t->entry[i].text : "";
        if (!vocab_keep_spelt(v, i, text, strlen(text), 0.0f))
            return false;
    }
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *const left = cJSON_IsArray(item) ? item->child : NULL, *const right = left ? left->next : NULL;
        if (right && cJSON_IsString(left) && cJSON_IsString(right))
            builder_format(merges, "%s %s", left->valuestring, right->valuestring);
        else if (cJSON_IsString(item))
            builder_string(merges, item->valuestring);
        builder_byte(merges, '\0');
    }
    v->tokenizer.kind = TOKENIZER_BPE;
    v->tokenizer.whole_words = cJSON_IsTrue(json_member(model, "ignore_merges"));
    return builder_whole(merges);
}

static bool load_tokenizer(struct vocab *v, struct vocab_entries *t, const cJSON *root, struct err *e)
{
    const cJSON *const model = json_member(root, "model"), *const vocab = json_member(model, "vocab");
    const char *const prefix = cJSON_GetStringValue(json_member(model, "continuing_subword_prefix"));
    const cJSON *const unknown = json_member(model, cJSON_IsArray(vocab) ? "unk_id" : "unk_token");
    v->space_prefix = prefixes_space(root);
    t->bytes =
        cJSON_IsTrue(json_member(model, "byte_fallback")) || find_step(json_member(root, "decoder"), "ByteFallback");
    if (!cJSON_IsArray(vocab) && !cJSON_IsObject(vocab))
        return err_set(e, STATUS_DATA, "model.vocab is neither an object nor an array");
    if (!read_own(t, vocab, unknown, e) || !read_added(t, json_member(root, "added_tokens"), e))
        return false;
    if (is(json_member(model, "type"), "WordPiece"))
        return fill(v, t, SPELLING_SPM, prefix ? prefix : "##", e);
    const enum spelling spelling = spelling_of(root);
    const bool merges = spelling == SPELLING_GPT2 && cJSON_GetArraySize(json_member(model, "merges")) > 0;
    return fill(v, t, spelling, NULL, e) && (!merges || keep_merges(v, t, model) || err_from_fault(e, fault_memory()));
}

// Guesses from its tokens how a vocab.json spells them, since it does not say. The spelling is GPT-2's if some token
// has GPT-2's character for a space or a newline, and none has white space itself. It is SPM's if some token begins
// with U+2581 or is <0xNN>. Else it is plain.
static enum spelling guess_spelling(const cJSON *map)
{
    const cJSON *item;
    bool gpt2 = false, raw = false, marks = false;
    cJSON_ArrayForEach(item, map)
    {
        const char *const text = item->string;
        gpt2 = gpt2 || strstr(text, GPT2_SPACE) || strstr(text, GPT2_LINE);
        raw = raw || strpbrk(text, " \t\n\r");
        marks = marks || !strncmp(text, SPACE_MARK, 3) || spelling_is_byte(text, strlen(text));
    }
    if (gpt2 && !raw)
        return SPELLING_GPT2;
    return marks ? SPELLING_SPM : SPELLING_PLAIN;
}

static bool load_map(struct vocab *v, struct vocab_entries *t, const cJSON *root, struct err *e)
{
    const enum spelling spelling = guess_spelling(root);
    v->space_prefix = t->bytes = spelling == SPELLING_SPM; // the default of GGUF
    return read_own(t, root, NULL, e) && fill(v, t, spelling, NULL, e);
}

static bool load_json(struct vocab *v, struct source *s, struct err *e)
{
    struct vocab_entries t = {0};
    const unsigned char *p;
    if (!source_peek(s, SIZE_MAX, &p, &t.file_len, e))
        return false;
    cJSON *const root = json_parse_object(p, t.file_len, "not a JSON object", e);
    const bool ok = root && (cJSON_IsObject(json_member(root, "model")) ? load_tokenizer : load_map)(v, &t, root, e);
    cJSON_Delete(root);
    free(t.entry);
    return ok;
}

// Returns true for '{' and then '"' or '}', perhaps behind a byte order mark of UTF-8.
static bool probe_json(const unsigned char *head, size_t len)
{
    size_t i = len >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
    for (int braces = 0; i < len; i++) {
        if (strchr(" \t\r\n", head[i]) && head[i])
            continue;
        if (braces || head[i] != '{')
            return braces && (head[i] == '"' || head[i] == '}');
        braces++;
    }
    return false;
}

const struct vocab_format vocab_json = {.ending = ".json", .probe = probe_json, .load = load_json};
