// SPDX-License-Identifier: MIT
// GGUF, versions 2 and 3 (formats.md 1.6): the tokenizer's keys among a model's metadata, and what it recommends for sampling. Whatever
// else is there is stepped over, and nothing behind the metadata is looked at, so that a mapped model of any size costs as little as its
// vocabulary.
#include "in/vocab_file.h"
#include "vocab/roles.h"
#include "vocab/spelling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MAX = 8, KEY_MAX = 65535, ADVICE_MAX = 1000 };

// GGUF's value types, and the sizes of those that have one.
enum { TYPE_U32 = 4, TYPE_I32 = 5, TYPE_F32 = 6, TYPE_BOOL = 7, TYPE_STRING = 8, TYPE_ARRAY = 9, TYPE_F64 = 12, TYPES = 13 };

static const unsigned char type_size[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// A window on the file from its start; `at` is the present place.
struct reader {
    struct source *source;
    struct vocab *vocab;    // that recommendations go to
    const unsigned char *p; // [have]
    size_t have, at;
};

struct array {
    uint32_t type; // of its elements
    uint64_t n;
    size_t at; // where they begin
};

// What the keys held.
struct metadata {
    struct array tokens, types, banned;
    struct array model; // a string: n bytes
    uint32_t eos, eot, ends[4];
    bool space_prefix;
    unsigned given; // a bit for each row of `keys`
};

#define PREFIX "tokenizer.ggml."
#define ADVICE "general.sampling."

static const struct key {
    const char *name; // behind PREFIX
    uint32_t type, elements;
    size_t at; // in struct metadata
} keys[] = {
    {"model", TYPE_STRING, 0, offsetof(struct metadata, model)},
    {"tokens", TYPE_ARRAY, TYPE_STRING, offsetof(struct metadata, tokens)},
    {"token_type", TYPE_ARRAY, TYPE_I32, offsetof(struct metadata, types)},
    {"add_space_prefix", TYPE_BOOL, 0, offsetof(struct metadata, space_prefix)},
    {"eos_token_id", TYPE_U32, 0, offsetof(struct metadata, eos)},
    {"eot_token_id", TYPE_U32, 0, offsetof(struct metadata, eot)},
    {"eom_token_id", TYPE_U32, 0, offsetof(struct metadata, ends[0])},
    {"fim_pad_token_id", TYPE_U32, 0, offsetof(struct metadata, ends[1])},
    {"fim_rep_token_id", TYPE_U32, 0, offsetof(struct metadata, ends[2])},
    {"fim_sep_token_id", TYPE_U32, 0, offsetof(struct metadata, ends[3])},
    {"suppress_tokens", TYPE_ARRAY, TYPE_I32, offsetof(struct metadata, banned)},
};

enum { KEY_MODEL, KEY_TOKENS, KEY_TYPES, KEY_SPACE_PREFIX, KEYS = sizeof keys / sizeof *keys };

// Makes sure that n more bytes are there.
static bool need(struct reader *r, uint64_t n, struct err *e)
{
    if (n <= r->have - r->at)
        return true;
    const size_t want = n < SIZE_MAX - r->at ? r->at + (size_t)n : SIZE_MAX;
    if (!source_peek(r->source, want, &r->p, &r->have, e))
        return false;
    return n <= r->have - r->at || err_set(e, STATUS_DATA, "the file ends at byte %zu, inside the GGUF metadata", r->have);
}

static bool step(struct reader *r, uint64_t n, struct err *e)
{
    if (!need(r, n, e))
        return false;
    r->at += (size_t)n;
    return true;
}

static bool read_u32(struct reader *r, uint32_t *v, struct err *e)
{
    if (!need(r, sizeof *v, e))
        return false;
    memcpy(v, r->p + r->at, sizeof *v);
    r->at += sizeof *v;
    return true;
}

static bool read_u64(struct reader *r, uint64_t *v, struct err *e)
{
    if (!need(r, sizeof *v, e))
        return false;
    memcpy(v, r->p + r->at, sizeof *v);
    r->at += sizeof *v;
    return true;
}

static bool skip_array(struct reader *r, struct array *a, int depth, struct err *e);

static bool skip_value(struct reader *r, uint32_t type, int depth, struct err *e)
{
    uint64_t n;
    struct array inner;
    if (type == TYPE_STRING)
        return read_u64(r, &n, e) && step(r, n, e);
    if (type == TYPE_ARRAY)
        return skip_array(r, &inner, depth + 1, e);
    return step(r, type_size[type], e);
}

static bool read_type(struct reader *r, uint32_t *type, struct err *e)
{
    return read_u32(r, type, e) &&
           (*type < TYPES || err_set(e, STATUS_DATA, "byte %zu: GGUF has no value type %" PRIu32, r->at - 4, *type));
}

// Steps over an array, noting where it is.
static bool skip_array(struct reader *r, struct array *a, int depth, struct err *e)
{
    if (depth > NESTING_MAX)
        return err_set(e, STATUS_DATA, "byte %zu: arrays in arrays more than %d deep", r->at, NESTING_MAX);
    if (!read_type(r, &a->type, e) || !read_u64(r, &a->n, e))
        return false;
    a->at = r->at;
    const uint64_t size = type_size[a->type];
    if (size)
        return step(r, a->n > UINT64_MAX / size ? UINT64_MAX : a->n * size, e);
    for (uint64_t i = 0; i < a->n; i++) // each is at least 8 bytes, so that the file bounds their number
        if (!skip_value(r, a->type, depth, e))
            return false;
    return true;
}

static const struct key *find_key(const unsigned char *name, size_t len)
{
    const size_t prefix = sizeof PREFIX - 1;
    for (const struct key *k = keys; k < keys + KEYS; k++)
        if (len > prefix && strlen(k->name) == len - prefix && !memcmp(name, PREFIX, prefix) &&
            !memcmp(name + prefix, k->name, len - prefix))
            return k;
    return NULL;
}

static bool read_wanted(struct reader *r, struct metadata *m, const struct key *k, uint32_t type, struct err *e)
{
    void *const to = (char *)m + k->at;
    const unsigned bit = 1u << (k - keys);
    if (m->given & bit)
        return err_set(e, STATUS_DATA, "tokenizer.ggml.%s is there twice", k->name);
    m->given |= bit;
    if (type != k->type && !(type == TYPE_I32 && k->type == TYPE_U32))
        return err_set(e, STATUS_DATA, "tokenizer.ggml.%s is of type %" PRIu32 ", should be %" PRIu32, k->name, type, k->type);
    if (type == TYPE_ARRAY) {
        struct array *const a = to;
        if (!skip_array(r, a, 1, e))
            return false;
        return a->type == k->elements || (a->type == TYPE_U32 && k->elements == TYPE_I32) ||
               err_set(e, STATUS_DATA, "tokenizer.ggml.%s holds type %" PRIu32 ", should be %" PRIu32, k->name, a->type,
                       k->elements);
    }
    if (type == TYPE_STRING) {
        struct array *const a = to;
        if (!read_u64(r, &a->n, e))
            return false;
        a->at = r->at;
        return step(r, a->n, e);
    }
    if (type == TYPE_BOOL) {
        if (!need(r, 1, e))
            return false;
        *(bool *)to = r->p[r->at++] != 0;
        return true;
    }
    return read_u32(r, to, e);
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

static bool read_advice(struct reader *r, const char *key, uint32_t type, struct err *e)
{
    char text[ADVICE_MAX + 1];
    uint64_t len = type_size[type];
    if (type == TYPE_ARRAY || type == TYPE_F64)
        return skip_value(r, type, 0, e);
    if ((type == TYPE_STRING && !read_u64(r, &len, e)) || !need(r, len, e))
        return false;
    const unsigned char *const p = r->p + r->at;
    if (len > ADVICE_MAX || (type == TYPE_STRING && memchr(p, '\0', (size_t)len)))
        return err_set(e, STATUS_DATA, ADVICE "%s is no text of up to %d bytes", key, ADVICE_MAX);
    if (type == TYPE_STRING)
        snprintf(text, sizeof text, "%.*s", (int)len, (const char *)p);
    else
        number_as_text(p, type, text);
    r->at += (size_t)len;
    return vocab_advise(r->vocab, key, text) || err_from_fault(e, fault_memory());
}

// The name of a recommendation, or false.
static bool is_advice(const unsigned char *name, size_t len, char key[40])
{
    const size_t prefix = sizeof ADVICE - 1;
    if (len <= prefix || len - prefix >= 40 || memcmp(name, ADVICE, prefix) != 0)
        return false;
    memcpy(key, name + prefix, len - prefix);
    key[len - prefix] = '\0';
    return true;
}

static bool read_pair(struct reader *r, struct metadata *m, struct err *e)
{
    uint64_t len;
    uint32_t type;
    char advice[40];
    const size_t begin = r->at;
    if (!read_u64(r, &len, e))
        return false;
    if (len > KEY_MAX)
        return err_set(e, STATUS_DATA, "byte %zu: a key of %" PRIu64 " bytes, more than GGUF's %d", begin, len, KEY_MAX);
    const size_t name = r->at;
    if (!step(r, len, e) || !read_type(r, &type, e))
        return false;
    if (is_advice(r->p + name, (size_t)len, advice))
        return read_advice(r, advice, type, e);
    const struct key *const k = find_key(r->p + name, (size_t)len);
    return k ? read_wanted(r, m, k, type, e) : skip_value(r, type, 0, e);
}

static bool read_metadata(struct reader *r, struct metadata *m, struct err *e)
{
    uint32_t version;
    uint64_t tensors, pairs;
    if (!step(r, 4, e) || !read_u32(r, &version, e))
        return false;
    if (version && !(version & 0xffff))
        return err_set(e, STATUS_DATA, "a big-endian GGUF file; only little-endian ones are read");
    if (version == 1)
        return err_set(e, STATUS_DATA, "GGUF version 1 is not read; newer programs write 2 and 3");
    if (version != 2 && version != 3)
        return err_set(e, STATUS_DATA, "GGUF version %" PRIu32 " is not known, only 2 and 3", version);
    if (!read_u64(r, &tensors, e) || !read_u64(r, &pairs, e))
        return false;
    for (uint64_t i = 0; i < pairs; i++) // each is at least 13 bytes
        if (!read_pair(r, m, e))
            return false;
    return true;
}

static bool find_spelling(const struct reader *r, struct metadata *m, enum spelling *spelling, struct err *e)
{
    static const struct {
        const char *model;
        enum spelling spelling;
        bool space_prefix; // unless the file says otherwise
    } models[] = {{"llama", SPELLING_SPM, true},  {"gpt2", SPELLING_GPT2, false}, {"bert", SPELLING_SPM, false},
                  {"t5", SPELLING_SPM, false},    {"rwkv", SPELLING_C, false},    {"plamo2", SPELLING_PLAIN, false},
                  {"gemma4", SPELLING_SPM, false}};
    const char *const name = (const char *)r->p + m->model.at;
    if (!(m->given & 1u << KEY_MODEL))
        return err_set(e, STATUS_DATA, "the GGUF metadata hold no tokenizer.ggml.model");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strlen(models[i].model) == m->model.n && !memcmp(name, models[i].model, (size_t)m->model.n)) {
            *spelling = models[i].spelling;
            if (!(m->given & 1u << KEY_SPACE_PREFIX))
                m->space_prefix = models[i].space_prefix;
            return true;
        }
    return err_set(e, STATUS_DATA, "tokenizer.ggml.model '%.*s' is not known", (int)(m->model.n < 40 ? m->model.n : 40), name);
}

// Adds the tokens, whose place in the file read_metadata has checked.
static bool add_tokens(const struct reader *r, const struct metadata *m, enum spelling spelling, struct vocab *v)
{
    const unsigned char *p = r->p + m->tokens.at;
    for (size_t i = 0; i < m->tokens.n; i++) {
        uint64_t len;
        int32_t type = TOKEN_NORMAL;
        memcpy(&len, p, sizeof len);
        p += sizeof len;
        if (m->given & 1u << KEY_TYPES)
            memcpy(&type, r->p + m->types.at + i * sizeof type, sizeof type);
        if (!vocab_add_spelt(v, spelling, (unsigned)type, p, (size_t)len))
            return false;
        p += len;
    }
    return true;
}

static bool load_gguf(struct vocab *v, struct source *s, struct err *e)
{
    struct reader r = {.source = s, .vocab = v};
    struct metadata m = {.eos = VOCAB_NONE, .eot = VOCAB_NONE, .ends = {VOCAB_NONE, VOCAB_NONE, VOCAB_NONE, VOCAB_NONE}};
    enum spelling spelling = SPELLING_PLAIN;
    if (!read_metadata(&r, &m, e) || !find_spelling(&r, &m, &spelling, e))
        return false;
    if (!m.tokens.n || m.tokens.n > INT32_MAX)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens", m.tokens.n);
    if (m.given & 1u << KEY_TYPES && m.types.n != m.tokens.n)
        return err_set(e, STATUS_DATA, "the GGUF metadata hold %" PRIu64 " tokens, but the types of %" PRIu64, m.tokens.n,
                       m.types.n);
    if (!add_tokens(&r, &m, spelling, v))
        return err_from_fault(e, fault_memory());
    v->eos = m.eos;
    v->eot = m.eot;
    v->space_prefix = m.space_prefix;
    for (size_t i = 0; i < sizeof m.ends / sizeof *m.ends; i++)
        vocab_mark_end(v, m.ends[i]);
    for (size_t i = 0; i < m.banned.n; i++) {
        uint32_t id;
        memcpy(&id, r.p + m.banned.at + i * sizeof id, sizeof id);
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
