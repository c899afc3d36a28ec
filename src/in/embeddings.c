// SPDX-License-Identifier: MIT
#include "in/embeddings.h"

#include "base/number.h"
#include "in/gguf.h"
#include "in/npy_header.h"
#include "in/safetensors.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the advice for a type that is not read.
#define CONVERT "numpy's astype('f2') makes F16 of it, for numpy.save"

// Sets the type by its name, which is that of safetensors files. False with *e: the type is not read; `convert` says
// what to do.
static bool embeddings_type(struct embeddings *m, const char *what, const char *name, const char *convert,
                            struct err *e)
{
    const struct tensor_type *const type = tensor_type_named(name);
    if (!type || type->kind != TENSOR_REAL || type->size != dtype_size(type->dtype))
        return err_set(e, STATUS_DATA, "%s holds numbers of type %.20s, not of F32, F16 or BF16; %s", what, name,
                       convert);
    m->type = type->dtype;
    return true;
}

// Sets the shape, n vectors of so many numbers, whose type is set.
static bool embeddings_shape(struct embeddings *m, const char *what, uint64_t n, uint64_t width, struct err *e)
{
    if (!n || !width)
        return err_set(e, STATUS_DATA, "%s has no vectors: its shape is [%" PRIu64 ", %" PRIu64 "]", what, n, width);
    if (n > INT32_MAX || width > INT32_MAX)
        return err_set(e, STATUS_DATA, "%s is too large: its shape is [%" PRIu64 ", %" PRIu64 "]", what, n, width);
    m->n = (size_t)n;
    m->width = (size_t)width;
    m->bytes = m->width * dtype_size(m->type);
    if (m->blocks)
        m->bytes = m->width / EMBEDDING_BLOCK * EMBEDDING_BLOCK_BYTES;
    return m->n <= SIZE_MAX / 4 / m->bytes ||
           err_set(e, STATUS_DATA, "%s is too large for this machine: its shape is [%" PRIu64 ", %" PRIu64 "]", what, n,
                   width);
}

// Finds the numbers, which begin `begin` bytes behind the current byte of the source.
static bool embeddings_data(struct embeddings *m, struct source *s, uint64_t begin, struct err *e)
{
    const size_t size = m->n * m->bytes;
    const unsigned char *p;
    size_t have;
    const size_t want = begin < SIZE_MAX - size ? (size_t)begin + size : SIZE_MAX;
    if (!source_peek(s, want, &p, &have, e))
        return false;
    if (have < want)
        return err_set(e, STATUS_DATA,
                       "the file ends before its %zu vectors of %zu numbers do: %" PRIu64 " bytes are missing", m->n,
                       m->width, (uint64_t)(want - have));
    m->data = p + begin;
    return true;
}

// ---- safetensors

// Returns whether the name is that of an embedding matrix, or ends in one.
static bool is_embedding(const char *name)
{
    static const char *const names[] = {"embed_tokens.weight", "wte.weight", "tok_embeddings.weight"};
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t part = strlen(names[i]);
        if (len >= part && !strcmp(name + len - part, names[i]) && (len == part || name[len - part - 1] == '.'))
            return true;
    }
    return false;
}

// Returns the only tensor with such a name. NULL with *e.
static const cJSON *choose_matrix(const cJSON *root, struct err *e)
{
    const cJSON *found = NULL;
    for (const cJSON *tensor = root->child; tensor; tensor = tensor->next) {
        if (!is_embedding(tensor->string))
            continue;
        if (found) {
            err_set(e, STATUS_DATA, "tensors '%.*s' and '%.*s' are both named like an embedding matrix; keep one",
                    SHOWN(found->string), SHOWN(tensor->string));
            return NULL;
        }
        found = tensor;
    }
    if (!found)
        err_set(e, STATUS_DATA,
                "no tensor is named embed_tokens.weight, wte.weight or tok_embeddings.weight, or ends "
                "in such a name; if a model has several files, give the one with the embedding matrix");
    return found;
}

static bool find_tensor(struct embeddings *m, struct source *s, const cJSON *root, struct err *e)
{
    const cJSON *const tensor = choose_matrix(root, e);
    const char *const type = cJSON_GetStringValue(json_member(tensor, "dtype"));
    const cJSON *const shape = json_array(tensor, "shape");
    uint64_t n, width, begin;
    char what[NAME_SHOWN + 16];
    if (!tensor)
        return false;
    snprintf(what, sizeof what, "tensor '%.*s'", SHOWN(tensor->string));
    if (cJSON_GetArraySize(shape) != 2 || !safetensors_whole(shape, 0, &n) || !safetensors_whole(shape, 1, &width))
        return err_set(e, STATUS_DATA, "%s does not have the two dimensions of a matrix, tokens and numbers", what);
    return embeddings_type(m, what, type ? type : "?", CONVERT, e) && embeddings_shape(m, what, n, width, e) &&
           safetensors_data(tensor, (uint64_t)m->n * m->bytes, &begin, e) && embeddings_data(m, s, begin, e);
}

static bool open_tensors(struct embeddings *m, struct source *s, struct err *e)
{
    cJSON *root = NULL;
    const bool ok = safetensors_header(&format_safetensors, s, &root, e) && find_tensor(m, s, root, e);
    cJSON_Delete(root);
    return ok;
}

// ---- npy

static bool open_array(struct embeddings *m, struct source *s, struct err *e)
{
    static const char what[] = "the npy file";
    struct npy_header h = {0};
    if (!npy_header_read(&h, &format_npy, s, e))
        return false;
    const char *const d = h.descr;
    const bool little = (*d == '<' || *d == '=') && strlen(d) == 3;
    if (h.dims != 2)
        return err_set(e, STATUS_DATA, "npy shape %.*s is not (V, D), tokens and numbers", NPY_SHAPE(&h));
    if (h.fortran)
        return err_set(e, STATUS_DATA,
                       "the npy file holds columns (fortran_order), not rows; numpy.ascontiguousarray turns them");
    const char *const name = little && !strcmp(d + 1, "f4") ? "F32" : little && !strcmp(d + 1, "f2") ? "F16" : d;
    return embeddings_type(m, what, name, CONVERT, e) && embeddings_shape(m, what, h.dim[0], h.dim[1], e) &&
           embeddings_data(m, s, 0, e);
}

// ---- GGUF

#define GGUF_MATRIX "token_embd.weight"

enum { GGUF_Q8_0 = 8, GGUF_ALIGNMENT = 32 };

// Returns the name of a type of tensors.
static const char *tensor_type(uint32_t type, char text[NUMBER_TEXT])
{
    static const char *const names[] = {"F32",     "F16",    "Q4_0",    "Q4_1",  "4",      "5",     "Q5_0",  "Q5_1",
                                        "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
                                        "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
                                        "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16"};
    if (type < sizeof names / sizeof *names)
        return names[type];
    snprintf(text, NUMBER_TEXT, "%" PRIu32, type);
    return text;
}

// A tensor of the directory.
struct gguf_tensor {
    bool found;
    uint32_t dims, type;
    uint64_t dim[4], begin; // begin: bytes from the first tensor's numbers
};

// Reads the directory behind the pairs, and keeps the embedding matrix.
static void read_directory(struct gguf *g, uint64_t tensors, struct gguf_tensor *matrix)
{
    for (; g->ok && tensors; tensors--) { // a tensor has at least 24 bytes
        struct gguf_tensor t = {.found = true};
        char name[GGUF_KEY];
        gguf_key(g, name);
        t.dims = (uint32_t)gguf_integer(g, 4);
        if (g->ok && t.dims > 4)
            g->ok = err_set(g->e, STATUS_DATA, "byte %zu: a tensor of %" PRIu32 " dimensions, more than GGUF's 4",
                            g->at - 4, t.dims);
        for (uint32_t i = 0; g->ok && i < t.dims; i++)
            t.dim[i] = gguf_integer(g, 8);
        t.type = (uint32_t)gguf_integer(g, 4);
        t.begin = gguf_integer(g, 8);
        if (!strcmp(name, GGUF_MATRIX))
            *matrix = t;
    }
}

static bool open_gguf(struct embeddings *m, struct source *s, struct err *e)
{
    struct gguf g = {.source = s, .ok = true, .e = e};
    struct gguf_tensor t = {0};
    uint64_t tensors = 0, pairs = 0, alignment = GGUF_ALIGNMENT;
    char text[NUMBER_TEXT];
    gguf_begin(&g, &tensors, &pairs);
    for (; g.ok && pairs; pairs--) {
        char key[GGUF_KEY];
        gguf_key(&g, key);
        const struct gguf_value v = gguf_pass(&g, gguf_type(&g), 1);
        if (g.ok && !strcmp(key, "general.alignment") && g.at - v.at == 4) {
            uint32_t given;
            memcpy(&given, g.p + v.at, sizeof given);
            alignment = given;
        }
    }
    read_directory(&g, tensors, &t);
    if (!g.ok)
        return false;
    if (!t.found)
        return err_set(e, STATUS_DATA, "the GGUF file has no tensor %s", GGUF_MATRIX);
    if (t.dims != 2)
        return err_set(e, STATUS_DATA, "%s does not have the two dimensions of a matrix, tokens and numbers",
                       GGUF_MATRIX);
    m->blocks = t.type == GGUF_Q8_0;
    if (!m->blocks &&
        !embeddings_type(m, GGUF_MATRIX, tensor_type(t.type, text),
                         "llama-quantize --allow-requantize --token-embedding-type q8_0 IN.gguf OUT.gguf Q8_0 "
                         "makes a file that can be read",
                         e))
        return false;
    if (m->blocks && t.dim[0] % EMBEDDING_BLOCK)
        return err_set(e, STATUS_DATA, "%s has vectors of %" PRIu64 " numbers, not a multiple of Q8_0's %d",
                       GGUF_MATRIX, t.dim[0], EMBEDDING_BLOCK);
    if (!alignment || alignment % 8)
        return err_set(e, STATUS_DATA, "general.alignment %" PRIu64 " is not a multiple of 8", alignment);
    const uint64_t end = (g.at + alignment - 1) / alignment * alignment;
    return embeddings_shape(m, GGUF_MATRIX, t.dim[1], t.dim[0], e) &&
           embeddings_data(m, s, t.begin < UINT64_MAX - end ? end + t.begin : UINT64_MAX, e);
}

// ---- all kinds

// Reads the header of a file that begins with head[0..len).
static bool open_matrix(struct embeddings *m, struct source *s, const unsigned char *head, size_t len, struct err *e)
{
    if (len >= 4 && gguf_probe(head, len))
        return open_gguf(m, s, e);
    if (format_begins(&format_npy, head, len))
        return open_array(m, s, e);
    if (format_begins(&format_safetensors, head, len))
        return open_tensors(m, s, e);
    return err_set(e, STATUS_DATA, "the file does not begin as safetensors, npy or GGUF files do");
}

bool embeddings_open(struct embeddings *m, void **owner, const char *file, struct err *e)
{
    struct source *const s = *owner = calloc(1, sizeof *s);
    const unsigned char *p;
    size_t have;
    if (!s)
        return err_from_fault(e, fault_memory());
    const bool ok = source_open(s, file, e) && source_peek(s, 64, &p, &have, e) && open_matrix(m, s, p, have, e);
    source_close_fd(s);
    return ok || err_prefix(e, "%s", s->name);
}

void embeddings_close(void *owner)
{
    source_close(owner);
    free(owner);
}
