// SPDX-License-Identifier: MIT
// Safetensors files: a JSON directory of named tensors, then their numbers. The rows are those of one tensor, returned
// where they lie; f64 is rounded to f32 row by row. Or the rows are lists of tokens, those of two tensors.
#include "base/bits.h"
#include "base/builder.h"
#include "in/matrix.h"
#include "in/safetensors.h"
#include "in/sparse.h"
#include "in/token_list.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---- lists of tokens

// Two tensors of one shape, of which one has the ids and the other the numbers of the tokens that each row lists.
struct list_tensors {
    size_t id_size; // bytes of an id, from 1 to 8; 0: there are no such tensors
    bool id_signed;
    bool logits;                       // the numbers are logits, else log-probabilities
    uint64_t ids_begin, numbers_begin; // bytes from the current one of the source to each tensor

    // set by list_tensors_open
    const unsigned char *ids, *numbers;
    uint64_t whole; // rows that the input holds of both tensors
    struct sparse row;
};

// Finds the numbers of both tensors, whose shape and type of numbers m has. A file is mapped; the tensors of a pipe are
// read to memory.
static bool list_tensors_open(struct list_tensors *t, struct matrix *m, struct source *s, struct err *e)
{
    const uint64_t id_bytes = m->n * t->id_size;
    const uint64_t ids_end = t->ids_begin + m->all * id_bytes, numbers_end = t->numbers_begin + m->all * m->bytes;
    const uint64_t end = ids_end > numbers_end ? ids_end : numbers_end;
    const unsigned char *p;
    size_t have;
    assert(t->id_size && m->bytes);
    m->listed = true;
    if (!source_peek(s, end > SIZE_MAX ? SIZE_MAX : (size_t)end, &p, &have, e))
        return false;
    const uint64_t ids = have > t->ids_begin ? (have - t->ids_begin) / id_bytes : 0;
    const uint64_t numbers = have > t->numbers_begin ? (have - t->numbers_begin) / m->bytes : 0;
    t->whole = ids < numbers ? ids : numbers;
    t->ids = p + (ids ? t->ids_begin : 0);
    t->numbers = p + (numbers ? t->numbers_begin : 0);
    return true;
}

// Returns the id at p. Ids above INT64_MAX become negative, which is no id, either.
static int64_t read_tensor_id(const struct list_tensors *t, const unsigned char *p)
{
    uint64_t bits = 0;
    const unsigned shift = 64 - 8 * (unsigned)t->id_size;
    memcpy(&bits, p, t->id_size);
    return t->id_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

// Returns the number of a token of a row, -inf if the token is masked.
static float read_tensor_number(const struct matrix *m, const unsigned char *row, size_t i)
{
    if (m->size == 8) {
        uint64_t bits;
        memcpy(&bits, row + i * sizeof bits, sizeof bits);
        return (float)f64_of_bits(bits);
    }
    return row_logit(&(struct row){m->type, row, m->n}, i);
}

static bool read_listed_row(struct list_tensors *t, const struct matrix *m, uint64_t index, size_t n_vocab,
                            struct row *row, struct err *e)
{
    const unsigned char *const ids = t->ids + index * m->n * t->id_size, *const numbers = t->numbers + index * m->bytes;
    const double unit = m->type == DTYPE_F16 ? 0x1p-11 : m->type == DTYPE_BF16 ? 0x1p-8 : 0x1p-24;
    t->row.n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const int64_t id = read_tensor_id(t, ids + i * t->id_size);
        const float x = read_tensor_number(m, numbers, i);
        if (id < 0 && x == -INFINITY) // padding
            continue;
        if (id < 0 || id > INT32_MAX)
            return err_set(e, STATUS_DATA,
                           "ids: element %zu, '%" PRId64 "', is not a whole number from 0 to 2147483647", i, id);
        if (!sparse_add(&t->row, (uint32_t)id, x, e))
            return false;
    }
    return token_list_row(&t->row, t->logits, unit, n_vocab, row, e);
}

// Reads a row, as `next` of struct format does.
static bool list_tensors_next(struct list_tensors *t, struct matrix *m, struct source *s,
                              const struct input_config *config, struct input_row *r, bool *end, struct err *e)
{
    const uint64_t index = m->all - m->rows;
    *end = !m->rows;
    if (*end)
        return true;
    if (index >= t->whole)
        return err_set(e, STATUS_DATA, "the input ends after %" PRIu64 " of %" PRIu64 " rows", t->whole, m->all);
    matrix_jump(m, s, 1);
    matrix_name_row(m, r);
    const size_t n_vocab = input_n_vocab(config);
    return read_listed_row(t, m, index, n_vocab, &r->logits, e) || input_bad_row(r, n_vocab, e);
}

// ---- the directory

#define METADATA "__metadata__" // the member of the directory that is no tensor

enum { LIST_SHOWN = 360 }; // bytes of a list of tensors in a message

struct safetensors {
    struct matrix m;
    struct list_tensors lists;
};

// Returns true if the tensor holds rows of a type that can be read, and sets the type and shape of *m then.
static bool holds_rows(const cJSON *tensor, struct matrix *m)
{
    static const struct {
        const char *name;
        enum dtype type;
        size_t size;
    } types[] = {{"F32", DTYPE_F32, 4}, {"F16", DTYPE_F16, 2}, {"BF16", DTYPE_BF16, 2}, {"F64", DTYPE_F32, 8}};
    const char *const name = cJSON_GetStringValue(json_member(tensor, "dtype"));
    const cJSON *const shape = json_array(tensor, "shape");
    const int dims = cJSON_GetArraySize(shape);
    uint64_t dim[3] = {0};
    m->size = 0;
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(name, types[i].name)) {
            m->type = types[i].type;
            m->size = types[i].size;
        }
    if (!strcmp(tensor->string, METADATA) || !m->size || dims > 3)
        return false;
    for (int i = 0; i < dims; i++)
        if (!safetensors_whole(shape, i, &dim[i]))
            return false;
    return matrix_set_shape(m, dim, (size_t)dims) == MATRIX_OK;
}

// Writes a list of all tensors, or of those that hold rows: about LIST_SHOWN / 2 bytes of it, and how many more there
// are.
static void list_tensors(struct builder *b, const cJSON *root, bool rows)
{
    struct matrix m = {0};
    int more = 0;
    for (const cJSON *tensor = root->child; tensor; tensor = tensor->next) {
        if (rows ? !holds_rows(tensor, &m) : !strcmp(tensor->string, METADATA))
            continue;
        if (b->len > LIST_SHOWN / 2) {
            more++;
            continue;
        }
        const char *const dtype = cJSON_GetStringValue(json_member(tensor, "dtype"));
        const cJSON *const shape = json_member(tensor, "shape");
        builder_format(b, "%s'%.*s' %.10s [", b->len ? ", " : "", SHOWN(tensor->string), dtype ? dtype : "?");
        for (const cJSON *d = shape ? shape->child : NULL; d; d = d->next)
            builder_format(b, d->next ? "%.16g, " : "%.16g", d->valuedouble);
        builder_byte(b, ']');
    }
    if (more)
        builder_format(b, " and %d more", more);
    if (!b->len)
        builder_string(b, "none");
}

// Types of ids.
static const struct {
    const char *name;
    size_t size;
    bool is_signed;
} id_types[] = {{"I64", 8, true},  {"I32", 4, true},  {"I16", 2, true},  {"I8", 1, true},
                {"U64", 8, false}, {"U32", 4, false}, {"U16", 2, false}, {"U8", 1, false}};

// Returns true if the tensor's name and type are those of the ids of lists. Sets their type in t.
static bool holds_ids(const cJSON *tensor, struct list_tensors *t)
{
    const char *const type = cJSON_GetStringValue(json_member(tensor, "dtype"));
    if (!type || !token_list_has_ids(tensor->string))
        return false;
    for (size_t i = 0; i < sizeof id_types / sizeof *id_types; i++)
        if (!strcmp(type, id_types[i].name)) {
            t->id_size = id_types[i].size;
            t->id_signed = id_types[i].is_signed;
            return true;
        }
    return false;
}

// Finds the tensor that has the ids of the tokens that the rows of `tensor` list: *ids, and their type in t. *ids is
// NULL if the rows are no lists. Fails if the ids are missing, or not the only ones.
static bool find_ids(const cJSON *root, const cJSON *tensor, const cJSON **ids, struct list_tensors *t, struct err *e)
{
    const cJSON *const shape = json_array(tensor, "shape");
    *ids = NULL;
    if (!token_list_has_numbers(tensor->string))
        return true;
    for (const cJSON *other = root->child; other; other = other->next) {
        struct list_tensors type = {0};
        if (!holds_ids(other, &type) || !cJSON_Compare(shape, json_array(other, "shape"), 1))
            continue;
        if (*ids)
            return err_set(e, STATUS_USAGE, "'%.*s' and '%.*s' both have ids for the lists of '%.*s'; keep one of them",
                           SHOWN((*ids)->string), SHOWN(other->string), SHOWN(tensor->string));
        *ids = other;
        t->id_size = type.id_size;
        t->id_signed = type.id_signed;
    }
    t->logits = token_list_has_logits(tensor->string);
    return *ids || !token_list_is_marked(tensor->string) ||
           err_set(e, STATUS_USAGE,
                   "'%.*s' lists the likeliest tokens of each row, but no tensor of its shape has their ids, such as "
                   "'topk_ids'",
                   SHOWN(tensor->string));
}

// Returns the tensor called name, or, if name is NULL, the only one that holds rows; sets *m for it. Returns NULL with
// an error if there is no such tensor, or several.
static const cJSON *choose_tensor(const cJSON *root, const char *name, struct matrix *m, struct err *e)
{
    struct builder b = {.most = LIST_SHOWN};
    const cJSON *tensor = NULL;
    int n = 0; // tensors with that name, or with rows
    assert(root);
    for (const cJSON *t = root->child; t; t = t->next)
        if (name ? !strcmp(t->string, name) : holds_rows(t, m)) {
            tensor = t;
            n++;
        }
    if (n == 1 && holds_rows(tensor, m))
        return tensor;
    list_tensors(&b, root, name || n);
    if (b.failed)
        err_from_fault(e, fault_memory());
    else if (name && n > 1)
        err_set(e, STATUS_DATA, "the header holds tensor '%.*s' more than once", SHOWN(name));
    else if (name && n)
        err_set(e, STATUS_USAGE, "tensor '%.*s' does not hold rows; those that do: %s", SHOWN(name), b.text);
    else if (name)
        err_set(e, STATUS_USAGE, "there is no tensor '%.*s'; those that hold rows: %s", SHOWN(name), b.text);
    else if (n)
        err_set(e, STATUS_USAGE, "more than one tensor holds rows, choose with --tensor: %s", b.text);
    else
        err_set(e, STATUS_DATA, "no tensor holds rows of F16, BF16, F32 or F64 numbers; there are: %s", b.text);
    builder_free(&b);
    return NULL;
}

// Skips n bytes, which a pipe may not have yet.
static bool skip(struct source *s, uint64_t n, struct err *e)
{
    while (n) {
        const unsigned char *p;
        size_t have;
        if (!source_peek(s, 1, &p, &have, e))
            return false;
        if (!have)
            return err_set(e, STATUS_DATA, "the input ends before the tensor's data");
        const size_t step = have < n ? have : (size_t)n;
        source_skip(s, step);
        n -= step;
    }
    return true;
}

// Goes to the numbers of a tensor, or to those of two tensors that are lists.
static bool find_rows(struct safetensors *st, const cJSON *root, const cJSON *tensor, struct source *s,
                      const struct input_config *config, struct err *e)
{
    struct matrix *const m = &st->m;
    struct list_tensors *const t = &st->lists;
    const cJSON *ids;
    if (!find_ids(root, tensor, &ids, t, e) || !safetensors_data(tensor, m->rows * m->bytes, &t->numbers_begin, e))
        return false;
    matrix_add_sequences(m);
    if (ids)
        return safetensors_data(ids, m->rows * m->n * t->id_size, &t->ids_begin, e) && list_tensors_open(t, m, s, e);
    if (config->n_vocab && config->n_vocab != m->n)
        return err_set(e, STATUS_DATA, "tensor '%.*s' has %zu logits a row, --n-vocab is %zu", SHOWN(tensor->string),
                       m->n, config->n_vocab);
    return skip(s, t->numbers_begin, e);
}

static bool open_safetensors(void *self, const struct format *f, struct source *s, const struct input_config *config,
                             struct err *e)
{
    struct safetensors *const st = self;
    cJSON *root = NULL;
    const cJSON *const tensor =
        safetensors_header(f, s, &root, e) ? choose_tensor(root, config->tensor, &st->m, e) : NULL;
    const bool ok = tensor && find_rows(st, root, tensor, s, config, e);
    cJSON_Delete(root);
    return ok;
}

static bool next_safetensors(void *self, struct source *s, const struct input_config *config, struct input_row *r,
                             bool *end, struct err *e)
{
    struct safetensors *const st = self;
    return st->m.listed ? list_tensors_next(&st->lists, &st->m, s, config, r, end, e)
                        : matrix_next(&st->m, s, config, r, end, e);
}

static void close_safetensors(void *self) { sparse_free(&((struct safetensors *)self)->lists.row); }

// Returns true for the length of a header below 2^32, '{', and a byte that may follow '{' in JSON. The last byte tells
// such a file from raw f32 rows: if their second number is 0, their third may begin with the byte '{'.
static bool probe_safetensors(const unsigned char *head, size_t len)
{
    return len > 8 && head[8] == '{' && !head[4] && !head[5] && !head[6] && !head[7] &&
           (len == 9 || (head[9] && strchr("\"} \t\r\n", head[9])));
}

const struct format format_safetensors = {.name = "safetensors",
                                          .endings = {".safetensors"},
                                          .size = sizeof(struct safetensors),
                                          .matrix = true,
                                          .probe = probe_safetensors,
                                          .open = open_safetensors,
                                          .next = next_safetensors,
                                          .close = close_safetensors};
