// SPDX-License-Identifier: MIT
// GGUF, versions 2 and 3 (sampl-formats(5)): the tokenizer's keys among a model's metadata, and what it recommends for sampling.
// Whatever else is there is stepped over, and nothing behind the metadata is looked at, so that a mapped model of any size costs as
// little as its vocabulary.
#include "in/vocab_file.h"
#include "vocab/roles.h"
#include "vocab/spelling.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MAX = 8, KEY_MAX = 65535, ADVICE_MAX = 1000 };

// GGUF's value types, and the sizes of those that have one.
enum { TYPE_U32 = 4, TYPE_I32 = 5, TYPE_F32 = 6, TYPE_BOOL = 7, TYPE_STRING = 8, TYPE_ARRAY = 9, TYPE_F64 = 12, TYPES = 13 };

static const unsigned char type_size[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

#define PREFIX "tokenizer.ggml."
#define ADVICE "general.sampling."

enum gguf_key {
    KEY_MODEL,
    KEY_TOKENS,
    KEY_TYPES,
    KEY_SPACE_PREFIX,
    KEY_EOS,
    KEY_EOT,
    KEY_BANNED,
    KEY_ENDS, // and those behind it: tokens that end a generation
    KEYS = KEY_ENDS + 4
};

static const struct {
    const char *name; // behind PREFIX
    uint32_t type, elements;
} keys[KEYS] = {
    [KEY_MODEL] = {"model", TYPE_STRING},
    [KEY_TOKENS] = {"tokens", TYPE_ARRAY, TYPE_STRING},
    [KEY_TYPES] = {"token_type", TYPE_ARRAY, TYPE_I32},
    [KEY_SPACE_PREFIX] = {"add_space_prefix", TYPE_BOOL},
    [KEY_EOS] = {"eos_token_id", TYPE_U32},
    [KEY_EOT] = {"eot_token_id", TYPE_U32},
    [KEY_BANNED] = {"suppress_tokens", TYPE_ARRAY, TYPE_I32},
    [KEY_ENDS] = {"eom_token_id", TYPE_U32},
    [KEY_ENDS + 1] = {"fim_pad_token_id", TYPE_U32},
    [KEY_ENDS + 2] = {"fim_rep_token_id", TYPE_U32},
    [KEY_ENDS + 3] = {"fim_sep_token_id", TYPE_U32},
};

// Where in the file a value lies.
struct gguf_value {
    bool given;
    uint32_t elements; // of an array: their type
    uint64_t n;        // bytes of a string, elements of an array
    size_t at;         // behind the type and number
};

// A window on the file from its start.
struct gguf {
    struct source *source;
    const unsigned char *p; // [have]
    size_t have, at;        // at: the present place
    struct gguf_value value[KEYS];
};

// Makes sure that n more bytes are there.
static bool need(struct gguf *g, uint64_t n, struct err *e)
{
    if (n <= g->have - g->at)
        return true;
    const size_t want = n < SIZE_MAX - g->at ? g->at + (size_t)n : SIZE_MAX;
    if (!source_peek(g->source, want, &g->p, &g->have, e))
        return false;
    return n <= g->have - g->at || err_set(e, STATUS_DATA, "the file ends at byte %zu, inside the GGUF metadata", g->have);
}

static bool step(struct gguf *g, uint64_t n, struct err *e)
{
    if (!need(g, n, e))
        return false;
    g->at += (size_t)n;
    return true;
}

static bool read_u32(struct gguf *g, uint32_t *v, struct err *e)
{
    if (!step(g, sizeof *v, e))
        return false;
    memcpy(v, g->p + g->at - sizeof *v, sizeof *v);
    return true;
}

static bool read_u64(struct gguf *g, uint64_t *v, struct err *e)
{
    if (!step(g, sizeof *v, e))
        return false;
    memcpy(v, g->p + g->at - sizeof *v, sizeof *v);
    return true;
}

static bool read_type(struct gguf *g, uint32_t *type, struct err *e)
{
    return read_u32(g, type, e) &&
           (*type < TYPES || err_set(e, STATUS_DATA, "byte %zu: GGUF has no value type %" PRIu32, g->at - 4, *type));
}

// Steps over a value, noting where it is. depth: of arrays, this one included.
static bool pass_value(struct gguf *g, uint32_t type, int depth, struct gguf_value *v, struct err *e)
{
    *v = (struct gguf_value){.given = true, .n = 1};
    assert(type < TYPES);
    if (type == TYPE_ARRAY && depth > NESTING_MAX)
        return err_set(e, STATUS_DATA, "byte %zu: arrays in arrays more than %d deep", g->at, NESTING_MAX);
    if (type == TYPE_ARRAY && !read_type(g, &v->elements, e))
        return false;
    if ((type == TYPE_ARRAY || type == TYPE_STRING) && !read_u64(g, &v->n, e))
        return false;
    v->at = g->at;
    const uint64_t size = type == TYPE_STRING ? 1 : type_size[type == TYPE_ARRAY ? v->elements : type];
    if (size)
        return step(g, v->n > UINT64_MAX / size ? UINT64_MAX : v->n * size, e);
    for (uint64_t i = 0; i < v->n; i++) { // each is at least 8 bytes, so that the file bounds their number
        struct gguf_value inner;
        if (!pass_value(g, v->elements, depth + 1, &inner, e))
            return false;
    }
    return true;
}

// The index of a key that is wanted, or KEYS.
static size_t find_key(const unsigned char *name, size_t len)
{
    const size_t prefix = sizeof PREFIX - 1;
    size_t k = len > prefix && !memcmp(name, PREFIX, prefix) ? 0 : KEYS;
    while (k < KEYS && (strlen(keys[k].name) != len - prefix || memcmp(name + prefix, keys[k].name, len - prefix) != 0))
        k++;
    return k;
}

static bool read_wanted(struct gguf *g, size_t k, uint32_t type, struct err *e)
{
    struct gguf_value *const v = &g->value[k];
    if (v->given)
        return err_set(e, STATUS_DATA, "tokenizer.ggml.%s is there twice", keys[k].name);
    if (type != keys[k].type && !(type == TYPE_I32 && keys[k].type == TYPE_U32))
        return err_set(e, STATUS_DATA, "tokenizer.ggml.%s is of type %" PRIu32 ", should be %" PRIu32, keys[k].name, type,
                       keys[k].type);
    if (!pass_value(g, type, 1, v, e))
        return false;
    return type != TYPE_ARRAY || v->elements == keys[k].elements || (v->elements == TYPE_U32 && keys[k].elements == TYPE_I32) ||
           err_set(e, STATUS_DATA, "tokenizer.ggml.%s holds type %" PRIu32 ", should be %" PRIu32, keys[k].name, v->elements,
                   keys[k].elements);
}

// A number of any type but f64, which nothing recommended is of, as text.
static void number_as_text(const unsigned char *p, uint32_t type, char text[ADVICE_MAX + 1])
{
    static const bool is_signed[TYPES] = {[1] = true, [3] = true, [TYPE_I32] = true, [11] = true};
    const unsigned size = type_size[type];
    uint64_t bits = 0;
    float f;
    memcpy(&bits, p, size);
    if (type == TYPE_F32) {
        memcpy(&f, p, sizeof f);
        snprintf(text, ADVICE_MAX, "%.9g", (double)f);
    } else if (is_signed[type] && bits >> (8 * size - 1)) {
        snprintf(text, ADVICE_MAX, "-%" PRIu64, (~bits & UINT64_MAX >> (64 - 8 * size)) + 1);
    } else {
        snprintf(text, ADVICE_MAX, "%" PRIu64, bits);
    }
}

static bool read_recommendation(struct gguf *g, struct vocab *vocab, const char *key, uint32_t type, struct err *e)
{
    char text[ADVICE_MAX + 1];
    struct gguf_value v;
    if (!pass_value(g, type, 1, &v, e))
        return false;
    if (type == TYPE_ARRAY || type == TYPE_F64)
        return true;
    const unsigned char *const p = g->p + v.at;
    if (type == TYPE_STRING && (v.n > ADVICE_MAX || memchr(p, '\0', (size_t)v.n)))
        return err_set(e, STATUS_DATA, ADVICE "%s is no text of up to %d bytes", key, ADVICE_MAX);
    if (type == TYPE_STRING)
        snprintf(text, sizeof text, "%.*s", (int)v.n, (const char *)p);
    else
        number_as_text(p, type, text);
    return vocab_recommend(vocab, key, text) || err_from_fault(e, fault_memory());
}

// The name of a recommendation, or false.
static bool is_recommendation(const unsigned char *name, size_t len, char key[40])
{
    const size_t prefix = sizeof ADVICE - 1;
    if (len <= prefix || len - prefix >= 40 || memcmp(name, ADVICE, prefix) != 0)
        return false;
    memcpy(key, name + prefix, len - prefix);
    key[len - prefix] = '\0';
    return true;
}

static bool read_pair(struct gguf *g, struct vocab *vocab, struct err *e)
{
    const size_t begin = g->at;
    struct gguf_value other;
    uint64_t len;
    uint32_t type;
    char recommended[40];
    if (!read_u64(g, &len, e))
        return false;
    if (len > KEY_MAX)
        return err_set(e, STATUS_DATA, "byte %zu: a key of %" PRIu64 " bytes, more than GGUF's %d", begin, len, KEY_MAX);
    const size_t name = g->at;
    if (!step(g, len, e) || !read_type(g, &type, e))
        return false;
    if (is_recommendation(g->p + name, (size_t)len, recommended))
        return read_recommendation(g, vocab, recommended, type, e);
    const size_t k = find_key(g->p + name, (size_t)len);
    return k < KEYS ? read_wanted(g, k, type, e) : pass_value(g, type, 1, &other, e);
}

static bool read_metadata(struct gguf *g, struct vocab *vocab, struct err *e)
{
    uint32_t version;
    uint64_t tensors, pairs;
    if (!step(g, 4, e) || !read_u32(g, &version, e))
        return false;
    if (version && !(version & 0xffff))
        return err_set(e, STATUS_DATA, "a big-endian GGUF file; only little-endian ones are read");
    if (version == 1)
        return err_set(e, STATUS_DATA, "GGUF version 1 is not read; newer programs write 2 and 3");
    if (version != 2 && version != 3)
        return err_set(e, STATUS_DATA, "GGUF version %" PRIu32 " is not known, only 2 and 3", version);
    if (!read_u64(g, &tensors, e) || !read_u64(g, &pairs, e))
        return false;
    for (uint64_t i = 0; i < pairs; i++) // each is at least 13 bytes
        if (!read_pair(g, vocab, e))
            return false;
    return true;
}

// How the tokens are spelt, and whether a space goes before a text.
static bool find_spelling(const struct gguf *g, enum spelling *spelling, bool *space_prefix, struct err *e)
{
    static const struct {
        const char *model;
        enum spelling spelling;
        bool space_prefix; // unless the file says otherwise
    } models[] = {{"llama", SPELLING_SPM, true},  {"gpt2", SPELLING_GPT2, false}, {"bert", SPELLING_SPM, false},
                  {"t5", SPELLING_SPM, false},    {"rwkv", SPELLING_C, false},    {"plamo2", SPELLING_PLAIN, false},
                  {"gemma4", SPELLING_SPM, false}};
    const struct gguf_value *const model = &g->value[KEY_MODEL], *const given = &g->value[KEY_SPACE_PREFIX];
    const char *const name = (const char *)g->p + model->at;
    if (!model->given)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold no tokenizer.ggml.model");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strlen(models[i].model) == model->n && !memcmp(name, models[i].model, (size_t)model->n)) {
            *spelling = models[i].spelling;
            *space_prefix = given->given ? g->p[given->at] != 0 : models[i].space_prefix;
            return true;
        }
    return err_set(e, STATUS_DATA, "tokenizer.ggml.model '%.*s' is not known", (int)(model->n < 40 ? model->n : 40), name);
}

// Adds the tokens, whose place in the file pass_value has checked.
static bool add_tokens(const struct gguf *g, enum spelling spelling, struct vocab *v)
{
    const struct gguf_value *const types = &g->value[KEY_TYPES];
    const unsigned char *p = g->p + g->value[KEY_TOKENS].at;
    for (size_t i = 0; i < g->value[KEY_TOKENS].n; i++) {
        uint64_t len;
        int32_t type = TOKEN_NORMAL;
        memcpy(&len, p, sizeof len);
        p += sizeof len;
        if (types->given)
            memcpy(&type, g->p + types->at + i * sizeof type, sizeof type);
        if (!vocab_add_spelt(v, spelling, (unsigned)type, p, (size_t)len))
            return false;
        p += len;
    }
    return true;
}

// The token that a key names, or VOCAB_NONE.
static uint32_t token_of(const struct gguf *g, size_t k)
{
    uint32_t id = VOCAB_NONE;
    if (g->value[k].given)
        memcpy(&id, g->p + g->value[k].at, sizeof id);
    return id;
}

static bool load_gguf(struct vocab *v, struct source *s, struct err *e)
{
    struct gguf g = {.source = s};
    const struct gguf_value *const tokens = &g.value[KEY_TOKENS], *const types = &g.value[KEY_TYPES];
    const struct gguf_value *const banned = &g.value[KEY_BANNED];
    enum spelling spelling = SPELLING_PLAIN;
    if (!read_metadata(&g, v, e) || !find_spelling(&g, &spelling, &v->space_prefix, e))
        return false;
    if (!tokens->n || tokens->n > INT32_MAX)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens", tokens->n);
    if (types->given && types->n != tokens->n)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens, but the types of %" PRIu64, tokens->n,
                       types->n);
    if (!add_tokens(&g, spelling, v))
        return err_from_fault(e, fault_memory());
    v->eos = token_of(&g, KEY_EOS);
    v->eot = token_of(&g, KEY_EOT);
    for (size_t k = KEY_ENDS; k < KEYS; k++)
        vocab_mark_end(v, token_of(&g, k));
    for (size_t i = 0; i < banned->n; i++) {
        uint32_t id;
        memcpy(&id, g.p + banned->at + i * sizeof id, sizeof id);
        if (id < v->n)
            v->flags[id] |= VOCAB_BANNED;
    }
    vocab_finish(v);
    return true;
}

// A file that ends inside the magic counts, too.
static bool probe_gguf(const unsigned char *head, size_t len)
{
    return !memcmp(head, "GGUF", len < 4 ? len : 4);
}

const struct vocab_format vocab_gguf = {.ending = ".gguf", .probe = probe_gguf, .load = load_gguf};
