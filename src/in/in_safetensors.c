// SPDX-License-Identifier: MIT
// Safetensors files: a JSON directory of named tensors, then their numbers. One tensor gives the rows, handed out where they lie (f64 is
// rounded to f32 row by row).
#include "in/matrix.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEADER_MAX 100000000      // as in the format's own library
#define METADATA   "__metadata__" // a member that is no tensor
#define EXACT_MAX  0x1p53         // JSON's numbers come as doubles, whose integers are exact up to here

enum { NAME_SHOWN = 60 }; // bytes of a tensor's name in a message

static bool whole_at(const cJSON *array, int i, uint64_t *v)
{
    const cJSON *const item = cJSON_GetArrayItem(array, i);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.0 && item->valuedouble <= EXACT_MAX))
        return false;
    *v = (uint64_t)item->valuedouble;
    return (double)*v == item->valuedouble;
}

static const cJSON *part(const cJSON *tensor, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(tensor, name);
}

// The tensor called name, from this one on.
static const cJSON *part_from(const cJSON *tensor, const char *name)
{
    while (tensor && strcmp(tensor->string, name) != 0)
        tensor = tensor->next;
    return tensor;
}

static bool find_type(const cJSON *tensor, struct matrix *m)
{
    static const struct {
        const char *name;
        enum dtype type;
        size_t size;
    } types[] = {{"F32", DTYPE_F32, 4}, {"F16", DTYPE_F16, 2}, {"BF16", DTYPE_BF16, 2}, {"F64", DTYPE_F32, 8}};
    const char *const name = cJSON_GetStringValue(part(tensor, "dtype"));
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(name, types[i].name)) {
            m->type = types[i].type;
            m->size = types[i].size;
            return true;
        }
    return false;
}

// Does the tensor hold rows? That is numbers of a type we read, in one of the shapes [V], [N, V], [N, 1, V] and [1, N, V].
static bool fits(const cJSON *tensor, struct matrix *m)
{
    const cJSON *const shape = part(tensor, "shape");
    const int dims = cJSON_IsArray(shape) ? cJSON_GetArraySize(shape) : 0;
    uint64_t d[3];
    if (!strcmp(tensor->string, METADATA) || !find_type(tensor, m) || dims < 1 || dims > 3)
        return false;
    for (int i = 0; i < dims; i++)
        if (!whole_at(shape, i, &d[i]))
            return false;
    const uint64_t n = d[dims - 1];
    if (!n || n > INT32_MAX || n > SIZE_MAX / 2 / m->size || (dims == 3 && d[0] != 1 && d[1] != 1))
        return false;
    m->n = (size_t)n;
    m->bytes = m->n * m->size;
    m->rows = dims == 1 ? 1 : dims == 2 ? d[0] : d[0] * d[1]; // of which one is 1
    return m->rows <= (uint64_t)INT64_MAX / m->bytes;
}

// A text that is cut when it is full.
struct list {
    char text[360];
    size_t len;
};

// Takes in what snprintf wrote behind the text.
static void extend(struct list *l, int len)
{
    l->len = l->len + (size_t)len < sizeof l->text ? l->len + (size_t)len : sizeof l->text - 1;
}

#define ADD(L, ...) extend(L, snprintf((L)->text + (L)->len, sizeof(L)->text - (L)->len, __VA_ARGS__))

static void add_tensor(struct list *l, const cJSON *tensor)
{
    const char *const dtype = cJSON_GetStringValue(part(tensor, "dtype"));
    const cJSON *const shape = part(tensor, "shape");
    ADD(l, "%s'%.*s' %.10s [", l->len ? ", " : "", err_clip(tensor->string, NAME_SHOWN), tensor->string, dtype ? dtype : "?");
    for (const cJSON *d = shape ? shape->child : NULL; d; d = d->next)
        ADD(l, d->next ? "%.16g, " : "%.16g", d->valuedouble);
    ADD(l, "]");
}

// The tensors, or those that fit, as far as they can be shown in a line.
static int list(struct list *l, const cJSON *root, bool fitting)
{
    struct matrix m;
    int n = 0, more = 0;
    *l = (struct list){.len = 0};
    for (const cJSON *tensor = root->child; tensor; tensor = tensor->next) {
        if (fitting ? !fits(tensor, &m) : !strcmp(tensor->string, METADATA))
            continue;
        n++;
        if (l->len > sizeof l->text / 2)
            more++;
        else
            add_tensor(l, tensor);
    }
    if (more)
        ADD(l, " and %d more", more);
    if (!n)
        ADD(l, "none");
    return n;
}

// The tensor called name, or without a name the only one that fits.
static const cJSON *choose(const cJSON *root, const char *name, struct matrix *m, struct err *e)
{
    struct list l;
    const int n = list(&l, root, true);
    const cJSON *tensor = name ? part(root, name) : root->child;
    if (name && tensor && part_from(tensor->next, name))
        return err_set(e, STATUS_DATA, "the header holds tensor '%.*s' more than once", err_clip(name, NAME_SHOWN), name), NULL;
    if (name && !tensor)
        return err_set(e, STATUS_USAGE, "there is no tensor '%.*s'; those that hold rows: %s", err_clip(name, NAME_SHOWN), name,
                       l.text),
               NULL;
    if (name && !fits(tensor, m))
        return err_set(e, STATUS_USAGE, "tensor '%.*s' does not hold rows; those that do: %s", err_clip(name, NAME_SHOWN), name,
                       l.text),
               NULL;
    if (!name && n > 1)
        return err_set(e, STATUS_USAGE, "more than one tensor holds rows, choose with --tensor: %s", l.text), NULL;
    while (tensor && !fits(tensor, m))
        tensor = tensor->next;
    if (tensor)
        return tensor;
    list(&l, root, false);
    return err_set(e, STATUS_DATA, "no tensor holds rows of F16, BF16, F32 or F64 numbers; there are: %s", l.text), NULL;
}

// Where the tensor's numbers begin, counted from the end of the header, where s is.
static bool find_data(const cJSON *tensor, const struct matrix *m, const struct source *s, uint64_t *begin, struct err *e)
{
    const cJSON *const offsets = part(tensor, "data_offsets");
    const int64_t left = source_left(s);
    uint64_t end;
    if (!cJSON_IsArray(offsets) || !whole_at(offsets, 0, begin) || !whole_at(offsets, 1, &end) ||
        cJSON_GetArraySize(offsets) != 2)
        return err_set(e, STATUS_DATA, "tensor '%.*s': data_offsets are not two whole numbers",
                       err_clip(tensor->string, NAME_SHOWN), tensor->string);
    const uint64_t want = m->rows * m->bytes;
    if (*begin > end || end - *begin != want)
        return err_set(e, STATUS_DATA,
                       "tensor '%.*s': data_offsets %" PRIu64 " to %" PRIu64 " are not the %" PRIu64 " bytes of its shape",
                       err_clip(tensor->string, NAME_SHOWN), tensor->string, *begin, end, want);
    if (left >= 0 && end > (uint64_t)left)
        return err_set(e, STATUS_DATA, "tensor '%.*s' ends at byte %" PRIu64 " of the data, of which there are %" PRId64,
                       err_clip(tensor->string, NAME_SHOWN), tensor->string, end, left);
    return true;
}

static cJSON *parse(const char *text, size_t len, struct err *e)
{
    const char *stop = text;
    errno = 0;
    cJSON *const root = cJSON_ParseWithLengthOpts(text, len, &stop, false);
    if (!root && errno == ENOMEM)
        return err_from_fault(e, fault_memory()), NULL;
    while (root && stop < text + len && *stop == ' ')
        stop++;
    if (root && stop == text + len)
        return root;
    cJSON_Delete(root);
    return err_set(e, STATUS_DATA, "the safetensors header is not JSON, near byte %td", stop - text + 8), NULL;
}

// The directory. It is stepped over.
static cJSON *read_header(struct source *s, struct err *e)
{
    const unsigned char *p;
    size_t have;
    uint64_t len = 1;
    if (!source_peek(s, 8 + (size_t)len, &p, &have, e))
        return NULL;
    if (have > 8) {
        memcpy(&len, p, sizeof len);
        if (p[8] != '{')
            return err_set(e, STATUS_DATA, "the input does not begin as safetensors files do"), NULL;
        if (len > HEADER_MAX)
            return err_set(e, STATUS_DATA, "the safetensors header has %" PRIu64 " bytes, more than the format's %d", len,
                           HEADER_MAX),
                   NULL;
        if (!source_peek(s, 8 + (size_t)len, &p, &have, e))
            return NULL;
    }
    if (have < 8 + len)
        return err_set(e, STATUS_DATA, "the input ends inside the safetensors header"), NULL;
    cJSON *const root = parse((const char *)p + 8, (size_t)len, e);
    source_skip(s, 8 + (size_t)len);
    return root;
}

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

static bool open_safetensors(void *self, const struct format *f, struct source *s, const struct input_config *config,
                             struct err *e)
{
    struct matrix *const m = self;
    uint64_t begin = 0;
    (void)f;
    cJSON *const root = read_header(s, e);
    if (!root)
        return false;
    const cJSON *const tensor = choose(root, config->tensor, m, e);
    bool ok = tensor && find_data(tensor, m, s, &begin, e);
    if (ok && config->n_vocab && config->n_vocab != m->n)
        ok = err_set(e, STATUS_DATA, "tensor '%.*s' has %zu logits a row, --n-vocab says %zu",
                     err_clip(tensor->string, NAME_SHOWN), tensor->string, m->n, config->n_vocab);
    cJSON_Delete(root);
    return ok && skip(s, begin, e);
}

// A little-endian header length, then JSON: raw f32 rows whose second number is 0 could pass for that by their third one's first byte.
static bool probe_safetensors(const unsigned char *head, size_t len)
{
    return len > 8 && head[8] == '{' && !head[4] && !head[5] && !head[6] && !head[7] &&
           (len == 9 || (head[9] && strchr("\"} \t\r\n", head[9])));
}

const struct format format_safetensors = {.name = "safetensors",
                                          .endings = ".safetensors",
                                          .size = sizeof(struct matrix),
                                          .probe = probe_safetensors,
                                          .open = open_safetensors,
                                          .next = matrix_next,
                                          .left = matrix_left,
                                          .promised = matrix_promised,
                                          .jump = matrix_jump,
                                          .close = matrix_close};
