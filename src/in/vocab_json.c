// SPDX-License-Identifier: MIT
// Hugging Face's tokenizer.json (formats.md 1.7), and vocab.json: an object from text to id.
#include "base/mem.h"
#include "in/vocab_file.h"
#include "vocab/roles.h"
#include "vocab/spelling.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_MARK "\xe2\x96\x81" // U+2581
#define GPT2_SPACE "\xc4\xa0"     // U+0120
#define GPT2_LINE  "\xc4\x8a"     // U+010A

enum { FREE_IDS = 65536 }; // ids below need no justification; others must be less than the bytes of the file

struct token {
    const char *text; // NULL: no token has this id
    unsigned char type;
    bool added; // by added_tokens
};

struct tokens {
    struct token *token; // [n] by id
    size_t n, cap;
    size_t file_len;
};

static const cJSON *part(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is(const cJSON *value, const char *text)
{
    return cJSON_IsString(value) && !strcmp(value->valuestring, text);
}

// A token. Those of added_tokens may replace others.
static bool put(struct tokens *t, const cJSON *id, const char *text, unsigned type, bool added, struct err *e)
{
    const double x = cJSON_IsNumber(id) ? id->valuedouble : -1.0;
    if (!(x >= 0.0 && x < INT32_MAX) || (double)(size_t)x != x)
        return err_set(e, STATUS_DATA, "token '%.40s' has no id that is a whole number", text);
    const size_t i = (size_t)x;
    if (i >= FREE_IDS && i >= t->file_len)
        return err_set(e, STATUS_DATA, "token '%.40s' has the id %zu, more than a file of this size can have tokens", text, i);
    if (!mem_grow(&t->token, &t->cap, i + 1, sizeof *t->token))
        return err_from_fault(e, fault_memory());
    if (i >= t->n) {
        memset(t->token + t->n, 0, (i + 1 - t->n) * sizeof *t->token);
        t->n = i + 1;
    }
    if (t->token[i].text && (!added || t->token[i].added))
        return err_set(e, STATUS_DATA, "tokens '%.40s' and '%.40s' have the same id, %zu", t->token[i].text, text, i);
    t->token[i] = (struct token){text, (unsigned char)type, added};
    return true;
}

// {text: id, ...}
static bool read_map(struct tokens *t, const cJSON *map, const char *unknown, bool bytes, struct err *e)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, map)
    {
        const bool byte = bytes && spelling_is_byte(item->string, strlen(item->string));
        const bool unk = unknown && !strcmp(item->string, unknown);
        if (!put(t, item, item->string, unk ? TOKEN_UNKNOWN : byte ? TOKEN_BYTE : TOKEN_NORMAL, false, e))
            return false;
    }
    return true;
}

// [[text, score], ...]
static bool read_list(struct tokens *t, const cJSON *list, const cJSON *unknown, bool bytes, struct err *e)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *const text = cJSON_IsArray(item) ? cJSON_GetStringValue(item->child) : NULL;
        const cJSON id = {.type = cJSON_Number, .valuedouble = (double)t->n};
        if (!text)
            return err_set(e, STATUS_DATA, "entry %zu of model.vocab is not [text, score]", t->n);
        const bool byte = bytes && spelling_is_byte(text, strlen(text));
        const bool unk = cJSON_IsNumber(unknown) && unknown->valuedouble == (double)t->n;
        if (!put(t, &id, text, unk ? TOKEN_UNKNOWN : byte ? TOKEN_BYTE : TOKEN_NORMAL, false, e))
            return false;
    }
    return true;
}

static bool read_added(struct tokens *t, const cJSON *list, struct err *e)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *const text = cJSON_GetStringValue(part(item, "content"));
        if (!text)
            return err_set(e, STATUS_DATA, "an added token has no content");
        if (!put(t, part(item, "id"), text, cJSON_IsTrue(part(item, "special")) ? TOKEN_CONTROL : TOKEN_USER_DEFINED, true, e))
            return false;
    }
    return true;
}

// The step of this type in a normalizer, pre_tokenizer or decoder, which may be a sequence of steps; NULL: there is none.
static const cJSON *find_step(const cJSON *stage, const char *type)
{
    static const char *const lists[] = {"normalizers", "pretokenizers", "decoders"};
    if (is(part(stage, "type"), type))
        return stage;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *step;
        cJSON_ArrayForEach(step, part(stage, lists[i]))
        {
            if (is(part(step, "type"), type))
                return step;
        }
    }
    return NULL;
}

static bool replaces_marks(const cJSON *decoder)
{
    const cJSON *const replace = find_step(decoder, "Replace");
    return find_step(decoder, "Metaspace") || (replace && is(part(part(replace, "pattern"), "String"), SPACE_MARK));
}

// The decoder says how tokens are spelt; without one the part that splits text does.
static enum spelling spelling_of(const cJSON *root)
{
    const cJSON *const decoder = part(root, "decoder"), *const splitter = part(root, "pre_tokenizer");
    const cJSON *const stage = cJSON_IsObject(decoder) ? decoder : splitter;
    if (find_step(stage, "ByteLevel"))
        return SPELLING_GPT2;
    return replaces_marks(stage) || cJSON_IsArray(part(part(root, "model"), "vocab")) ? SPELLING_SPM : SPELLING_PLAIN;
}

// Does the tokenizer put a space before a text?
static bool prefixes_space(const cJSON *root)
{
    const cJSON *const metaspace = find_step(part(root, "pre_tokenizer"), "Metaspace");
    const cJSON *const scheme = part(metaspace, "prepend_scheme");
    if (metaspace && scheme)
        return !is(scheme, "never");
    return (metaspace && !cJSON_IsFalse(part(metaspace, "add_prefix_space"))) || find_step(part(root, "normalizer"), "Prepend");
}

static bool emit(struct vocab *v, const struct tokens *t, enum spelling spelling, struct err *e)
{
    if (!t->n)
        return err_set(e, STATUS_DATA, "the vocabulary holds no token");
    for (size_t i = 0; i < t->n; i++) {
        const struct token *const token = &t->token[i];
        if (!vocab_add_spelt(v, spelling, token->text ? token->type : TOKEN_UNUSED, token->text ? token->text : "",
                             token->text ? strlen(token->text) : 0))
            return err_from_fault(e, fault_memory());
    }
    return true;
}

// WordPiece: what begins a word has a space before it, what goes on with one has a prefix. Both are spelt as in GGUF's bert.
static bool spell_words(struct tokens *t, const char *prefix, char **texts)
{
    size_t room = 1;
    for (size_t i = 0; i < t->n; i++)
        room += t->token[i].text ? strlen(t->token[i].text) + 4 : 0;
    char *at = *texts = malloc(room);
    if (!at)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        struct token *const token = &t->token[i];
        if (!token->text || token->type != TOKEN_NORMAL || token->added)
            continue;
        const bool inner = *prefix && !strncmp(token->text, prefix, strlen(prefix));
        const char *const from = inner ? token->text + strlen(prefix) : token->text;
        token->text = at;
        at = stpcpy(stpcpy(at, inner ? "" : SPACE_MARK), from) + 1;
    }
    return true;
}

static bool load_tokenizer(struct vocab *v, struct tokens *t, const cJSON *root, struct err *e)
{
    const cJSON *const model = part(root, "model"), *const vocab = part(model, "vocab");
    const bool bytes = cJSON_IsTrue(part(model, "byte_fallback")) || find_step(part(root, "decoder"), "ByteFallback");
    const char *const prefix = cJSON_GetStringValue(part(model, "continuing_subword_prefix"));
    enum spelling spelling = spelling_of(root);
    char *texts = NULL;
    bool ok;
    if (cJSON_IsArray(vocab))
        ok = read_list(t, vocab, part(model, "unk_id"), bytes, e);
    else if (cJSON_IsObject(vocab))
        ok = read_map(t, vocab, cJSON_GetStringValue(part(model, "unk_token")), bytes, e);
    else
        ok = err_set(e, STATUS_DATA, "model.vocab is neither an object nor an array");
    ok = ok && read_added(t, part(root, "added_tokens"), e);
    if (ok && is(part(model, "type"), "WordPiece")) {
        spelling = SPELLING_SPM;
        ok = spell_words(t, prefix ? prefix : "##", &texts) || err_from_fault(e, fault_memory());
    }
    ok = ok && emit(v, t, spelling, e);
    free(texts);
    v->space_prefix = prefixes_space(root);
    return ok;
}

// A vocab.json does not say how its tokens are spelt, so the tokens do: as GPT-2's if some token has the mark of a space or of a line
// end and none has such a byte itself; with U+2581 if some token begins with it or is spelt as a byte; else plainly.
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
    return gpt2 && !raw ? SPELLING_GPT2 : marks ? SPELLING_SPM : SPELLING_PLAIN;
}

static bool load_map(struct vocab *v, struct tokens *t, const cJSON *root, struct err *e)
{
    const enum spelling spelling = guess_spelling(root);
    v->space_prefix = spelling == SPELLING_SPM; // as GGUF has it when it does not say
    return read_map(t, root, NULL, spelling == SPELLING_SPM, e) && emit(v, t, spelling, e);
}

static cJSON *parse(const char *text, size_t len, struct err *e)
{
    const char *stop = text;
    errno = 0;
    cJSON *const root = cJSON_ParseWithLengthOpts(text, len, &stop, false);
    if (!root && errno == ENOMEM)
        return err_from_fault(e, fault_memory()), NULL;
    while (root && stop < text + len && strchr(" \t\r\n", *stop) && *stop)
        stop++;
    if (cJSON_IsObject(root) && stop == text + len)
        return root;
    cJSON_Delete(root);
    return err_set(e, STATUS_DATA, "not a JSON object, near byte %td", stop - text), NULL;
}

static bool load_json(struct vocab *v, struct source *s, struct err *e)
{
    struct tokens t = {0};
    const unsigned char *p;
    if (!source_peek(s, SIZE_MAX, &p, &t.file_len, e))
        return false;
    cJSON *const root = parse((const char *)p, t.file_len, e);
    if (!root)
        return false;
    const bool ok = cJSON_IsObject(part(root, "model")) ? load_tokenizer(v, &t, root, e) : load_map(v, &t, root, e);
    cJSON_Delete(root);
    free(t.token);
    if (ok)
        vocab_finish(v);
    return ok;
}

// An object: '{', then a name or its end. The byte order mark of UTF-8 may come first.
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
