// SPDX-License-Identifier: MIT
// Safetensors files: a JSON directory of named tensors, then their numbers. The rows are those of one tensor, returned
// where they lie; f64 is rounded to f32 row by row. Or the rows are lists of tokens, those of two tensors.
#include "base/builder.h"
#include "base/number.h"
#include "in/list_tensors.h"
#include "in/matrix.h"
#include "in/safetensors.h"
#include "in/token_list.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

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

// Finds the columns of lists with a tail, if there are some.
static bool find_columns(const cJSON *root, struct safetensors *st, struct err *e)
{
    static const struct {
        const char *name, *type;
        enum column_type kind;
    } columns[COLUMNS] = {{"tail_n", "I32", COLUMN_I32},       {"tail_masked", "I32", COLUMN_I32},
                          {"tail_lse", "F64", COLUMN_F64},     {"tail_max", "F32", COLUMN_F32},
                          {"tail_sum", "F32", COLUMN_F32},     {"tail_sd", "F32", COLUMN_F32},
                          {"tail_xmean", "F64", COLUMN_F64},   {"tokens", "I32", COLUMN_I32},
                          {"token_logits", "F32", COLUMN_F32}, {"token_ranks", "I32", COLUMN_I32}};
    struct list_tensors *const t = &st->lists;
    const char *const n_vocab = cJSON_GetStringValue(json_member(json_member(root, METADATA), "n_vocab"));
    int64_t whole = 0;
    const bool tail = json_member(root, columns[TAIL_LSE].name);
    if (n_vocab && whole_number(n_vocab, NULL, 1, INT32_MAX, &whole))
        t->n_vocab = (size_t)whole;
    for (size_t i = 0; tail && i < COLUMNS; i++) {
        const cJSON *const tensor = json_member(root, columns[i].name), *const shape = json_array(tensor, "shape");
        const char *const type = cJSON_GetStringValue(json_member(tensor, "dtype"));
        uint64_t rows;
        if (!tensor)
            continue;
        if (!type || strcmp(type, columns[i].type) != 0 || cJSON_GetArraySize(shape) != 1 ||
            !safetensors_whole(shape, 0, &rows) || rows != st->m.rows)
            return err_set(e, STATUS_DATA, "tensor '%s' is not %s with a number for each of %" PRIu64 " rows",
                           columns[i].name, columns[i].type, st->m.rows);
        t->column[i].type = columns[i].kind;
        if (!safetensors_data(tensor, rows * (columns[i].kind == COLUMN_F64 ? 8 : 4), &t->column[i].begin, e))
            return false;
    }
    return true;
}

// Returns the tensor called name, or, if name is NULL, the only one that holds rows; sets *m for it. Returns NULL with
// an error if there is no such tensor, or several.
static const cJSON *choose_tensor(const cJSON *root, const char *name, struct matrix *m, struct err *e)
{
    struct builder b = {.most = LIST_SHOWN};
    const cJSON *tensor = NULL;
    int n = 0; // tensors with that name, or with rows
    assert(root);
    if (!name && json_member(root, "tail_lse"))
        name = "topk_logits";
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
        return safetensors_data(ids, m->rows * m->n * t->id_size, &t->ids_begin, e) &&
               (!t->logits || find_columns(root, st, e)) && list_tensors_open(t, m, s, e);
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
