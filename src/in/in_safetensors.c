// SPDX-License-Identifier: MIT
// Safetensors files: a JSON directory of named tensors, then their numbers. The rows are those of one tensor, returned
// where they lie; f64 is rounded to f32 row by row. Or the rows are lists of tokens: two tensors of one shape, of which
// one has the ids and the other the numbers. Lists with a tail have more tensors.
#include "base/builder.h"
#include "base/number.h"
#include "in/list_tail.h"
#include "in/matrix.h"
#include "in/safetensors.h"
#include "in/sparse.h"
#include "in/token_list.h"
#include "json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define METADATA "__metadata__" // the member of the directory that is no tensor

enum { LIST_SHOWN = 360 }; // bytes of a list of tensors in a message

// The tensors that lists may have: those with a number for each row, which are the members of the tail and the token
// that follows the row; and those with a number for each listed token.
enum {
    LIST_TOKEN = TAIL_MEMBERS,
    LIST_TOKEN_LOGIT,
    LIST_TOKEN_RANK,
    LIST_COLUMNS,
    LIST_IDS = LIST_COLUMNS,
    LIST_NUMBERS,
    LIST_TENSORS
};

struct list_tensor {
    const struct tensor_type *type; // NULL: there is no such tensor
    uint64_t begin;                 // bytes from the current one of the source
    const unsigned char *data;      // set by open_lists
};

struct safetensors {
    struct matrix m;
    struct list_tensor tensor[LIST_TENSORS]; // of lists; LIST_NUMBERS: also of other rows
    enum list_numbers kind;                  // of the numbers of lists
    size_t n_vocab;                          // of lists with a tail; 0: not known
    uint64_t whole;                          // rows that the input holds of all tensors of lists
    struct sparse row;                       // the current list
};

// Returns true if the tensor holds rows of a type that can be read, and sets the type and shape of *m then.
static bool holds_rows(const cJSON *tensor, struct matrix *m)
{
    const struct tensor_type *const type = tensor_type_of(tensor);
    const cJSON *const shape = json_array(tensor, "shape");
    int dims = cJSON_GetArraySize(shape), ones = 0; // ones: leading dimensions that are left out
    uint64_t dim[3] = {0}, one = 1;
    while (dims > 3 && safetensors_whole(shape, ones, &one) && one == 1) {
        dims--;
        ones++;
    }
    if (!strcmp(tensor->string, METADATA) || !type || type->kind != TENSOR_REAL || dims > 3)
        return false;
    m->type = type->dtype;
    m->size = type->size;
    for (int i = 0; i < dims; i++)
        if (!safetensors_whole(shape, i + ones, &dim[i]))
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

// Returns true if the tensor's name and type are those of the ids of lists.
static bool holds_ids(const cJSON *tensor)
{
    const struct tensor_type *const type = tensor_type_of(tensor);
    return type && type->kind != TENSOR_REAL && token_list_has_ids(tensor->string);
}

// Finds the tensor that has the ids of the tokens that the rows of `tensor` list. *ids is NULL if the rows are no
// lists. Fails if the ids are missing, or not the only ones.
static bool find_ids(const cJSON *root, const cJSON *tensor, const cJSON **ids, struct err *e)
{
    const cJSON *const shape = json_array(tensor, "shape");
    *ids = NULL;
    if (!token_list_has_numbers(tensor->string))
        return true;
    for (const cJSON *other = root->child; other; other = other->next) {
        if (!holds_ids(other) || !cJSON_Compare(shape, json_array(other, "shape"), 1))
            continue;
        if (*ids)
            return err_set(e, STATUS_USAGE, "'%.*s' and '%.*s' both have ids for the lists of '%.*s'; keep one of them",
                           SHOWN((*ids)->string), SHOWN(other->string), SHOWN(tensor->string));
        *ids = other;
    }
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
    } columns[LIST_COLUMNS] = {{"tail_n", "I32"},     {"tail_masked", "I32"}, {"tail_lse", "F64"},
                               {"tail_max", "F32"},   {"tail_sum", "F32"},    {"tail_sd", "F32"},
                               {"tail_xmean", "F64"}, {"tokens", "I32"},      {"token_logits", "F32"},
                               {"token_ranks", "I32"}};
    const char *const n_vocab = cJSON_GetStringValue(json_member(json_member(root, METADATA), "n_vocab"));
    int64_t whole = 0;
    const bool tail = json_member(root, columns[TAIL_LSE].name);
    if (n_vocab && whole_number(n_vocab, NULL, 1, INT32_MAX, &whole))
        st->n_vocab = (size_t)whole;
    for (size_t i = 0; tail && i < LIST_COLUMNS; i++) {
        const cJSON *const tensor = json_member(root, columns[i].name), *const shape = json_array(tensor, "shape");
        const struct tensor_type *const type = tensor_type_named(columns[i].type);
        uint64_t rows;
        if (!tensor)
            continue;
        if (tensor_type_of(tensor) != type || cJSON_GetArraySize(shape) != 1 || !safetensors_whole(shape, 0, &rows) ||
            rows != st->m.rows)
            return err_set(e, STATUS_DATA, "tensor '%s' is not %s with a number for each of %" PRIu64 " rows",
                           columns[i].name, columns[i].type, st->m.rows);
        st->tensor[i].type = type;
        if (!safetensors_data(tensor, rows * type->size, &st->tensor[i].begin, e))
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

// ---- rows that are lists

// The number of a column; NaN if there is no such column.
static double read_column(const struct safetensors *t, size_t i, uint64_t row)
{
    return t->tensor[i].type ? tensor_real(t->tensor[i].type, t->tensor[i].data, row) : NAN;
}

// Finds the numbers of lists, whose tensors are known. A file is mapped; the tensors of a pipe are read to memory.
static bool open_lists(struct safetensors *t, struct source *s, struct err *e)
{
    struct matrix *const m = &t->m;
    uint64_t bytes[LIST_TENSORS], end = 0; // bytes of a row
    const unsigned char *p;
    size_t have;
    for (size_t i = 0; i < LIST_TENSORS; i++) {
        const struct list_tensor *const k = &t->tensor[i];
        bytes[i] = k->type ? k->type->size * (i < LIST_COLUMNS ? 1 : m->n) : 0;
        if (k->type && k->begin + m->all * bytes[i] > end)
            end = k->begin + m->all * bytes[i];
    }
    assert(t->tensor[LIST_IDS].type && t->tensor[LIST_NUMBERS].type);
    m->listed = true;
    if (!source_peek(s, end > SIZE_MAX ? SIZE_MAX : (size_t)end, &p, &have, e))
        return false;
    t->whole = UINT64_MAX;
    for (size_t i = 0; i < LIST_TENSORS; i++) {
        struct list_tensor *const k = &t->tensor[i];
        const uint64_t whole = k->type && have > k->begin ? (have - k->begin) / bytes[i] : 0;
        k->data = p + (whole ? k->begin : 0);
        if (k->type && whole < t->whole)
            t->whole = whole;
    }
    return true;
}

// Makes a row of the tokens of t->row and of their tail.
static bool tail_row(struct safetensors *t, uint64_t index, size_t n_vocab, struct input_row *r, struct err *e)
{
    const double token = read_column(t, LIST_TOKEN, index), rank = read_column(t, LIST_TOKEN_RANK, index);
    struct list_tail tail = {.prefix = "tail_",
                             .rank_name = "token_ranks",
                             .token_rank = rank == 0.0 ? NAN : rank,
                             .token = token >= 0.0 ? (int64_t)token : -1,
                             .token_logit = read_column(t, LIST_TOKEN_LOGIT, index)};
    for (size_t i = 0; i < TAIL_MEMBERS; i++)
        tail.value[i] = read_column(t, i, index);
    r->recorded = tail.token;
    if (n_vocab && t->n_vocab && n_vocab != t->n_vocab)
        return err_set(e, STATUS_DATA, "n_vocab is %zu, --n-vocab %zu", t->n_vocab, n_vocab);
    return list_tail_row(&t->row, &tail, n_vocab ? n_vocab : t->n_vocab, &r->logits, e);
}

static bool read_listed_row(struct safetensors *t, uint64_t index, const struct input_config *config,
                            struct input_row *r, struct err *e)
{
    const struct matrix *const m = &t->m;
    const struct list_tensor *const ids = &t->tensor[LIST_IDS], *const numbers = &t->tensor[LIST_NUMBERS];
    const struct row row = {m->type, numbers->data + index * m->bytes, m->n}; // unless the numbers are F64
    const struct list_unit unit = {.binary = m->type == DTYPE_F16 ? 0x1p-11f : m->type == DTYPE_BF16 ? 0x1p-8f : 0.0f};
    t->row.n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const int64_t id = tensor_whole(ids->type, ids->data, index * m->n + i);
        const float x = m->size > sizeof(float) ? (float)tensor_real(numbers->type, numbers->data, index * m->n + i)
                                                : row_logit(&row, i);
        if (id < 0 && x == -INFINITY) // padding
            continue;
        if (id < 0 || id > INT32_MAX)
            return err_set(e, STATUS_DATA,
                           "ids: element %zu, '%" PRId64 "', is not a whole number from 0 to 2147483647", i, id);
        if (!sparse_add(&t->row, (uint32_t)id, x, e))
            return false;
    }
    return t->tensor[TAIL_LSE].type ? tail_row(t, index, config->n_vocab, r, e)
                                    : token_list_row(&t->row, t->kind, &unit, input_n_vocab(config), &r->logits, e);
}

// Reads a list, as `next` of struct format does.
static bool next_list(struct safetensors *t, struct source *s, const struct input_config *config, struct input_row *r,
                      bool *end, struct err *e)
{
    struct matrix *const m = &t->m;
    const uint64_t index = m->all - m->rows;
    *end = !m->rows;
    if (*end)
        return true;
    if (index >= t->whole)
        return err_set(e, STATUS_DATA, "the input ends after %" PRIu64 " of %" PRIu64 " rows", t->whole, m->all);
    matrix_jump(m, s, 1);
    matrix_name_row(m, r);
    return read_listed_row(t, index, config, r, e) || input_bad_row(r, input_n_vocab(config), e);
}

// ---- the format

// Goes to the numbers of a tensor, or to those of two tensors that are lists.
static bool find_rows(struct safetensors *st, const cJSON *root, const cJSON *tensor, struct source *s,
                      const struct input_config *config, struct err *e)
{
    struct matrix *const m = &st->m;
    struct list_tensor *const ids = &st->tensor[LIST_IDS], *const numbers = &st->tensor[LIST_NUMBERS];
    const cJSON *of_ids;
    numbers->type = tensor_type_of(tensor);
    if (!find_ids(root, tensor, &of_ids, e) || !safetensors_data(tensor, m->rows * m->bytes, &numbers->begin, e))
        return false;
    matrix_add_sequences(m);
    if (of_ids) {
        ids->type = tensor_type_of(of_ids);
        st->kind = token_list_numbers(tensor->string);
        return safetensors_data(of_ids, m->rows * m->n * ids->type->size, &ids->begin, e) &&
               (st->kind != LIST_LOGITS || find_columns(root, st, e)) && open_lists(st, s, e);
    }
    if (config->n_vocab && config->n_vocab != m->n)
        return err_set(e, STATUS_DATA, "tensor '%.*s' has %zu logits a row, --n-vocab is %zu", SHOWN(tensor->string),
                       m->n, config->n_vocab);
    return skip(s, numbers->begin, e);
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
    return st->m.listed ? next_list(st, s, config, r, end, e) : matrix_next(&st->m, s, config, r, end, e);
}

static void close_safetensors(void *self) { sparse_free(&((struct safetensors *)self)->row); }

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
