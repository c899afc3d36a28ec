// SPDX-License-Identifier: MIT
// GGUF, versions 2 and 3 (sampl-input(5)). Reads the tokenizer's keys among a model's metadata, and the recommended
// sampling parameters. Skips other keys, and never reads behind the metadata. So a mapped model of any size costs as
// little as its vocabulary.
#include "base/bits.h"
#include "in/gguf.h"
#include "in/vocab_file.h"
#include "vocab/spelling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TEXT_MAX = 511 };

#define RECOMMENDED "general.sampling." // and the name of a parameter

enum gguf_key {
    KEY_MODEL,
    KEY_TOKENS,
    KEY_TYPES,
    KEY_SCORES,
    KEY_MERGES,
    KEY_PRE,
    KEY_NAME,
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
    [KEY_SCORES] = {"tokenizer.ggml.scores", TYPE_ARRAY, TYPE_F32},
    [KEY_MERGES] = {"tokenizer.ggml.merges", TYPE_ARRAY, TYPE_STRING},
    [KEY_PRE] = {"tokenizer.ggml.pre", TYPE_STRING},
    [KEY_NAME] = {"general.name", TYPE_STRING},
    [KEY_SPACE_PREFIX] = {"tokenizer.ggml.add_space_prefix", TYPE_BOOL},
    [KEY_EOS] = {"tokenizer.ggml.eos_token_id", TYPE_U32},
    [KEY_EOT] = {"tokenizer.ggml.eot_token_id", TYPE_U32},
    [KEY_BANNED] = {"tokenizer.ggml.suppress_tokens", TYPE_ARRAY, TYPE_I32},
    [KEY_ENDS] = {"tokenizer.ggml.eom_token_id", TYPE_U32},
    [KEY_ENDS + 1] = {"tokenizer.ggml.fim_pad_token_id", TYPE_U32},
    [KEY_ENDS + 2] = {"tokenizer.ggml.fim_rep_token_id", TYPE_U32},
    [KEY_ENDS + 3] = {"tokenizer.ggml.fim_sep_token_id", TYPE_U32},
};

// The file, and where the values of keys[] are.
struct metadata {
    struct gguf file;
    struct gguf_value value[KEYS];
};

// Notes the value of keys[k], after checking its type.
static void read_wanted(struct metadata *m, size_t k, uint32_t type)
{
    struct gguf *const g = &m->file;
    struct gguf_value *const v = &m->value[k];
    const char *const name = keys[k].name;
    if (v->given)
        g->ok = err_set(g->e, STATUS_DATA, "%s is given twice", name);
    else if (type != keys[k].type && !(type == TYPE_I32 && keys[k].type == TYPE_U32))
        g->ok = err_set(g->e, STATUS_DATA, "%s is of type %" PRIu32 ", should be %" PRIu32, name, type, keys[k].type);
    *v = gguf_pass(g, type, 1);
    if (g->ok && v->elements != keys[k].elements && !(v->elements == TYPE_U32 && keys[k].elements == TYPE_I32))
        g->ok = err_set(g->e, STATUS_DATA, "%s holds type %" PRIu32 ", should be %" PRIu32, name, v->elements,
                        keys[k].elements);
}

static bool is_signed(uint32_t type)
{
    static const bool is[TYPES] = {[1] = true, [3] = true, [TYPE_I32] = true, [11] = true};
    return is[type];
}

// Reads what is recommended for a parameter as text, as llama.cpp does: a float has six decimals, and a string ends at
// a NUL and after TEXT_MAX bytes. An array is an empty text.
static void read_recommendation(struct gguf *g, struct vocab *vocab, const char *name, uint32_t type)
{
    char text[TEXT_MAX + 1] = "";
    const struct gguf_value v = gguf_pass(g, type, 1);
    if (!g->ok)
        return;
    const unsigned char *const p = g->p + v.at;
    const unsigned unused = (unsigned)(64 - 8 * gguf_size(type));
    uint64_t bits = 0;
    double wide;
    memcpy(&bits, p, gguf_size(type));
    memcpy(&wide, &bits, sizeof wide);
    if (type == TYPE_STRING)
        snprintf(text, sizeof text, "%.*s", v.n < TEXT_MAX ? (int)v.n : TEXT_MAX, (const char *)p);
    else if (type == TYPE_F32 || type == TYPE_F64)
        snprintf(text, sizeof text, "%f", type == TYPE_F64 ? wide : (double)f32_of_bits((uint32_t)bits));
    else if (type == TYPE_BOOL)
        snprintf(text, sizeof text, "%s", bits ? "true" : "false");
    else if (is_signed(type))
        snprintf(text, sizeof text, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else if (type != TYPE_ARRAY)
        snprintf(text, sizeof text, "%" PRIu64, bits);
    g->ok = vocab_recommend(vocab, name, text) || err_from_fault(g->e, fault_memory());
}

static void read_metadata_pair(struct metadata *m, struct vocab *vocab)
{
    char key[GGUF_KEY];
    const size_t prefix = sizeof RECOMMENDED - 1;
    gguf_key(&m->file, key);
    const uint32_t type = gguf_type(&m->file);
    size_t k = 0;
    if (!m->file.ok)
        return;
    while (k < KEYS && strcmp(key, keys[k].name) != 0)
        k++;
    if (k < KEYS)
        read_wanted(m, k, type);
    else if (!strncmp(key, RECOMMENDED, prefix) && key[prefix])
        read_recommendation(&m->file, vocab, key + prefix, type);
    else
        gguf_pass(&m->file, type, 1);
}

static bool read_metadata(struct metadata *m, struct vocab *vocab)
{
    uint64_t tensors, pairs = 0;
    gguf_begin(&m->file, &tensors, &pairs);
    for (; m->file.ok && pairs; pairs--) // a pair has at least 13 bytes
        read_metadata_pair(m, vocab);
    return m->file.ok;
}

// Finds how the tokens are spelt, and whether the tokenizer puts a space before a text, by the name of the model.
static bool find_spelling(const struct metadata *m, enum spelling *spelling, bool *space_prefix)
{
    static const struct {
        const char *model;
        enum spelling spelling;
        bool space_prefix; // unless the file says otherwise
    } models[] = {{"llama", SPELLING_SPM, true},  {"gpt2", SPELLING_GPT2, false}, {"bert", SPELLING_SPM, false},
                  {"t5", SPELLING_SPM, false},    {"rwkv", SPELLING_C, false},    {"plamo2", SPELLING_PLAIN, false},
                  {"gemma4", SPELLING_SPM, false}};
    const struct gguf_value *const model = &m->value[KEY_MODEL], *const given = &m->value[KEY_SPACE_PREFIX];
    const char *const name = (const char *)m->file.p + model->at;
    if (!model->given)
        return err_set(m->file.e, STATUS_DATA, "the GGUF metadata hold no tokenizer.ggml.model");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strlen(models[i].model) == model->n && !memcmp(name, models[i].model, (size_t)model->n)) {
            *spelling = models[i].spelling;
            *space_prefix = given->given ? m->file.p[given->at] != 0 : models[i].space_prefix;
            return true;
        }
    return err_set(m->file.e, STATUS_DATA, "tokenizer.ggml.model '%.*s' is not known",
                   err_clip_part(name, (size_t)model->n, 40), name);
}

// Returns the i-th number of a key, or `otherwise` if the file does not have the key.
static uint32_t number_at(const struct metadata *m, size_t k, size_t i, uint32_t otherwise)
{
    if (m->value[k].given)
        memcpy(&otherwise, m->file.p + m->value[k].at + i * sizeof otherwise, sizeof otherwise);
    return otherwise;
}

// Adds the tokens. pass_value has checked that their texts lie in the file.
static bool add_tokens(const struct metadata *m, enum spelling spelling, struct vocab *v)
{
    const unsigned char *p = m->file.p + m->value[KEY_TOKENS].at;
    for (size_t i = 0; i < m->value[KEY_TOKENS].n; i++) {
        uint64_t len;
        memcpy(&len, p, sizeof len);
        p += sizeof len;
        if (!vocab_add_spelt(v, spelling, number_at(m, KEY_TYPES, i, TOKEN_NORMAL), p, (size_t)len))
            return false;
        p += len;
    }
    return true;
}

static bool is_named(const struct metadata *m, size_t k, const char *name)
{
    const struct gguf_value *const v = &m->value[k];
    return v->given && v->n == strlen(name) && !memcmp(m->file.p + v->at, name, (size_t)v->n);
}

// Returns true if llama.cpp takes a word that is a token as it is. The name of the pre-tokenizer tells.
static bool takes_whole_words(const struct metadata *m)
{
    static const char *const names[] = {"minicpm5",
                                        "llama3",
                                        "llama-v3",
                                        "llama-bpe",
                                        "falcon3",
                                        "falcon-h1",
                                        "pixtral",
                                        "midm-2.0",
                                        "lfm2",
                                        "jina-v5-nano",
                                        "youtu",
                                        "tekken",
                                        "granite-embed-multi-97m"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && !is_named(m, KEY_PRE, names[i]))
        i++;
    return i < sizeof names / sizeof *names;
}

// Marks the special tokens behind which llama.cpp drops white space: most of those of a model that is named Phi-3. On
// tokens that are not special the mark means nothing.
static void mark_stripping(const struct metadata *m, struct vocab *v)
{
    static const char *const others[] = {"<unk>", "<s>", "<|endoftext|>"};
    const struct gguf_value *const name = &m->value[KEY_NAME];
    const char *const p = (const char *)m->file.p + name->at;
    bool phi3 = false;
    for (size_t i = 0; name->given && i < name->n; i++)
        phi3 = phi3 || (name->n - i >= 4 && !strncasecmp(p + i, "phi3", 4)) ||
               (name->n - i >= 5 && !strncasecmp(p + i, "phi-3", 5));
    for (uint32_t id = 0; phi3 && id < v->n; id++)
        v->flags[id] |= VOCAB_STRIPS;
    for (size_t i = 0; phi3 && i < sizeof others / sizeof *others; i++) {
        const uint32_t id = vocab_find(v, others[i], strlen(others[i]), 0);
        if (id != VOCAB_NONE)
            v->flags[id] &= (unsigned char)~VOCAB_STRIPS;
    }
}

// Keeps what a tokenizer needs, of models whose tokenizer is known. False if memory is short.
static bool keep_tokenizer(const struct metadata *m, struct vocab *v)
{
    const bool spm = is_named(m, KEY_MODEL, "llama") && m->value[KEY_SCORES].n == v->n,
               bpe = is_named(m, KEY_MODEL, "gpt2") && m->value[KEY_MERGES].n;
    const unsigned char *p = m->file.p + m->value[KEY_TOKENS].at, *merge = m->file.p + m->value[KEY_MERGES].at;
    struct builder *const merges = &v->tokenizer.merges;
    uint64_t len;
    for (size_t i = 0; (spm || bpe) && i < v->n; i++, p += len) {
        float score = 0.0f;
        memcpy(&len, p, sizeof len);
        p += sizeof len;
        if (spm)
            memcpy(&score, m->file.p + m->value[KEY_SCORES].at + i * sizeof score, sizeof score);
        if (!vocab_keep_spelt(v, i, p, (size_t)len, score))
            return false;
    }
    for (uint64_t i = 0; bpe && i < m->value[KEY_MERGES].n; i++, merge += len) {
        memcpy(&len, merge, sizeof len);
        merge += sizeof len;
        builder_bytes(merges, merge, (size_t)len);
        builder_byte(merges, '\0');
    }
    v->tokenizer.kind = spm ? TOKENIZER_SPM : bpe ? TOKENIZER_BPE : TOKENIZER_NONE;
    v->tokenizer.whole_words = bpe && takes_whole_words(m);
    return builder_whole(merges);
}

static bool load_gguf(struct vocab *v, struct source *s, struct err *e)
{
    struct metadata m = {.file = {.source = s, .ok = true, .e = e}};
    const struct gguf_value *const tokens = &m.value[KEY_TOKENS], *const of_type = &m.value[KEY_TYPES];
    enum spelling spelling = SPELLING_PLAIN;
    if (!read_metadata(&m, v) || !find_spelling(&m, &spelling, &v->space_prefix))
        return false;
    if (!tokens->n || tokens->n > INT32_MAX)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens", tokens->n);
    if (of_type->given && of_type->n != tokens->n)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens, but the types of %" PRIu64,
                       tokens->n, of_type->n);
    if (!add_tokens(&m, spelling, v) || !keep_tokenizer(&m, v))
        return err_from_fault(e, fault_memory());
    mark_stripping(&m, v);
    v->eos = number_at(&m, KEY_EOS, 0, VOCAB_NONE);
    v->eot = number_at(&m, KEY_EOT, 0, VOCAB_NONE);
    for (size_t k = KEY_ENDS; k < KEYS; k++)
        vocab_mark_end(v, number_at(&m, k, 0, VOCAB_NONE));
    for (size_t i = 0; i < m.value[KEY_BANNED].n; i++) {
        const uint32_t id = number_at(&m, KEY_BANNED, i, VOCAB_NONE);
        if (id < v->n)
            v->flags[id] |= VOCAB_BANNED;
    }
    return true;
}

const struct vocab_format vocab_gguf = {.ending = ".gguf", .probe = gguf_probe, .load = load_gguf};
