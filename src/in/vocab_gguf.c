// SPDX-License-Identifier: MIT
// GGUF, versions 2 and 3 (sampl-formats(5)). Reads the tokenizer's keys among a model's metadata, and the recommended
// sampling parameters. Skips other keys, and never reads behind the metadata. So a mapped model of any size costs as
// little as its vocabulary.
#include "base/bits.h"
#include "in/vocab_file.h"
#include "vocab/spelling.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MAX = 8, KEY_MAX = 65535, TEXT_MAX = 511 };

// GGUF's value types.
enum {
    TYPE_U32 = 4,
    TYPE_I32 = 5,
    TYPE_F32 = 6,
    TYPE_BOOL = 7,
    TYPE_STRING = 8,
    TYPE_ARRAY = 9,
    TYPE_F64 = 12,
    TYPES = 13
};

static const struct {
    unsigned char size; // bytes; 0: varies
    bool is_signed;
} types[TYPES] = {{1}, {1, true}, {2}, {2, true}, {4}, {4, true}, {4}, {1}, {0}, {0}, {8}, {8, true}, {8}};

#define RECOMMENDED "general.sampling." // and the name of a parameter

enum gguf_key {
    KEY_MODEL,
    KEY_TOKENS,
    KEY_TYPES,
    KEY_SPACE_PREFIX,
    KEY_EOS,
    KEY_EOT,
    KEY_BANNED,
    KEY_ENDS, // this and the keys behind it: tokens that end a generation
    KEYS = KEY_ENDS + 4
};

static const struct {
    const char *name;
    uint32_t type, elements; // elements: type of an array's elements
} keys[KEYS] = {
    [KEY_MODEL] = {"tokenizer.ggml.model", TYPE_STRING},
    [KEY_TOKENS] = {"tokenizer.ggml.tokens", TYPE_ARRAY, TYPE_STRING},
    [KEY_TYPES] = {"tokenizer.ggml.token_type", TYPE_ARRAY, TYPE_I32},
    [KEY_SPACE_PREFIX] = {"tokenizer.ggml.add_space_prefix", TYPE_BOOL},
    [KEY_EOS] = {"tokenizer.ggml.eos_token_id", TYPE_U32},
    [KEY_EOT] = {"tokenizer.ggml.eot_token_id", TYPE_U32},
    [KEY_BANNED] = {"tokenizer.ggml.suppress_tokens", TYPE_ARRAY, TYPE_I32},
    [KEY_ENDS] = {"tokenizer.ggml.eom_token_id", TYPE_U32},
    [KEY_ENDS + 1] = {"tokenizer.ggml.fim_pad_token_id", TYPE_U32},
    [KEY_ENDS + 2] = {"tokenizer.ggml.fim_rep_token_id", TYPE_U32},
    [KEY_ENDS + 3] = {"tokenizer.ggml.fim_sep_token_id", TYPE_U32},
};

// Where a value is in the file.
struct gguf_value {
    bool given;
    uint32_t elements; // type of an array's elements
    uint64_t n;        // bytes of a string, elements of an array, else 1
    size_t at;         // offset of the bytes or elements, behind type and number
};

// The file, read from its start. After a failure, no function reads any more: numbers are then 0 and values empty.
struct gguf {
    struct source *source;
    const unsigned char *p; // [have] the file as far as it was peeked
    size_t have, at;        // at: offset of the current byte
    struct gguf_value value[KEYS];
    bool ok;       // nothing failed
    struct err *e; // the error if not ok
};

// Skips n bytes, which stay in g->p.
static bool step(struct gguf *g, uint64_t n)
{
    if (g->ok && n > g->have - g->at) {
        const size_t want = n < SIZE_MAX - g->at ? g->at + (size_t)n : SIZE_MAX;
        g->ok = source_peek(g->source, want, &g->p, &g->have, g->e);
        if (g->ok && n > g->have - g->at)
            g->ok = err_set(g->e, STATUS_DATA, "the file ends at byte %zu, inside the GGUF metadata", g->have);
    }
    g->at += g->ok ? (size_t)n : 0;
    return g->ok;
}

// Reads a number of `size` bytes.
static uint64_t read_integer(struct gguf *g, size_t size)
{
    uint64_t v = 0;
    if (step(g, size))
        memcpy(&v, g->p + g->at - size, size);
    return v;
}

static uint32_t read_type(struct gguf *g)
{
    const uint32_t type = (uint32_t)read_integer(g, 4);
    if (type < TYPES)
        return type;
    g->ok = err_set(g->e, STATUS_DATA, "byte %zu: GGUF has no value type %" PRIu32, g->at - 4, type);
    return 0;
}

// Skips a value and returns where it is. depth: how many arrays are open, with this one.
static struct gguf_value pass_value(struct gguf *g, uint32_t type, int depth)
{
    struct gguf_value v = {.given = true, .n = 1};
    assert(type < TYPES);
    if (type == TYPE_ARRAY && depth > NESTING_MAX)
        g->ok = err_set(g->e, STATUS_DATA, "byte %zu: arrays in arrays more than %d deep", g->at, NESTING_MAX);
    if (type == TYPE_ARRAY)
        v.elements = read_type(g);
    if (type == TYPE_ARRAY || type == TYPE_STRING)
        v.n = read_integer(g, 8);
    v.at = g->at;
    const uint64_t size = type == TYPE_STRING ? 1 : types[type == TYPE_ARRAY ? v.elements : type].size;
    if (size)
        step(g, v.n > UINT64_MAX / size ? UINT64_MAX : v.n * size);
    for (uint64_t i = 0; !size && g->ok && i < v.n;
         i++) // an element has at least 8 bytes, so the file's length bounds n
        pass_value(g, v.elements, depth + 1);
    return v;
}

// Notes the value of keys[k], after checking its type.
static void read_wanted(struct gguf *g, size_t k, uint32_t type)
{
    struct gguf_value *const v = &g->value[k];
    const char *const name = keys[k].name;
    if (v->given)
        g->ok = err_set(g->e, STATUS_DATA, "%s is there twice", name);
    else if (type != keys[k].type && !(type == TYPE_I32 && keys[k].type == TYPE_U32))
        g->ok = err_set(g->e, STATUS_DATA, "%s is of type %" PRIu32 ", should be %" PRIu32, name, type, keys[k].type);
    *v = pass_value(g, type, 1);
    if (g->ok && v->elements != keys[k].elements && !(v->elements == TYPE_U32 && keys[k].elements == TYPE_I32))
        g->ok = err_set(g->e, STATUS_DATA, "%s holds type %" PRIu32 ", should be %" PRIu32, name, v->elements,
                        keys[k].elements);
}

// Reads what is recommended for a parameter as text, as llama.cpp does: a float has six decimals, and a string ends at
// a NUL and after TEXT_MAX bytes. An array is an empty text.
static void read_recommendation(struct gguf *g, struct vocab *vocab, const char *name, uint32_t type)
{
    char text[TEXT_MAX + 1] = "";
    const struct gguf_value v = pass_value(g, type, 1);
    if (!g->ok)
        return;
    const unsigned char *const p = g->p + v.at;
    const unsigned unused = 64 - 8u * types[type].size;
    uint64_t bits = 0;
    double wide;
    memcpy(&bits, p, types[type].size);
    memcpy(&wide, &bits, sizeof wide);
    if (type == TYPE_STRING)
        snprintf(text, sizeof text, "%.*s", v.n < TEXT_MAX ? (int)v.n : TEXT_MAX, (const char *)p);
    else if (type == TYPE_F32 || type == TYPE_F64)
        snprintf(text, sizeof text, "%f", type == TYPE_F64 ? wide : (double)f32_of_bits((uint32_t)bits));
    else if (type == TYPE_BOOL)
        snprintf(text, sizeof text, "%s", bits ? "true" : "false");
    else if (types[type].is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else if (type != TYPE_ARRAY)
        snprintf(text, sizeof text, "%" PRIu64, bits);
    g->ok = vocab_recommend(vocab, name, text) || err_from_fault(g->e, fault_memory());
}

static void read_metadata_pair(struct gguf *g, struct vocab *vocab)
{
    char key[sizeof RECOMMENDED + 39] = ""; // no longer key is read
    const size_t begin = g->at, prefix = sizeof RECOMMENDED - 1;
    const uint64_t len = read_integer(g, 8);
    if (len > KEY_MAX)
        g->ok = err_set(g->e, STATUS_DATA, "byte %zu: a key of %" PRIu64 " bytes, more than GGUF's %d", begin, len,
                        KEY_MAX);
    if (step(g, len) && len < sizeof key && !memchr(g->p + g->at - len, '\0', (size_t)len))
        memcpy(key, g->p + g->at - len, (size_t)len);
    const uint32_t type = read_type(g);
    size_t k = 0;
    if (!g->ok)
        return;
    while (k < KEYS && strcmp(key, keys[k].name) != 0)
        k++;
    if (k < KEYS)
        read_wanted(g, k, type);
    else if (!strncmp(key, RECOMMENDED, prefix) && key[prefix])
        read_recommendation(g, vocab, key + prefix, type);
    else
        pass_value(g, type, 1);
}

static bool read_metadata(struct gguf *g, struct vocab *vocab)
{
    step(g, 4);
    const uint32_t version = (uint32_t)read_integer(g, 4);
    if (!g->ok)
        return false;
    if (version && !(version & 0xffff))
        return err_set(g->e, STATUS_DATA, "a big-endian GGUF file; only little-endian ones are read");
    if (version == 1)
        return err_set(g->e, STATUS_DATA, "GGUF version 1 is not read; newer programs write 2 and 3");
    if (version != 2 && version != 3)
        return err_set(g->e, STATUS_DATA, "GGUF version %" PRIu32 " is not known, only 2 and 3", version);
    step(g, 8);                                                        // the number of tensors
    for (uint64_t pairs = read_integer(g, 8); g->ok && pairs; pairs--) // a pair has at least 13 bytes
        read_metadata_pair(g, vocab);
    return g->ok;
}

// Finds how the tokens are spelt, and whether the tokenizer puts a space before a text, by the name of the model.
static bool find_spelling(const struct gguf *g, enum spelling *spelling, bool *space_prefix)
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
        return err_set(g->e, STATUS_DATA, "the GGUF metadata hold no tokenizer.ggml.model");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strlen(models[i].model) == model->n && !memcmp(name, models[i].model, (size_t)model->n)) {
            *spelling = models[i].spelling;
            *space_prefix = given->given ? g->p[given->at] != 0 : models[i].space_prefix;
            return true;
        }
    return err_set(g->e, STATUS_DATA, "tokenizer.ggml.model '%.*s' is not known",
                   err_clip_part(name, (size_t)model->n, 40), name);
}

// Returns the i-th number of a key, or `otherwise` if the file does not have the key.
static uint32_t number_at(const struct gguf *g, size_t k, size_t i, uint32_t otherwise)
{
    if (g->value[k].given)
        memcpy(&otherwise, g->p + g->value[k].at + i * sizeof otherwise, sizeof otherwise);
    return otherwise;
}

// Adds the tokens. pass_value has checked that their texts lie in the file.
static bool add_tokens(const struct gguf *g, enum spelling spelling, struct vocab *v)
{
    const unsigned char *p = g->p + g->value[KEY_TOKENS].at;
    for (size_t i = 0; i < g->value[KEY_TOKENS].n; i++) {
        uint64_t len;
        memcpy(&len, p, sizeof len);
        p += sizeof len;
        if (!vocab_add_spelt(v, spelling, number_at(g, KEY_TYPES, i, TOKEN_NORMAL), p, (size_t)len))
            return false;
        p += len;
    }
    return true;
}

static bool load_gguf(struct vocab *v, struct source *s, struct err *e)
{
    struct gguf g = {.source = s, .ok = true, .e = e};
    const struct gguf_value *const tokens = &g.value[KEY_TOKENS], *const of_type = &g.value[KEY_TYPES];
    enum spelling spelling = SPELLING_PLAIN;
    if (!read_metadata(&g, v) || !find_spelling(&g, &spelling, &v->space_prefix))
        return false;
    if (!tokens->n || tokens->n > INT32_MAX)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens", tokens->n);
    if (of_type->given && of_type->n != tokens->n)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens, but the types of %" PRIu64,
                       tokens->n, of_type->n);
    if (!add_tokens(&g, spelling, v))
        return err_from_fault(e, fault_memory());
    v->eos = number_at(&g, KEY_EOS, 0, VOCAB_NONE);
    v->eot = number_at(&g, KEY_EOT, 0, VOCAB_NONE);
    for (size_t k = KEY_ENDS; k < KEYS; k++)
        vocab_mark_end(v, number_at(&g, k, 0, VOCAB_NONE));
    for (size_t i = 0; i < g.value[KEY_BANNED].n; i++) {
        const uint32_t id = number_at(&g, KEY_BANNED, i, VOCAB_NONE);
        if (id < v->n)
            v->flags[id] |= VOCAB_BANNED;
    }
    return true;
}

// Returns true also for a file that ends inside the magic.
static bool probe_gguf(const unsigned char *head, size_t len) { return !memcmp(head, "GGUF", len < 4 ? len : 4); }

const struct vocab_format vocab_gguf = {.ending = ".gguf", .probe = probe_gguf, .load = load_gguf};
